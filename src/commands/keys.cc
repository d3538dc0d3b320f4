#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/keys_handlers.h"
#include "dispatch/option_parser.h"
#include "keyspace/access_clock.h"
#include "types/type_names.h"

// DEL, EXISTS, RENAME, COPY, MOVE and the other commands on keys of every type.

namespace sorrel::commands::keys {
namespace {

constexpr Event kRenameFrom{EventClass::kGeneric, "rename_from"};
constexpr Event kRenameTo{EventClass::kGeneric, "rename_to"};
constexpr Event kMoveFrom{EventClass::kGeneric, "move_from"};
constexpr Event kMoveTo{EventClass::kGeneric, "move_to"};
constexpr Event kCopyTo{EventClass::kGeneric, "copy_to"};

constexpr std::string_view kSameObject = "ERR source and destination objects are the same";

// Counts the keys for which `found` is true; a key counts as often as it is named.
template <class Found>
void count_keys(Call& call, Found found) {
  int64_t count = 0;
  for (size_t i = 1; i < call.argc(); i++) count += found(call.key(i)) ? 1 : 0;
  call.reply.integer(count);
}

// The number of a database. nullopt: it is out of range, and the error has been answered.
std::optional<int> parse_database(Call& call, std::string_view text) {
  using Int = std::numeric_limits<int>;
  const auto number = parse_int64(text);
  if (!number) {
    answer::not_an_integer(call);
  } else if (*number < Int::min() || *number > Int::max()) {
    call.reply.error(fmt::format("ERR value is out of range, value must between {} and {}",
                                 Int::min(), Int::max()));
  } else if (*number < 0 || *number >= call.keys.keyspace().database_count()) {
    call.reply.error("ERR DB index is out of range");
  } else {
    return static_cast<int>(*number);
  }
  return std::nullopt;
}

// Both guards are open at once, the new name's first: the one opened last ends first, so the old
// name's event precedes the new one's.
enum class Renamed : uint8_t { kDone, kNoSource, kTaken };
Renamed rename_key(Call& call, bool may_replace) {
  Entry to = call.keys.open(call.key(2));
  Entry from = call.keys.open(call.key(1));
  if (!from) return Renamed::kNoSource;
  if (to && !may_replace) return Renamed::kTaken;
  // The same name: the key is there already.
  if (call.arg(1) != call.arg(2)) to.move_from(from, kRenameTo, kRenameFrom);
  return Renamed::kDone;
}

struct CopyOptions {
  int db;
  bool replace = false;
};
// nullopt: an error has been answered.
std::optional<CopyOptions> parse_copy(Call& call) {
  CopyOptions parsed{call.caller.db};
  OptionParser options(call.args, 3);
  while (options.more()) {
    if (options.word("REPLACE")) {
      parsed.replace = true;
    } else if (options.word("DB", 1)) {
      const auto db = parse_database(call, options.text());
      if (!db) return std::nullopt;
      parsed.db = *db;
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) {
    call.reply.error(options.error());
    return std::nullopt;
  }
  return parsed;
}

void erase_keys(Call& call, Freeing why) {
  count_keys(call, [&](const Key& key) {
    Entry entry = call.keys.open(key);
    if (!entry) return false;
    entry.erase(kDelEvent, why);
    return true;
  });
}

}  // namespace

void del(Call& call) {
  erase_keys(call, Freeing::kDeleted);
}

void unlink(Call& call) {
  erase_keys(call, Freeing::kUnlinked);
}

void exists(Call& call) {
  count_keys(call, [&](const Key& key) { return call.keys.inspect(key) != nullptr; });
}

void touch(Call& call) {
  const AccessPolicy& policy = call.keys.keyspace().access_policy();
  count_keys(call, [&](const Key& key) {
    const Record* record = call.keys.read(key);
    if (record == nullptr) return false;
    // TOUCH updates the access time even with CLIENT NO-TOUCH.
    if (call.caller.no_touch) {
      const uint32_t used =
          access_after_use(record->access(), call.now_ms(), policy, call.keys.random());
      call.keys.open(key).set_access(used);
    }
    return true;
  });
}

void type(Call& call) {
  const Record* record = call.keys.inspect(call.key(1));
  call.reply.simple(record == nullptr ? "none" : type_name(record->type()));
}

void rename(Call& call) {
  if (rename_key(call, true) == Renamed::kNoSource) return call.reply.error("ERR no such key");
  call.reply.ok();
}

void renamenx(Call& call) {
  switch (rename_key(call, false)) {
    case Renamed::kDone:
      return call.reply.integer(1);
    case Renamed::kTaken:
      return call.reply.integer(0);
    case Renamed::kNoSource:
      return call.reply.error("ERR no such key");
  }
}

void move(Call& call) {
  const auto db = parse_database(call, call.arg(2));
  if (!db) return;
  if (*db == call.caller.db) return call.reply.error(kSameObject);

  const Key key = call.key(1);
  Entry to = call.keys.open(key, *db);
  Entry from = call.keys.open(key);
  if (!from || to) return call.reply.integer(0);
  to.move_from(from, kMoveTo, kMoveFrom);
  call.reply.integer(1);
}

void copy(Call& call) {
  const auto options = parse_copy(call);
  if (!options) return;
  if (options->db == call.caller.db && call.arg(1) == call.arg(2)) {
    return call.reply.error(kSameObject);
  }

  const Key source = call.key(1);
  if (call.keys.read(source) == nullptr) return call.reply.integer(0);
  Entry from = call.keys.open(source);
  Entry to = call.keys.open(call.key(2), options->db);
  if (to && !options->replace) return call.reply.integer(0);
  to.copy_from(from, kCopyTo);
  call.reply.integer(1);
}

}  // namespace sorrel::commands::keys

namespace sorrel::commands {

std::span<const Binding> keys_bindings() {
  static constexpr Binding kBindings[] = {
      {"copy", &keys::copy},
      {"del", &keys::del},
      {"exists", &keys::exists},
      {"expire", &keys::expire},
      {"expireat", &keys::expireat},
      {"expiretime", &keys::expiretime},
      {"keys", &keys::keys},
      {"move", &keys::move},
      {"object|encoding", &keys::object_encoding},
      {"object|freq", &keys::object_freq},
      {"object|help", &keys::object_help},
      {"object|idletime", &keys::object_idletime},
      {"object|refcount", &keys::object_refcount},
      {"persist", &keys::persist},
      {"pexpire", &keys::pexpire},
      {"pexpireat", &keys::pexpireat},
      {"pexpiretime", &keys::pexpiretime},
      {"pttl", &keys::pttl},
      {"randomkey", &keys::randomkey},
      {"rename", &keys::rename},
      {"renamenx", &keys::renamenx},
      {"scan", &keys::scan},
      {"touch", &keys::touch},
      {"ttl", &keys::ttl},
      {"type", &keys::type},
      // UNLINK is DEL: the arena frees long values lazily for both.
      {"unlink", &keys::unlink},
  };
  return kBindings;
}

}  // namespace sorrel::commands
