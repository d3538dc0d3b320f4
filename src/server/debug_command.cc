#include "server/debug_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/bytes.h"
#include "base/glob.h"
#include "base/numbers.h"
#include "dispatch/executor.h"
#include "server/caller_facts.h"

namespace sorrel::server {
namespace {

DebugCommand& command_of(const Call& call) {
  return call.context<DebugCommand>();
}

// As C's atoi() reads a switch: what is no number is 0.
bool switched_on(const Call& call, size_t at) {
  return parse_int64(call.arg(at)).value_or(0) != 0;
}

void sleep(Call& call) {
  // Bounded, so that the sum of seconds stays representable.
  constexpr double kLongestSeconds = 1e6;
  const double seconds = parse_double(call.arg(2)).value_or(0);
  if (seconds > 0) {
    std::this_thread::sleep_for(
        std::chrono::microseconds(static_cast<int64_t>(std::min(seconds, kLongestSeconds) * 1e6)));
  }
  call.reply.ok();
}

void set_active_expire(Call& call) {
  command_of(call).expiry.active = switched_on(call, 2);
  call.reply.ok();
}

void pause_cron(Call& call) {
  command_of(call).expiry.cron_paused = switched_on(call, 2);
  call.reply.ok();
}

void set_skip_checksum_validation(Call& call) {
  call.keys.keyspace().limits().skip_checksum_validation = switched_on(call, 2);
  call.reply.ok();
}

void set_disable_deny_scripts(Call& call) {
  command_of(call).settings.disable_deny_scripts = switched_on(call, 2);
  call.reply.ok();
}

void change_repl_id(Call& call) {
  command_of(call).log.notice("Changing the replication id, as DEBUG asked");
  command_of(call).change_replication_id();
  call.reply.ok();
}

void log(Call& call) {
  command_of(call).log.warning(fmt::format("DEBUG LOG: {}", call.arg(2)));
  call.reply.ok();
}

void error(Call& call) {
  call.reply.error(call.arg(2));
}

void stringmatch_len(Call& call) {
  constexpr int64_t kLongest = int64_t{64} << 20;
  const std::optional<int64_t> length = parse_int64(call.arg(2));
  if (!length || *length < 0 || *length > kLongest) return answer::not_an_integer(call);
  const std::string text(static_cast<size_t>(*length), 'a');
  call.reply.integer(glob_match(call.arg(3), text) ? 1 : 0);
}

void structsize(Call& call) {
  call.reply.bulk(fmt::format("bits:{} record:{} caller:{}", sizeof(void*) * 8, Record::kHeader,
                              sizeof(Caller)));
}

void config_rewrite_force_all(Call& call) {
  if (const Status written = command_of(call).rewrite_all_config(); !written) {
    return call.reply.error(written.error().text);
  }
  call.reply.ok();
}

void quicklist_packed_threshold(Call& call) {
  constexpr int64_t kMost = (int64_t{4} << 30) - (int64_t{1} << 20);
  const std::optional<int64_t> size = parse_memory_size(call.arg(2));
  if (!size || *size < 0 || *size > kMost) {
    return call.reply.error(
        "ERR argument must be a memory value bigger than 1 and smaller than 4gb");
  }
  call.reply.ok();
}

void replybuffer(Call& call) {
  if (iequals(call.arg(2), "peak-reset-time")) {
    const bool word = iequals(call.arg(3), "never") || iequals(call.arg(3), "reset");
    if (!word && !parse_int64(call.arg(3))) return answer::not_an_integer(call);
    return call.reply.ok();
  }
  if (iequals(call.arg(2), "resizing")) return call.reply.ok();
  answer::subcommand_syntax(call);
}

// Switches of structures that Sorrel does not have: there is nothing to turn, and that is fine.
void accepted(Call& call) {
  call.reply.ok();
}

// In the middle of a transaction a load must not serve other clients.
persist::DatasetLoad::Place load_place(const Call& call) {
  return {.worker = call.executor.worker(), .may_yield = call.caller.may_wait};
}

void loadaof(Call& call) {
  call.keys.note_flush(ChangeObserver::kEveryDatabase);
  persist::Persistence& persistence = command_of(call).persistence;
  if (const Status done = persistence.reload_aof(load_place(call)); !done) {
    return call.reply.error(done.error().text);
  }
  call.reply.ok();
}

void aof_flush_sleep(Call& call) {
  const std::optional<int64_t> us = parse_int64(call.arg(2));
  if (!us || *us < 0) return answer::not_an_integer(call);
  command_of(call).persistence.set_write_delay(*us);
  call.reply.ok();
}

void reload(Call& call) {
  persist::ReloadOptions options;
  for (const std::string_view word : call.args.subspan(2)) {
    if (iequals(word, "merge")) {
      options.merge = true;
    } else if (iequals(word, "noflush")) {
      options.flush = false;
    } else if (iequals(word, "nosave")) {
      options.save = false;
    } else {
      return call.reply.error(
          "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
    }
  }
  if (options.flush) call.keys.note_flush(ChangeObserver::kEveryDatabase);
  const Status done = command_of(call).persistence.reload(options, load_place(call));
  if (!done) return call.reply.error(done.error().text);
  call.reply.ok();
}

void jmap(Call& call) {
  call.reply.error("ERR JMAP is not available: there is no virtual machine whose heap to list");
}

// Writes where nothing is, out of the compiler's sight.
void segfault(Call& call) {
  volatile uintptr_t nowhere = 0x10;
  *reinterpret_cast<volatile char*>(nowhere) = 'x';
  call.reply.ok();
}

// How a bug in our own reasoning ends: the words that people look for, and the report.
[[noreturn]] void crash(Call& call) {
  const DebugCommand& command = command_of(call);
  if (command.options.process.exit_on_panic) std::_Exit(1);
  std::abort();
}

[[noreturn]] void failed_assertion(Call& call) {
  command_of(call).log.warning("=== ASSERTION FAILED ===");
  command_of(call).log.warning("==> DEBUG ASSERT was called");
  crash(call);
}

[[noreturn]] void panic(Call& call) {
  Logger& log = command_of(call).log;
  log.warning("------------------------------------------------");
  log.warning("!!! Software Failure. Press left mouse button to continue");
  log.warning("Guru Meditation: \"DEBUG PANIC called\"");
  log.warning("------------------------------------------------");
  crash(call);
}

[[noreturn]] void out_of_memory(Call& call) {
  command_of(call).log.warning("Out Of Memory, as DEBUG OOM asked");
  crash(call);
}

void help(Call& call);

// One subcommand: how many arguments it takes behind its name, and what HELP says about it.
struct Aid {
  std::string_view name;
  size_t least;
  size_t most;
  void (*run)(Call& call);
  std::string_view usage = {};  // empty: HELP is silent about it
  std::string_view summary = {};
};

constexpr size_t kMany = 1 << 20;

constexpr Aid kAids[] = {
    {"aof-flush-sleep", 1, 1, aof_flush_sleep, "AOF-FLUSH-SLEEP <microseconds>",
     "Sleep so long before each write of the append only file."},
    {"assert", 0, 0, failed_assertion, "ASSERT", "Crash, as a failed assertion would."},
    {"change-repl-id", 0, 0, change_repl_id, "CHANGE-REPL-ID", "Draw a new replication id."},
    {"config-rewrite-force-all", 0, 0, config_rewrite_force_all, "CONFIG-REWRITE-FORCE-ALL",
     "Like CONFIG REWRITE, but write every directive, also those at their default."},
    {"dict-resizing", 1, 1, accepted, "DICT-RESIZING <0|1>", "Accepted without effect."},
    {"digest", 0, 0, debug_digest, "DIGEST", "A fingerprint of every key, value and deadline."},
    {"digest-value", 0, kMany, debug_digest_value, "DIGEST-VALUE <key> [<key> ...]",
     "Fingerprints of the values of these keys."},
    {"error", 1, 1, error, "ERROR <text>", "Answer with this error."},
    {"help", 0, 0, help},
    {"htstats", 1, 2, debug_htstats, "HTSTATS <db> [FULL]", "Statistics of a database's table."},
    {"htstats-key", 1, 2, debug_htstats_key, "HTSTATS-KEY <key> [FULL]",
     "Statistics of the table that a value is kept in."},
    {"jmap", 0, kMany, jmap},
    {"listpack", 1, 1, debug_listpack},
    {"loadaof", 0, 0, loadaof, "LOADAOF", "Load the append only file again."},
    {"log", 1, 1, log, "LOG <message>", "Write a line to the log."},
    {"object", 1, 1, debug_object, "OBJECT <key>", "How a key and its value are kept."},
    {"oom", 0, 0, out_of_memory, "OOM", "Crash, as running out of memory would."},
    {"panic", 0, 0, panic, "PANIC", "Crash, as an impossible state would."},
    {"pause-cron", 1, 1, pause_cron, "PAUSE-CRON <0|1>", "Stop the periodic tasks, or go on."},
    {"populate", 1, 3, debug_populate, "POPULATE <count> [<prefix>] [<size>]",
     "Make keys named <prefix>:<number>, with values of <size> bytes."},
    {"protocol", 1, 1, debug_protocol, "PROTOCOL <type>",
     "Answer with a value of this type: string, integer, double, bignum, null, array, set, map, "
     "attrib, push, verbatim, true, false."},
    {"quicklist", 1, 2, debug_quicklist},
    {"quicklist-packed-threshold", 1, 1, quicklist_packed_threshold,
     "QUICKLIST-PACKED-THRESHOLD <size>", "Accepted without effect."},
    {"reload", 0, kMany, reload, "RELOAD [MERGE] [NOFLUSH] [NOSAVE]",
     "Save the dataset and load it again."},
    {"replybuffer", 2, 2, replybuffer, "REPLYBUFFER PEAK-RESET-TIME|RESIZING <value>",
     "Accepted without effect; reply buffers here are shared and not resized."},
    {"sdslen", 1, 1, debug_sdslen, "SDSLEN <key>", "The lengths of a key and its string."},
    {"segfault", 0, 0, segfault, "SEGFAULT", "Crash, as a bad memory access would."},
    {"set-active-expire", 1, 1, set_active_expire, "SET-ACTIVE-EXPIRE <0|1>",
     "Leave keys whose time has come until somebody asks for them, or delete them by ourselves."},
    {"set-disable-deny-scripts", 1, 1, set_disable_deny_scripts},
    {"set-skip-checksum-validation", 1, 1, set_skip_checksum_validation,
     "SET-SKIP-CHECKSUM-VALIDATION <0|1>", "Load files and payloads whatever their checksum says."},
    {"sleep", 1, 1, sleep, "SLEEP <seconds>", "Stop the whole server for so long."},
    {"stringmatch-len", 2, 2, stringmatch_len, "STRINGMATCH-LEN <length> <pattern>",
     "Does the pattern match so many letters 'a'?"},
    {"structsize", 0, 0, structsize, "STRUCTSIZE", "The sizes of some structures."},
};

void help(Call& call) {
  std::vector<std::string> summaries;
  for (const Aid& aid : kAids) summaries.push_back("    " + std::string(aid.summary));
  std::vector<std::string_view> lines;
  for (size_t i = 0; i < std::size(kAids); i++) {
    if (kAids[i].usage.empty()) continue;
    lines.push_back(kAids[i].usage);
    lines.push_back(summaries[i]);
  }
  answer::help(call, lines);
}

void debug(Call& call) {
  if (!is_allowed(command_of(call).options.security.debug_command, call.caller)) {
    return call.reply.error(not_allowed_error("DEBUG", "enable-debug-command"));
  }
  const size_t arguments = call.argc() - 2;
  for (const Aid& aid : kAids) {
    if (!iequals(aid.name, call.arg(1))) continue;
    if (arguments < aid.least || arguments > aid.most) break;
    return aid.run(call);
  }
  answer::subcommand_syntax(call);
}

}  // namespace

std::vector<Binding> debug_bindings(DebugCommand& command) {
  return {{"debug", &debug, &command}};
}

}  // namespace sorrel::server
