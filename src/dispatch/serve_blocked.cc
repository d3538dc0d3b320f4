#include "dispatch/serve_blocked.h"

#include "resp/reply_writer.h"

namespace sorrel {

void ServeBlocked::block(const Call& call) {
  auto waiter = std::make_shared<BlockedClient>();
  waiter->command = &call.command;
  waiter->args.assign(call.args.begin(), call.args.end());
  for (const auto& [at, text] : waiting_.replaced) waiter->args[at] = text;
  for (size_t at : waiting_.keys) waiter->keys.emplace_back(waiter->args[at]);
  waiter->caller = call.caller;
  waiter->caller.transaction = nullptr;
  waiter->caller.kind = Caller::Kind::kBlocked;
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

bool ServeBlocked::may_serve(int64_t now_ms) const {
  return !serving_ && world_.waiters != nullptr && !world_.node.paused(now_ms);
}

void ServeBlocked::serve(int64_t now_ms) {
  serving_ = true;
  // The command that made the change may itself block; commands that run here must not report so.
  const bool asked = waiting_.asked;
  for (size_t next = 0; next < door_.touched().size(); next++) {
    const auto [db, key] = door_.touched()[next];
    if (db == Door::kAnyDatabase) {
      for (const auto& [waited_db, waited] : world_.waiters->keys()) door_.touch(waited_db, waited);
    } else {
      serve_key(db, key, now_ms);
    }
  }
  door_.clear_touched();
  waiting_.asked = asked;
  serving_ = false;
}

void ServeBlocked::serve_key(int db, const std::string& key, int64_t now_ms) {
  uint64_t ticket = 0;
  auto of = exists(db, key, now_ms) ? BlockedClients::Of::kAll : BlockedClients::Of::kNeedingKey;
  while (BlockedClients::Handle waiter = world_.waiters->claim_next(db, key, ticket, of)) {
    ticket = waiter->ticket;
    if (run_for(waiter)) {
      world_.waiters->served(waiter);
      continue;
    }
    if (!world_.waiters->release(waiter)) {
      for (const std::string_view other : waiter->keys) door_.touch(waiter->caller.db, other);
    }
    if (!exists(db, key, now_ms)) of = BlockedClients::Of::kNeedingKey;
  }
}

void ServeBlocked::count_unblocked(const BlockedClient& waiter, std::string_view error) {
  ExecutorStats& all = recorder_.stats();
  CommandStats& stats = all.commands[waiter.command->index];
  stats.calls++;
  all.processed++;
  if (error.empty()) return;
  stats.failed++;
  recorder_.count_error(error, 1);
}

bool ServeBlocked::exists(int db, std::string_view text, int64_t now_ms) {
  door_.begin(db, now_ms, false);
  const Key key = door_.key(text);
  if (!world_.gate.threaded()) return door_.peek(key) != nullptr;
  Latch& latch = world_.keyspace.partition(world_.keyspace.partition_of(text)).latch;
  latch.lock();
  const bool there = door_.peek(key) != nullptr;
  latch.unlock();
  return there;
}

// True: it was answered, and the reply is in served_.
bool ServeBlocked::run_for(const BlockedClients::Handle& waiter) {
  const std::vector<std::string_view> args(waiter->args.begin(), waiter->args.end());
  Request request;
  request.args = args;
  request.command = waiter->command;
  Caller caller = waiter->caller;
  // Its session may belong to another worker, so reads cannot be reported for tracking.
  caller.reasons &= ~uint32_t{Caller::kTracking};
  resp::OutputBuffer out;
  resp::ReplyWriter reply(out, caller.protocol);
  // The user's permissions may have changed while the client was blocked.
  const std::string error =
      permissions_.error(caller, *waiter->command, request.args, Permissions::Context::kRequest);
  if (!error.empty()) {
    reply.error(error);
    recorder_.reject(waiter->command, reply, 0);
  } else {
    waiting_.retrying = true;
    run_(request, caller, reply);
    waiting_.retrying = false;
    if (waiting_.asked) return false;
  }
  served_.push_back({waiter, std::string(out.view())});
  return true;
}

}  // namespace sorrel
