#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace sorrel::io {

// CPU affinity of a thread, for server_cpulist and its siblings. Default: empty, affinity
// unchanged.
//
// The system may reject a mask (a processor that does not exist, a syscall filter, an old sandbox);
// the thread then keeps its affinity.
class CpuMask {
 public:
  CpuMask() = default;
  // "0-3,8", "1-7:2" (every second one), or empty: affinity unchanged.
  static Result<CpuMask> parse(std::string_view text);
  // Affinity of the calling thread; empty when the system does not report it.
  static CpuMask of_this_thread();

  bool empty() const { return bits_.empty(); }
  // Applies to the calling thread and the threads that it creates afterwards. No effect when empty.
  Status apply() const;

  bool operator==(const CpuMask&) const = default;

 private:
  void add(size_t processor);

  std::vector<unsigned long> bits_;  // as sched_setaffinity(2) takes them; no zeros at the end
};

}  // namespace sorrel::io
