// The program: command line, configuration, then the server.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "config/config_disk.h"
#include "config/directive_effect.h"
#include "io/crash_report.h"
#include "io/files.h"
#include "io/log_file.h"
#include "io/notify.h"
#include "io/process.h"
#include "io/process_title.h"
#include "io/system_clock.h"
#include "server/allocator.h"
#include "server/crash_witness.h"
#include "server/descriptor_limit.h"
#include "server/program_arguments.h"
#include "server/server.h"
#include "server/server_directives.h"
#include "server/system_warnings.h"
#include "server/version.h"
#include "tools/program.h"

#if defined(SORREL_JEMALLOC)
// What jemalloc reads when it starts. Left alone it keeps unused pages for ten seconds, in which a
// growing table leaves a good part of itself behind.
extern "C" {
extern const char* const malloc_conf;
[[gnu::used]] const char* const malloc_conf = "dirty_decay_ms:2000";
}
#endif

namespace {

using namespace sorrel;
using namespace sorrel::server;

constexpr size_t kMaxConfigBytes = 16 << 20;

std::string read_stdin() {
  std::string text;
  char piece[4096];
  size_t got;
  while (text.size() < kMaxConfigBytes && (got = fread(piece, 1, sizeof piece, stdin)) > 0) {
    text.append(piece, got);
  }
  return text;
}

std::string version_line() {
  return fmt::format("Sorrel server v={} (Redis {}) sha=00000000:0 malloc={} bits=64 build=0\n",
                     kSorrelVersion, kRedisVersion, allocator_name());
}

// Short, and with what a newcomer needs next. Harnesses that watch the log look for the PID.
std::string banner(const Options& options) {
  const bool plain = options.network.port != 0;
  const auto port = plain ? options.network.port : options.tls.port;
  const std::string connect = port == 0
                                  ? fmt::format("redis-cli -s {}", options.network.unix_socket)
                                  : fmt::format("redis-cli {}-p {}", plain ? "" : "--tls ", port);
  return fmt::format(
      "\n  Sorrel {} (speaks Redis {})\n  Port: {}\n  PID: {}\n  Threads: {}\n  Connect: {}\n\n",
      kSorrelVersion, kRedisVersion, port, io::process_id(), options.process.threads, connect);
}

bool supervised_by(io::Supervisor manager, Supervised asked) {
  if (asked == Supervised::kAuto) return io::detect_supervisor() == manager;
  const bool systemd = manager == io::Supervisor::kSystemd;
  return asked == (systemd ? Supervised::kSystemd : Supervised::kUpstart);
}

// Into the system log as well, if it is wanted.
void open_system_log(const LogOptions& options, io::LogFile& log) {
  // Numbers of syslog(3): 1 is user, 16 and up are local0 and up.
  constexpr int kUser = 1;
  constexpr int kLocal0 = 16;
  if (!options.syslog) return;
  const int local =
      static_cast<int>(options.syslog_facility) - static_cast<int>(SyslogFacility::kLocal0);
  const bool user = options.syslog_facility == SyslogFacility::kUser;
  const Status opened = log.open_system_log(options.syslog_ident, user ? kUser : kLocal0 + local);
  if (!opened) log.warning("Failed to open the system log: " + opened.error().text);
}

// The first lines of a log: what starts, and with what.
void introduce(const Options& options, const std::string& config_path, io::LogFile& log) {
  log.notice("oO0OoO0OoO0Oo Sorrel is starting oO0OoO0OoO0Oo");
  log.notice(fmt::format("Sorrel version={}, Redis version={}, bits=64, pid={}, just started",
                         kSorrelVersion, kRedisVersion, io::process_id()));
  if (config_path.empty()) {
    log.warning("No config file specified: using the defaults.");
  } else {
    log.notice("Configuration loaded");
  }
  const bool for_people = log.on_terminal() && !options.logging.syslog;
  if (for_people || options.logging.always_show_logo) {
    log.write_raw(banner(options));
  } else {
    const int64_t port = options.network.port != 0 ? options.network.port : options.tls.port;
    log.notice(fmt::format("Running mode=standalone, port={}.", port));
  }
}

int serve(Options options, const std::string& config_path, const std::string& executable,
          io::ProcessTitle& title) {
  io::SystemClock clock;
  io::LogFile log(clock);
  log.set_level(options.logging.level);
  if (Status opened = log.open(options.logging.file); !opened) {
    fmt::print(stderr, "Can't open the log file: {}\n", opened.error().text);
    return 1;
  }
  open_system_log(options.logging, log);
  const bool systemd = supervised_by(io::Supervisor::kSystemd, options.process.supervised);
  const bool upstart = supervised_by(io::Supervisor::kUpstart, options.process.supervised);
  if (upstart && !io::stop_for_upstart()) {
    log.warning("supervised is upstart, but there is no UPSTART_JOB");
  }
  const bool daemonize = options.process.daemonize && !systemd && !upstart;
  if (daemonize) {
    if (Status done = io::daemonize(); !done) {
      log.warning("Can't become a daemon: " + done.error().text);
      return 1;
    }
  }
  introduce(options, config_path, log);
  io::ignore_hangups();
  io::hold_termination_signals();
  const bool huge_pages_off = options.process.disable_thp && io::disable_huge_pages();
  if (!warn_of_system(options, huge_pages_off, log)) return 1;
  purge_in_background(options.memory.jemalloc_bg_thread);
  if (!fit_max_clients(options, log)) return 1;
  std::string pid_file = options.process.pid_file;
  if (pid_file.empty() && daemonize) pid_file = "/var/run/redis.pid";

  Server server(std::move(options), clock, log, config::disk_files());
  server.facts().executable = io::absolute_path(executable);
  server.facts().config_file = config_path;
  CrashWitness witness(server);
  io::CrashReport crash_report(log, fmt::format("Redis {}", kRedisVersion), witness);
  crash_report.enable(server.options().logging.crash_log);
  server.set_process_hooks({
      .set_log_level = [&log](LogLevel level) { log.set_level(level); },
      .set_title = [&title](const std::string& text) { title.set(text); },
      .set_crash_report = [&crash_report](bool enabled) { crash_report.enable(enabled); },
      .program = executable,
      .ready =
          [systemd] {
            if (systemd) io::notify_systemd("STATUS=Ready to accept connections\nREADY=1\n");
          },
  });
  server.config().set_config_file(config_path);
  if (!server.start()) return 1;
  if (!pid_file.empty()) {
    if (Status written = io::write_pidfile(pid_file); !written) {
      log.warning("Can't write the pid file: " + written.error().text);
    }
  }
  const int code = server.run();
  if (systemd) io::notify_systemd("STOPPING=1\n");
  if (!pid_file.empty()) (void)io::remove_file(pid_file).ok();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  // Under these names Redis's server is another program, and packages link it so.
  if (const int code = tools::run_as_checker(argc, argv); code >= 0) return code;
  const std::string executable = argv[0];
  const std::vector<std::string> words(argv + 1, argv + argc);
  io::ProcessTitle title(argc, argv, environ);
  const ProgramArguments line = parse_arguments(words, executable);
  switch (line.action) {
    case ProgramArguments::Action::kVersion:
      fmt::print("{}", version_line());
      return 0;
    case ProgramArguments::Action::kHelp:
      fmt::print("{}", usage_text(executable));
      return 0;
    case ProgramArguments::Action::kCheckSystem:
      return check_system(tools::to_standard_output());
    case ProgramArguments::Action::kRefuse:
      fmt::print(stderr, "{}\n", line.message);
      return 1;
    case ProgramArguments::Action::kRun:
      break;
  }
  Options options;
  if (auto here = io::current_directory()) options.persistence.dir = *here;
  config::LoadEnvironment environment;
  environment.files = config::disk_files();
  environment.command_exists = [](std::string_view name) {
    return name.find('|') == name.npos && catalog::find_known(name) != nullptr;
  };
  const std::string config_path =
      line.config_path.empty() ? "" : io::absolute_path(line.config_path);
  const Status loaded = config::load_from_command_line(
      server_directives(), line, line.config_from_stdin ? read_stdin() : std::string(), options,
      environment);
  if (!loaded) {
    fmt::print(stderr, "{}\n", loaded.error().text);
    return 1;
  }
  if (const Status supported = config::check_supported(server_directives(), options); !supported) {
    fmt::print(stderr, "{}\n", supported.error().text);
    return 1;
  }
  return serve(std::move(options), config_path, executable, title);
}
