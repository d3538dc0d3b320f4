#include "io/blocking_line.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "io/socket.h"

namespace sorrel::io {
namespace {

constexpr int kLookEveryMs = 100;
constexpr int kPatienceMs = 5000;

// As poll() of one descriptor.
int await(int descriptor, short events, int timeout_ms) {
  pollfd one{descriptor, events, 0};
  return ::poll(&one, 1, timeout_ms);
}

}  // namespace

bool BlockingLine::receive(std::string& into) {
  char piece[4096];
  while (true) {
    const ssize_t got = recv(descriptor_, piece, sizeof piece, MSG_DONTWAIT);
    if (got > 0) {
      into.append(piece, static_cast<size_t>(got));
      return true;
    }
    if (got == 0 || !would_block(errno)) return false;
    if (await(descriptor_, POLLIN, kLookEveryMs) == 0 && give_up_ && give_up_()) return false;
  }
}

bool BlockingLine::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (!would_block(errno)) {
      return false;
    } else if (await(descriptor_, POLLOUT, kPatienceMs) == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace sorrel::io
