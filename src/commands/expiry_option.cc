#include "commands/expiry_option.h"

#include <fmt/format.h>

#include "base/numbers.h"

namespace sorrel::commands {

std::optional<ExpiryClause> expiry_word(std::string_view word) {
  struct Word {
    std::string_view name;
    ExpiryClause::Unit unit;
    bool absolute;
  };
  static constexpr Word kWords[] = {
      {"EX", ExpiryClause::Unit::kSeconds, false},
      {"PX", ExpiryClause::Unit::kMilliseconds, false},
      {"EXAT", ExpiryClause::Unit::kSeconds, true},
      {"PXAT", ExpiryClause::Unit::kMilliseconds, true},
  };
  for (const Word& known : kWords) {
    if (iequals(word, known.name)) return ExpiryClause{known.unit, known.absolute, {}};
  }
  return std::nullopt;
}

bool take_expiry(OptionParser& options, ExpiryClause& clause) {
  if (!options.more() || options.remaining() < 2) return false;
  const auto word = expiry_word(options.peek());
  if (!word) return false;
  options.text();
  if (clause.given() && (clause.unit != word->unit || clause.absolute != word->absolute)) {
    options.fail_syntax();
  }
  clause = *word;
  clause.amount = options.text();
  return true;
}

void answer_bad_deadline(Call& call) {
  call.reply.error(fmt::format("ERR invalid expire time in '{}' command", call.command.name));
}

std::optional<int64_t> deadline_of(Call& call, const ExpiryClause& clause) {
  const auto amount = parse_int64(clause.amount);
  if (!amount) {
    answer::not_an_integer(call);
    return std::nullopt;
  }
  std::optional<int64_t> deadline;
  if (*amount > 0) {
    deadline = amount;
    if (clause.unit == ExpiryClause::Unit::kSeconds) deadline = checked_mul(*amount, 1000);
    if (deadline && !clause.absolute) deadline = checked_add(*deadline, call.now_ms());
  }
  if (!deadline) answer_bad_deadline(call);
  return deadline;
}

bool has_passed(const Call& call, int64_t deadline) {
  return deadline != kNoExpiry && deadline <= call.now_ms() && !call.caller.repeats_history();
}

}  // namespace sorrel::commands
