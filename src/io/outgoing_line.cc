#include "io/outgoing_line.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <memory>

namespace sorrel::io {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<OutgoingLine> OutgoingLine::connect(const std::string& host, int port, int64_t timeout_ms) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  if (const int failed = getaddrinfo(host.c_str(), service.c_str(), &wanted, &found); failed != 0) {
    return Error{std::string("lookup: ") + gai_strerror(failed)};
  }
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
  Error problem{"no address"};
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Descriptor made(
        socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol));
    if (!made.valid()) {
      problem = system_error("socket");
      continue;
    }
    const int on = 1;
    (void)setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(made.get(), at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) {
      problem = system_error("connect");
      continue;
    }
    OutgoingLine line(std::move(made));
    if (line.wait_for(POLLOUT, timeout_ms) != Outcome::kDone) return Error{"connect: timed out"};
    int refused = 0;
    socklen_t size = sizeof refused;
    (void)getsockopt(line.descriptor_.get(), SOL_SOCKET, SO_ERROR, &refused, &size);
    if (refused == 0 || at->ai_next == nullptr) return line;
  }
  return problem;
}

OutgoingLine::Outcome OutgoingLine::wait_for(short events, int64_t timeout_ms) {
  const int64_t began_ms = steady_ms();
  for (;;) {
    const int64_t passed_ms = steady_ms() - began_ms;
    const auto rest = static_cast<int>(std::clamp<int64_t>(timeout_ms - passed_ms, 0, INT_MAX));
    pollfd polled{descriptor_.get(), events, 0};
    const int ready = poll(&polled, 1, rest);
    // What is wrong with it the next call tells.
    if (ready > 0) return Outcome::kDone;
    if (ready == 0) return Outcome::kTimedOut;
    if (errno != EINTR) return Outcome::kGone;
  }
}

OutgoingLine::Outcome OutgoingLine::send(std::string_view bytes, int64_t timeout_ms) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (sent < 0 && would_block(errno)) {
      const Outcome waited = wait_for(POLLOUT, timeout_ms);
      if (waited != Outcome::kDone) return waited;
    } else if (sent == 0 || errno != EINTR) {
      return Outcome::kGone;
    }
  }
  return Outcome::kDone;
}

OutgoingLine::Outcome OutgoingLine::receive(std::string& into, int64_t timeout_ms) {
  char piece[16 * 1024];
  for (;;) {
    const ssize_t got = recv(descriptor_.get(), piece, sizeof piece, 0);
    if (got > 0) {
      into.append(piece, static_cast<size_t>(got));
      return Outcome::kDone;
    }
    if (got == 0) return Outcome::kGone;
    if (would_block(errno)) {
      const Outcome waited = wait_for(POLLIN, timeout_ms);
      if (waited != Outcome::kDone) return waited;
    } else if (errno != EINTR) {
      return Outcome::kGone;
    }
  }
}

}  // namespace sorrel::io
