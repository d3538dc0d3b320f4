#include "commands/hash_parts.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/numbers.h"

namespace sorrel::commands {

std::optional<std::span<const std::string_view>> parse_numbered_fields(
    Call& call, size_t at, std::string_view bad_number) {
  if (at >= call.argc() || !iequals(call.arg(at), "FIELDS")) {
    call.reply.error("ERR Mandatory argument FIELDS is missing or not at the right position");
    return std::nullopt;
  }
  const auto count = at + 1 < call.argc() ? parse_int64(call.arg(at + 1)) : std::nullopt;
  if (!count || *count < 1) {
    call.reply.error(bad_number);
    return std::nullopt;
  }
  const auto fields = call.args.subspan(at + 2);
  if (static_cast<uint64_t>(*count) != fields.size()) {
    call.reply.error("ERR The `numfields` parameter must match the number of arguments");
    return std::nullopt;
  }
  return fields;
}

std::optional<int64_t> parse_field_deadline(Call& call, const ExpiryClause& clause) {
  const auto amount = parse_int64(clause.amount);
  if (!amount) {
    answer::not_an_integer(call);
    return std::nullopt;
  }
  if (*amount < 0) {
    call.reply.error("ERR invalid expire time, must be >= 0");
    return std::nullopt;
  }
  const int64_t unit_ms = clause.unit == ExpiryClause::Unit::kSeconds ? 1000 : 1;
  const int64_t base_ms = clause.absolute ? 0 : call.now_ms();
  if (*amount > kMaxFieldExpiry / unit_ms || *amount * unit_ms > kMaxFieldExpiry - base_ms) {
    answer_bad_deadline(call);
    return std::nullopt;
  }
  // Stored fields use zero for "no expire time".
  return std::max<int64_t>(1, *amount * unit_ms + base_ms);
}

void TouchedFields::rewrite_as(std::vector<std::string> head) const {
  if (!call_.wants_effect()) return;
  head.emplace_back("FIELDS");
  head.push_back(to_text(count_));
  head.insert(head.end(), fields_.begin(), fields_.end());
  call_.rewrite.as(std::move(head));
}

void TouchedFields::rewrite_as_deletions() const {
  for (const std::string& field : fields_) {
    call_.rewrite.as({"HDEL", std::string(call_.arg(1)), field});
  }
}

}  // namespace sorrel::commands
