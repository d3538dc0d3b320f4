#include "dispatch/executor.h"

#include <algorithm>

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
      door_(world.keyspace, effects_, random_) {
  stats_.commands.resize(world.commands.all().size());
  if (world.waiters != nullptr) door_.set_waiters(world.waiters->counter());
}

void Executor::prepare(Request& request, int db, Look look) {
  const Command* command = world_.commands.find(request.args[0], recent_);
  request.command = command;
  request.guess.stamp = 0;
  request.hashed = 0;
  if (command == nullptr) return;
  const unsigned key = command->first_key;
  if (key == 0 || key >= request.args.size()) return;
  request.hash = world_.keyspace.hash(request.args[key]);
  request.hashed = key;
  // Other workers may be rebuilding tables; looking without the latch is only safe when there are
  // none.
  if (look == Look::kNot || world_.gate.threaded()) return;
  if (const Database* database = world_.keyspace.find_database(0, db)) {
    request.guess = database->table.prefetch_bucket(request.hash);
  }
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
  const bool refusal = refused(request, command, caller, reply);
  if (reply.errors() != errors) {
    count_error(reply, errors);
    if (command != nullptr) stats_.commands[command->index].rejected++;
  }
  if (refusal) return reply.errors() != errors ? Outcome::kDone : Outcome::kPostponed;
  const bool monitored = (world_.node.reasons & NodeState::kMonitored) != 0;
  const Outcome outcome = run(*command, request, caller, reply);
  if (monitored) show(*command, request, caller);
  return outcome;
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
  door_.begin(caller.db, now_ms_, !caller.no_touch);
  rewrite_.reset();
  waiting_.asked = false;
  Call call{command, request.args, caller, reply, door_, rewrite_, request, waiting_};
  const uint64_t errors = reply.errors();
  current_ = &command;
  if (!kLatches || !world_.gate.threaded() || command.locking == Locking::kNone) {
    run_locked(call);
  } else if (command.locking == Locking::kKeys) {
    run_under_latches(call);
  } else {
    exclusively([&] { run_locked(call); });
  }
  current_ = nullptr;
  const bool failed = reply.errors() != errors;
  if (failed) count_error(reply, errors);
  // Those who are served below may ask to wait on their part.
  const bool waits = waiting_.asked;
  finish(command, request, caller, failed, waits);
  serve_touched();
  return waits ? Outcome::kWaiting : Outcome::kDone;
}

// Precondition: whatever the command needs is locked. Effects take their numbers before it is let
// go.
[[gnu::always_inline]] inline void Executor::run_locked(Call& call) {
  call.command.handler(call);
  if (waiting_.asked && !waiting_.retrying) [[unlikely]]
    start_waiting(call);
  if (door_.changes() == 0) return;
  changes_ += door_.changes();
  if (effects_.active()) leave_effects(call);
}

void Executor::run_under_latches(Call& call) {
  Keyspace& keyspace = world_.keyspace;
  if (call.command.only_key != 0) {
    Latch& latch =
        keyspace.partition(keyspace.partition_of(call.args[call.command.only_key])).latch;
    latch.lock();
    run_locked(call);
    latch.unlock();
    return;
  }
  key_positions_.clear();
  if (catalog::extract_keys(*call.command.spec, call.args, key_positions_) !=
      catalog::KeyError::kNone) {
    // The handler finds the same mistake and answers it before it touches any key; or it makes
    // names of keys from what it finds, and nobody can tell which.
    exclusively([&] { run_locked(call); });
    return;
  }
  latched_.clear();
  for (const auto& key : key_positions_) {
    latched_.push_back(keyspace.partition_of(call.args[key.position]));
  }
  // Ascending and each once: two commands can never hold what the other waits for.
  std::sort(latched_.begin(), latched_.end());
  latched_.erase(std::unique(latched_.begin(), latched_.end()), latched_.end());
  for (unsigned partition : latched_) keyspace.partition(partition).latch.lock();
  run_locked(call);
  for (unsigned partition : latched_) keyspace.partition(partition).latch.unlock();
}

void Executor::leave_effects(const Call& call) {
  switch (rewrite_.kind()) {
    case Rewrite::Kind::kNothing:
      return;
    case Rewrite::Kind::kVerbatim:
      effects_.append(door_.db(), call.args);
      return;
    case Rewrite::Kind::kCommands:
      break;
  }
  std::vector<std::vector<std::string_view>> unit;
  for (const auto& command : rewrite_.commands()) unit.emplace_back(command.begin(), command.end());
  effects_.append_unit(door_.db(), unit);
}

inline void Executor::finish(const Command& command, const Request& request, const Caller& caller,
                             bool failed, bool waits) {
  const uint64_t now = cycles_now();
  const uint64_t ns = world_.cycles.to_ns(last_cycles_, now);
  last_cycles_ = now;
  CommandStats& stats = stats_.commands[command.index];
  stats.total_ns += ns;
  // Who waits is counted once, when it is answered.
  if (!waits) [[likely]] {
    stats.calls++;
    stats_.processed++;
    if (world_.node.latency_tracking) stats.durations.add(ns);
  }
  if (failed) stats.failed++;
  if (ns >= world_.node.watch_from_ns) [[unlikely]]
    report_slow(command, request, caller, ns);
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

void Executor::count_error(resp::ReplySink& reply, uint64_t errors) {
  count_error(reply.last_error_code(), reply.errors() - errors);
}

void Executor::count_error(std::string_view code, uint64_t replies) {
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
