#include "server/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <csignal>

#include "commands/families.h"
#include "dispatch/transaction_commands.h"
#include "io/process.h"
#include "server/allocator.h"
#include "server/caller_facts.h"
#include "server/user_files.h"
#include "server/version.h"
#include "session/pause.h"
#include "session/session_commands.h"

namespace sorrel::server {
namespace {

uint64_t random_word() {
  uint64_t word = 0;
  uint8_t bytes[sizeof word] = {};
  if (io::random_bytes(bytes)) word = load<uint64_t>(bytes);
  return word;
}

// Enough partitions that two workers rarely want the same, few enough that each is worth its table.
unsigned partitions_for(int64_t threads) {
  constexpr unsigned kPerWorker = 16;
  if (threads <= 1) return 1;
  return std::min(4096u, std::bit_ceil(static_cast<unsigned>(threads) * kPerWorker));
}

// The ratio of the processor's counter to real time, measured over a few milliseconds.
CycleScale measure_cycles(const Clock& clock) {
  const int64_t began_ns = clock.monotonic_ns();
  const uint64_t began = cycles_now();
  while (clock.monotonic_ns() - began_ns < 5'000'000) {
  }
  const uint64_t passed = cycles_now() - began;
  const auto took = static_cast<double>(clock.monotonic_ns() - began_ns);
  return CycleScale(passed == 0 ? 1.0 : took / static_cast<double>(passed));
}

}  // namespace

Server::Server(Options options, io::SystemClock& clock, Logger& log, config::FileAccess files)
    : options_(std::move(options)),
      clock_(clock),
      log_(log),
      files_(std::move(files)),
      effects_(options_.process.threads == 1 ? EffectStream::Writers::kOne
                                             : EffectStream::Writers::kSeveral),
      scripting_(kRedisVersion, clock, log),
      sessions_{.options = {}, .node = node_, .log = log_, .hosts = {}} {}

Server::~Server() {
  listeners_.close();
  for (auto& worker : workers_) worker->stop();
  for (auto& worker : workers_) worker->join();
  persistence_.stop();
}

Status Server::start() {
  facts_.started_ms = facts_.stats_reset_ms = clock_.wall_ms();
  if (auto id = io::random_hex(40)) facts_.run_id = *id;
  if (auto id = io::random_hex(40)) facts_.replication_id = *id;
  KeyspaceOptions shape;
  shape.databases = static_cast<int>(options_.process.databases);
  shape.partitions = partitions_for(options_.process.threads);
  shape.hash_seed_a = random_word();
  shape.hash_seed_b = random_word();
  keyspace_ = std::make_unique<Keyspace>(shape, &reclaimer_);
  if (Status built = build_commands(); !built) return built;
  if (Status loaded = load_users(options_, files_, log_, sessions_.users); !loaded) return loaded;

  sessions_.pubsub.set_seeds(random_word(), random_word());
  const auto threads = static_cast<unsigned>(options_.process.threads);
  gate_ = std::make_unique<WorldGate>(threads);
  connect_memory();
  persistence_.connect();
  executors_ = std::make_unique<ExecutorWorld>(ExecutorWorld{
      *commands_, *keyspace_, effects_, *gate_, node_, measure_cycles(clock_), &admin_.observer(),
      &waiters_, &hub_, &sessions_.tracking, &clock_, memory_.get()});
  hub_.set_notifications(&sessions_.notifications);
  hub_.set_tracking(&sessions_.tracking);
  sessions_.tracking.set_interest(&hub_.interest());
  for (unsigned i = 0; i < threads; i++) {
    workers_.push_back(std::make_unique<Worker>(i, threads, *executors_, sessions_, expiry_, clock_,
                                                random_word()));
    workers_.back()->set_latency_monitor(&admin_.latency_monitor());
    workers_.back()->set_live_snapshot(persistence_.live_snapshot());
    sessions_.hosts.push_back(&workers_.back()->host());
  }
  effects_.durability().set_workers(threads, [this](unsigned worker) {
    SessionHost& host = workers_[worker]->host();
    host.post([&host] { host.release_kept(); });
  });
  place_threads();
  connect_options();
  persistence_.set_child_hook([this](persist::ChildKind kind) { prepare_child(kind); });
  if (const Status adjusted = oom_adjuster_.apply(options_.process); !adjusted) {
    log_.warning("Can't adjust the score for the kernel: " + adjusted.error().text);
  }
  facts_.startup_memory = allocated_bytes();
  limit_memory();
  log_.notice("Server initialized");
  if (Status listening = listen(); !listening) return listening;
  show_title();
  return {};
}

// Before any of these threads is made, but for the one that frees, which is told.
void Server::place_threads() {
  processors_.prepare(options_.process, log_);
  for (const auto& worker : workers_) worker->set_processors(&processors_.workers());
  persistence_.set_processors(processors_.background());
  const auto settle = [mask = processors_.background()] {
    io::name_this_thread("reclaimer");
    (void)mask.apply().ok();
  };
  reclaimer_.defer(settle, 0, 0);
}

Status Server::build_commands() {
  std::vector<Binding> bindings;
  const auto add = [&](std::span<const Binding> family) {
    bindings.insert(bindings.end(), family.begin(), family.end());
  };
  for (const auto& family : commands::families()) add(family);
  config_commands_.files = files_;
  config_commands_.reset_statistics = [this] { reset_stats(); };
  config_commands_.is_local = is_local;
  config_commands_.is_loading = [this] { return persistence_.loading(); };
  config_commands_.user_lines = [this] { return user_lines(options_, sessions_.users); };
  add(config_bindings(config_commands_));
  add(session_bindings(sessions_));
  add(transaction_bindings(hub_));
  add(persistence_.bindings());
  add(admin_.bindings());
  connect_scripting();
  add(scripting_.bindings());
  auto table = CommandTable::build(bindings);
  if (!table) return table.error();
  commands_ = std::move(*table);
  admin_.set_table(*commands_);
  for (const auto& [from, to] : options_.security.renamed_commands) {
    if (Status renamed = commands_->rename(from, to); !renamed) return renamed;
  }
  return {};
}

// What scripts that run for long need of the rest. All of it happens under the gate.
void Server::connect_scripting() {
  script::ScriptingHooks& hooks = scripting_.hooks;
  hooks.let_others_in = [this](unsigned worker, bool is_function) {
    node_.reasons |= NodeState::kBusy;
    node_.busy_with_function = is_function;
    Door& door = workers_[worker]->executor().door();
    const bool may_expire = door.may_expire();
    update_expiry_mode(sessions_);
    workers_[worker]->let_others_in();
    door.set_may_expire(may_expire);
  };
  hooks.end_busy = [this](unsigned worker) {
    node_.reasons &= ~uint32_t{NodeState::kBusy};
    workers_[worker]->host().end_serving_others();
  };
  hooks.all_allowed = [this] { return admin_.debug_settings().disable_deny_scripts; };
  hooks.stopping = [this] { return stopping(); };
  scripting_.debug_door = &script_debugging_;
}

void Server::leave_observers() {
  executors_->observer = nullptr;
  executors_->readers = nullptr;
}

Status Server::listen() {
  if (Status loaded = tls_door_.load(options_); !loaded) {
    log_.warning("Failed to configure TLS. Check logs for more info.");
    return loaded;
  }
  if (Status done = listeners_.apply(workers_[0]->loop(), options_); !done) {
    log_.warning(fmt::format("Failed listening on {}, aborting.", done.error().text));
    return done;
  }
  if (listeners_.count() == 0) {
    log_.warning("Configured to not listen anywhere, exiting.");
    return Error{"no listener"};
  }
  return {};
}

int Server::run() {
  auto& loop = workers_[0]->loop();
  const Status watching = loop.watch_signals([this](int signal) { on_signal(signal); });
  if (!watching) log_.warning("Signals are not watched: " + watching.error().text);
  workers_[0]->set_server_cron([this] { cron(); });
  if (!persistence_.check_files()) return 1;
  // From the first moment on nobody may take the empty keyspace for the real one.
  const bool loads = persistence_.has_data();
  node_.set(NodeState::kLoading, loads);
  if (!loads && !persistence_.open_at_start()) return 1;
  for (size_t i = 1; i < workers_.size(); i++) workers_[i]->start_thread();
  if (loads) load_data();
  if (!stopping()) tell_ready();
  workers_[0]->run();
  for (size_t i = 1; i < workers_.size(); i++) workers_[i]->stop();
  for (size_t i = 1; i < workers_.size(); i++) workers_[i]->join();
  listeners_.close();
  // All workers have handed over what they had.
  persistence_.stop();
  if (exit_code_.load() == 0) log_.warning("Redis is now ready to exit, bye bye...");
  return exit_code_.load();
}

// On worker 0, before its first turn.
void Server::load_data() {
  Status loaded;
  bool opened = false;
  workers_[0]->run_alone([&] {
    loaded = persistence_.load_at_start();
    opened = loaded && persistence_.open_at_start();
  });
  if (!opened && !stopping()) request_stop(1);
}

void Server::tell_ready() {
  for (const std::string_view kind : listeners_.kinds()) {
    log_.notice(fmt::format("Ready to accept connections {}", kind));
  }
  if (process_.ready) process_.ready();
}

// On worker 0, perhaps in the middle of a script or a load, which lets others in.
void Server::on_signal(int signal) {
  stop_signal_ = signal;
  if ((node_.reasons & NodeState::kLoading) != 0) {
    log_.warning("Received shutdown signal during loading, scheduling shutdown.");
    request_stop(0);
    return;
  }
  log_.warning(signal == SIGINT ? "Received SIGINT scheduling shutdown..."
                                : "Received SIGTERM scheduling shutdown...");
  // The cron sees to it, unless a script keeps it from running; until then it can be taken back.
  if ((node_.reasons & NodeState::kBusy) == 0) return;
  workers_[0]->host().post(
      [this] { workers_[0]->executor().exclusively([this] { shut_down_if_wanted(); }); });
}

bool Server::abort_stop() {
  if (stop_signal_ == 0 || stopping()) return false;
  stop_signal_ = 0;
  log_.notice("Shutdown manually aborted.");
  return true;
}

// Under the gate, at once and then ten times a second.
void Server::shut_down_if_wanted() {
  if (stop_signal_ == 0 || stopping()) return;
  const ProcessOptions& process = options_.process;
  const int how = stop_signal_ == SIGINT ? process.shutdown_on_sigint : process.shutdown_on_sigterm;
  const persist::ShutdownRequest asked{
      .save = (how & kShutdownSave) != 0,
      .nosave = (how & kShutdownNoSave) != 0,
      .force = (how & kShutdownForce) != 0,
      .may_insist = true,
  };
  // What a script has done by halves is not saved; it is told to end, and then we see.
  const bool is_busy = (node_.reasons & NodeState::kBusy) != 0;
  if (is_busy && persistence_.saves_at_shutdown(asked)) return;
  log_.notice("User requested shutdown...");
  if (persistence_.prepare_shutdown(asked)) {
    stop_now(0);
  } else {
    stop_signal_ = 0;
  }
}

void Server::request_stop(int exit_code) {
  exit_code_.store(exit_code);
  stopping_.store(true, std::memory_order_relaxed);
  workers_[0]->stop();
}

void Server::stop_now(int exit_code) {
  listeners_.close();
  script_debugging_.end_all();
  request_stop(exit_code);
}

void Server::on_accept(std::unique_ptr<io::Accepted> connection) {
  const int64_t connected = sessions_.connected.load(std::memory_order_relaxed);
  // A process that debugs a script holds a pipe to this one.
  const auto taken = connected + static_cast<int64_t>(script_debugging_.processes());
  if (taken >= sessions_.options.max_clients) return refuse(*connection);
  sessions_.connected.fetch_add(1, std::memory_order_relaxed);
  // Round robin: connections stay where they are put, so an even start is all the balance there is.
  SessionHost& host = workers_[next_worker_++ % workers_.size()]->host();
  constexpr auto kTaken = SessionHost::Place::kTaken;
  if (&host == &workers_[0]->host()) {
    host.adopt(std::move(connection), kTaken);
    return;
  }
  // A std::function must be copyable; the box is opened once.
  auto box = std::make_shared<std::unique_ptr<io::Accepted>>(std::move(connection));
  host.post([&host, box] { host.adopt(std::move(*box), kTaken); });
}

Result<std::shared_ptr<const io::TlsContext>> Server::cluster_tls() const {
  if (!options_.tls.cluster) return std::shared_ptr<const io::TlsContext>();
  auto context = tls_door_.context();
  if (context == nullptr) return Error{"tls-cluster is on, but no keys are loaded"};
  return context;
}

void Server::refuse(io::Accepted& connection) {
  sessions_.rejected.fetch_add(1, std::memory_order_relaxed);
  connection.refuse("-ERR max number of clients reached\r\n");
}

void Server::on_overflow(std::unique_ptr<io::Accepted> connection, const Error& why) {
  constexpr int64_t kBetweenLinesMs = 1000;  // peers decide how often this happens
  refuse(*connection);
  const int64_t now_ms = clock_.monotonic_ns() / 1'000'000;
  if (overflow_logged_ms_ != 0 && now_ms - overflow_logged_ms_ < kBetweenLinesMs) return;
  overflow_logged_ms_ = now_ms;
  log_.warning("Accepting client connection: " + why.text);
}

uint64_t Server::client_memory() const {
  uint64_t bytes = 0;
  for (const auto& worker : workers_) bytes += worker->host().memory_bytes();
  return bytes;
}

uint64_t Server::changes() const {
  uint64_t changes = 0;
  for (const auto& worker : workers_) changes += worker->executor().changes();
  return changes;
}

std::vector<CommandStats> Server::command_statistics() const {
  std::vector<CommandStats> totals(commands_->all().size());
  for (const auto& worker : workers_) {
    const std::vector<CommandStats>& part = worker->executor().stats().commands;
    for (size_t i = 0; i < part.size(); i++) totals[i].add(part[i]);
  }
  return totals;
}

void Server::reset_stats() {
  for (const auto& worker : workers_) {
    worker->reset_stats();
    worker->host().stats() = {};
    ExecutorStats& stats = worker->executor().stats();
    const size_t commands = stats.commands.size();
    stats = {};
    stats.commands.resize(commands);
  }
  keyspace_->reset_stats();
  reclaimer_.reset_statistics();
  persistence_.reset_statistics();
  memory_->reset_statistics();
  scripting_.scripts.reset_statistics();
  sessions_.rejected.store(0);
  facts_.stats_reset_ms = clock_.wall_ms();
  sampler_ = {};
  facts_.ops_per_second = facts_.input_kbps = facts_.output_kbps = 0;
  facts_.turns_per_second = facts_.turn_us = 0;
}

}  // namespace sorrel::server
