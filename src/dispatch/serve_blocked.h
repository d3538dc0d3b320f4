#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/blocked_clients.h"
#include "dispatch/execution_recorder.h"
#include "dispatch/executor_world.h"
#include "dispatch/permission.h"

namespace sorrel {

// One worker's part in blocking commands: it lists its own commands that block, and after a command
// that changed keys it runs the blocked commands of any worker's clients again.
//
//   BLPOP finds nothing ── block() ──> BlockedClients
//   LPUSH changes the key ── serve() ──> BLPOP runs again ──> take_served(): the replies
class ServeBlocked {
 public:
  // Runs a command that passed admission before, with latches and all.
  using Run = std::function<void(const Request&, Caller&, resp::ReplySink&)>;
  ServeBlocked(const ExecutorWorld& world, unsigned worker, Door& door, Permissions& permissions,
               ExecutionRecorder& recorder, Run run)
      : world_(world),
        worker_(worker),
        door_(door),
        permissions_(permissions),
        recorder_(recorder),
        run_(std::move(run)) {}

  // Set by the handler of the current command; see Call::wait().
  Waiting& waiting() { return waiting_; }
  bool blocks() const { return waiting_.asked; }
  // The current command blocks, and is not one that serve() runs.
  bool newly_blocks() const { return waiting_.asked && !waiting_.retrying; }

  // Lists the command as blocked. Precondition: newly_blocks(), and the latches of its keys are
  // held.
  void block(const Call& call);
  // The client that the last block() listed.
  BlockedClients::Handle take_blocked() { return std::move(waiter_); }

  // False: no changed key has a blocked client, serving is going on, or writes are paused; in that
  // case the keys stay noted until the pause ends.
  bool may_serve(int64_t now_ms) const;
  // Runs the commands blocked on keys that have changed, the one that waits longest first; keys
  // that these change are looked at in turn. Precondition: may_serve(), no latch held.
  void serve(int64_t now_ms);

  // Replies to blocked clients, for the workers that own their connections; to be handed on after
  // the effects of the loop iteration.
  struct Served {
    BlockedClients::Handle waiter;
    std::string reply;
  };
  std::vector<Served> take_served() { return std::exchange(served_, {}); }
  bool has_served() const { return !served_.empty(); }

  // A client was unblocked without its command being run again: timeout, or CLIENT UNBLOCK.
  // `error`: the error code of the reply; empty when that was no error.
  void count_unblocked(const BlockedClient& waiter, std::string_view error);

 private:
  void serve_key(int db, const std::string& key, int64_t now_ms);
  bool exists(int db, std::string_view key, int64_t now_ms);
  bool run_for(const BlockedClients::Handle& waiter);

  const ExecutorWorld& world_;
  unsigned worker_;
  Door& door_;
  Permissions& permissions_;
  ExecutionRecorder& recorder_;
  Run run_;
  Waiting waiting_;
  BlockedClients::Handle waiter_;
  bool serving_ = false;
  std::vector<Served> served_;
};

}  // namespace sorrel
