#include "server/listeners.h"

#include <fmt/format.h>

namespace sorrel::server {

Listeners::Endpoints Listeners::wanted(const NetworkOptions& options) {
  Endpoints endpoints;
  for (const std::string& entry : options.bind) {
    if (options.port == 0) break;
    io::Endpoint at;
    at.optional = entry.starts_with('-');
    at.host = at.optional ? entry.substr(1) : entry;
    const bool ip6 = at.host.find(':') != std::string::npos;
    at.kind = ip6 ? io::Endpoint::Kind::kTcp6 : io::Endpoint::Kind::kTcp4;
    at.port = static_cast<int>(options.port);
    at.backlog = static_cast<int>(options.tcp_backlog);
    endpoints.emplace(fmt::format("tcp {} {}", at.host, at.port), at);
  }
  if (!options.unix_socket.empty()) {
    io::Endpoint at;
    at.kind = io::Endpoint::Kind::kUnix;
    at.host = options.unix_socket;
    at.backlog = static_cast<int>(options.tcp_backlog);
    at.unix_mode = static_cast<int>(options.unix_socket_mode);
    endpoints.emplace("unix " + at.host, at);
  }
  return endpoints;
}

Status Listeners::apply(io::Loop& loop, const NetworkOptions& options) {
  const Endpoints endpoints = wanted(options);
  // New sockets before old ones go, so that a port that is taken costs nothing. Only when our own
  // old sockets may be in the way (another address on the same port) they go first.
  const bool in_the_way = !open_.empty();
  if (Status opened = open_missing(loop, endpoints, !in_the_way); !opened) {
    if (!in_the_way) return opened;
    close_unwanted(endpoints);
    if (Status again = open_missing(loop, endpoints, true); !again) return again;
  }
  close_unwanted(endpoints);
  return {};
}

Status Listeners::open_missing(io::Loop& loop, const Endpoints& wanted, bool report) {
  for (const auto& [name, at] : wanted) {
    if (open_.contains(name)) continue;
    auto listener = loop.listen(at, handler_);
    if (!listener) {
      if (report) report_failure(at, listener.error().text);
      return listener.error();
    }
    // An optional address that this machine does not have.
    if (*listener != nullptr) open_.emplace(name, std::move(*listener));
  }
  return {};
}

void Listeners::close_unwanted(const Endpoints& wanted) {
  std::erase_if(open_, [&](const auto& entry) { return !wanted.contains(entry.first); });
}

void Listeners::report_failure(const io::Endpoint& at, const std::string& reason) {
  if (at.kind == io::Endpoint::Kind::kUnix) {
    log_.warning(fmt::format("Failed opening Unix socket: {}", reason));
    return;
  }
  log_.warning(fmt::format("Warning: Could not create server TCP listening socket {}:{}: {}",
                           at.host, at.port, reason));
}

}  // namespace sorrel::server
