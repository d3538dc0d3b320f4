#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dispatch/executor.h"
#include "dispatch/transaction.h"
#include "persist/loader.h"

namespace sorrel::persist {

// Runs the commands of a log once more, with an executor of its own: nobody hears of the changes,
// nothing is counted, and no gate is closed, since whoever loads is alone already. No key runs out
// of time meanwhile, because the log says itself what went when; and a transaction counts only when
// all of it is there. A log is data: commands that rule the server and change no keys are refused.
//
// One for all files of a log; the database that was selected does not carry over.
//
// Precondition: alone in the process, but for what hooks.step lets in.
class AofReplay {
 public:
  // `server` outlives it: its commands, keys and state are used. `worker` is the one that loads.
  AofReplay(const ExecutorWorld& server, unsigned worker, LoadProgress& progress);

  enum class End : uint8_t {
    kWhole,
    kTorn,     // it breaks off behind `good`, in a command or a transaction
    kDamaged,  // what stands behind `good` is no command
    kUnknown,  // it is one that this server does not have
    kForeign,  // it is for a database that this server does not have
    kStopped,  // hooks.step wants no more
  };
  struct Outcome {
    End end = End::kWhole;
    uint64_t good = 0;  // bytes that were run, and whole
    // Where and what, unless kWhole; of kUnknown only the command's name, of kForeign the database.
    std::string problem;
    uint64_t offset = 0;  // of kUnknown and kForeign: where that command begins
  };
  // From `begin` on: behind the RDB part of a file that has one.
  Outcome run(std::string_view bytes, uint64_t begin, const LoadOptions& options,
              const LoadHooks& hooks);

  // Commands that were refused when they were run again, which once they were not.
  uint64_t errors() const { return errors_; }
  // What the commands have changed.
  uint64_t changes() const { return executor_.changes(); }
  const std::string& first_error() const { return first_error_; }

 private:
  End run_one(std::span<const std::string_view> args);
  bool selects_beyond(const Command& command, std::span<const std::string_view> args) const;
  void count_error(std::string_view name, std::string_view text);

  EffectStream nobody_;
  WorldGate gate_{1};
  ExecutorWorld world_;
  Executor executor_;
  const Command* select_;
  LoadProgress& progress_;
  Transaction transaction_;
  Caller caller_;
  uint64_t errors_ = 0;
  std::string first_error_;
};

}  // namespace sorrel::persist
