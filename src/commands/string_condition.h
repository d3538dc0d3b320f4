#pragma once

#include <string>
#include <string_view>

#include "dispatch/call.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {

// Compare-and-act clauses: IFEQ value, IFNE value, IFDEQ digest, IFDNE digest.
struct Condition {
  enum class Kind : uint8_t { kNone, kEqual, kNotEqual, kDigestEqual, kDigestNotEqual };
  Kind kind = Kind::kNone;
  std::string_view operand;

  bool given() const { return kind != Kind::kNone; }
  // An absent key satisfies the negative forms only. Precondition: absent or a string.
  bool holds(const Entry& entry) const;
};

// Takes one clause if it is next. A second one, or a digest that is not 16 hexadecimal digits,
// latches an error.
bool take_condition(OptionParser& options, Condition& condition);

// The digest that DIGEST answers and IFDEQ compares: XXH3 of the value, 16 hexadecimal digits.
std::string value_digest(std::string_view value);

}  // namespace sorrel::commands
