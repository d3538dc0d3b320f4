#include "server/observer.h"

#include <fmt/format.h>

#include "server/caller_facts.h"
#include "session/access.h"

namespace sorrel::server {

void Observer::add(CommandLog& log, const Caller& caller, const Command& command,
                   std::span<const std::string_view> args, uint64_t value) {
  LoggedCommand entry;
  entry.time_s = clock_.wall_ms() / 1000;
  entry.value = value;
  entry.args = logged_arguments(command, args);
  entry.address = address_of(caller);
  entry.client_name = name_of(caller);
  log.add(std::move(entry));
}

void Observer::on_slow(const Caller& caller, const Command& command,
                       std::span<const std::string_view> args, uint64_t duration_us) {
  add(logs_.slow, caller, command, args, duration_us);
}

void Observer::on_large(Large what, const Caller& caller, const Command& command,
                        std::span<const std::string_view> args, uint64_t bytes) {
  add(what == Large::kRequest ? logs_.large_requests : logs_.large_replies, caller, command, args,
      bytes);
}

void Observer::on_latency(const Command& command, uint64_t duration_us) {
  latency_.add(command.has(catalog::kFast) ? "fast-command" : "command", clock_.wall_ms() / 1000,
               static_cast<int64_t>(duration_us / 1000));
}

void Observer::on_denied(const Caller& caller, acl::Reason reason, acl::Context context,
                         std::string object) {
  note_denial(sessions_, caller,
              {.reason = reason,
               .context = context,
               .object = std::move(object),
               .created_ms = clock_.wall_ms()});
}

void Observer::on_damaged(const Caller& caller, std::string_view damage) {
  sessions_.log.warning(
      fmt::format("{}. A value that client {} wanted to restore was refused.", damage, caller.id));
}

}  // namespace sorrel::server
