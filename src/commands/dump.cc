#include <optional>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "commands/dump_payload.h"
#include "commands/expiry_option.h"
#include "commands/families.h"
#include "commands/hash_parts.h"
#include "commands/keys_handlers.h"
#include "commands/list_parts.h"
#include "commands/set_parts.h"
#include "commands/zset_parts.h"
#include "dispatch/executor.h"
#include "dispatch/option_parser.h"
#include "keyspace/access_clock.h"
#include "rdb/payload.h"
#include "types/string.h"

// DUMP and RESTORE: values serialized to bytes and back.

namespace sorrel::commands {
namespace {

constexpr Event kRestoreEvent{EventClass::kGeneric, "restore"};

void dump(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.null();
  call.reply.bulk(dump_payload(*record, call.keys.keyspace()));
}

struct RestoreOptions {
  bool replace = false;
  bool absolute = false;
  std::optional<int64_t> idle_seconds;
  std::optional<int64_t> frequency;
};
// nullopt: an error has been answered.
std::optional<RestoreOptions> parse_restore(Call& call) {
  RestoreOptions parsed;
  OptionParser options(call.args, 4);
  while (options.more()) {
    if (options.word("REPLACE")) {
      parsed.replace = true;
    } else if (options.word("ABSTTL")) {
      parsed.absolute = true;
    } else if (!parsed.frequency && options.word("IDLETIME", 1)) {
      parsed.idle_seconds = options.integer();
      if (*parsed.idle_seconds < 0) options.fail("ERR Invalid IDLETIME value, must be >= 0");
    } else if (!parsed.idle_seconds && options.word("FREQ", 1)) {
      parsed.frequency = options.integer();
      if (*parsed.frequency < 0 || *parsed.frequency > 255) {
        options.fail("ERR Invalid FREQ value, must be >= 0 and <= 255");
      }
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

// Absolute; kNoExpiry when the key does not expire. nullopt: an error has been answered.
std::optional<int64_t> parse_deadline(Call& call, bool absolute) {
  const auto ttl = parse_int64(call.arg(2));
  if (!ttl) {
    answer::not_an_integer(call);
    return std::nullopt;
  }
  if (*ttl < 0) {
    call.reply.error("ERR Invalid TTL value, must be >= 0");
    return std::nullopt;
  }
  if (*ttl == 0) return kNoExpiry;
  if (absolute) return ttl;
  // A time to live beyond the last moment is clamped.
  return checked_add(*ttl, call.now_ms()).value_or(std::numeric_limits<int64_t>::max());
}

// nullopt: not a payload, and the error has been answered.
std::optional<rdb::Value> read_payload(Call& call) {
  const KeyspaceLimits& limits = call.keys.keyspace().limits();
  const auto opened =
      rdb::opened_payload(call.arg(3), limits.skip_checksum_validation ? rdb::Checksum::kIgnore
                                                                       : rdb::Checksum::kVerify);
  if (!opened) {
    call.reply.error("ERR DUMP payload version or checksum are wrong");
    return std::nullopt;
  }
  auto value = rdb::value_of_payload(
      *opened, {list_limits(call), set_limits(call), hash_limits(call), zset_limits(call)},
      rdb::dialect_of(call.arg(3)));
  if (value) return std::move(*value);
  if (ExecutionObserver* observer = call.executor.world().observer) {
    observer->on_damaged(call.caller, value.error().text);
  }
  call.reply.error("ERR Bad data format");
  return std::nullopt;
}

// The access word of the restored key: as given, if the eviction policy uses it, else that of a new
// key, whatever value it replaces.
uint32_t access_of(const Call& call, const RestoreOptions& options) {
  const AccessPolicy& policy = call.keys.keyspace().access_policy();
  if (policy.lfu() && options.frequency) {
    const uint32_t minutes = access_at_birth(call.now_ms(), policy) & ~uint32_t{0xff};
    return minutes | static_cast<uint32_t>(*options.frequency);
  }
  if (!policy.lfu() && options.idle_seconds) {
    const auto idle = static_cast<uint32_t>(*options.idle_seconds);
    return (lru_now(call.now_ms()) - idle) & kAccessMask;
  }
  return access_at_birth(call.now_ms(), policy);
}

// On replicas and after a restart the key must expire at the same moment, so the time is absolute.
void rewrite_absolute(Call& call, int64_t deadline) {
  std::vector<std::string> args(call.args.begin(), call.args.end());
  args[2] = to_text(deadline);
  args.emplace_back("ABSTTL");
  call.rewrite.as(std::move(args));
}

void put(Entry& entry, rdb::Value& value, int64_t deadline) {
  if (value.type() == Type::kString) {
    entry.set_string(value.text(), deadline, kRestoreEvent);
  } else {
    entry.set_collection(value.type(), value.release(), deadline, kRestoreEvent);
  }
}

void restore(Call& call) {
  const auto options = parse_restore(call);
  if (!options) return;
  Entry entry = call.keys.open(call.key(1));
  if (entry && !options->replace) {
    return call.reply.error("BUSYKEY Target key name already exists.");
  }
  const auto deadline = parse_deadline(call, options->absolute);
  if (!deadline) return;
  auto value = read_payload(call);
  if (!value) return;

  if (*deadline != kNoExpiry && has_passed(call, *deadline)) {
    if (entry) {
      entry.erase(keys::kDelEvent, Freeing::kExpired);
      call.rewrite_as_deletion(1, Freeing::kExpired);
    }
    return call.reply.ok();
  }
  put(entry, *value, *deadline);
  entry.set_access(access_of(call, *options));
  if (*deadline != kNoExpiry && !options->absolute && call.wants_effect()) {
    rewrite_absolute(call, *deadline);
  }
  call.reply.ok();
}

}  // namespace

std::string dump_payload(const Record& record, const Keyspace& keyspace) {
  rdb::WriteOptions options{.compress = keyspace.limits().rdb_compression};
  std::string payload;
  if (record.type() == Type::kString) {
    IntegerText scratch;
    rdb::write_string(string_bytes(record, scratch), options, payload);
  } else {
    const Collection value = collection_of(record);
    options.version = rdb::version_for(record.type(), value, options.version);
    rdb::write_collection(record.type(), value, options, payload);
  }
  rdb::seal_payload(payload, options.version);
  return payload;
}

std::span<const Binding> dump_bindings() {
  static constexpr Binding kBindings[] = {
      {"dump", &dump},
      {"restore", &restore},
      {"restore-asking", &restore},
  };
  return kBindings;
}

}  // namespace sorrel::commands
