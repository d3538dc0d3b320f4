#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::script {

// The text of a script that is debugged, line by line, with its breakpoints.
class DebugSource {
 public:
  // `text` must outlive this object.
  explicit DebugSource(std::string_view text);

  int64_t line_count() const { return static_cast<int64_t>(lines_.size()); }

  static constexpr size_t kMostBreakpoints = 64;
  enum class Added : uint8_t { kYes, kTooMany, kNoSuchLine };
  // A line that has a breakpoint already: kNoSuchLine.
  Added add_breakpoint(int64_t line);
  // False: the line had none.
  bool remove_breakpoint(int64_t line);
  void remove_all_breakpoints() { breakpoints_.clear(); }
  bool stops_at(int64_t line) const;
  const std::vector<int64_t>& breakpoints() const { return breakpoints_; }

  // One line with its number, marked when it is the current one or has a breakpoint.
  std::string show(int64_t line, int64_t current) const;
  // The lines around one: that many before and after it.
  void list(int64_t around, int64_t context, int64_t current,
            const std::function<void(std::string)>& take) const;

 private:
  std::vector<std::string_view> lines_;
  std::vector<int64_t> breakpoints_;  // in the order they were set
};

}  // namespace sorrel::script
