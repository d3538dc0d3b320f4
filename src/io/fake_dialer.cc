#include "io/fake_dialer.h"

#include <sys/un.h>

#include <cerrno>
#include <utility>

#include "io/fake_loop.h"

namespace sorrel::io {
namespace {

std::string text_of(const SocketAddress& address) {
  if (address.family() != AF_UNIX) return Address::from(address.storage).text();
  return reinterpret_cast<const sockaddr_un*>(&address.storage)->sun_path;
}

}  // namespace

void FakeDialer::look_up(ConnectId id, const std::string& host, int port) {
  const auto known = names_.find(host);
  if (known == names_.end()) {
    questions_.emplace(id, Error{"lookup: Name or service not known"});
    return;
  }
  if (known->second.empty()) return;  // the look-up never finishes
  SocketAddresses addresses;
  for (const std::string& text : known->second) {
    if (const auto address = numeric_address(text, port)) addresses.push_back(*address);
  }
  questions_.emplace(id, std::move(addresses));
}

Status FakeDialer::dial(ConnectId id, const SocketAddress& to, const SocketAddress& source) {
  const Address address = Address::from(to.storage);
  Dialled dialled;
  dialled.to = text_of(to);
  dialled.is_unix = to.family() == AF_UNIX;
  dialled.from = dialled.is_unix ? dialled.to + ":0" : loop_.next_address();
  if (source.size != 0) dialled.from = text_of(source);
  if (address.is_loopback()) find_listener(dialled, address.port);
  dialled_[id] = std::move(dialled);
  return {};
}

std::shared_ptr<FakeLink> FakeDialer::make_link(const Dialled& dialled) const {
  auto link = std::make_shared<FakeLink>();
  link->peer = dialled.is_unix ? dialled.to + ":0" : dialled.to;
  link->local = dialled.from;
  link->is_unix = dialled.is_unix;
  return link;
}

void FakeDialer::find_listener(Dialled& dialled, int port) {
  auto link = make_link(dialled);
  auto other = std::make_shared<FakeLink>();
  other->peer = link->local;
  other->local = link->peer;
  other->is_unix = link->is_unix;
  if (!loop_.connect_to(dialled.is_unix ? dialled.to : std::to_string(port), other)) {
    dialled.outcome = dialled.is_unix ? ENOENT : ECONNREFUSED;
    return;
  }
  loop_.bridge(link, std::move(other));
  dialled.link = std::move(link);
  dialled.outcome = 0;
}

void FakeDialer::stop_dial(ConnectId id) {
  auto node = dialled_.extract(id);
  if (!node.empty() && node.mapped().link) node.mapped().link->server_closed = true;
}

Stream& FakeDialer::take(ConnectId id, const ConnectRequest&, StreamHandler& handler,
                         std::unique_ptr<TlsStream> tls) {
  auto node = dialled_.extract(id);
  return loop_.add_stream(std::move(node.mapped().link), {}, handler, std::move(tls));
}

std::vector<std::string> FakeDialer::waiting() const {
  std::vector<std::string> addresses;
  for (const auto& [id, dialled] : dialled_) {
    if (!dialled.outcome) addresses.push_back(dialled.to);
  }
  return addresses;
}

FakeDialer::Dialled* FakeDialer::find_waiting(const std::string& to) {
  for (auto& [id, dialled] : dialled_) {
    if (!dialled.outcome && dialled.to == to) return &dialled;
  }
  return nullptr;
}

std::shared_ptr<FakeLink> FakeDialer::answer(const std::string& to) {
  Dialled* const dialled = find_waiting(to);
  if (dialled == nullptr) return nullptr;
  dialled->outcome = 0;
  dialled->link = make_link(*dialled);
  return dialled->link;
}

bool FakeDialer::refuse(const std::string& to, int code) {
  Dialled* const dialled = find_waiting(to);
  if (dialled == nullptr) return false;
  dialled->outcome = code;
  return true;
}

bool FakeDialer::anything_due() const {
  if (!questions_.empty()) return true;
  for (const auto& [id, dialled] : dialled_) {
    if (dialled.outcome && !dialled.delivered) return true;
  }
  return false;
}

int FakeDialer::deliver() {
  int delivered = 0;
  auto answers = std::exchange(questions_, {});
  for (auto& [id, addresses] : answers) {
    loop_.connector_.on_addresses(id, std::move(addresses));
    delivered++;
  }
  // Callbacks may begin and cancel other connections.
  std::vector<ConnectId> due;
  for (const auto& [id, dialled] : dialled_) {
    if (dialled.outcome && !dialled.delivered) due.push_back(id);
  }
  for (const ConnectId id : due) {
    const auto found = dialled_.find(id);
    if (found == dialled_.end()) continue;
    found->second.delivered = true;
    const int outcome = *found->second.outcome;
    if (outcome != 0) dialled_.erase(found);
    loop_.connector_.on_dialled(id, outcome);
    delivered++;
  }
  return delivered;
}

}  // namespace sorrel::io
