// GET, GETEX, APPEND, GETRANGE, SETRANGE and others: one string value.

#include "types/string.h"

#include <algorithm>
#include <limits>
#include <string>

#include "commands/expiry_option.h"
#include "commands/families.h"
#include "commands/string_parts.h"

namespace sorrel::commands {
namespace {

void get(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.null();
  if (record->type() != Type::kString) return answer::wrong_type(call);
  answer_string(call, *record);
}

void getset(Call& call) {
  Entry entry = call.keys.open_counted(call.key(1));
  if (!check_string(call, entry)) return;
  answer_old(call, entry);
  entry.set_string(call.arg(2), kNoExpiry, kSetEvent);
  if (call.wants_effect()) {
    call.rewrite.as({"SET", std::string(call.arg(1)), std::string(call.arg(2))});
  }
}

void getdel(Call& call) {
  Entry entry = call.keys.open_counted(call.key(1));
  if (!check_string(call, entry)) return;
  answer_old(call, entry);
  erase_key(call, entry, 1, Freeing::kOnTheWay);
}

struct GetexOptions {
  ExpiryClause expiry;
  bool persist = false;
};

// False: an error has been answered.
bool parse_getex(Call& call, GetexOptions& getex) {
  OptionParser options(call.args, 2);
  while (options.more()) {
    if (take_expiry(options, getex.expiry)) {
      if (getex.persist) options.fail_syntax();
    } else if (options.word("PERSIST")) {
      if (getex.expiry.given()) options.fail_syntax();
      getex.persist = true;
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

void getex(Call& call) {
  GetexOptions options;
  if (!parse_getex(call, options)) return;
  Entry entry = call.keys.open_counted(call.key(1));
  if (!entry) return call.reply.null();
  if (!check_string(call, entry)) return;
  // As in Redis, an invalid time is an error only for a key that exists.
  int64_t deadline = kNoExpiry;
  if (options.expiry.given()) {
    const auto parsed = deadline_of(call, options.expiry);
    if (!parsed) return;
    deadline = *parsed;
  }
  answer_old(call, entry);
  if (has_passed(call, deadline)) {
    erase_key(call, entry, 1, Freeing::kExpired);
  } else if (deadline != kNoExpiry) {
    entry.set_expiry(deadline, kExpireEvent);
    if (call.wants_effect()) {
      call.rewrite.as({"PEXPIREAT", std::string(call.arg(1)), to_text(deadline)});
    }
  } else if (options.persist && entry.expiry() != kNoExpiry) {
    entry.set_expiry(kNoExpiry, kPersistEvent);
    if (call.wants_effect()) call.rewrite.as({"PERSIST", std::string(call.arg(1))});
  }
}

void strlen(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.integer(0);
  if (record->type() != Type::kString) return answer::wrong_type(call);
  call.reply.integer(static_cast<int64_t>(string_length(*record)));
}

void append(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_string(call, entry)) return;
  constexpr Event kAppend{EventClass::kString, "append"};
  const std::string_view tail = call.arg(2);
  if (!entry) {
    entry.set_string(tail, kNoExpiry, kAppend);
    return call.reply.integer(static_cast<int64_t>(tail.size()));
  }
  const size_t old = string_length(*entry.record());
  if (!check_string_size(call, old, tail.size())) return;
  char* bytes = entry.grow_string(old + tail.size(), kAppend);
  std::copy(tail.begin(), tail.end(), bytes + old);
  call.reply.integer(static_cast<int64_t>(old + tail.size()));
}

// Inclusive positions, negative from the end, clamped to [0, size); empty when the range is.
std::string_view slice(std::string_view bytes, int64_t start, int64_t end) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (start < 0 && end < 0 && start > end) return {};
  if (start < 0) start = std::max<int64_t>(start + size, 0);
  if (end < 0) end = std::max<int64_t>(end + size, 0);
  end = std::min(end, size - 1);
  if (size == 0 || start > end) return {};
  return bytes.substr(static_cast<size_t>(start), static_cast<size_t>(end - start + 1));
}

void getrange(Call& call) {
  const auto start = parse_int64(call.arg(2));
  const auto end = parse_int64(call.arg(3));
  if (!start || !end) return answer::not_an_integer(call);
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.bulk("");
  if (record->type() != Type::kString) return answer::wrong_type(call);
  IntegerText scratch;
  call.reply.bulk(slice(string_bytes(*record, scratch), *start, *end));
}

void setrange(Call& call) {
  const auto offset = parse_int64(call.arg(2));
  if (!offset) return answer::not_an_integer(call);
  if (*offset < 0) return call.reply.error("ERR offset is out of range");
  const std::string_view value = call.arg(3);
  Entry entry = call.keys.open(call.key(1));
  if (!check_string(call, entry)) return;
  const size_t old = entry ? string_length(*entry.record()) : 0;
  if (value.empty()) return call.reply.integer(static_cast<int64_t>(old));
  const auto at = static_cast<size_t>(*offset);
  if (!check_string_size(call, at, value.size())) return;
  const size_t size = std::max(old, at + value.size());
  char* bytes = entry.grow_string(size, {EventClass::kString, "setrange"});
  std::copy(value.begin(), value.end(), bytes + at);
  call.reply.integer(static_cast<int64_t>(size));
}

constexpr Binding kStringBindings[] = {
    {"get", get},         {"getset", getset},     {"getdel", getdel},
    {"getex", getex},     {"strlen", strlen},     {"append", append},
    {"substr", getrange}, {"getrange", getrange}, {"setrange", setrange},
};

}  // namespace

std::span<const Binding> string_bindings() {
  return kStringBindings;
}

void answer_old(Call& call, const Entry& entry) {
  if (entry) {
    answer_string(call, *entry.record());
  } else {
    call.reply.null();
  }
}

bool check_string(Call& call, const Entry& entry) {
  if (!entry || entry.record()->type() == Type::kString) return true;
  answer::wrong_type(call);
  return false;
}

size_t max_string_bytes(const Call& call) {
  if (call.caller.repeats_history()) return std::numeric_limits<size_t>::max();
  return call.keys.keyspace().limits().max_string_bytes;
}

bool check_string_size(Call& call, size_t size, size_t more) {
  size_t total = 0;
  if (!__builtin_add_overflow(size, more, &total) && total <= max_string_bytes(call)) return true;
  call.reply.error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  return false;
}

void erase_key(Call& call, Entry& entry, size_t key_position, Freeing why) {
  if (!entry) return;
  entry.erase(kDelEvent, why);
  call.rewrite_as_deletion(key_position, why);
}

}  // namespace sorrel::commands
