// Expire times of single fields: HEXPIRE, HTTL, HPERSIST and their families.

#include "base/bytes.h"
#include "base/numbers.h"
#include "commands/families.h"
#include "commands/hash_parts.h"

namespace sorrel::commands {
namespace {

using Unit = ExpiryClause::Unit;

// The reply for each field.
constexpr int64_t kNoField = -2;
constexpr int64_t kNoDeadline = -1;
constexpr int64_t kConditionNotMet = 0;
constexpr int64_t kDone = 1;
constexpr int64_t kDeleted = 2;

void answer_no_fields(Call& call, size_t count) {
  call.reply.array(static_cast<int64_t>(count));
  for (size_t i = 0; i < count; i++) call.reply.integer(kNoField);
}

struct HexpireRequest {
  int64_t at_ms;
  std::string_view condition;  // as sent; empty: none
  DeadlineConditions conditions;
  std::span<const std::string_view> fields;
};

std::optional<HexpireRequest> parse_hexpire(Call& call, ExpiryClause clause) {
  clause.amount = call.arg(2);
  const auto at_ms = parse_field_deadline(call, clause);
  if (!at_ms) return std::nullopt;
  HexpireRequest request{*at_ms, {}, {}, {}};
  size_t at = 3;
  if (request.conditions.take(call.arg(at))) request.condition = call.arg(at++);
  const auto fields =
      parse_numbered_fields(call, at, "ERR Parameter `numFields` should be greater than 0");
  if (!fields) return std::nullopt;
  request.fields = *fields;
  return request;
}

// An expire time that has passed deletes the field. Fields are processed in order: one that is
// named twice has its new expire time, or is gone, the second time.
void set_deadlines(Call& call, ExpiryClause clause) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return;
  const auto request = parse_hexpire(call, clause);
  if (!request) return;
  entry.expire_fields(request->fields);
  if (!entry) return answer_no_fields(call, request->fields.size());

  const bool over = has_passed(call, request->at_ms);
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits, call.now_ms());
  TouchedFields touched(call);
  call.reply.array(static_cast<int64_t>(request->fields.size()));
  for (std::string_view field : request->fields) {
    const auto item = hash.find(field);
    if (!item) {
      call.reply.integer(kNoField);
      continue;
    }
    if (!request->conditions.hold(item->expiry, request->at_ms)) {
      call.reply.integer(kConditionNotMet);
      continue;
    }
    apply_deadline(hash, field, request->at_ms, over);
    touched.add(field);
    call.reply.integer(over ? kDeleted : kDone);
  }
  if (touched.count() == 0) return;
  if (over) return touched.report_expired(entry);
  entry.changed(kHexpireEvent);
  std::vector<std::string> head = {"HPEXPIREAT", std::string(call.arg(1)), to_text(request->at_ms)};
  if (!request->condition.empty()) head.emplace_back(request->condition);
  touched.rewrite_as(std::move(head));
}

void hexpire(Call& call) {
  set_deadlines(call, {Unit::kSeconds, false, {}});
}
void hpexpire(Call& call) {
  set_deadlines(call, {Unit::kMilliseconds, false, {}});
}
void hexpireat(Call& call) {
  set_deadlines(call, {Unit::kSeconds, true, {}});
}
void hpexpireat(Call& call) {
  set_deadlines(call, {Unit::kMilliseconds, true, {}});
}

// Seconds are rounded up, so that a field that has not expired never shows 0.
void answer_deadlines(Call& call, Unit unit, int64_t base_ms) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  const auto fields = parse_numbered_fields(call, 2);
  if (!fields) return;
  if (record == nullptr) return answer_no_fields(call, fields->size());
  const Hash hash = hash_of(call, *record);
  call.reply.array(static_cast<int64_t>(fields->size()));
  for (std::string_view field : *fields) {
    const auto item = hash.find(field);
    if (!item) {
      call.reply.integer(kNoField);
    } else if (item->expiry == kNoExpiry) {
      call.reply.integer(kNoDeadline);
    } else {
      const int64_t ms = item->expiry - base_ms;
      call.reply.integer(unit == Unit::kSeconds ? (ms + 999) / 1000 : ms);
    }
  }
}

void httl(Call& call) {
  answer_deadlines(call, Unit::kSeconds, call.now_ms());
}
void hpttl(Call& call) {
  answer_deadlines(call, Unit::kMilliseconds, call.now_ms());
}
void hexpiretime(Call& call) {
  answer_deadlines(call, Unit::kSeconds, 0);
}
void hpexpiretime(Call& call) {
  answer_deadlines(call, Unit::kMilliseconds, 0);
}

void hpersist(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return;
  const auto fields = parse_numbered_fields(call, 2);
  if (!fields) return;
  if (!entry) return answer_no_fields(call, fields->size());
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits, call.now_ms());
  bool any = false;
  call.reply.array(static_cast<int64_t>(fields->size()));
  for (std::string_view field : *fields) {
    const auto item = hash.find(field);
    if (!item || item->expiry == kNoExpiry) {
      call.reply.integer(item ? kNoDeadline : kNoField);
      continue;
    }
    hash.set_expiry(field, kNoExpiry);
    any = true;
    call.reply.integer(kDone);
  }
  if (any) entry.changed(kHpersistEvent);
}

}  // namespace

std::span<const Binding> hash_expiry_bindings() {
  static constexpr Binding kBindings[] = {
      {"hexpire", &hexpire},           {"hexpireat", &hexpireat}, {"hexpiretime", &hexpiretime},
      {"hpersist", &hpersist},         {"hpexpire", &hpexpire},   {"hpexpireat", &hpexpireat},
      {"hpexpiretime", &hpexpiretime}, {"hpttl", &hpttl},         {"httl", &httl},
  };
  return kBindings;
}

}  // namespace sorrel::commands
