#include "session/monitor.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "session/redaction.h"
#include "session/session_call.h"

namespace sorrel {
namespace {

// A second MONITOR is not even answered, as in Redis: the stream of lines goes on undisturbed.
void monitor(Call& call, Session& session) {
  if (session.monitoring()) return;
  session.set_monitoring(true);
  call.reply.ok();
}

constexpr Binding kMonitorBindings[] = {
    {"monitor", &with_session<monitor>},
};

std::string origin_of(const Session& session) {
  std::string address = session.stream()->peer_address();
  if (!session.stream()->is_unix()) return address;
  // "/path:0" is its form as an address.
  return "unix:" + address.substr(0, address.rfind(':'));
}

}  // namespace

std::span<const Binding> monitor_bindings() {
  return kMonitorBindings;
}

std::string monitor_line(int64_t wall_us, int db, std::string_view origin, const Command& command,
                         std::span<const std::string_view> args) {
  std::string line =
      fmt::format("+{}.{:06} [{} {}]", wall_us / 1'000'000, wall_us % 1'000'000, db, origin);
  const std::vector<bool> secret = secret_arguments(command, args);
  for (size_t i = 0; i < args.size(); i++) {
    line += ' ';
    line += quoted(!secret.empty() && secret[i] ? kRedacted : args[i]);
  }
  line += "\r\n";
  return line;
}

void MonitorFeed::on_execute(const Caller& caller, const Command& command,
                             std::span<const std::string_view> args) {
  const bool of_script = caller.kind == Caller::Kind::kScript;
  const Caller& who = of_script ? *caller.outer : caller;
  if (who.kind != Caller::Kind::kSession || world_.monitors == 0) return;
  const Session& session = *static_cast<const SessionCaller&>(who).session;
  SessionHost& mine = session.host();
  const auto line = std::make_shared<const std::string>(
      monitor_line(mine.loop().clock().wall_us(), caller.db,
                   of_script ? std::string("lua") : origin_of(session), command, args));
  for (SessionHost* host : world_.hosts) {
    if (host->monitor_count() == 0) continue;
    if (host == &mine) {
      host->send_to_monitors(*line);
    } else {
      host->post([host, line] { host->send_to_monitors(*line); });
    }
  }
}

}  // namespace sorrel
