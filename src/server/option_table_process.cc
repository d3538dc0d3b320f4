#include "server/option_chapters.h"
#include "server/option_checks.h"
#include "server/option_special.h"

namespace sorrel::server {
namespace {

constexpr Word kSupervisedWords[] = {
    {"upstart", static_cast<int>(Supervised::kUpstart)},
    {"systemd", static_cast<int>(Supervised::kSystemd)},
    {"auto", static_cast<int>(Supervised::kAuto)},
    {"no", static_cast<int>(Supervised::kNo)},
};

constexpr Word kShutdownWords[] = {
    {"default", static_cast<int>(kShutdownDefault)}, {"save", static_cast<int>(kShutdownSave)},
    {"nosave", static_cast<int>(kShutdownNoSave)},   {"now", static_cast<int>(kShutdownNow)},
    {"force", static_cast<int>(kShutdownForce)},
};

constexpr Word kOomWords[] = {
    {"no", static_cast<int>(OomScore::kNo)},
    {"yes", static_cast<int>(OomScore::kRelative)},
    {"relative", static_cast<int>(OomScore::kRelative)},
    {"absolute", static_cast<int>(OomScore::kAbsolute)},
};

constexpr Word kLevelWords[] = {
    {"debug", static_cast<int>(LogLevel::kDebug)},
    {"verbose", static_cast<int>(LogLevel::kVerbose)},
    {"notice", static_cast<int>(LogLevel::kNotice)},
    {"warning", static_cast<int>(LogLevel::kWarning)},
    {"nothing", static_cast<int>(LogLevel::kNothing)},
};

constexpr Word kFacilityWords[] = {
    {"user", static_cast<int>(SyslogFacility::kUser)},
    {"local0", static_cast<int>(SyslogFacility::kLocal0)},
    {"local1", static_cast<int>(SyslogFacility::kLocal1)},
    {"local2", static_cast<int>(SyslogFacility::kLocal2)},
    {"local3", static_cast<int>(SyslogFacility::kLocal3)},
    {"local4", static_cast<int>(SyslogFacility::kLocal4)},
    {"local5", static_cast<int>(SyslogFacility::kLocal5)},
    {"local6", static_cast<int>(SyslogFacility::kLocal6)},
    {"local7", static_cast<int>(SyslogFacility::kLocal7)},
};

constexpr InOptions::Row kProcess[] = {
    {.name = "threads",
     .flags = kStartupOnly | kOurOwn,
     .kind = InOptions::integer<&Options::process, &ProcessOptions::threads>(1, 256),
     .help = "Worker threads that execute commands."},
    {.name = "databases",
     .flags = kStartupOnly,
     .kind = InOptions::integer<&Options::process, &ProcessOptions::databases>(1, kIntMax),
     .help = "Number of databases that SELECT can choose from."},
    {.name = "daemonize",
     .flags = kStartupOnly,
     .kind = InOptions::boolean<&Options::process, &ProcessOptions::daemonize>(),
     .help = "Detach from the terminal and run in the background."},
    {.name = "pidfile",
     .flags = kStartupOnly,
     .kind = InOptions::optional_text<&Options::process, &ProcessOptions::pid_file>(),
     .help = "File to write the process id to; it is removed at exit."},
    {.name = "supervised",
     .flags = kStartupOnly,
     .kind = InOptions::words<&Options::process, &ProcessOptions::supervised>(kSupervisedWords),
     .help = "The service manager to report readiness to."},
    {.name = "set-proc-title",
     .flags = kStartupOnly,
     .kind = InOptions::boolean<&Options::process, &ProcessOptions::set_proc_title>(),
     .help = "Show address and mode in the process list."},
    {.name = "proc-title-template",
     .part = &part::kProcessTitle,
     .kind = InOptions::text<&Options::process, &ProcessOptions::proc_title_template>(
         check_proc_title_template),
     .help = "What the process list shows; {title}, {listen-addr}, {server-mode}, {port}, "
             "{tls-port}, {unixsocket} and {config-file} are filled in."},
    {.name = "hz",
     .part = &part::kCronRate,
     .kind = InOptions::integer<&Options::process, &ProcessOptions::hz>(0, kIntMax),
     .help = "Rounds of background work in a second; values outside 1 to 500 are brought into that "
             "range."},
    {.name = "dynamic-hz",
     .part = &part::kCronRate,
     .kind = InOptions::boolean<&Options::process, &ProcessOptions::dynamic_hz>(),
     .help = "Raise hz by itself while many clients are connected."},
    {.name = "io-threads",
     .flags = kStartupOnly | kNeedless,
     .kind = InOptions::integer<&Options::process, &ProcessOptions::io_threads>(1, 128),
     .help = "Every worker reads and writes for its own clients; see threads."},
    {.name = "io-threads-do-reads",
     .flags = kStartupOnly | kNeedless,
     .kind = InOptions::boolean<&Options::process, &ProcessOptions::io_threads_do_reads>(),
     .help = "Every worker reads and writes for its own clients; see threads."},
    {.name = "shutdown-timeout",
     .flags = kNoEffectYet,
     .kind = InOptions::integer<&Options::process, &ProcessOptions::shutdown_timeout_seconds>(
         0, kIntMax),
     .help = "Seconds that a shutdown waits for lagging replicas; 0 does not wait."},
    {.name = "shutdown-on-sigint",
     .flags = kMultiArg,
     .kind = InOptions::word_set<&Options::process, &ProcessOptions::shutdown_on_sigint>(
         kShutdownWords, check_shutdown_bits),
     .help = "How SIGINT shuts the server down; several words may be given."},
    {.name = "shutdown-on-sigterm",
     .flags = kMultiArg,
     .kind = InOptions::word_set<&Options::process, &ProcessOptions::shutdown_on_sigterm>(
         kShutdownWords, check_shutdown_bits),
     .help = "How SIGTERM shuts the server down; several words may be given."},
    {.name = "oom-score-adj",
     .part = &part::kOomScore,
     .kind = InOptions::words<&Options::process, &ProcessOptions::oom_score_adj>(kOomWords),
     .help = "Tell the kernel whom to kill first when the machine is out of memory."},
    {.name = "oom-score-adj-values",
     .flags = kMultiArg,
     .part = &part::kOomScore,
     .kind = kOomValuesKind,
     .help = "Scores of a primary, a replica and a background child."},
    {.name = "disable-thp",
     .flags = kStartupOnly,
     .kind = InOptions::boolean<&Options::process, &ProcessOptions::disable_thp>(),
     .help = "Ask the kernel not to back this process with huge pages, which make saving costly."},
    {.name = "server_cpulist",
     .alias = "server-cpulist",
     .flags = kStartupOnly | kAliasUnlisted,
     .kind = InOptions::optional_text<&Options::process, &ProcessOptions::server_cpus>(),
     .help = "Processors for the worker threads, such as 0-3,8."},
    {.name = "bio_cpulist",
     .alias = "bio-cpulist",
     .flags = kStartupOnly | kAliasUnlisted,
     .kind = InOptions::optional_text<&Options::process, &ProcessOptions::background_cpus>(),
     .help = "Processors for the background threads."},
    {.name = "aof_rewrite_cpulist",
     .alias = "aof-rewrite-cpulist",
     .flags = kStartupOnly | kAliasUnlisted,
     .kind = InOptions::optional_text<&Options::process, &ProcessOptions::aof_rewrite_cpus>(),
     .help = "Processors for a rewrite of the log."},
    {.name = "bgsave_cpulist",
     .alias = "bgsave-cpulist",
     .flags = kStartupOnly | kAliasUnlisted,
     .kind = InOptions::optional_text<&Options::process, &ProcessOptions::bgsave_cpus>(),
     .help = "Processors for a snapshot."},
    {.name = "locale-collate",
     .flags = kNoEffectYet,
     .kind = InOptions::text<&Options::process, &ProcessOptions::locale_collate>(),
     .help = "Locale by which SORT ALPHA compares; empty takes the environment's."},
    {.name = "ignore-warnings",
     .kind = InOptions::text<&Options::process, &ProcessOptions::ignore_warnings>(),
     .help = "Start-up warnings not to act upon, separated by blanks."},
    {.name = "watchdog-period",
     .flags = kHidden,
     .part = &part::kWatchdog,
     .kind = InOptions::integer<&Options::process, &ProcessOptions::watchdog_period_ms>(0, kIntMax),
     .help = "Milliseconds after which a stuck server logs where it stands; 0 is off."},
    {.name = "use-exit-on-panic",
     .flags = kHidden,
     .kind = InOptions::boolean<&Options::process, &ProcessOptions::exit_on_panic>(),
     .help = "Exit instead of aborting on a panic; for tests."},
};

constexpr InOptions::Row kMonitor[] = {
    {.name = "slowlog-log-slower-than",
     .alias = "commandlog-execution-slower-than",
     .flags = kAliasUnlisted,
     .kind = InOptions::integer<&Options::monitor, &MonitorOptions::watch,
                                &WatchLimits::slowlog_slower_than_us>(-1, kLongMax),
     .help = "Microseconds above which a command enters the slow log; 0 logs all, -1 none."},
    {.name = "slowlog-max-len",
     .alias = "commandlog-slow-execution-max-len",
     .flags = kAliasUnlisted,
     .kind = InOptions::integer<&Options::monitor, &MonitorOptions::slowlog_max_len>(0, kLongMax),
     .help = "Entries that the slow log keeps."},
    {.name = "commandlog-request-larger-than",
     .flags = kOurOwn,
     .kind =
         InOptions::integer<&Options::monitor, &MonitorOptions::large_request_bytes>(-1, kLongMax),
     .help = "Bytes from which on a request enters COMMANDLOG; 0 logs all, -1 none."},
    {.name = "commandlog-large-request-max-len",
     .flags = kOurOwn,
     .kind =
         InOptions::integer<&Options::monitor, &MonitorOptions::large_request_max_len>(0, kLongMax),
     .help = "Large requests that COMMANDLOG keeps."},
    {.name = "commandlog-reply-larger-than",
     .flags = kOurOwn,
     .kind =
         InOptions::integer<&Options::monitor, &MonitorOptions::large_reply_bytes>(-1, kLongMax),
     .help = "Bytes from which on a reply enters COMMANDLOG; 0 logs all, -1 none."},
    {.name = "commandlog-large-reply-max-len",
     .flags = kOurOwn,
     .kind =
         InOptions::integer<&Options::monitor, &MonitorOptions::large_reply_max_len>(0, kLongMax),
     .help = "Large replies that COMMANDLOG keeps."},
    {.name = "latency-monitor-threshold",
     .kind = InOptions::integer<&Options::monitor, &MonitorOptions::watch,
                                &WatchLimits::latency_threshold_ms>(0, kLongMax),
     .help = "Milliseconds above which LATENCY records an event; 0 is off."},
    {.name = "latency-tracking",
     .kind = InOptions::boolean<&Options::monitor, &MonitorOptions::watch,
                                &WatchLimits::latency_tracking>(),
     .help = "Keep a histogram of each command's latency."},
    {.name = "latency-tracking-info-percentiles",
     .flags = kMultiArg,
     .kind = kPercentilesKind,
     .help = "Percentiles that INFO latencystats shows."},
    {.name = "notify-keyspace-events",
     .part = &part::kNotifications,
     .kind = kKeyspaceEventsKind,
     .help = "Letters for the keyspace events to publish; empty publishes none."},
    {.name = "busy-reply-threshold",
     .alias = "lua-time-limit",
     .part = &part::kScripting,
     .kind = InOptions::integer<&Options::scripting, &script::ScriptingOptions::busy_threshold_ms>(
         0, kLongMax),
     .help = "Milliseconds after which a running script lets other clients hear BUSY."},
};

constexpr InOptions::Row kLogging[] = {
    {.name = "loglevel",
     .part = &part::kLogLevel,
     .kind = InOptions::words<&Options::logging, &LogOptions::level>(kLevelWords),
     .help = "Least important message that is still logged."},
    {.name = "logfile",
     .flags = kStartupOnly,
     .kind = InOptions::text<&Options::logging, &LogOptions::file>(),
     .help = "File to log to; empty is standard output."},
    {.name = "syslog-enabled",
     .flags = kStartupOnly,
     .kind = InOptions::boolean<&Options::logging, &LogOptions::syslog>(),
     .help = "Log to the system log as well."},
    {.name = "syslog-ident",
     .flags = kStartupOnly,
     .kind = InOptions::text<&Options::logging, &LogOptions::syslog_ident>(),
     .help = "Name under which messages appear in the system log."},
    {.name = "syslog-facility",
     .flags = kStartupOnly,
     .kind = InOptions::words<&Options::logging, &LogOptions::syslog_facility>(kFacilityWords),
     .help = "Facility of messages in the system log."},
    {.name = "crash-log-enabled",
     .part = &part::kCrashReport,
     .kind = InOptions::boolean<&Options::logging, &LogOptions::crash_log>(),
     .help = "Log a report when the process crashes."},
    {.name = "crash-memcheck-enabled",
     .flags = kNeedless,
     .kind = InOptions::boolean<&Options::logging, &LogOptions::crash_memcheck>(),
     .help = "The kernel and the hardware report memory that fails, so a crash report has no test "
             "of it."},
    {.name = "hide-user-data-from-log",
     .kind = InOptions::boolean<&Options::logging, &LogOptions::hide_user_data>(),
     .help = "Keep keys, values and arguments out of log messages and crash reports."},
    {.name = "always-show-logo",
     .flags = kStartupOnly,
     .kind = InOptions::boolean<&Options::logging, &LogOptions::always_show_logo>(),
     .help = "Print the banner even when not on a terminal."},
    {.name = "req-res-logfile",
     .flags = kStartupOnly | kHidden | kNoEffectYet,
     .kind = InOptions::optional_text<&Options::logging, &LogOptions::req_res_file>(),
     .help = "File to log requests and replies to; for tests."},
};

}  // namespace

OptionRows process_directives() {
  return kProcess;
}
OptionRows monitor_directives() {
  return kMonitor;
}
OptionRows logging_directives() {
  return kLogging;
}

}  // namespace sorrel::server
