#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "dispatch/call.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {

// The expiry clause shared by SET, GETEX and similar commands: EX s, PX ms, EXAT s, PXAT ms.
struct ExpiryClause {
  enum class Unit : uint8_t { kNone, kSeconds, kMilliseconds };
  Unit unit = Unit::kNone;
  bool absolute = false;
  std::string_view amount;  // as sent; parsed last, so that syntax errors take precedence

  bool given() const { return unit != Unit::kNone; }
};

// The unit that this word names; nullopt: none.
std::optional<ExpiryClause> expiry_word(std::string_view word);

// Takes one clause if it is next; true when it did. The same word again replaces the time, another
// word in the same command latches a syntax error.
bool take_expiry(OptionParser& options, ExpiryClause& clause);

// The expire time in absolute milliseconds; nullopt: an error has been answered ("invalid expire
// time in 'set' command"). Amounts must be positive and must not overflow.
std::optional<int64_t> deadline_of(Call& call, const ExpiryClause& clause);

// "ERR invalid expire time in 'set' command"
void answer_bad_deadline(Call& call);

// The conditions under which EXPIRE, HEXPIRE and their families set an expire time.
struct DeadlineConditions {
  bool nx = false;  // there is none
  bool xx = false;  // there is one
  bool gt = false;  // the new one is later; no expire time is the latest of all
  bool lt = false;  // the new one is earlier

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

// Has this expire time passed, so that the key is to be deleted instead of stored? Never while
// effects are replayed: later ones depend on the value, and the deletion is an effect of its own.
bool has_passed(const Call& call, int64_t deadline);

}  // namespace sorrel::commands
