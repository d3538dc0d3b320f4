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
  bool negative() const { return kind == Kind::kNotEqual || kind == Kind::kDigestNotEqual; }
  bool by_digest() const { return kind == Kind::kDigestEqual || kind == Kind::kDigestNotEqual; }

  // False, with the error answered, when this compares by digest and the operand does not have the
  // length of one. Called only when there is a value to compare: as in Redis, an absent key decides
  // first, and characters that are no hexadecimal digits merely differ.
  bool check_digest(Call& call) const;
  // An absent key satisfies the negative forms only. Precondition: absent or a string.
  bool holds(const Entry& entry) const;
};

// IFEQ, IFNE, IFDEQ or IFDNE in any case; kNone for any other word.
Condition::Kind condition_named(std::string_view word);

// Takes one clause if it is next. The same word again replaces the operand, another of the four
// latches a syntax error.
bool take_condition(OptionParser& options, Condition& condition);

// The digest that DIGEST answers and IFDEQ compares: XXH3 of the value, 16 hexadecimal digits.
std::string value_digest(std::string_view value);

}  // namespace sorrel::commands
