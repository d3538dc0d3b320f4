#include "commands/string_condition.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "types/string.h"

namespace sorrel::commands {
namespace {

constexpr size_t kDigestDigits = 16;

}  // namespace

std::string value_digest(std::string_view value) {
  return fmt::format("{:016x}", XXH3_64bits(value.data(), value.size()));
}

bool Condition::check_digest(Call& call) const {
  if (!by_digest() || operand.size() == kDigestDigits) return true;
  call.reply.error("ERR must be exactly 16 hexadecimal characters");
  return false;
}

bool Condition::holds(const Entry& entry) const {
  if (!given()) return true;
  if (!entry) return negative();
  IntegerText scratch;
  const std::string_view value = string_bytes(*entry.record(), scratch);
  const bool equal = by_digest() ? iequals(value_digest(value), operand) : value == operand;
  return equal != negative();
}

Condition::Kind condition_named(std::string_view word) {
  if (iequals(word, "IFEQ")) return Condition::Kind::kEqual;
  if (iequals(word, "IFNE")) return Condition::Kind::kNotEqual;
  if (iequals(word, "IFDEQ")) return Condition::Kind::kDigestEqual;
  if (iequals(word, "IFDNE")) return Condition::Kind::kDigestNotEqual;
  return Condition::Kind::kNone;
}

bool take_condition(OptionParser& options, Condition& condition) {
  if (!options.more() || options.remaining() < 2) return false;
  const Condition::Kind kind = condition_named(options.peek());
  if (kind == Condition::Kind::kNone) return false;
  if (condition.given() && condition.kind != kind) options.fail_syntax();
  options.text();
  condition.kind = kind;
  condition.operand = options.text();
  return true;
}

}  // namespace sorrel::commands
