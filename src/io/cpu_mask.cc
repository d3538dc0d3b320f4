#include "io/cpu_mask.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <optional>
#include <string>

#include "io/process.h"
#include "io/socket.h"

namespace sorrel::io {
namespace {

// The most that Linux can be built for; bounds the size of a mask.
constexpr size_t kMostProcessors = 8192;
constexpr size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;

struct Range {
  size_t first = 0;
  size_t last = 0;
  size_t step = 1;
};

// Removes a number from the front of `text`; nullopt when there is none.
std::optional<size_t> take_number(std::string_view& text) {
  size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
  return number;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// "3", "0-3" or "0-7:2".
std::optional<Range> parse_range(std::string_view text) {
  const std::optional<size_t> first = take_number(text);
  if (!first) return std::nullopt;
  Range range{*first, *first};
  if (take(text, '-')) {
    const std::optional<size_t> last = take_number(text);
    if (!last) return std::nullopt;
    range.last = *last;
    if (take(text, ':')) {
      const std::optional<size_t> step = take_number(text);
      if (!step || *step == 0) return std::nullopt;
      range.step = *step;
    }
  }
  if (!text.empty() || range.last < range.first) return std::nullopt;
  return range;
}

}  // namespace

void CpuMask::add(size_t processor) {
  const size_t word = processor / kWordBits;
  if (word >= bits_.size()) bits_.resize(word + 1);
  bits_[word] |= 1UL << (processor % kWordBits);
}

Result<CpuMask> CpuMask::parse(std::string_view text) {
  CpuMask mask;
  if (text.empty()) return mask;
  while (true) {
    const size_t comma = text.find(',');
    const std::string part(text.substr(0, comma));
    const std::optional<Range> range = parse_range(part);
    if (!range) return Error{"'" + part + "' is not a processor or a range of processors"};
    if (range->last >= kMostProcessors) return Error{"processor out of range in '" + part + "'"};
    for (size_t i = range->first; i <= range->last; i += range->step) {
      mask.add(i);
      if (range->step > kMostProcessors) break;
    }
    if (comma == std::string_view::npos) return mask;
    text.remove_prefix(comma + 1);
  }
}

CpuMask CpuMask::of_this_thread() {
  CpuMask mask;
  mask.bits_.resize(kMostProcessors / kWordBits);
  // The raw system call returns the number of bytes filled; the libc wrapper does not.
  const long got = syscall(SYS_sched_getaffinity, 0, mask.bits_.size() * sizeof(unsigned long),
                           mask.bits_.data());
  if (got < 0) return {};
  while (!mask.bits_.empty() && mask.bits_.back() == 0) mask.bits_.pop_back();
  return mask;
}

Status CpuMask::apply() const {
  if (bits_.empty()) return {};
  // Debian's unit for Redis kills the process on this call.
  if (system_calls_are_filtered()) return Error{"sched_setaffinity: system calls are filtered"};
  const long done =
      syscall(SYS_sched_setaffinity, 0, bits_.size() * sizeof(unsigned long), bits_.data());
  if (done != 0) return system_error("sched_setaffinity");
  return {};
}

}  // namespace sorrel::io
