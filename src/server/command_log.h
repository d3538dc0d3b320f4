#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/command_table.h"
#include "server/options.h"

namespace sorrel::server {

// A command that was unusual, as SLOWLOG GET and COMMANDLOG GET show it.
struct LoggedCommand {
  uint64_t id = 0;
  int64_t time_s = 0;
  uint64_t value = 0;  // microseconds or bytes, by the kind of the log
  std::vector<std::string> args;
  std::string address;
  std::string client_name;
};

// The newest of them, up to a number. Thread-safe: any worker adds.
class CommandLog {
 public:
  // Numbers the entry. With a length of zero nothing is kept, but numbers go on.
  void add(LoggedCommand entry);
  // Shortens the log with the next entry, as Redis does, not now.
  void set_max_length(size_t length);

  size_t size() const;
  void clear();
  // The newest first, at most `count`.
  std::vector<LoggedCommand> newest(size_t count) const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<LoggedCommand> entries_;  // the newest in front
  size_t max_length_ = kDefaultCommandLogLength;
  uint64_t next_id_ = 0;
};

// What is unusual: it took long, its request or its reply was large.
struct CommandLogs {
  CommandLog slow;
  CommandLog large_requests;
  CommandLog large_replies;
};

// A request as the log keeps it: at most 32 arguments of at most 128 bytes, what was cut off is
// counted, and secrets are left out.
std::vector<std::string> logged_arguments(const Command& command,
                                          std::span<const std::string_view> args);

// SLOWLOG and COMMANDLOG. `logs` outlives the table.
std::vector<Binding> command_log_bindings(CommandLogs& logs);

}  // namespace sorrel::server
