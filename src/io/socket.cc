// Sockets and their addresses: listening, connecting and their options. A failed optional setting
// (TCP_NODELAY, keepalive) is ignored; errors of bind, listen and connect are reported with the
// system's text.

#include "io/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace sorrel::io {

void Descriptor::reset() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

bool would_block(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

Error system_error(std::string_view operation, int code) {
  return Error{std::string(operation) + ": " + std::generic_category().message(code), code};
}

Error system_error(std::string_view operation) {
  const int code = errno;
  return system_error(operation, code);
}

Address Address::from(const sockaddr_storage& storage) {
  Address address;
  if (storage.ss_family == AF_INET) {
    sockaddr_in ip4;
    std::memcpy(&ip4, &storage, sizeof ip4);
    address.family = Family::kIp4;
    address.port = ntohs(ip4.sin_port);
    std::memcpy(address.bytes.data(), &ip4.sin_addr, sizeof ip4.sin_addr);
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 ip6;
    std::memcpy(&ip6, &storage, sizeof ip6);
    address.family = Family::kIp6;
    address.port = ntohs(ip6.sin6_port);
    std::memcpy(address.bytes.data(), &ip6.sin6_addr, sizeof ip6.sin6_addr);
  } else if (storage.ss_family == AF_UNIX) {
    address.family = Family::kUnix;
  }
  return address;
}

std::string Address::text() const {
  char host[INET6_ADDRSTRLEN] = "";
  if (family == Family::kIp4) {
    inet_ntop(AF_INET, bytes.data(), host, sizeof host);
    return std::string(host) + ":" + std::to_string(port);
  }
  if (family == Family::kIp6) {
    inet_ntop(AF_INET6, bytes.data(), host, sizeof host);
    return "[" + std::string(host) + "]:" + std::to_string(port);
  }
  return {};
}

bool Address::is_loopback() const {
  if (family == Family::kUnix) return true;
  if (family == Family::kIp4) return bytes[0] == 127;
  if (family != Family::kIp6) return false;
  return bytes.back() == 1 &&
         std::all_of(bytes.begin(), bytes.end() - 1, [](uint8_t byte) { return byte == 0; });
}

FileIdentity FileIdentity::of(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

Address local_address_of(int descriptor) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return Address::from(storage);
}

namespace {

void set_option(int descriptor, int level, int option, int value) {
  // Best effort: these options affect speed and the detection of dead peers, never correctness.
  (void)setsockopt(descriptor, level, option, &value, sizeof value);
}

bool address_is_missing(int code) {
  return code == EADDRNOTAVAIL || code == EAFNOSUPPORT || code == EPROTONOSUPPORT ||
         code == ESOCKTNOSUPPORT || code == EPFNOSUPPORT || code == ENOPROTOOPT;
}

constexpr int kSocketType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

Result<ListenSocket> listen_at(const Endpoint& at, const addrinfo& where) {
  const auto failed = [&at](const char* operation) -> Result<ListenSocket> {
    const int code = errno;
    if (at.optional && address_is_missing(code)) return ListenSocket{};
    return system_error(operation, code);
  };
  ListenSocket made{Descriptor(socket(where.ai_family, kSocketType, 0))};
  const int descriptor = made.descriptor.get();
  if (!made.descriptor.valid()) return failed("socket");
  const int yes = 1;
  if (where.ai_family == AF_INET6 &&
      setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) != 0) {
    return failed("setsockopt");
  }
  if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) {
    return failed("setsockopt SO_REUSEADDR");
  }
  if (at.mark != 0 && setsockopt(descriptor, SOL_SOCKET, SO_MARK, &at.mark, sizeof at.mark) != 0) {
    return failed("setsockopt SO_MARK");
  }
  // Accepted sockets inherit TCP_NODELAY, which saves a system call for each.
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  if (bind(descriptor, where.ai_addr, where.ai_addrlen) != 0) return failed("bind");
  if (listen(descriptor, at.backlog) != 0) return failed("listen");
  made.port = local_address_of(descriptor).port;
  return made;
}

Result<ListenSocket> open_tcp_listener(const Endpoint& at) {
  addrinfo hints{};
  hints.ai_family = at.kind == Endpoint::Kind::kTcp6 ? AF_INET6 : AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const bool any = at.host.empty() || at.host == "*" || at.host == "::*";
  if (at.port < 0 || at.port > 65535) return Error{"bind: port out of range"};
  const std::string service = std::to_string(at.port);
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(any ? nullptr : at.host.c_str(), service.c_str(), &hints, &found);
  if (failure != 0) {
    // An unsupported family fails here for host names, and at socket() for addresses.
    if (at.optional) return ListenSocket{};
    return Error{gai_strerror(failure)};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  return listen_at(at, *found);
}

Result<ListenSocket> open_unix_listener(const Endpoint& at) {
  const Result<SocketAddress> address = unix_address(at.host);
  if (!address) return address.error();
  const char* const path = at.host.c_str();
  // As in Redis a file at the path is replaced: a stale socket, that of a server about to exit, or
  // a regular file. A folder is kept and fails the bind.
  (void)unlink(path);

  ListenSocket made{Descriptor(socket(AF_UNIX, kSocketType, 0))};
  const int descriptor = made.descriptor.get();
  if (!made.descriptor.valid()) return system_error("socket");
  const auto mode = static_cast<mode_t>(at.unix_mode & 0777);
  // bind() creates the file with the mode of the socket less the umask, so never with more
  // permissions than requested; chmod adds the bits removed by the umask before listen(). The umask
  // itself is not changed: it is process-wide, and other threads create files.
  if (mode != 0) (void)fchmod(descriptor, mode);
  if (bind(descriptor, address->get(), address->size) != 0) {
    return system_error("bind");
  }
  const char* failed = nullptr;
  if (mode != 0 && chmod(path, mode) != 0) failed = "chmod";
  if (failed == nullptr && listen(descriptor, at.backlog) != 0) failed = "listen";
  if (failed == nullptr) {
    made.file = FileIdentity::of(at.host);
    return made;
  }
  const int code = errno;
  (void)unlink(path);
  return system_error(failed, code);
}

}  // namespace

Result<SocketAddress> unix_address(std::string_view path) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof where.sun_path) {
    return Error{"unix socket path too long (" + std::to_string(path.size()) + "), must be under " +
                 std::to_string(sizeof where.sun_path)};
  }
  std::memcpy(where.sun_path, path.data(), path.size());
  SocketAddress address;
  address.size = sizeof where;
  std::memcpy(&address.storage, &where, sizeof where);
  return address;
}

Result<Descriptor> begin_connect(const SocketAddress& to, const SocketAddress& source) {
  Descriptor made(socket(to.family(), kSocketType, 0));
  if (!made.valid()) return system_error("socket");
  if (to.family() != AF_UNIX) set_option(made.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (source.size != 0 && source.family() == to.family()) {
    // Otherwise a port in TIME_WAIT would fail the bind.
    set_option(made.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    (void)bind(made.get(), source.get(), source.size);
  }
  if (::connect(made.get(), to.get(), to.size) != 0 && errno != EINPROGRESS && errno != EINTR) {
    return system_error("connect");
  }
  return made;
}

int connect_outcome(int descriptor) {
  int outcome = 0;
  socklen_t size = sizeof outcome;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &outcome, &size) != 0) return errno;
  if (outcome != 0) return outcome;
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_size = sizeof own;
  socklen_t peer_size = sizeof peer;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return errno;
  }
  // Self-connect: for an unused local port the kernel may choose that same port as source.
  const bool itself =
      own.ss_family != AF_UNIX && own_size == peer_size && std::memcmp(&own, &peer, own_size) == 0;
  return itself ? ECONNREFUSED : 0;
}

Result<ListenSocket> open_listener(const Endpoint& at) {
  return at.kind == Endpoint::Kind::kUnix ? open_unix_listener(at) : open_tcp_listener(at);
}

void set_socket_keepalive(int descriptor, int seconds) {
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, seconds > 0);
  if (seconds <= 0) return;
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / 3));
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace sorrel::io
