#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "persist/background_job.h"
#include "persist/host.h"
#include "persist/loader.h"

namespace sorrel::persist {

// What is known of a load, from a file or from several.
struct LoadFacts {
  bool loading = false;
  int64_t began_ms = 0;
  uint64_t total_bytes = 0;
  uint64_t loaded_bytes = 0;  // of files that have been read to their end
  LoadProgress progress;
};

// The dataset read back from files, at the start or for DEBUG: while it goes on other clients hear
// LOADING, and now and then they are served.
//
// Thread rule: in an exclusive section.
class DatasetLoad {
 public:
  // On which worker a load runs. In a transaction it must not yield.
  struct Place {
    unsigned worker = 0;
    bool may_yield = true;
  };

  // Both outlive it.
  DatasetLoad(Host& host, BackgroundJob& job) : host_(host), job_(job) {}

  // Around the files of one load.
  void begin(uint64_t total_bytes);
  void end();
  // A file of the load has been read to its end.
  void count_file(uint64_t bytes);
  // How files are read, as configured, and how a load on `place` yields.
  LoadOptions options() const;
  LoadHooks hooks(const Place& place);

  // One RDB file as a whole load. An Error has been logged, unless the server was asked to end.
  Status load_rdb(const std::string& path, const LoadOptions& options, const Place& place);
  // The same at the start: logs how long it took, or in detail what is wrong with the file.
  Status load_rdb_at_start(const std::string& path);

  // All keys and libraries of functions go.
  void empty_dataset();
  // Until set_phase(kRunning) no worker runs its loop.
  void set_phase(LoadPhase phase) { phase_ = phase; }

  const LoadFacts& facts() const { return facts_; }
  // For readers of files, which count in it.
  LoadProgress& progress() { return facts_.progress; }

 private:
  Host& host_;
  BackgroundJob& job_;
  LoadFacts facts_;
  LoadPhase phase_ = LoadPhase::kRunning;
};

}  // namespace sorrel::persist
