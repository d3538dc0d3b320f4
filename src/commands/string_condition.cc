#include "commands/string_condition.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "types/string.h"

namespace sorrel::commands {
namespace {

constexpr size_t kDigestDigits = 16;

bool is_digest(std::string_view text) {
  if (text.size() != kDigestDigits) return false;
  for (char c : text) {
    const char lower = to_lower(c);
    if (!((lower >= '0' && lower <= '9') || (lower >= 'a' && lower <= 'f'))) return false;
  }
  return true;
}

}  // namespace

std::string value_digest(std::string_view value) {
  return fmt::format("{:016x}", XXH3_64bits(value.data(), value.size()));
}

bool Condition::holds(const Entry& entry) const {
  const bool negative = kind == Kind::kNotEqual || kind == Kind::kDigestNotEqual;
  if (!given()) return true;
  if (!entry) return negative;
  IntegerText scratch;
  const std::string_view value = string_bytes(*entry.record(), scratch);
  const bool by_digest = kind == Kind::kDigestEqual || kind == Kind::kDigestNotEqual;
  const bool equal = by_digest ? iequals(value_digest(value), operand) : value == operand;
  return equal != negative;
}

bool take_condition(OptionParser& options, Condition& condition) {
  struct Word {
    std::string_view name;
    Condition::Kind kind;
  };
  static constexpr Word kWords[] = {
      {"IFEQ", Condition::Kind::kEqual},
      {"IFNE", Condition::Kind::kNotEqual},
      {"IFDEQ", Condition::Kind::kDigestEqual},
      {"IFDNE", Condition::Kind::kDigestNotEqual},
  };
  for (const Word& word : kWords) {
    if (!options.word(word.name, 1)) continue;
    if (condition.given()) options.fail_syntax();
    condition.kind = word.kind;
    condition.operand = options.text();
    const bool digest =
        word.kind == Condition::Kind::kDigestEqual || word.kind == Condition::Kind::kDigestNotEqual;
    if (digest && !is_digest(condition.operand)) {
      options.fail("ERR must be exactly 16 hexadecimal characters");
    }
    return true;
  }
  return false;
}

}  // namespace sorrel::commands
