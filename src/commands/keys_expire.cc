#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/numbers.h"
#include "commands/expiry_option.h"
#include "commands/keys_handlers.h"

// EXPIRE and its family: set, query and remove expire times.

namespace sorrel::commands::keys {
namespace {

constexpr Event kExpire{EventClass::kGeneric, "expire"};
constexpr Event kPersist{EventClass::kGeneric, "persist"};

// nullopt: an error has been answered.
std::optional<DeadlineConditions> parse_conditions(Call& call) {
  DeadlineConditions conditions;
  for (size_t i = 3; i < call.argc(); i++) {
    const std::string_view word = call.arg(i);
    if (conditions.take(word)) continue;
    // Up to a NUL, as Redis shows it.
    call.reply.error(fmt::format("ERR Unsupported option {}", word.substr(0, word.find('\0'))));
    return std::nullopt;
  }
  if (conditions.nx && (conditions.xx || conditions.gt || conditions.lt)) {
    call.reply.error("ERR NX and XX, GT or LT options at the same time are not compatible");
    return std::nullopt;
  }
  if (conditions.gt && conditions.lt) {
    call.reply.error("ERR GT and LT options at the same time are not compatible");
    return std::nullopt;
  }
  return conditions;
}

enum class Unit : uint8_t { kSeconds, kMilliseconds };

// The time argument as absolute milliseconds, relative to `base_ms`. nullopt: an error has been
// answered.
std::optional<int64_t> parse_deadline(Call& call, Unit unit, int64_t base_ms) {
  const auto number = parse_int64(call.arg(2));
  if (!number) {
    answer::not_an_integer(call);
    return std::nullopt;
  }
  auto at_ms = unit == Unit::kSeconds ? checked_mul(*number, 1000) : number;
  if (at_ms) at_ms = checked_add(*at_ms, base_ms);
  if (!at_ms) answer_bad_deadline(call);
  return at_ms;
}

void set_deadline(Call& call, Unit unit, int64_t base_ms) {
  const auto conditions = parse_conditions(call);
  if (!conditions) return;
  const auto at_ms = parse_deadline(call, unit, base_ms);
  if (!at_ms) return;

  Entry entry = call.keys.open(call.key(1));
  if (!entry || !conditions->hold(entry.expiry(), *at_ms)) return call.reply.integer(0);
  // A replayed effect sets the time as given; the deletion follows as an effect of its own.
  const bool now = *at_ms <= call.now_ms() && !call.caller.repeats_history();
  if (now) {
    entry.erase(kDelEvent, Freeing::kExpired);
    call.rewrite_as_deletion(1, Freeing::kExpired);
  } else {
    entry.set_expiry(std::max<int64_t>(*at_ms, 0), kExpire);
    if (call.wants_effect()) {
      call.rewrite.as({"PEXPIREAT", std::string(call.arg(1)), to_text(*at_ms)});
    }
  }
  call.reply.integer(1);
}

// The expire time of the key at 1, or nothing when the reply was sent: -2 for no key, -1 for no
// expire time.
std::optional<int64_t> find_deadline(Call& call) {
  const Record* record = call.keys.inspect(call.key(1));
  if (record != nullptr && record->has_expiry()) return record->expiry();
  call.reply.integer(record == nullptr ? -2 : -1);
  return std::nullopt;
}

// Half a second is rounded up, so that EXPIRE 10 is followed by TTL 10.
int64_t to_seconds(int64_t ms) {
  return ms / 1000 + (ms % 1000 >= 500 ? 1 : 0);
}

}  // namespace

void expire(Call& call) {
  set_deadline(call, Unit::kSeconds, call.now_ms());
}
void expireat(Call& call) {
  set_deadline(call, Unit::kSeconds, 0);
}
void pexpire(Call& call) {
  set_deadline(call, Unit::kMilliseconds, call.now_ms());
}
void pexpireat(Call& call) {
  set_deadline(call, Unit::kMilliseconds, 0);
}

void ttl(Call& call) {
  if (const auto at_ms = find_deadline(call)) {
    call.reply.integer(to_seconds(*at_ms - call.now_ms()));
  }
}
void pttl(Call& call) {
  if (const auto at_ms = find_deadline(call)) call.reply.integer(*at_ms - call.now_ms());
}
void expiretime(Call& call) {
  if (const auto at_ms = find_deadline(call)) call.reply.integer(to_seconds(*at_ms));
}
void pexpiretime(Call& call) {
  if (const auto at_ms = find_deadline(call)) call.reply.integer(*at_ms);
}

void persist(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!entry || entry.expiry() == kNoExpiry) return call.reply.integer(0);
  entry.set_expiry(kNoExpiry, kPersist);
  call.reply.integer(1);
}

}  // namespace sorrel::commands::keys
