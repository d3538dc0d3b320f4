#include "dispatch/executor.h"

#include <string>
#include <utility>

#include "dispatch/transaction.h"
#include "resp/reply_writer.h"

namespace sorrel {
namespace {

using catalog::Locking;

#if defined(SORREL_NO_LATCHES)
constexpr bool kLatches = false;
#else
constexpr bool kLatches = true;
#endif

// The time of commands that repeat a history: no expire time has come.
constexpr int64_t kBeforeExpiryMs = 1;

}  // namespace

Executor::Executor(ExecutorWorld& world, unsigned worker, uint64_t random_seed)
    : world_(world),
      node_(world.node),
      worker_(worker),
      threaded_(kLatches && world.gate.threaded()),
      random_(random_seed),
      effects_(world.effects),
      door_(world.keyspace, effects_, random_),
      recorder_(world),
      permissions_(world),
      eviction_(world, worker, door_, recorder_),
      admission_(world, permissions_, eviction_),
      latches_(world.keyspace),
      durability_(world, effects_),
      requests_(world, durability_),
      effect_writer_(effects_, durability_),
      blocked_(world, worker, door_, permissions_, recorder_,
               [this](const Request& request, Caller& caller, resp::ReplySink& reply) {
                 run(*request.command, request, caller, reply);
               }) {
  if (world.hub != nullptr) door_.set_observer(world.hub->interest(), world.hub, worker);
}

Executor::Outcome Executor::execute(const Request& request, Caller& caller,
                                    resp::ReplySink& reply) {
  const Command* command = request.command;
  if (command == nullptr || !command->plain || !command->arity_fits(request.args.size()) ||
      (caller.reasons | node_.reasons) != 0) [[unlikely]] {
    return execute_checked(request, caller, reply);
  }
  return run(*command, request, caller, reply);
}

// For every request that is not a plain command on the fast path.
Executor::Outcome Executor::execute_checked(const Request& request, Caller& caller,
                                            resp::ReplySink& reply) {
  const Command* command = request.command;
  if (caller.reasons == 0 && (node_.reasons & ~NodeState::kLasting) == 0 && command != nullptr &&
      command->plain && command->arity_fits(request.args.size())) {
    return execute_lasting(request, caller, reply);
  }
  const uint64_t errors = reply.errors();
  const bool in_transaction = (caller.reasons & Caller::kInTransaction) != 0;
  if (command != nullptr && command->has(catalog::kRunsQueued)) {
    return execute_queued(request, caller, reply);
  }
  const Admission::Verdict verdict = admission_.check(request, command, caller, reply, now_ms_);
  serve_touched();
  if (verdict == Admission::Verdict::kPostponed) return Outcome::kPostponed;
  if (verdict != Admission::Verdict::kAdmitted) {
    recorder_.start();  // a rejection is no command, but takes time of its client's share
    request.tells_nothing = true;
    recorder_.reject(command, reply, errors);
    if (in_transaction) caller.transaction->abort();
    return Outcome::kDone;
  }
  if (in_transaction && !command->has(catalog::kNotQueued)) {
    caller.transaction->queue(*command, request.args);
    reply.simple("QUEUED");
    recorder_.start();
    request.tells_nothing = true;
    return Outcome::kDone;
  }
  return run_admitted(*command, request, caller, reply);
}

// The short way for flags that last: maxmemory, the role, cluster mode.
Executor::Outcome Executor::execute_lasting(const Request& request, Caller& caller,
                                            resp::ReplySink& reply) {
  const Command& command = *request.command;
  const uint64_t errors = reply.errors();
  const auto verdict = admission_.check_lasting(request, command, caller, reply, now_ms_);
  serve_touched();
  if (verdict != Admission::Verdict::kAdmitted) [[unlikely]] {
    recorder_.start();
    recorder_.reject(&command, reply, errors);
    request.tells_nothing = true;
    return Outcome::kDone;
  }
  const uint64_t changes = changes_;
  const Outcome outcome = run(command, request, caller, reply);
  // Several workers count the partitions that they have latched.
  if (changes_ != changes && eviction_.limited() && !threaded_) {
    world_.keyspace.count_memory(0);
  }
  return outcome;
}

// EXEC, with MULTI or without: a rejection ends the transaction and the WATCH, is answered as
// their reason, and MONITOR shows the command all the same.
Executor::Outcome Executor::execute_queued(const Request& request, Caller& caller,
                                           resp::ReplySink& reply) {
  using Verdict = Admission::Verdict;
  const Command* command = request.command;
  resp::OutputBuffer out;
  resp::ReplyWriter reason(out, 2);
  const Verdict verdict = admission_.check(request, command, caller, reason, now_ms_);
  serve_touched();
  if (verdict == Verdict::kAdmitted) return run_admitted(*command, request, caller, reply);
  if (verdict == Verdict::kPostponed) return Outcome::kPostponed;
  recorder_.start();
  request.tells_nothing = true;
  if (caller.transaction != nullptr) {
    caller.transaction->close();
    caller.reasons &= ~uint32_t{Caller::kInTransaction};
    if (world_.hub != nullptr) world_.hub->watches().clear(caller.transaction->watcher);
  }
  const uint64_t errors = reply.errors();
  // "-ERR text", CR, LF; only error codes that say something are repeated.
  std::string_view text = out.view().substr(1, out.size() - 3);
  if (verdict == Verdict::kRedirected) {
    reply.error(text);
  } else {
    if (text.starts_with("ERR ")) text.remove_prefix(4);
    reply.error("EXECABORT Transaction discarded because of: " + std::string(text));
  }
  recorder_.reject(command, reply, errors);
  if ((world_.node.reasons & NodeState::kMonitored) != 0) {
    report_to_monitors(*command, request, caller);
  }
  return Outcome::kDone;
}

Executor::Outcome Executor::run_admitted(const Command& command, const Request& request,
                                         Caller& caller, resp::ReplySink& reply) {
  const bool monitored = (node_.reasons & NodeState::kMonitored) != 0;
  const bool repeats = caller.repeats_history();
  const int64_t now_ms = now_ms_;
  if (repeats) now_ms_ = kBeforeExpiryMs;
  const Outcome outcome = run(command, request, caller, reply);
  if (repeats) now_ms_ = now_ms;
  if (eviction_.limited() && !threaded_) world_.keyspace.count_memory(0);
  if (monitored) report_to_monitors(command, request, caller);
  return outcome;
}

// Arguments of administrative commands may be secret.
void Executor::report_to_monitors(const Command& command, const Request& request,
                                  const Caller& caller) {
  if (world_.observer == nullptr || command.has(catalog::kSkipMonitor | catalog::kAdmin)) return;
  world_.observer->on_execute(caller, command, request.args);
}

[[gnu::always_inline]] inline Executor::Outcome Executor::run(const Command& command,
                                                              const Request& request,
                                                              Caller& caller,
                                                              resp::ReplySink& reply) {
  door_.begin(caller.db, now_ms_, !caller.no_touch, caller.id);
  effect_writer_.rewrite().reset();
  blocked_.waiting().asked = false;
  Call call{command, request.args,       caller, reply, door_, effect_writer_.rewrite(),
            request, blocked_.waiting(), *this};
  const uint64_t errors = reply.errors();
  current_ = &call;
  if (!threaded_ || command.locking == Locking::kNone) {
    run_locked(call);
  } else if (command.locking == Locking::kKeys) {
    run_under_latches(call);
  } else if (command.locking == Locking::kQueued) {
    run_transaction(call);
  } else {
    run_exclusively(call);
  }
  current_ = nullptr;
  const bool failed = reply.errors() != errors && recorder_.count_failure(reply, errors);
  // Commands that are served below may block in turn.
  const bool blocks = blocked_.blocks();
  const bool late = recorder_.finish(command, request, caller, failed, blocks);
  serve_touched();
  if (blocks) [[unlikely]]
    return Outcome::kWaiting;
  return late ? Outcome::kDoneLate : Outcome::kDone;
}

// Precondition: everything that the command needs is locked. Effects take their sequence before it
// is unlocked.
[[gnu::always_inline]] inline void Executor::run_locked(Call& call) {
  call.command.handler(call);
  if ((call.caller.reasons & Caller::kTracking) != 0) [[unlikely]]
    report_read(call.caller, call);
  if (blocked_.newly_blocks()) [[unlikely]]
    blocked_.block(call);
  if (door_.changes() == 0) return;
  changes_ += door_.changes();
  if (effects_.active()) [[unlikely]] {
    effect_writer_.write(call);
    call.caller.last_effect = effects_.last_drawn();
  }
}

// Not of commands that run others: those are reported themselves.
void Executor::report_read(Caller& reader, const Call& call) {
  if (world_.readers == nullptr || reader.kind != Caller::Kind::kSession) return;
  if (!call.command.has(catalog::kReadonly) || call.command.has(catalog::kSkipMonitor)) return;
  world_.readers->on_read(reader, call.command, call.args);
}

void Executor::run_under_latches(Call& call) {
  Keyspace& keyspace = world_.keyspace;
  if (call.command.only_key != 0) {
    const unsigned partition = latches_.partition_of(call.request, call.command.only_key);
    Latch& latch = keyspace.partition(partition).latch;
    latch.lock();
    run_locked(call);
    if (eviction_.limited()) [[unlikely]]
      keyspace.count_memory(partition);
    latch.unlock();
    return;
  }
  latches_.clear();
  if (latches_.add_keys(*call.command.spec, call.args)) return run_latched(call);
  // The handler finds the same mistake in the arguments and answers it before it touches any key;
  // or it makes key names from values, and no latch can be chosen before.
  run_exclusively(call);
}

void Executor::run_transaction(Call& call) {
  latches_.clear();
  Transaction* transaction = call.caller.transaction;
  if (transaction == nullptr || latches_.add_transaction(*transaction)) return run_latched(call);
  run_exclusively(call);
}

void Executor::run_latched(Call& call) {
  latches_.lock();
  run_locked(call);
  latches_.unlock(eviction_.limited() ? LatchSet::Memory::kCounted : LatchSet::Memory::kIgnored);
}

void Executor::run_exclusively(Call& call) {
  prepare_alone(call);
  const uint64_t changes = changes_;
  exclusively([&] {
    run_locked(call);
    if (eviction_.limited() && changes_ != changes) world_.keyspace.count_all_memory();
  });
}

// Precondition: in a batch, nothing is locked.
void Executor::prepare_alone(const Call& call) {
  if (call.command.prepare != nullptr) call.command.prepare(call.command, call.args);
  if (call.command.locking != Locking::kQueued || call.caller.transaction == nullptr) return;
  for (const Transaction::Queued& queued : call.caller.transaction->commands()) {
    if (queued.command->prepare != nullptr) queued.command->prepare(*queued.command, queued.args);
  }
}

void Executor::begin_nested() {
  effects_.begin_unit();
  nested_depth_++;
}

void Executor::run_nested(const Call& outer, const Command& command, const Request& request,
                          Caller& caller, resp::ReplySink& reply) {
  door_.begin(caller.db, now_ms_, !caller.no_touch, caller.id);
  effect_writer_.rewrite().reset();
  Call call{command, request.args,       caller, reply, door_, effect_writer_.rewrite(),
            request, blocked_.waiting(), *this};
  const uint64_t errors = reply.errors();
  current_ = &call;
  run_locked(call);
  current_ = &outer;
  if ((outer.caller.reasons & Caller::kTracking) != 0 && &caller != &outer.caller) [[unlikely]] {
    report_read(outer.caller, call);
  }
  const uint64_t failures = reply.errors() - errors;
  if (failures != 0) recorder_.count_error(reply, errors);
  if (&reply == &outer.reply) recorder_.add_nested_errors(failures);
  recorder_.finish(command, request, caller, failures != 0, false);
  if ((node_.reasons & NodeState::kMonitored) != 0) {
    report_to_monitors(command, request, caller);
  }
}

void Executor::end_nested(const Call& outer, uint64_t began_cycles) {
  effects_.end_unit();
  nested_depth_--;
  // The outer command has changed nothing itself, and lasted from its beginning.
  door_.begin(outer.caller.db, now_ms_, !outer.caller.no_touch, outer.caller.id);
  effect_writer_.rewrite().reset();
  recorder_.start_at(began_cycles);
  current_ = &outer;
}

EvictBeforeCommand::Room Executor::evict() {
  const EvictBeforeCommand::Room room = eviction_.evict(now_ms_);
  serve_touched();
  return room;
}

void Executor::serve_blocked_clients() {
  if (!blocked_.may_serve(now_ms_)) return;
  // The change may have taken long enough for the keys to have expired again.
  if (world_.clock != nullptr) now_ms_ = world_.clock->wall_ms();
  blocked_.serve(now_ms_);
}

}  // namespace sorrel
