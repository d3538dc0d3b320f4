#include "dispatch/executor.h"

#include <algorithm>
#include <utility>

#include "dispatch/transaction.h"
#include "resp/reply_writer.h"
#include "resp/short_request.h"

namespace sorrel {
namespace {

using catalog::Locking;

#if defined(SORREL_NO_LATCHES)
constexpr bool kLatches = false;
#else
constexpr bool kLatches = true;
#endif

}  // namespace

Executor::Executor(ExecutorWorld& world, unsigned worker, uint64_t random_seed)
    : world_(world),
      worker_(worker),
      random_(random_seed),
      effects_(world.effects),
      door_(world.keyspace, effects_, random_),
      evictor_(door_, world.gate.threaded()) {
  stats_.commands.resize(world.commands.all().size());
  if (world.hub != nullptr) door_.set_observer(world.hub->interest(), world.hub, worker);
}

void Executor::prepare(std::span<Request> requests, int db, Look look) {
  const Database* ahead = look == Look::kAhead ? database_ahead(db) : nullptr;
  changed_by_ = nullptr;
  for (Request& request : requests) {
    request.command = world_.commands.find(request.args[0], recent_);
    request.tells_nothing = false;
    find_first_key(request, ahead);
  }
}

void Executor::look_ahead(Request& request, int db) {
  find_first_key(request, database_ahead(db));
}

// Other workers may be rebuilding tables; looking without the latch is only safe when there are
// none. Null: nothing to look into.
const Database* Executor::database_ahead(int db) const {
  return world_.gate.threaded() ? nullptr : world_.keyspace.find_database(0, db);
}

[[gnu::always_inline]] inline void Executor::find_first_key(Request& request,
                                                            const Database* ahead) {
  request.guess.stamp = 0;
  request.hashed = 0;
  if (request.command == nullptr) return;
  const unsigned key = request.command->first_key;
  if (key == 0 || key >= request.args.size()) return;
  request.hash = world_.keyspace.hash(request.args[key]);
  request.hashed = key;
  if (ahead != nullptr) request.guess = ahead->table.prefetch_bucket(request.hash);
}

Executor::Outcome Executor::execute(const Request& request, Caller& caller,
                                    resp::ReplySink& reply) {
  const Command* command = request.command;
  if (command == nullptr || !command->plain || !command->arity_fits(request.args.size()) ||
      (caller.reasons | world_.node.reasons) != 0) [[unlikely]] {
    return execute_carefully(request, caller, reply);
  }
  return run(*command, request, caller, reply);
}

// For whatever is not a plain command that may simply run.
Executor::Outcome Executor::execute_carefully(const Request& request, Caller& caller,
                                              resp::ReplySink& reply) {
  const Command* command = request.command;
  const uint64_t errors = reply.errors();
  const bool in_transaction = (caller.reasons & Caller::kInTransaction) != 0;
  // A limit of memory holds for as long as the server runs, so nothing else is asked for its sake.
  if (caller.reasons == 0 && world_.node.reasons == NodeState::kMemoryLimited &&
      command != nullptr && command->plain && command->arity_fits(request.args.size())) {
    if (refuse_out_of_memory(*command, command->acts(request.args), caller, reply)) [[unlikely]] {
      last_cycles_ = cycles_now();
      count_error(reply, errors);
      stats_.commands[command->index].rejected++;
      request.tells_nothing = true;
      return Outcome::kDone;
    }
    const uint64_t changes = changes_;
    const Outcome outcome = run(*command, request, caller, reply);
    // With several workers each counts what it has latched, while it has.
    if (changes_ != changes && !world_.gate.threaded()) world_.keyspace.count_memory(0);
    return outcome;
  }
  if (command != nullptr && command->has(catalog::kRunsQueued)) {
    return execute_queued(request, caller, reply);
  }
  if (refused(request, command, caller, reply)) {
    if (reply.errors() == errors) return Outcome::kPostponed;
    last_cycles_ = cycles_now();  // a refusal is no command, but takes time of its client's share
    request.tells_nothing = true;
    count_error(reply, errors);
    if (command != nullptr) stats_.commands[command->index].rejected++;
    if (in_transaction) caller.transaction->abort();
    return Outcome::kDone;
  }
  if (in_transaction && !command->has(catalog::kNotQueued)) {
    caller.transaction->queue(*command, request.args);
    reply.simple("QUEUED");
    last_cycles_ = cycles_now();
    request.tells_nothing = true;
    return Outcome::kDone;
  }
  return run_shown(*command, request, caller, reply);
}

Executor::Outcome Executor::run_shown(const Command& command, const Request& request,
                                      Caller& caller, resp::ReplySink& reply) {
  const bool monitored = (world_.node.reasons & NodeState::kMonitored) != 0;
  const Outcome outcome = run(command, request, caller, reply);
  if (limited() && !world_.gate.threaded()) world_.keyspace.count_memory(0);
  if (monitored) show(command, request, caller);
  return outcome;
}

// EXEC, with MULTI or without: a rejection ends the transaction and the WATCH, is answered as
// their reason, and MONITOR shows the command all the same.
Executor::Outcome Executor::execute_queued(const Request& request, Caller& caller,
                                           resp::ReplySink& reply) {
  const Command* command = request.command;
  resp::OutputBuffer out;
  resp::ReplyWriter reason(out, 2);
  if (!refused(request, command, caller, reason)) {
    return run_shown(*command, request, caller, reply);
  }
  if (reason.errors() == 0) return Outcome::kPostponed;
  last_cycles_ = cycles_now();
  request.tells_nothing = true;
  if (caller.transaction != nullptr) {
    caller.transaction->close();
    caller.reasons &= ~uint32_t{Caller::kInTransaction};
    if (world_.hub != nullptr) world_.hub->watches().clear(caller.transaction->watcher);
  }
  const uint64_t errors = reply.errors();
  // "-ERR text", CR, LF; only error codes other than ERR are repeated.
  std::string_view text = out.view().substr(1, out.size() - 3);
  if (text.starts_with("ERR ")) text.remove_prefix(4);
  reply.error("EXECABORT Transaction discarded because of: " + std::string(text));
  count_error(reply, errors);
  stats_.commands[command->index].rejected++;
  if ((world_.node.reasons & NodeState::kMonitored) != 0) show(*command, request, caller);
  return Outcome::kDone;
}

// For those who waited: they have passed the gates before.
void Executor::run_again(const Request& request, Caller& caller, resp::ReplySink& reply) {
  run(*request.command, request, caller, reply);
}

// Administrative commands may carry what not everybody should see.
void Executor::show(const Command& command, const Request& request, const Caller& caller) {
  if (world_.observer == nullptr || command.has(catalog::kSkipMonitor | catalog::kAdmin)) return;
  world_.observer->on_execute(caller, command, request.args);
}

[[gnu::always_inline]] inline Executor::Outcome Executor::run(const Command& command,
                                                              const Request& request,
                                                              Caller& caller,
                                                              resp::ReplySink& reply) {
  door_.begin(caller.db, now_ms_, !caller.no_touch, caller.id);
  rewrite_.reset();
  waiting_.asked = false;
  Call call{command, request.args, caller, reply, door_, rewrite_, request, waiting_, *this};
  const uint64_t errors = reply.errors();
  current_ = &call;
  if (!kLatches || !world_.gate.threaded() || command.locking == Locking::kNone) {
    run_locked(call);
  } else if (command.locking == Locking::kKeys) {
    run_under_latches(call);
  } else if (command.locking == Locking::kQueued) {
    run_queued(call);
  } else {
    run_alone(call);
  }
  current_ = nullptr;
  const bool failed = reply.errors() != errors && count_failure(reply, errors);
  // Those who are served below may ask to wait on their part.
  const bool waits = waiting_.asked;
  const bool late = finish(command, request, caller, failed, waits);
  serve_touched();
  if (waits) [[unlikely]]
    return Outcome::kWaiting;
  return late ? Outcome::kDoneLate : Outcome::kDone;
}

// Precondition: whatever the command needs is locked. Effects take their numbers before it is let
// go.
[[gnu::always_inline]] inline void Executor::run_locked(Call& call) {
  call.command.handler(call);
  if ((call.caller.reasons & Caller::kTracking) != 0) [[unlikely]]
    note_read(call.caller, call);
  if (waiting_.asked && !waiting_.retrying) [[unlikely]]
    start_waiting(call);
  if (door_.changes() == 0) return;
  changes_ += door_.changes();
  if (effects_.active()) [[unlikely]] {
    leave_effects(call);
    call.caller.last_effect = effects_.last_drawn();
  }
}

// Those that run others are not meant: these are noted themselves.
void Executor::note_read(Caller& reader, const Call& call) {
  if (world_.readers == nullptr || reader.kind != Caller::Kind::kSession) return;
  if (!call.command.has(catalog::kReadonly) || call.command.has(catalog::kSkipMonitor)) return;
  world_.readers->on_read(reader, call.command, call.args);
}

void Executor::run_under_latches(Call& call) {
  Keyspace& keyspace = world_.keyspace;
  if (call.command.only_key != 0) {
    const unsigned partition = keyspace.partition_of(call.args[call.command.only_key]);
    Latch& latch = keyspace.partition(partition).latch;
    latch.lock();
    run_locked(call);
    if (limited()) [[unlikely]]
      keyspace.count_memory(partition);
    latch.unlock();
    return;
  }
  latched_.clear();
  if (!add_latches(*call.command.spec, call.args)) {
    // The handler finds the same mistake and answers it before it touches any key; or it makes
    // names of keys from what it finds, and nobody can tell which.
    run_alone(call);
    return;
  }
  run_latched(call);
}

bool Executor::add_latches(const catalog::CommandSpec& spec,
                           std::span<const std::string_view> args) {
  key_positions_.clear();
  if (catalog::extract_keys(spec, args, key_positions_) != catalog::KeyError::kNone) return false;
  for (const auto& key : key_positions_) {
    latched_.push_back(world_.keyspace.partition_of(args[key.position]));
  }
  return true;
}

// A transaction holds the latches of all that it will touch, and of what it relies on: so no other
// comes between its look at the watched keys and its end.
void Executor::run_queued(Call& call) {
  latched_.clear();
  Transaction* transaction = call.caller.transaction;
  bool known = true;
  if (transaction != nullptr) {
    for (const Transaction::Queued& queued : transaction->commands()) {
      const Locking locking = queued.command->locking;
      if (locking == Locking::kNone) continue;
      known = locking == Locking::kKeys && add_latches(*queued.command->spec, queued.args);
      if (!known) break;
    }
    for (const Watcher::Key& key : transaction->watcher.keys()) {
      latched_.push_back(world_.keyspace.partition_of(key.text));
    }
  }
  if (known) {
    run_latched(call);
  } else {
    run_alone(call);
  }
}

void Executor::run_latched(Call& call) {
  Keyspace& keyspace = world_.keyspace;
  // Ascending and each once: two commands can never hold what the other waits for.
  std::sort(latched_.begin(), latched_.end());
  latched_.erase(std::unique(latched_.begin(), latched_.end()), latched_.end());
  for (unsigned partition : latched_) keyspace.partition(partition).latch.lock();
  run_locked(call);
  for (unsigned partition : latched_) {
    if (limited()) [[unlikely]]
      keyspace.count_memory(partition);
    keyspace.partition(partition).latch.unlock();
  }
}

void Executor::run_alone(Call& call) {
  const uint64_t changes = changes_;
  exclusively([&] {
    run_locked(call);
    if (limited() && changes_ != changes) world_.keyspace.count_all_memory();
  });
}

void Executor::leave_effects(const Call& call) {
  if (rewrite_.kind() == Rewrite::Kind::kVerbatim && call.request.as_sent && !effects_.tells_keys())
      [[likely]] {
    const std::string_view text = resp::text_of_short_request(call.request.args);
    if (!text.empty()) [[likely]]
      return effects_.append_text(door_.db(), text);
  }
  leave_other_effects(call);
}

// Apart, so that the usual way need not make room for what this one needs.
[[gnu::noinline]] void Executor::leave_other_effects(const Call& call) {
  if (!effects_.tells_keys()) return leave_as_rewritten(call);
  const uint64_t told = effects_.last_told();
  tell_changed_keys(call);
  leave_as_rewritten(call);
  if (effects_.last_told() != told) changed_by_ = &call.request;
}

void Executor::leave_as_rewritten(const Call& call) {
  switch (rewrite_.kind()) {
    case Rewrite::Kind::kNothing:
      return;
    case Rewrite::Kind::kVerbatim:
      if (call.request.as_sent) {
        const std::string_view text = resp::text_of_short_request(call.request.args);
        if (!text.empty()) return effects_.append_text(door_.db(), text);
      }
      return effects_.append(door_.db(), call.args);
    case Rewrite::Kind::kCommands:
      return leave_commands();
  }
}

void Executor::leave_commands() {
  effects_.begin_unit();
  for (const auto& command : rewrite_.commands()) {
    const std::vector<std::string_view> args(command.begin(), command.end());
    effects_.append(door_.db(), args);
  }
  effects_.end_unit();
}

Executor::Inside::Inside(Call& call)
    : executor_(call.executor),
      call_(call),
      began_cycles_(executor_.last_cycles_),
      drawn_before_(executor_.effects_.last_drawn()),
      may_wait_(std::exchange(call.caller.may_wait, false)) {
  executor_.effects_.begin_unit();
  executor_.inside_depth_++;
}

Executor::Inside::~Inside() {
  executor_.effects_.end_unit();
  const uint64_t drawn = executor_.effects_.last_drawn();
  if (drawn != drawn_before_) call_.caller.last_effect = drawn;
  executor_.inside_depth_--;
  call_.caller.may_wait = may_wait_;
  // The outer command has changed nothing itself, and lasted from its beginning.
  executor_.door_.begin(call_.caller.db, executor_.now_ms_, !call_.caller.no_touch,
                        call_.caller.id);
  executor_.rewrite_.reset();
  executor_.last_cycles_ = began_cycles_;
  executor_.current_ = &call_;
}

void Executor::Inside::run(const Command& command, const Request& request, Caller& caller,
                           resp::ReplySink& reply) {
  Executor& executor = executor_;
  executor.door_.begin(caller.db, executor.now_ms_, !caller.no_touch, caller.id);
  executor.rewrite_.reset();
  Call call{command, request.args,      caller,  reply, executor.door_, executor.rewrite_,
            request, executor.waiting_, executor};
  const uint64_t errors = reply.errors();
  executor.current_ = &call;
  executor.run_locked(call);
  executor.current_ = &call_;
  if ((call_.caller.reasons & Caller::kTracking) != 0 && &caller != &call_.caller) [[unlikely]] {
    executor.note_read(call_.caller, call);
  }
  const uint64_t failures = reply.errors() - errors;
  if (failures != 0) executor.count_error(reply, errors);
  if (&reply == &call_.reply) executor.inner_errors_ += failures;
  executor.finish(command, request, caller, failures != 0, false);
  if ((executor.world_.node.reasons & NodeState::kMonitored) != 0) {
    executor.show(command, request, caller);
  }
}

void Executor::Inside::refuse(const Command* command, std::string_view text,
                              resp::ReplySink& reply) {
  const uint64_t errors = reply.errors();
  reply.error(text);
  executor_.count_error(reply, errors);
  if (command != nullptr) executor_.stats_.commands[command->index].rejected++;
}

// True: it took so long that it may have been reported.
[[gnu::always_inline]] inline bool Executor::finish(const Command& command, const Request& request,
                                                    const Caller& caller, bool failed, bool waits) {
  const uint64_t now = cycles_now();
  const uint64_t ns = world_.cycles.to_ns(last_cycles_, now);
  last_cycles_ = now;
  CommandStats& stats = stats_.commands[command.index];
  // Who waits is counted once, when it is answered, and its first look takes no time.
  if (!waits) [[likely]] {
    stats.total_ns += ns;
    stats.calls++;
    stats_.processed++;
    if (world_.node.latency_tracking) stats.durations.add(ns);
  }
  if (failed) stats.failed++;
  if (ns < world_.node.watch_from_ns || waits) [[likely]]
    return false;
  report_slow(command, request, caller, ns);
  return true;
}

void Executor::report_slow(const Command& command, const Request& request, const Caller& caller,
                           uint64_t ns) {
  if (world_.observer == nullptr) return;
  const int64_t slow_us = world_.node.slowlog_slower_than_us;
  if (slow_us >= 0 && ns >= static_cast<uint64_t>(slow_us) * 1000 &&
      !command.has(catalog::kSkipSlowlog)) {
    world_.observer->on_slow(caller, command, request.args, ns / 1000);
  }
  const int64_t watch_ms = world_.node.latency_threshold_ms;
  if (watch_ms > 0 && ns >= static_cast<uint64_t>(watch_ms) * 1'000'000) {
    world_.observer->on_latency(command, ns / 1000);
  }
}

// Errors were answered since there were `errors`. False: only by commands inside this one, which
// have counted their own.
bool Executor::count_failure(resp::ReplySink& reply, uint64_t errors) {
  const uint64_t counted = errors + std::exchange(inner_errors_, 0);
  if (reply.errors() == counted) return false;
  count_error(reply, counted);
  return true;
}

void Executor::count_error(resp::ReplySink& reply, uint64_t errors) {
  count_error(reply.last_error_code(), reply.errors() - errors - reply.take_repeated_errors());
}

void Executor::count_error(std::string_view code, uint64_t replies) {
  if (replies == 0) return;
  stats_.error_replies += replies;
  // Bounded: scripts and modules can make up code words, and nobody needs a million of them.
  constexpr size_t kMostCodes = 128;
  const auto known = stats_.errors.find(code);
  if (known != stats_.errors.end()) {
    known->second++;
  } else if (stats_.errors.size() < kMostCodes) {
    stats_.errors.emplace(code, 1);
  }
}

}  // namespace sorrel
