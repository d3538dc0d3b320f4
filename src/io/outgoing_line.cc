#include "io/outgoing_line.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>

namespace sorrel::io {
namespace {

int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<OutgoingLine> OutgoingLine::connect(const SocketAddresses& addresses, int64_t timeout_ms,
                                           const TlsContext* tls, const std::string& name) {
  const int64_t began_ms = steady_ms();
  Error problem{"connect: no address"};
  for (const SocketAddress& at : addresses) {
    Result<Descriptor> begun = begin_connect(at, {});
    if (!begun) {
      problem = begun.error();
      continue;
    }
    OutgoingLine line(std::move(*begun));
    const int64_t rest_ms = timeout_ms - (steady_ms() - began_ms);
    if (line.wait_for(POLLOUT, rest_ms) != Outcome::kDone) {
      return system_error("connect", ETIMEDOUT);
    }
    const int outcome = connect_outcome(line.descriptor_.get());
    if (outcome != 0) {
      problem = system_error("connect", outcome);
      if (tls == nullptr && &at == &addresses.back()) return line;
      continue;
    }
    if (tls == nullptr) return line;
    const Status shaken = line.do_handshake(*tls, name, timeout_ms - (steady_ms() - began_ms));
    if (!shaken) return shaken.error();
    return line;
  }
  return problem;
}

Status OutgoingLine::do_handshake(const TlsContext& tls, const std::string& name,
                                  int64_t timeout_ms) {
  const int64_t began_ms = steady_ms();
  ssl_ = tls.connect({name, false});
  if (!ssl_ || SSL_set_fd(ssl_.get(), descriptor_.get()) != 1) {
    ERR_clear_error();
    return Error{"TLS handshake: no memory"};
  }
  for (;;) {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) return {};
    const short events = tls_step(result, 0).wait_for;
    if (events == 0) return Error{"TLS handshake: " + take_handshake_error(ssl_.get())};
    const int64_t rest_ms = timeout_ms - (steady_ms() - began_ms);
    if (wait_for(events, rest_ms) != Outcome::kDone) {
      return system_error("TLS handshake", ETIMEDOUT);
    }
  }
}

OutgoingLine::Outcome OutgoingLine::wait_for(short events, int64_t timeout_ms) {
  const int64_t began_ms = steady_ms();
  for (;;) {
    const int64_t passed_ms = steady_ms() - began_ms;
    const auto rest = static_cast<int>(std::clamp<int64_t>(timeout_ms - passed_ms, 0, INT_MAX));
    pollfd polled{descriptor_.get(), events, 0};
    const int ready = poll(&polled, 1, rest);
    // An error is reported by the next call.
    if (ready > 0) return Outcome::kDone;
    if (ready == 0) return Outcome::kTimedOut;
    if (errno != EINTR) return Outcome::kGone;
  }
}

OutgoingLine::Step OutgoingLine::tls_step(int result, size_t moved) {
  if (result == 1) return {moved, 0};
  const int error = SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_WANT_READ) return {0, POLLIN};
  if (error == SSL_ERROR_WANT_WRITE) return {0, POLLOUT};
  return {};
}

OutgoingLine::Step OutgoingLine::send_some(std::string_view bytes) {
  if (ssl_) {
    ERR_clear_error();
    size_t sent = 0;
    const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
    return tls_step(result, sent);
  }
  const ssize_t sent = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent > 0) return {static_cast<size_t>(sent), 0};
  return {0, static_cast<short>(sent < 0 && would_block(errno) ? POLLOUT : 0)};
}

OutgoingLine::Step OutgoingLine::receive_some(char* into, size_t size) {
  if (ssl_) {
    ERR_clear_error();
    size_t got = 0;
    const int result = SSL_read_ex(ssl_.get(), into, size, &got);
    return tls_step(result, got);
  }
  const ssize_t got = recv(descriptor_.get(), into, size, 0);
  if (got > 0) return {static_cast<size_t>(got), 0};
  return {0, static_cast<short>(got < 0 && would_block(errno) ? POLLIN : 0)};
}

OutgoingLine::Outcome OutgoingLine::send(std::string_view bytes, int64_t timeout_ms) {
  while (!bytes.empty()) {
    const Step step = send_some(bytes);
    bytes.remove_prefix(step.moved);
    if (step.moved > 0) continue;
    if (step.wait_for == 0) return Outcome::kGone;
    if (const Outcome waited = wait_for(step.wait_for, timeout_ms); waited != Outcome::kDone) {
      return waited;
    }
  }
  return Outcome::kDone;
}

OutgoingLine::Outcome OutgoingLine::receive(std::string& into, int64_t timeout_ms) {
  char piece[16 * 1024];
  for (;;) {
    const Step step = receive_some(piece, sizeof piece);
    if (step.moved > 0) {
      into.append(piece, step.moved);
      return Outcome::kDone;
    }
    if (step.wait_for == 0) return Outcome::kGone;
    if (const Outcome waited = wait_for(step.wait_for, timeout_ms); waited != Outcome::kDone) {
      return waited;
    }
  }
}

}  // namespace sorrel::io
