#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/command_table.h"

namespace sorrel::server {

// A command that took too long, as SLOWLOG GET shows it.
struct SlowEntry {
  uint64_t id = 0;
  int64_t time_s = 0;
  uint64_t duration_us = 0;
  std::vector<std::string> args;
  std::string address;
  std::string client_name;
};

// The newest slow commands, up to a number of them. Thread-safe: any worker adds.
class SlowLog {
 public:
  // Numbers the entry. With a length of zero nothing is kept, but numbers go on.
  void add(SlowEntry entry);
  // Shortens the log with the next entry, as Redis does, not now.
  void set_max_length(size_t length);

  size_t size() const;
  void clear();
  // The newest first, at most `count`.
  std::vector<SlowEntry> newest(size_t count) const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<SlowEntry> entries_;  // the newest in front
  size_t max_length_ = 128;
  uint64_t next_id_ = 0;
};

// A request as the log keeps it: at most 32 arguments of at most 128 bytes, what was cut off is
// counted, and secrets are left out.
std::vector<std::string> slow_arguments(const Command& command,
                                        std::span<const std::string_view> args);

// SLOWLOG. `log` outlives the table.
std::vector<Binding> slowlog_bindings(SlowLog& log);

}  // namespace sorrel::server
