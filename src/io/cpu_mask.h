#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace sorrel::io {

// The processors that a thread may run on, for server_cpulist and its like. Default: no opinion.
//
// The system may refuse (a processor that is not there, a syscall filter, an old sandbox); the
// thread then runs where it did before.
class CpuMask {
 public:
  CpuMask() = default;
  // "0-3,8", "1-7:2" (every second one), or empty: no opinion.
  static Result<CpuMask> parse(std::string_view text);
  // Where the calling thread may run now; no opinion when the system does not say.
  static CpuMask of_this_thread();

  bool empty() const { return bits_.empty(); }
  // For the calling thread and those that it makes from now on. Nothing happens when empty.
  Status apply() const;

  bool operator==(const CpuMask&) const = default;

 private:
  void add(size_t processor);

  std::vector<unsigned long> bits_;  // as sched_setaffinity(2) takes them; no zeros at the end
};

}  // namespace sorrel::io
