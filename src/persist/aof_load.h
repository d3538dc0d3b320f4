#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "io/mapped_file.h"
#include "persist/aof_files.h"
#include "persist/aof_replay.h"
#include "persist/dataset_load.h"
#include "persist/host.h"

namespace sorrel::persist {

// The dataset read back from the files of an AOF: its base, then the commands of its increments. A
// last increment that breaks off is cut, if aof-load-truncated allows it.
//
// Thread rule: in an exclusive section.
class AofLoad {
 public:
  // All outlive it.
  AofLoad(Host& host, DatasetLoad& load, AofFiles& files)
      : host_(host), load_(load), files_(files) {}

  // All files that the manifest names. An Error has been logged, unless the server was asked to
  // end.
  Status run(const DatasetLoad::Place& place);
  // How many changes the commands have made.
  uint64_t changes() const { return changes_; }

 private:
  Status load_part(const LogPart& part, bool is_last, AofReplay& replay,
                   const DatasetLoad::Place& place);
  // The RDB file that a part is or begins with, if it does. The Result is where commands begin.
  Result<uint64_t> load_front(const std::string& name, const io::MappedFile& file,
                              const LoadOptions& options, const LoadHooks& hooks);
  Status check_end(const std::string& name, const AofReplay::Outcome& outcome, bool is_last);
  Status cut_tail(const std::string& name, const AofReplay::Outcome& outcome);

  Host& host_;
  DatasetLoad& load_;
  AofFiles& files_;
  uint64_t changes_ = 0;
};

}  // namespace sorrel::persist
