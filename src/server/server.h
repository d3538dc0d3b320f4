#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "config/config_store.h"
#include "config/directive_effect.h"
#include "dispatch/executor.h"
#include "io/loop.h"
#include "io/system_clock.h"
#include "keyspace/keyspace.h"
#include "keyspace/reclaimer.h"
#include "persist/persistence.h"
#include "propagate/effect_log.h"
#include "script/scripting.h"
#include "server/admin.h"
#include "server/config_commands.h"
#include "server/listeners.h"
#include "server/oom_adjuster.h"
#include "server/options.h"
#include "server/persistence_host.h"
#include "server/processors.h"
#include "server/rate_sampler.h"
#include "server/script_debugging.h"
#include "server/server_directives.h"
#include "server/tls_door.h"
#include "server/worker.h"
#include "session/session_host.h"

namespace sorrel::server {

// What the server knows of itself since it started. Written by worker 0's cron or under the gate.
struct ServerFacts {
  std::string run_id;  // 40 hexadecimal digits
  std::string replication_id;
  std::string executable;
  std::string config_file;
  int64_t started_ms = 0;
  uint64_t startup_memory = 0;
  uint64_t peak_memory = 0;
  int64_t stats_reset_ms = 0;
  // Per-second rates, averaged over the last 16 samples.
  double ops_per_second = 0;
  double input_kbps = 0;
  double output_kbps = 0;
  double turns_per_second = 0;
  double turn_us = 0;  // how long a turn of the loop took
};

// What the program does for the server, because it belongs to the process and not to one server in
// it. A function left empty: nothing happens.
struct ProcessHooks {
  std::function<void(LogLevel)> set_log_level;
  std::function<void(const std::string&)> set_title;
  std::function<void(bool)> set_crash_report;
  std::string program;  // {title} of proc-title-template
  // Everything is loaded: clients are served from now on.
  std::function<void()> ready;
};

// Builds the house from options and keeps it standing: owns every part, starts the workers,
// listens, runs the server-wide cron, stops. It is wiring; what parts do is theirs.
class Server : public io::AcceptHandler {
 public:
  // `files` and `log` outlive it.
  Server(Options options, io::SystemClock& clock, Logger& log, config::FileAccess files);
  ~Server() override;

  // Makes everything ready and starts to listen. An Error has been logged where it matters.
  Status start();
  // Serves until asked to stop; returns the exit code.
  int run();
  // Any thread.
  void request_stop(int exit_code);
  // The same under the gate: nobody can connect any more when it returns.
  void stop_now(int exit_code);
  // Under the gate: takes a signal back that has not been obeyed yet. False: there is none.
  bool abort_stop();
  // Any thread: has it been asked to end?
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }
  // Before start().
  void set_process_hooks(ProcessHooks hooks) { process_ = std::move(hooks); }

  // AcceptHandler
  void on_accept(std::unique_ptr<io::Accepted> connection) override;
  void on_overflow(std::unique_ptr<io::Accepted> connection, const Error& why) override;

  // Everything below: under the gate, or on worker 0 inside its batch when threads is 1.
  config::ConfigStore& config() { return config_; }
  Options& options() { return options_; }
  Keyspace& keyspace() { return *keyspace_; }
  Reclaimer& reclaimer() { return reclaimer_; }
  EffectStream& effects() { return effects_; }
  CommandTable& commands() { return *commands_; }
  SessionWorld& sessions() { return sessions_; }
  NodeState& node() { return node_; }
  script::Scripting& scripting() { return scripting_; }
  Admin& admin() { return admin_; }
  persist::Persistence& persistence() { return persistence_; }
  ScriptDebugging& script_debugging() { return script_debugging_; }
  const ExecutorWorld& executors() const { return *executors_; }
  const BlockedClients& waiters() const { return waiters_; }
  ChangeHub& hub() { return hub_; }
  const Processors& processors() const { return processors_; }
  ExpiryOptions& expiry() { return expiry_; }
  MemoryLimit& memory() { return *memory_; }
  ServerFacts& facts() { return facts_; }
  // For connections to other nodes: null unless `tls-cluster` is on.
  Result<std::shared_ptr<const io::TlsContext>> cluster_tls() const;
  Logger& log() { return log_; }
  const Clock& clock() const { return clock_; }
  const config::FileAccess& files() const { return files_; }
  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  // Records, tables, clients, scripts, what is not freed yet, and what the process had at start.
  uint64_t used_memory() const;
  uint64_t client_memory() const;
  uint64_t aof_memory() const { return persistence_.aof_memory(); }
  // How many changes commands have made since the start.
  uint64_t changes() const;
  // In a process made by fork(): nobody looks at what commands do any more.
  void leave_observers();
  // Of every command, all workers together; by Command::index.
  std::vector<CommandStats> command_statistics() const;
  void reset_stats();

 private:
  Status build_commands();
  void connect_scripting();
  void connect_memory();
  Status listen();
  void refuse(io::Accepted& connection);
  // Hands every part its values, now and whenever they change.
  void connect_options();
  void keep_applied(const config::Part& part, std::function<void()> apply);
  void connect_session_options();
  void connect_keyspace_options();
  void connect_persistence_options();
  void connect_process_options();
  void connect_network_options();
  void place_threads();
  void adjust_hz();
  void show_title();
  void prepare_child(persist::ChildKind kind);
  void load_data();
  void tell_ready();
  void on_signal(int signal);
  void shut_down_if_wanted();
  void cron();
  void sample_rates();
  // What maxmemory and its like say, for those who act by it.
  void limit_memory();
  // Corrects what is counted as commands run, if anything went past that.
  void recount_memory();
  uint64_t fixed_memory() const;
  void evict_clients();

  Options options_;
  io::SystemClock& clock_;
  Logger& log_;
  config::FileAccess files_;
  config::ConfigStore config_{server_directives(), options_};
  ConfigCommands config_commands_{.store = config_, .options = options_};
  NodeState node_;
  ExpiryOptions expiry_;
  ServerFacts facts_;
  Reclaimer reclaimer_;
  EffectStream effects_;
  std::unique_ptr<Keyspace> keyspace_;
  script::Scripting scripting_;
  PersistenceHost persistence_host_{*this};
  persist::Persistence persistence_{persistence_host_};
  ScriptDebugging script_debugging_{*this};
  Admin admin_{*this};
  std::unique_ptr<CommandTable> commands_;
  std::unique_ptr<WorldGate> gate_;
  ChangeHub hub_;
  BlockedClients waiters_{hub_.interest()};
  std::unique_ptr<MemoryLimit> memory_;
  std::unique_ptr<ExecutorWorld> executors_;
  SessionWorld sessions_;
  std::vector<std::unique_ptr<Worker>> workers_;
  TlsDoor tls_door_{*this, log_};
  Listeners listeners_{*this, tls_door_, log_};
  OomAdjuster oom_adjuster_;
  Processors processors_;
  config::NoEffectWarnings no_effect_warnings_{server_directives(), log_};
  ProcessHooks process_;
  RateSampler sampler_;
  size_t next_worker_ = 0;
  int64_t overflow_logged_ms_ = 0;  // worker 0's
  std::atomic<int> exit_code_{0};
  std::atomic<bool> stopping_{false};
  int stop_signal_ = 0;  // that came and has not been obeyed yet; worker 0's
};

}  // namespace sorrel::server
