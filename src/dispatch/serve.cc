// Waiting for keys, and being served by who changes them.

#include <utility>

#include "dispatch/executor.h"
#include "resp/reply_writer.h"

namespace sorrel {

// Precondition: the handler has asked to wait, and the latches of its keys are held.
void Executor::start_waiting(const Call& call) {
  auto waiter = std::make_shared<Waiter>();
  waiter->command = &call.command;
  waiter->args.assign(call.args.begin(), call.args.end());
  for (const auto& [at, text] : waiting_.replaced) waiter->args[at] = text;
  for (size_t at : waiting_.keys) waiter->keys.emplace_back(waiter->args[at]);
  waiter->caller = call.caller;
  waiter->caller.transaction = nullptr;
  waiter->caller.kind = Caller::Kind::kWaiter;
  waiter->worker = worker_;
  waiter->deadline_ms = waiting_.deadline_ms;
  waiter->null_array = waiting_.null_array;
  waiter->needs_key = waiting_.needs_key;
  waiter->log_sequence = std::exchange(waiting_.log_sequence, 0);
  waiter->for_replicas = std::exchange(waiting_.for_replicas, false);
  world_.waiters->add(waiter);
  waiter_ = std::move(waiter);
  waiting_.replaced.clear();
}

// Runs the commands of those who wait for keys that have changed, the one who waits longest first;
// what these change is looked at in turn. No latch is held here.
void Executor::serve_waiters() {
  if (serving_ || world_.waiters == nullptr) return;
  // While writes are paused nobody is served; the keys stay noted until then.
  if ((world_.node.reasons & NodeState::kPaused) != 0 && now_ms_ < world_.node.pause_until_ms) {
    return;
  }
  serving_ = true;
  // What has changed the keys may have taken long enough for them to be gone again.
  if (world_.clock != nullptr) now_ms_ = world_.clock->wall_ms();
  // The command that made the change may itself be waiting; what is run here must not say so.
  const bool asked = waiting_.asked;
  for (size_t next = 0; next < door_.touched().size(); next++) {
    const auto [db, key] = door_.touched()[next];
    if (db == Door::kAnyDatabase) {
      for (const auto& [waited_db, waited] : world_.waiters->keys()) door_.touch(waited_db, waited);
      continue;
    }
    uint64_t ticket = 0;
    auto of = is_there(db, key) ? Waiters::Of::kAll : Waiters::Of::kWhoNeedKey;
    while (Waiters::Handle waiter = world_.waiters->claim_next(db, key, ticket, of)) {
      ticket = waiter->ticket;
      if (run_for(waiter)) {
        world_.waiters->served(waiter);
        continue;
      }
      if (!world_.waiters->release(waiter)) {
        for (const std::string_view other : waiter->keys) door_.touch(waiter->caller.db, other);
      }
      if (!is_there(db, key)) of = Waiters::Of::kWhoNeedKey;
    }
  }
  door_.clear_touched();
  waiting_.asked = asked;
  serving_ = false;
}

void Executor::count_ended_wait(const Waiter& waiter, std::string_view error) {
  CommandStats& stats = stats_.commands[waiter.command->index];
  stats.calls++;
  stats_.processed++;
  if (error.empty()) return;
  stats.failed++;
  count_error(error, 1);
}

bool Executor::is_there(int db, std::string_view text) {
  door_.begin(db, now_ms_, false);
  const Key key = door_.key(text);
  if (!world_.gate.threaded()) return door_.peek(key) != nullptr;
  Latch& latch = world_.keyspace.partition(world_.keyspace.partition_of(text)).latch;
  latch.lock();
  const bool there = door_.peek(key) != nullptr;
  latch.unlock();
  return there;
}

// True: it was answered, and the answer is in served_.
bool Executor::run_for(const Waiters::Handle& waiter) {
  const std::vector<std::string_view> args(waiter->args.begin(), waiter->args.end());
  Request request;
  request.args = args;
  request.command = waiter->command;
  Caller caller = waiter->caller;
  // Its session may be of another worker, and cannot be asked what it wants to have noted.
  caller.reasons &= ~uint32_t{Caller::kTracking};
  resp::OutputBuffer out;
  resp::ReplyWriter reply(out, caller.protocol);
  // What its user may do can have changed while it waited.
  const std::string error =
      permission_error(caller, *waiter->command, request.args, AskedFor::kRequest);
  if (!error.empty()) {
    reply.error(error);
    count_error(reply, 0);
    stats_.commands[waiter->command->index].rejected++;
  } else {
    waiting_.retrying = true;
    run_again(request, caller, reply);
    waiting_.retrying = false;
    if (waiting_.asked) return false;
  }
  served_.push_back({waiter, std::string(out.view())});
  return true;
}

}  // namespace sorrel
