#pragma once

#include <cstdint>
#include <span>

#include "dispatch/admission.h"
#include "dispatch/call.h"
#include "dispatch/effect_writer.h"
#include "dispatch/evict_before_command.h"
#include "dispatch/execution_recorder.h"
#include "dispatch/executor_world.h"
#include "dispatch/latch_set.h"
#include "dispatch/permission.h"
#include "dispatch/reply_durability.h"
#include "dispatch/request_preparer.h"
#include "dispatch/serve_blocked.h"

namespace sorrel {

// One worker's way of running commands; puts the parts of dispatch in order. Thread rule: belongs
// to its worker's thread.
//
//   RequestPreparer ──> execute() ──> Admission ──> LatchSet ──> handler ──> EffectWriter
//                                (slow path only)      └─ unlock ──> ExecutionRecorder
//                                                                     └──> ServeBlocked
class Executor {
 public:
  enum class Outcome : uint8_t {
    kDone,       // answered
    kDoneLate,   // answered, and that took at least NodeState::watch_from_ns
    kPostponed,  // not run: CLIENT PAUSE; to be tried again later
    kWaiting,    // the client is blocked; see ServeBlocked::take_blocked()
  };

  Executor(ExecutorWorld& world, unsigned worker, uint64_t random_seed);

  // Runs a request that requests() has prepared.
  Outcome execute(const Request& request, Caller& caller, resp::ReplySink& reply);

  // The time of commands: set at the start of every batch.
  void begin_batch(int64_t now_ms) {
    now_ms_ = now_ms;
    recorder_.start();
    update_expiry_mode();
  }
  int64_t now_ms() const { return now_ms_; }
  // For a command that yields and goes on in its own time.
  void set_now_ms(int64_t now_ms) { now_ms_ = now_ms; }
  // After a change of NodeState within a batch, in the exclusive section.
  void update_expiry_mode() { door_.set_may_expire(!node_.expiry_suspended(now_ms_)); }

  void enter() { world_.gate.enter(worker_); }
  void leave() { world_.gate.leave(worker_); }
  void pause() { world_.gate.pause(worker_); }
  // Runs `act` alone in the process. Precondition: in a batch, no latch held.
  template <class Act>
  void exclusively(Act&& act) {
    world_.gate.begin_exclusive(worker_);
    act();
    world_.gate.end_exclusive(worker_);
  }

  // After changes that no command made (expiry): serves clients blocked on such keys. Precondition:
  // in a batch, no latch held.
  void serve_touched() {
    if (door_.has_touched() && nested_depth_ == 0) [[unlikely]]
      serve_blocked_clients();
  }
  // One round of eviction between commands; see EvictBeforeCommand::evict().
  EvictBeforeCommand::Room evict();

  // See ReplyDurability::required_sequence().
  uint64_t required_sequence(std::span<const Request> requests) {
    return durability_.required_sequence(requests);
  }

  // For NestedExecution. begin_nested() and end_nested() enclose run_nested(); `began_cycles` is
  // when the outer command began.
  void begin_nested();
  void run_nested(const Call& outer, const Command& command, const Request& request, Caller& caller,
                  resp::ReplySink& reply);
  void end_nested(const Call& outer, uint64_t began_cycles);

  RequestPreparer& requests() { return requests_; }
  Door& door() { return door_; }
  EffectLog& effects() { return effects_; }
  Permissions& permissions() { return permissions_; }
  SlotCheck& slots() { return admission_.slots(); }
  ServeBlocked& blocked() { return blocked_; }
  ExecutionRecorder& recorder() { return recorder_; }
  const ExecutionRecorder& recorder() const { return recorder_; }
  ExecutorStats& stats() { return recorder_.stats(); }
  const ExecutorStats& stats() const { return recorder_.stats(); }
  // See EvictBeforeCommand::out_of_memory().
  bool out_of_memory() const { return eviction_.out_of_memory(); }
  // Changes made by commands since the start; a snapshot remembers how many it holds.
  uint64_t changes() const { return changes_; }
  unsigned worker() const { return worker_; }
  const ExecutorWorld& world() const { return world_; }
  // The command that this worker runs right now, for crash reports; null: none.
  const Call* current() const { return current_; }

 private:
  Outcome execute_checked(const Request& request, Caller& caller, resp::ReplySink& reply);
  Outcome execute_lasting(const Request& request, Caller& caller, resp::ReplySink& reply);
  Outcome execute_queued(const Request& request, Caller& caller, resp::ReplySink& reply);
  Outcome run_admitted(const Command& command, const Request& request, Caller& caller,
                       resp::ReplySink& reply);
  Outcome run(const Command& command, const Request& request, Caller& caller,
              resp::ReplySink& reply);
  void run_locked(Call& call);
  void prepare_alone(const Call& call);
  void run_under_latches(Call& call);
  void run_transaction(Call& call);
  void run_latched(Call& call);
  void run_exclusively(Call& call);
  void report_read(Caller& reader, const Call& call);
  void report_to_monitors(const Command& command, const Request& request, const Caller& caller);
  void serve_blocked_clients();

  ExecutorWorld& world_;
  const NodeState& node_;
  const unsigned worker_;
  const bool threaded_;  // there are other workers, and so there are latches
  Random random_;
  EffectLog effects_;
  Door door_;
  ExecutionRecorder recorder_;
  Permissions permissions_;
  EvictBeforeCommand eviction_;
  Admission admission_;
  LatchSet latches_;
  ReplyDurability durability_;
  RequestPreparer requests_;
  EffectWriter effect_writer_;
  ServeBlocked blocked_;
  int64_t now_ms_ = 0;
  uint64_t changes_ = 0;
  const Call* current_ = nullptr;
  int nested_depth_ = 0;  // of NestedExecution: its changes are not visible to clients yet
};

}  // namespace sorrel
