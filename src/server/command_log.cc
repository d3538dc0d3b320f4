#include "server/command_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/bytes.h"
#include "base/numbers.h"
#include "dispatch/call.h"
#include "server/config_commands.h"
#include "session/redaction.h"

namespace sorrel::server {
namespace {

constexpr size_t kMostArguments = 32;
constexpr size_t kMostBytes = 128;
constexpr int64_t kShownByDefault = 10;

constexpr int64_t kAll = -1;

CommandLogs& logs_of(const Call& call) {
  return call.context<CommandLogs>();
}

void answer_entry(Call& call, const LoggedCommand& entry) {
  call.reply.array(6);
  call.reply.integer(static_cast<int64_t>(entry.id));
  call.reply.integer(entry.time_s);
  call.reply.integer(static_cast<int64_t>(entry.value));
  call.reply.array(static_cast<int64_t>(entry.args.size()));
  for (const std::string& arg : entry.args) call.reply.bulk(arg);
  call.reply.bulk(entry.address);
  call.reply.bulk(entry.client_name);
}

void answer_newest(Call& call, const CommandLog& log, int64_t count) {
  const auto most = count == kAll ? std::numeric_limits<size_t>::max() : static_cast<size_t>(count);
  const std::vector<LoggedCommand> entries = log.newest(most);
  call.reply.array(static_cast<int64_t>(entries.size()));
  for (const LoggedCommand& entry : entries) answer_entry(call, entry);
}

// How many are asked for, or nothing when it has been answered that this is no number.
std::optional<int64_t> parse_count(Call& call, size_t position) {
  const std::optional<int64_t> asked = parse_int64(call.arg(position));
  if (asked && *asked >= kAll) return asked;
  call.reply.error("ERR count should be greater than or equal to -1");
  return std::nullopt;
}

void slowlog_get(Call& call) {
  if (call.argc() > 3) return answer::subcommand_syntax(call);
  std::optional<int64_t> count = kShownByDefault;
  if (call.argc() == 3) count = parse_count(call, 2);
  if (count) answer_newest(call, logs_of(call).slow, *count);
}

void slowlog_len(Call& call) {
  call.reply.integer(static_cast<int64_t>(logs_of(call).slow.size()));
}

void slowlog_reset(Call& call) {
  logs_of(call).slow.clear();
  call.reply.ok();
}

// The log that is named, or null when it has been answered that there is none of that name.
CommandLog* parse_kind(Call& call, size_t position) {
  CommandLogs& logs = logs_of(call);
  if (iequals(call.arg(position), "slow")) return &logs.slow;
  if (iequals(call.arg(position), "large-request")) return &logs.large_requests;
  if (iequals(call.arg(position), "large-reply")) return &logs.large_replies;
  call.reply.error("ERR type should be one of the following: slow, large-request, large-reply");
  return nullptr;
}

void commandlog_get(Call& call) {
  const std::optional<int64_t> count = parse_count(call, 2);
  if (!count) return;
  if (const CommandLog* log = parse_kind(call, 3)) answer_newest(call, *log, *count);
}

void commandlog_len(Call& call) {
  if (const CommandLog* log = parse_kind(call, 2)) {
    call.reply.integer(static_cast<int64_t>(log->size()));
  }
}

void commandlog_reset(Call& call) {
  CommandLog* log = parse_kind(call, 2);
  if (log == nullptr) return;
  log->clear();
  call.reply.ok();
}

void commandlog_help(Call& call) {
  answer::help(call, {
                         "GET <count> <type>",
                         "    List the newest entries of one log (-1 for all): id, time, "
                         "microseconds (slow) or",
                         "    bytes (large-request, large-reply), arguments, address and name of "
                         "the client.",
                         "LEN <type>",
                         "    Count the entries of one log.",
                         "RESET <type>",
                         "    Empty one log.",
                     });
}

void slowlog_help(Call& call) {
  answer::help(call, {
                         "GET [<count>]",
                         "    List the newest entries of the log (10 by default, -1 for all): id, "
                         "time, duration",
                         "    in microseconds, arguments, address and name of the client.",
                         "LEN",
                         "    Count the entries of the log.",
                         "RESET",
                         "    Empty the log.",
                     });
}

}  // namespace

void CommandLog::add(LoggedCommand entry) {
  const std::lock_guard lock(mutex_);
  entry.id = next_id_++;
  entries_.push_front(std::move(entry));
  while (entries_.size() > max_length_) entries_.pop_back();
}

void CommandLog::set_max_length(size_t length) {
  const std::lock_guard lock(mutex_);
  max_length_ = length;
}

size_t CommandLog::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void CommandLog::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

std::vector<LoggedCommand> CommandLog::newest(size_t count) const {
  const std::lock_guard lock(mutex_);
  const auto shown = static_cast<std::ptrdiff_t>(std::min(count, entries_.size()));
  return {entries_.begin(), entries_.begin() + shown};
}

std::vector<std::string> logged_arguments(const Command& command,
                                          std::span<const std::string_view> args) {
  std::vector<bool> secret = sorrel::secret_arguments(command, args);
  secret.resize(args.size(), false);
  for (size_t position : secret_arguments(args)) secret[position] = true;
  // The last place tells how many more there were.
  const bool too_many = args.size() > kMostArguments;
  const size_t kept = too_many ? kMostArguments - 1 : args.size();
  std::vector<std::string> shown;
  for (size_t i = 0; i < kept; i++) {
    if (secret[i]) {
      shown.emplace_back(kRedacted);
    } else if (args[i].size() > kMostBytes) {
      shown.push_back(fmt::format("{}... ({} more bytes)", args[i].substr(0, kMostBytes),
                                  args[i].size() - kMostBytes));
    } else {
      shown.emplace_back(args[i]);
    }
  }
  if (too_many) shown.push_back(fmt::format("... ({} more arguments)", args.size() - kept));
  return shown;
}

std::vector<Binding> command_log_bindings(CommandLogs& logs) {
  return {
      {"slowlog|get", &slowlog_get, &logs},       {"slowlog|help", &slowlog_help, &logs},
      {"slowlog|len", &slowlog_len, &logs},       {"slowlog|reset", &slowlog_reset, &logs},
      {"commandlog|get", &commandlog_get, &logs}, {"commandlog|help", &commandlog_help, &logs},
      {"commandlog|len", &commandlog_len, &logs}, {"commandlog|reset", &commandlog_reset, &logs},
  };
}

}  // namespace sorrel::server
