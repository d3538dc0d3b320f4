#include "server/listeners.h"

#include <fmt/format.h>

#include <algorithm>

namespace sorrel::server {
namespace {

constexpr std::string_view kTcp = "tcp";
constexpr std::string_view kUnix = "unix";
constexpr std::string_view kTls = "tls";

}  // namespace

void Listeners::add_ports(Endpoints& endpoints, const NetworkOptions& options,
                          std::string_view kind, int64_t port) {
  if (port == 0) return;
  for (const std::string& entry : options.bind) {
    io::Endpoint at;
    at.optional = entry.starts_with('-');
    at.host = at.optional ? entry.substr(1) : entry;
    const bool ip6 = at.host.find(':') != std::string::npos;
    at.kind = ip6 ? io::Endpoint::Kind::kTcp6 : io::Endpoint::Kind::kTcp4;
    at.port = static_cast<int>(port);
    at.backlog = static_cast<int>(options.tcp_backlog);
    at.mark = static_cast<uint32_t>(options.socket_mark_id);
    endpoints.emplace(fmt::format("{} {} {}", kind, at.host, at.port), Wanted{kind, at});
  }
}

Listeners::Endpoints Listeners::wanted(const Options& options) {
  Endpoints endpoints;
  const NetworkOptions& network = options.network;
  add_ports(endpoints, network, kTcp, network.port);
  add_ports(endpoints, network, kTls, options.tls.port);
  if (!network.unix_socket.empty()) {
    io::Endpoint at;
    at.kind = io::Endpoint::Kind::kUnix;
    at.host = network.unix_socket;
    at.backlog = static_cast<int>(network.tcp_backlog);
    at.unix_mode = static_cast<int>(network.unix_socket_mode);
    endpoints.emplace("unix " + at.host, Wanted{kUnix, at});
  }
  return endpoints;
}

Status Listeners::apply(io::Loop& loop, const Options& options) {
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
  set_limits(options);
  return {};
}

void Listeners::set_limits(const Options& options) {
  for (auto& [name, open] : open_) {
    const int64_t limit = open.kind == kTls ? options.tls.policy.handshakes_per_turn
                                            : options.network.max_new_connections_per_cycle;
    open.listener->set_accepts_per_turn(static_cast<int>(limit));
  }
}

std::vector<std::string_view> Listeners::kinds() const {
  std::vector<std::string_view> found;
  for (const std::string_view kind : {kTcp, kUnix, kTls}) {
    const auto is_it = [kind](const auto& entry) { return entry.second.kind == kind; };
    if (std::any_of(open_.begin(), open_.end(), is_it)) found.push_back(kind);
  }
  return found;
}

Status Listeners::open_missing(io::Loop& loop, const Endpoints& wanted, bool report) {
  for (const auto& [name, want] : wanted) {
    if (open_.contains(name)) continue;
    auto listener = loop.listen(want.at, want.kind == kTls ? tls_ : plain_);
    if (!listener) {
      if (report) report_failure(want.at, listener.error().text);
      return Error{fmt::format("port {} ({})", want.at.port, want.kind)};
    }
    // An optional address that this machine does not have.
    if (*listener != nullptr) open_.emplace(name, Open{want.kind, std::move(*listener)});
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
