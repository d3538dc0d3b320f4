#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "dispatch/call.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {

// The expiry clause that SET, GETEX and their kin share: EX s, PX ms, EXAT s, PXAT ms.
struct ExpiryClause {
  enum class Unit : uint8_t { kNone, kSeconds, kMilliseconds };
  Unit unit = Unit::kNone;
  bool absolute = false;
  std::string_view amount;  // as sent; looked at last, so that syntax errors come first

  bool given() const { return unit != Unit::kNone; }
};

// What one of these words says; nullopt: it is none of them.
std::optional<ExpiryClause> expiry_word(std::string_view word);

// Takes one clause if it is next; true when it did. The same word again replaces the time, another
// word in the same command latches a syntax error.
bool take_expiry(OptionParser& options, ExpiryClause& clause);

// The deadline in absolute milliseconds, or an error answered ("invalid expire time in 'set'
// command") and nullopt. Amounts must be positive and must not overflow.
std::optional<int64_t> deadline_of(Call& call, const ExpiryClause& clause);

// "ERR invalid expire time in 'set' command"
void answer_bad_deadline(Call& call);

// When EXPIRE, HEXPIRE and their families may set a deadline.
struct DeadlineConditions {
  bool nx = false;  // there is none
  bool xx = false;  // there is one
  bool gt = false;  // it moves later; no deadline is the latest of all
  bool lt = false;  // it moves earlier

  // Takes a word; false when it is none of these.
  bool take(std::string_view word) {
    bool* const flag = iequals(word, "NX")   ? &nx
                       : iequals(word, "XX") ? &xx
                       : iequals(word, "GT") ? &gt
                       : iequals(word, "LT") ? &lt
                                             : nullptr;
    if (flag != nullptr) *flag = true;
    return flag != nullptr;
  }
  bool hold(int64_t current, int64_t wanted) const {
    const bool endless = current == kNoExpiry;
    if (nx && !endless) return false;
    if (xx && endless) return false;
    if (gt && (endless || wanted <= current)) return false;
    return !lt || endless || wanted < current;
  }
};

// Has this deadline passed, so that the key is to be deleted instead of stored? Never while effects
// are replayed: later ones still build on the value, and the deletion is an effect of its own.
bool is_over(const Call& call, int64_t deadline);

}  // namespace sorrel::commands
