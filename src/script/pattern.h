#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace sorrel::script {

// Lua 5.1's patterns (manual, section 5.4.1), matched within bounds: Lua's own matcher recurses as
// deep as the pattern is long and may backtrack for exponential time, and a script cannot be
// interrupted in it. This one counts its steps and its depth and fails with an error.
//
// Pure: independent of the interpreter.
class PatternMatcher {
 public:
  static constexpr size_t kNoMatch = SIZE_MAX;
  static constexpr size_t kMostCaptures = 32;
  // Every level is a C++ stack frame; patterns written by hand need a dozen.
  static constexpr int kMostDepth = 1000;
  // Steps per match, plus some per byte of the subject: enough for every linear match, and about a
  // second of work for others.
  static constexpr uint64_t kFreeSteps = 20'000'000;
  static constexpr uint64_t kStepsPerByte = 64;
  // Steps between two calls of `poll`.
  static constexpr uint64_t kStepsPerPoll = 1 << 20;

  struct Capture {
    size_t begin;
    size_t length;  // kOpen: not closed yet; kPosition: "()"
  };
  static constexpr size_t kOpen = SIZE_MAX;
  static constexpr size_t kPosition = SIZE_MAX - 1;

  // The texts must outlive the matcher. The caller strips an anchor ('^').
  PatternMatcher(std::string_view subject, std::string_view pattern);

  // Called from time to time within long matches; may throw.
  void set_poll(std::function<void()> poll) { poll_ = std::move(poll); }

  // The end of the match that begins at `from`, or kNoMatch, also when error() is set. The steps of
  // all calls are added up.
  size_t match_at(size_t from);

  // Why the pattern is invalid, or that the match takes too long; null: no error.
  const char* error() const { return error_; }
  size_t capture_count() const { return count_; }
  // Precondition: at < capture_count(), after a match; every capture is closed then, or
  // check_closed() has set error().
  const Capture& capture(size_t at) const { return captures_[at]; }
  bool check_closed();

 private:
  size_t match(size_t at, size_t item);
  size_t step_over_special(size_t at, size_t& item, bool& special);
  size_t open_capture(size_t at, size_t item);
  size_t close_capture(size_t at, size_t item);
  size_t longest_first(size_t at, size_t item, size_t end, size_t least);
  size_t shortest_first(size_t at, size_t item, size_t end);
  size_t balanced(size_t at, size_t item);
  size_t same_as_capture(size_t at, char digit);
  // The end of the single-character item that begins at `item`, without its suffix.
  size_t end_of_item(size_t item);
  size_t end_of_set(size_t item);
  bool fits(size_t at, size_t item, size_t end) const;
  bool in_set(unsigned char byte, size_t item, size_t end) const;
  static bool in_class(unsigned char byte, char letter);
  bool spend(uint64_t steps = 1);
  size_t fail(const char* error);

  std::string_view subject_;
  std::string_view pattern_;
  std::function<void()> poll_;
  std::array<Capture, kMostCaptures> captures_;
  size_t count_ = 0;
  int depth_ = 0;
  uint64_t steps_left_;
  uint64_t until_poll_ = kStepsPerPoll;
  const char* error_ = nullptr;
};

}  // namespace sorrel::script
