#pragma once

#include "base/log.h"
#include "io/cpu_mask.h"
#include "persist/child.h"
#include "server/options.h"

namespace sorrel::server {

// Where threads and processes of the server may run: server_cpulist and its like. Threads hand
// their processors on to threads and processes that they make, so background threads without a list
// get back what the process had at its start.
//
// Thread rule: prepare() before other threads read it.
class Processors {
 public:
  // A list that cannot be read or that the system refuses is logged, and has no effect.
  void prepare(const ProcessOptions& options, Logger& log);

  const io::CpuMask& workers() const { return workers_; }
  const io::CpuMask& background() const { return background_; }
  // For a process made by fork(); without a list it runs where its parent does, as in Redis.
  const io::CpuMask& child(persist::ChildKind kind) const;
  // For the thread that writes what a live snapshot gathers.
  const io::CpuMask& snapshot_writer(bool as_aof_base) const;

 private:
  io::CpuMask workers_;
  io::CpuMask background_;
  io::CpuMask snapshot_;
  io::CpuMask rewrite_;
  io::CpuMask none_;
};

}  // namespace sorrel::server
