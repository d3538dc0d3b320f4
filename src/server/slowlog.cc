#include "server/slowlog.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/numbers.h"
#include "dispatch/call.h"
#include "server/config_commands.h"
#include "session/redaction.h"

namespace sorrel::server {
namespace {

constexpr size_t kMostArguments = 32;
constexpr size_t kMostBytes = 128;
constexpr int64_t kShownByDefault = 10;

SlowLog& log_of(const Call& call) {
  return call.context<SlowLog>();
}

void answer_entry(Call& call, const SlowEntry& entry) {
  call.reply.array(6);
  call.reply.integer(static_cast<int64_t>(entry.id));
  call.reply.integer(entry.time_s);
  call.reply.integer(static_cast<int64_t>(entry.duration_us));
  call.reply.array(static_cast<int64_t>(entry.args.size()));
  for (const std::string& arg : entry.args) call.reply.bulk(arg);
  call.reply.bulk(entry.address);
  call.reply.bulk(entry.client_name);
}

void slowlog_get(Call& call) {
  if (call.argc() > 3) return answer::subcommand_syntax(call);
  int64_t count = kShownByDefault;
  if (call.argc() == 3) {
    const std::optional<int64_t> asked = parse_int64(call.arg(2));
    if (!asked || *asked < -1) {
      return call.reply.error("ERR count should be greater than or equal to -1");
    }
    count = *asked == -1 ? std::numeric_limits<int64_t>::max() : *asked;
  }
  const std::vector<SlowEntry> entries = log_of(call).newest(static_cast<size_t>(count));
  call.reply.array(static_cast<int64_t>(entries.size()));
  for (const SlowEntry& entry : entries) answer_entry(call, entry);
}

void slowlog_len(Call& call) {
  call.reply.integer(static_cast<int64_t>(log_of(call).size()));
}

void slowlog_reset(Call& call) {
  log_of(call).clear();
  call.reply.ok();
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

void SlowLog::add(SlowEntry entry) {
  const std::lock_guard lock(mutex_);
  entry.id = next_id_++;
  entries_.push_front(std::move(entry));
  while (entries_.size() > max_length_) entries_.pop_back();
}

void SlowLog::set_max_length(size_t length) {
  const std::lock_guard lock(mutex_);
  max_length_ = length;
}

size_t SlowLog::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void SlowLog::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

std::vector<SlowEntry> SlowLog::newest(size_t count) const {
  const std::lock_guard lock(mutex_);
  const auto shown = static_cast<std::ptrdiff_t>(std::min(count, entries_.size()));
  return {entries_.begin(), entries_.begin() + shown};
}

std::vector<std::string> slow_arguments(const Command& command,
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

std::vector<Binding> slowlog_bindings(SlowLog& log) {
  return {
      {"slowlog|get", &slowlog_get, &log},
      {"slowlog|help", &slowlog_help, &log},
      {"slowlog|len", &slowlog_len, &log},
      {"slowlog|reset", &slowlog_reset, &log},
  };
}

}  // namespace sorrel::server
