#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "acl/access_log.h"
#include "dispatch/caller.h"
#include "dispatch/command_table.h"

namespace sorrel {

// Notified of commands: MONITOR, the slow log, LATENCY, ACL LOG. Called by any worker, inside its
// batch, with no latch held unless a method says otherwise.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  // After a command ran, while MONITOR is in use; the caller's database is the one it has now.
  virtual void on_execute(const Caller& caller, const Command& command,
                          std::span<const std::string_view> args) = 0;
  // After a command that took longer than the slow log's limit.
  virtual void on_slow(const Caller& caller, const Command& command,
                       std::span<const std::string_view> args, uint64_t duration_us) = 0;
  // After a command whose request or reply was at least as large as a limit of the command log.
  enum class Large : uint8_t { kRequest, kReply };
  virtual void on_large(Large, const Caller&, const Command&, std::span<const std::string_view>,
                        uint64_t /*bytes*/) {}
  // After a command that took at least latency-monitor-threshold.
  virtual void on_latency(const Command& command, uint64_t duration_us) = 0;
  // A command was not allowed for the caller's user; `object` is the command, key or channel that
  // was denied.
  virtual void on_denied(const Caller& caller, acl::Reason reason, acl::Context context,
                         std::string object) {
    (void)caller, (void)reason, (void)context, (void)object;
  }
  // RESTORE was given a damaged payload; latches may be held.
  virtual void on_damaged(const Caller& /*caller*/, std::string_view /*damage*/) {}
};

// Notified of reads: client-side caching.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // After a command that reads, for a caller that has kTracking; `command` may have run inside
  // another one of that caller. The latches of its keys are still held, so nothing changed since.
  virtual void on_read(Caller& caller, const Command& command,
                       std::span<const std::string_view> args) = 0;
};

}  // namespace sorrel
