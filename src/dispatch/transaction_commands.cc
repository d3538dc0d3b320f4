#include "dispatch/transaction_commands.h"

#include <algorithm>

#include "dispatch/nested_execution.h"
#include "dispatch/transaction.h"

namespace sorrel {
namespace {

// Scripts have no transaction of their own.
Transaction* transaction_of(Call& call) {
  Transaction* transaction = call.caller.transaction;
  if (transaction == nullptr) call.reply.error("ERR there is no connection to queue commands for");
  return transaction;
}

void leave(Call& call, Transaction& transaction) {
  transaction.close();
  call.caller.reasons &= ~uint32_t{Caller::kInTransaction};
  call.context<ChangeHub>().watches().clear(transaction.watcher);
}

void multi(Call& call) {
  Transaction* transaction = transaction_of(call);
  if (transaction == nullptr) return;
  if (transaction->open()) return call.reply.error("ERR MULTI calls can not be nested");
  transaction->begin();
  call.caller.reasons |= Caller::kInTransaction;
  call.reply.ok();
}

void discard(Call& call) {
  Transaction* transaction = transaction_of(call);
  if (transaction == nullptr) return;
  if (!transaction->open()) return call.reply.error("ERR DISCARD without MULTI");
  leave(call, *transaction);
  call.reply.ok();
}

void watch(Call& call) {
  Transaction* transaction = transaction_of(call);
  if (transaction == nullptr) return;
  if (transaction->open()) return call.reply.error("ERR WATCH inside MULTI is not allowed");
  // Once a key has changed, the others do not matter any more.
  if (!transaction->watcher.dirty()) {
    Watches& watches = call.context<ChangeHub>().watches();
    for (size_t i = 1; i < call.argc(); i++) {
      // An expired key is deleted first, unless expiry is suspended.
      const Key key = call.key(i);
      (void)call.keys.peek(key);
      const bool expired = call.keys.presence(key, call.caller.db) == Door::Presence::kExpired;
      watches.add(transaction->watcher, call.caller.db, call.arg(i), expired);
    }
  }
  call.reply.ok();
}

void unwatch(Call& call) {
  if (Transaction* transaction = call.caller.transaction) {
    call.context<ChangeHub>().watches().clear(transaction->watcher);
  }
  call.reply.ok();
}

void run_queued(Call& call, Transaction& transaction) {
  const std::span<const Transaction::Queued> commands = transaction.commands();
  std::vector<Request> requests(commands.size());
  for (size_t i = 0; i < commands.size(); i++) {
    requests[i].args = commands[i].args;
    requests[i].command = commands[i].command;
    call.executor.requests().look_ahead(requests[i], call.caller.db);
  }
  for (Request& request : requests) RequestPreparer::prefetch(request);
  call.reply.array(static_cast<int64_t>(requests.size()));
  NestedExecution nested(call);
  for (const Request& request : requests) {
    nested.run_if_permitted(*request.command, request, call.caller, call.reply,
                            Permissions::Context::kExec);
  }
}

void exec(Call& call) {
  Transaction* transaction = transaction_of(call);
  if (transaction == nullptr) return;
  if (!transaction->open()) return call.reply.error("ERR EXEC without MULTI");
  if (transaction->aborted()) {
    call.request.tells_nothing = true;
    call.reply.error("EXECABORT Transaction discarded because of previous errors.");
  } else if (call.context<ChangeHub>().watches().has_changed(transaction->watcher, call.keys)) {
    call.reply.null_array();
  } else {
    // Commands from here on run, and are not queued.
    call.caller.reasons &= ~uint32_t{Caller::kInTransaction};
    call.context<ChangeHub>().watches().clear(transaction->watcher);
    // Replies to PUBLISH and its like require no fsync; see ReplyDurability.
    call.request.tells_nothing =
        std::ranges::all_of(transaction->commands(), [](const Transaction::Queued& queued) {
          return queued.command->locking == catalog::Locking::kNone;
        });
    run_queued(call, *transaction);
  }
  leave(call, *transaction);
}

}  // namespace

std::vector<Binding> transaction_bindings(ChangeHub& hub) {
  return {
      {"multi", &multi, &hub}, {"exec", &exec, &hub},       {"discard", &discard, &hub},
      {"watch", &watch, &hub}, {"unwatch", &unwatch, &hub},
  };
}

}  // namespace sorrel
