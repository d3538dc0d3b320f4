#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "dispatch/executor.h"
#include "io/cpu_mask.h"
#include "keyspace/eviction_policy.h"
#include "keyspace/keyspace.h"
#include "persist/options.h"
#include "propagate/effect_log.h"

namespace sorrel::persist {

// What a snapshot tells of the server that writes it.
struct SnapshotFacts {
  std::string redis_version;
  uint64_t used_memory = 0;
  EvictionPolicy eviction = EvictionPolicy::kNoEviction;  // says which use of keys is written
  io::CpuMask processors;                                 // of a thread that writes the file
  std::vector<std::string_view> libraries;                // the code of each library of functions
};

// Whether worker threads run their loops yet: decides how connections are served during a load.
enum class LoadPhase : uint8_t { kStarting, kRunning };

// What persistence needs of the server that it is a part of; tests have a fake one.
//
// Thread rule: everything in an exclusive section, or before workers start, but post_exclusive()
// and log(), which are for any thread.
class Host {
 public:
  virtual ~Host() = default;

  virtual const Clock& clock() const = 0;
  virtual Logger& log() = 0;
  // As they are now: CONFIG SET changes them in place.
  virtual const PersistenceOptions& options() const = 0;
  virtual NodeState& node() = 0;
  virtual EffectStream& effects() = 0;
  // From Persistence::connect() on.
  virtual Keyspace& keyspace() = 0;
  virtual const ExecutorWorld& executors() const = 0;
  virtual unsigned worker_count() const = 0;

  // How many changes commands have made since the start.
  virtual uint64_t changes() const = 0;
  virtual SnapshotFacts snapshot_facts(bool as_aof_base) const = 0;
  virtual Status load_library(std::string_view code, bool replace) = 0;
  virtual void flush_libraries() = 0;
  // Logs what is wrong with an RDB file, byte by byte; see rdb::FileReadOptions for `stands_alone`.
  virtual void report_damage(const std::string& path, std::string_view bytes,
                             bool stands_alone) = 0;

  // Hands the effects of all workers to the stream.
  virtual void flush_effects() = 0;
  // NodeState::kLoading was set: workers in a batch stop expiring keys on lookup.
  virtual void on_loading() = 0;
  // Ends the exclusive section for a moment, so that connections of `worker` are served and answer
  // LOADING. An Error: the server was asked to end.
  virtual Status yield(unsigned worker, LoadPhase phase) = 0;
  // The last yield() of a load on `worker` is over; not after LoadPhase::kStarting.
  virtual void end_yielding(unsigned worker) = 0;
  // Was the server asked to end?
  virtual bool stopping() const = 0;
  // Any thread: worker 0 runs `task` in an exclusive section, soon.
  virtual void post_exclusive(std::function<void()> task) = 0;
};

}  // namespace sorrel::persist
