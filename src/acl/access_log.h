#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "acl/check.h"

namespace sorrel::acl {

inline constexpr int64_t kDefaultAccessLogLength = 128;  // acllog-max-len

// The context in which a request was denied.
enum class Context : uint8_t { kTopLevel, kTransaction, kScript };
std::string_view context_name(Context context);  // as in ACL LOG

struct AccessEntry {
  Reason reason = Reason::kNone;
  Context context = Context::kTopLevel;
  std::string object;  // the command, key, channel or user that was denied
  std::string user;
  std::string client;  // the client's line in CLIENT LIST
  int64_t created_ms = 0;
  // Filled in by the log.
  int64_t updated_ms = 0;
  uint64_t id = 0;
  uint64_t count = 0;
};

// ACL LOG: recently denied requests, the newest first. Similar events within a minute are one entry
// with a count. Thread-safe; its mutex is a leaf.
class AccessLog {
 public:
  void add(AccessEntry entry);
  std::vector<AccessEntry> newest(size_t count) const;
  void clear();
  void set_max_length(size_t length);
  // How many events there were since the start, logged or not.
  uint64_t total(Reason reason) const;

 private:
  mutable std::mutex mutex_;
  // Everything below is guarded by mutex_.
  std::deque<AccessEntry> entries_;
  std::array<uint64_t, kReasonCount> totals_ = {};
  uint64_t next_id_ = 0;
  size_t max_length_ = kDefaultAccessLogLength;
};

}  // namespace sorrel::acl
