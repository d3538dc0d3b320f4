#include "script/debug_source.h"

#include <fmt/format.h>

#include <algorithm>

namespace sorrel::script {

DebugSource::DebugSource(std::string_view text) {
  const size_t last = text.find_last_not_of("\r\n");
  text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines_.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

DebugSource::Added DebugSource::add_breakpoint(int64_t line) {
  if (breakpoints_.size() == kMostBreakpoints) return Added::kTooMany;
  if (line <= 0 || line > line_count() || stops_at(line)) return Added::kNoSuchLine;
  breakpoints_.push_back(line);
  return Added::kYes;
}

bool DebugSource::remove_breakpoint(int64_t line) {
  return std::erase(breakpoints_, line) > 0;
}

bool DebugSource::stops_at(int64_t line) const {
  return std::find(breakpoints_.begin(), breakpoints_.end(), line) != breakpoints_.end();
}

std::string DebugSource::show(int64_t line, int64_t current) const {
  const bool known = line > 0 && line <= line_count();
  return fmt::format("{}{}{:<3} {}", line == current ? "->" : "  ", stops_at(line) ? '#' : ' ',
                     line,
                     known ? lines_[static_cast<size_t>(line - 1)]
                           : std::string_view("<out of range source code line>"));
}

void DebugSource::list(int64_t around, int64_t context, int64_t current,
                       const std::function<void(std::string)>& take) const {
  if (context < 0) return;
  for (int64_t line = std::max<int64_t>(1, around - context);
       line <= std::min(line_count(), around + context); line++) {
    take(show(line, current));
  }
}

}  // namespace sorrel::script
