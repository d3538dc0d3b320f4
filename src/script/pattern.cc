// A backtracking matcher for Lua's patterns with bounds on steps and depth.

#include "script/pattern.h"

#include <cctype>

#include "base/bytes.h"

namespace sorrel::script {
namespace {

constexpr char kEscape = '%';

}  // namespace

PatternMatcher::PatternMatcher(std::string_view subject, std::string_view pattern)
    : subject_(subject),
      pattern_(pattern),
      steps_left_(kFreeSteps + kStepsPerByte * uint64_t{subject.size()}) {}

size_t PatternMatcher::fail(const char* error) {
  if (error_ == nullptr) error_ = error;
  return kNoMatch;
}

// Counts a step. False: the limit is reached, an error is set.
inline bool PatternMatcher::spend(uint64_t steps) {
  if (steps_left_ < steps) {
    fail("pattern too complex");
    return false;
  }
  steps_left_ -= steps;
  if (until_poll_ <= steps) {
    until_poll_ = kStepsPerPoll;
    if (poll_) poll_();
  } else {
    until_poll_ -= steps;
  }
  return true;
}

size_t PatternMatcher::match_at(size_t from) {
  count_ = 0;
  depth_ = 0;
  if (error_ != nullptr) return kNoMatch;
  return match(from, 0);
}

bool PatternMatcher::check_closed() {
  for (size_t i = 0; i < count_; i++) {
    if (captures_[i].length == kOpen) {
      fail("unfinished capture");
      return false;
    }
  }
  return true;
}

size_t PatternMatcher::match(size_t at, size_t item) {
  if (depth_ >= kMostDepth) return fail("pattern too complex");
  struct Depth {
    explicit Depth(int& now) : depth(now) { depth++; }
    ~Depth() { depth--; }
    int& depth;
  } level(depth_);
  while (item < pattern_.size()) {
    if (!spend()) return kNoMatch;
    const char first = pattern_[item];
    if (first == '(') return open_capture(at, item + 1);
    if (first == ')') return close_capture(at, item + 1);
    if (first == '$' && item + 1 == pattern_.size()) {
      return at == subject_.size() ? at : kNoMatch;
    }
    if (first == kEscape) {
      bool special = false;
      const size_t next = step_over_special(at, item, special);
      if (special) {
        if (next == kNoMatch) return kNoMatch;
        at = next;
        continue;
      }
    }
    const size_t end = end_of_item(item);
    if (end == kNoMatch) return kNoMatch;
    const char suffix = end < pattern_.size() ? pattern_[end] : '\0';
    if (suffix == '*') return longest_first(at, item, end, 0);
    if (suffix == '+') return longest_first(at, item, end, 1);
    if (suffix == '-') return shortest_first(at, item, end);
    if (suffix == '?') {
      if (fits(at, item, end)) {
        const size_t found = match(at + 1, end + 1);
        if (found != kNoMatch || error_ != nullptr) return found;
      }
      item = end + 1;
      continue;
    }
    if (!fits(at, item, end)) return kNoMatch;
    at++;
    item = end;
  }
  return at;
}

// Items that are not a single character: %b, %f and %1. Moves `item` after them.
size_t PatternMatcher::step_over_special(size_t at, size_t& item, bool& special) {
  const char letter = item + 1 < pattern_.size() ? pattern_[item + 1] : '\0';
  special = letter == 'b' || letter == 'f' || (letter >= '0' && letter <= '9');
  if (!special) return kNoMatch;
  const size_t begin = item + 2;
  if (letter == 'b') {
    item = begin + 2;
    return balanced(at, begin);
  }
  if (letter != 'f') {
    item = begin;
    return same_as_capture(at, letter);
  }
  if (begin >= pattern_.size() || pattern_[begin] != '[') {
    return fail("missing '[' after '%f' in pattern");
  }
  const size_t end = end_of_item(begin);
  if (end == kNoMatch) return kNoMatch;
  const auto byte_at = [this](size_t place) {
    return place < subject_.size() ? static_cast<unsigned char>(subject_[place]) : '\0';
  };
  const unsigned char before = at == 0 ? '\0' : byte_at(at - 1);
  item = end;
  return !in_set(before, begin, end) && in_set(byte_at(at), begin, end) ? at : kNoMatch;
}

size_t PatternMatcher::open_capture(size_t at, size_t item) {
  if (count_ >= kMostCaptures) return fail("too many captures");
  const bool position = item < pattern_.size() && pattern_[item] == ')';
  captures_[count_++] = {at, position ? kPosition : kOpen};
  const size_t found = match(at, position ? item + 1 : item);
  if (found == kNoMatch) count_--;
  return found;
}

size_t PatternMatcher::close_capture(size_t at, size_t item) {
  for (size_t i = count_; i-- > 0;) {
    Capture& capture = captures_[i];
    if (capture.length != kOpen) continue;
    capture.length = at - capture.begin;
    const size_t found = match(at, item);
    if (found == kNoMatch) capture.length = kOpen;
    return found;
  }
  return fail("invalid pattern capture");
}

size_t PatternMatcher::longest_first(size_t at, size_t item, size_t end, size_t least) {
  size_t count = 0;
  while (fits(at + count, item, end)) {
    if (!spend()) return kNoMatch;
    count++;
  }
  for (size_t taken = count + 1; taken-- > least;) {
    const size_t found = match(at + taken, end + 1);
    if (found != kNoMatch || error_ != nullptr) return found;
    if (!spend()) return kNoMatch;
  }
  return kNoMatch;
}

size_t PatternMatcher::shortest_first(size_t at, size_t item, size_t end) {
  for (;; at++) {
    const size_t found = match(at, end + 1);
    if (found != kNoMatch || error_ != nullptr) return found;
    if (!fits(at, item, end) || !spend()) return kNoMatch;
  }
}

size_t PatternMatcher::balanced(size_t at, size_t item) {
  if (item + 1 >= pattern_.size()) return fail("unbalanced pattern");
  const char open = pattern_[item];
  const char close = pattern_[item + 1];
  if (at >= subject_.size() || subject_[at] != open) return kNoMatch;
  size_t level = 1;
  for (size_t i = at + 1; i < subject_.size(); i++) {
    if (!spend()) return kNoMatch;
    if (subject_[i] == close) {
      if (--level == 0) return i + 1;
    } else if (subject_[i] == open) {
      level++;
    }
  }
  return kNoMatch;
}

size_t PatternMatcher::same_as_capture(size_t at, char digit) {
  const size_t which = static_cast<size_t>(digit - '1');
  if (digit == '0' || which >= count_ || captures_[which].length == kOpen) {
    return fail("invalid capture index");
  }
  const Capture& capture = captures_[which];
  if (capture.length == kPosition) return kNoMatch;
  if (!spend(capture.length / 8 + 1)) return kNoMatch;
  const std::string_view text = subject_.substr(capture.begin, capture.length);
  return subject_.substr(at).starts_with(text) ? at + text.size() : kNoMatch;
}

size_t PatternMatcher::end_of_item(size_t item) {
  const char first = pattern_[item++];
  if (first == kEscape) {
    if (item >= pattern_.size()) return fail("malformed pattern (ends with '%')");
    return item + 1;
  }
  return first == '[' ? end_of_set(item) : item;
}

// `item` is after the bracket. A closing bracket at the front is literal.
size_t PatternMatcher::end_of_set(size_t item) {
  if (item < pattern_.size() && pattern_[item] == '^') item++;
  for (bool first = true;; first = false) {
    if (item >= pattern_.size()) return fail("malformed pattern (missing ']')");
    const char c = pattern_[item++];
    if (c == ']' && !first) break;
    if (c == kEscape) item++;
  }
  return spend(item / 8 + 1) ? item : kNoMatch;
}

bool PatternMatcher::fits(size_t at, size_t item, size_t end) const {
  if (at >= subject_.size()) return false;
  const auto byte = static_cast<unsigned char>(subject_[at]);
  switch (pattern_[item]) {
    case '.':
      return true;
    case kEscape:
      return in_class(byte, pattern_[item + 1]);
    case '[':
      return in_set(byte, item, end);
    default:
      return pattern_[item] == subject_[at];
  }
}

// `item` is at the opening bracket, `end` after the closing one.
bool PatternMatcher::in_set(unsigned char byte, size_t item, size_t end) const {
  const size_t close = end - 1;
  size_t at = item + 1;
  const bool inverted = pattern_[at] == '^';
  if (inverted) at++;
  while (at < close) {
    if (pattern_[at] == kEscape) {
      if (in_class(byte, pattern_[at + 1])) return !inverted;
      at += 2;
    } else if (at + 2 < close && pattern_[at + 1] == '-') {
      const auto low = static_cast<unsigned char>(pattern_[at]);
      const auto high = static_cast<unsigned char>(pattern_[at + 2]);
      if (low <= byte && byte <= high) return !inverted;
      at += 3;
    } else {
      if (static_cast<unsigned char>(pattern_[at]) == byte) return !inverted;
      at++;
    }
  }
  return inverted;
}

// An upper-case letter is the complement of its lower-case class; other characters are literal.
bool PatternMatcher::in_class(unsigned char byte, char letter) {
  bool is = false;
  switch (to_lower(letter)) {
    case 'a':
      is = std::isalpha(byte) != 0;
      break;
    case 'c':
      is = std::iscntrl(byte) != 0;
      break;
    case 'd':
      is = std::isdigit(byte) != 0;
      break;
    case 'l':
      is = std::islower(byte) != 0;
      break;
    case 'p':
      is = std::ispunct(byte) != 0;
      break;
    case 's':
      is = std::isspace(byte) != 0;
      break;
    case 'u':
      is = std::isupper(byte) != 0;
      break;
    case 'w':
      is = std::isalnum(byte) != 0;
      break;
    case 'x':
      is = std::isxdigit(byte) != 0;
      break;
    case 'z':
      is = byte == 0;
      break;
    default:
      return static_cast<unsigned char>(letter) == byte;
  }
  return (letter >= 'A' && letter <= 'Z') ? !is : is;
}

}  // namespace sorrel::script
