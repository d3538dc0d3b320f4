#include "io/epoll_dialer.h"

#include <sys/epoll.h>

#include <utility>

#include "io/epoll_loop.h"

namespace sorrel::io {

EpollDialer::EpollDialer(EpollLoop& loop) : loop_(loop), resolver_([&loop] { loop.wake(); }) {}

void EpollDialer::look_up(ConnectId id, const std::string& host, int port) {
  resolver_.ask(id, host, port);
}

int EpollDialer::deliver_addresses() {
  std::vector<Resolver::Answer> answers = resolver_.take_answers();
  for (Resolver::Answer& answer : answers) {
    loop_.connector_.on_addresses(answer.id, std::move(answer.addresses));
  }
  return static_cast<int>(answers.size());
}

Status EpollDialer::dial(ConnectId id, const SocketAddress& to, const SocketAddress& source) {
  Result<Descriptor> socket = begin_connect(to, source);
  if (!socket) return socket.error();
  auto dialling = std::make_unique<Dialling>(*this, id, std::move(*socket), to);
  if (!loop_.watch(dialling->descriptor.get(), *dialling, EPOLLOUT, EPOLL_CTL_ADD)) {
    return system_error("epoll_ctl");
  }
  dialling_[id] = std::move(dialling);
  return {};
}

void EpollDialer::Dialling::on_event(uint32_t) {
  // A nested loop iteration leaves the result to the outer one; an invalid descriptor was abandoned
  // in this iteration.
  if (dialer_.loop_.depth_ > 1 || !descriptor.valid()) return;
  const int outcome = connect_outcome(descriptor.get());
  const ConnectId id = id_;
  EpollDialer& dialer = dialer_;
  if (outcome != 0) dialer.stop_dial(id);
  dialer.loop_.connector_.on_dialled(id, outcome);
}

std::unique_ptr<EpollDialer::Dialling> EpollDialer::remove(ConnectId id) {
  auto node = dialling_.extract(id);
  if (node.empty()) return nullptr;
  loop_.unwatch(node.mapped()->descriptor.get());
  return std::move(node.mapped());
}

void EpollDialer::stop_dial(ConnectId id) {
  if (std::unique_ptr<Dialling> dialling = remove(id)) {
    dialling->descriptor.reset();
    stopped_.push_back(std::move(dialling));
  }
}

Stream& EpollDialer::take(ConnectId id, const ConnectRequest& request, StreamHandler& handler,
                          std::unique_ptr<TlsStream> tls) {
  std::unique_ptr<Dialling> dialling = remove(id);
  std::shared_ptr<const std::string> path;
  if (request.is_unix) path = std::make_shared<const std::string>(request.host);
  EpollAccepted from(std::move(dialling->descriptor), Address::from(dialling->where.storage),
                     std::move(path));
  stopped_.push_back(std::move(dialling));  // its on_event() may be running
  return loop_.add_stream(from, handler, std::move(tls));
}

}  // namespace sorrel::io
