#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/connector.h"

namespace sorrel::io {

class FakeLoop;
struct FakeLink;

// Dialer of the fake loop: the test defines which names exist and how addresses answer. Loopback
// addresses connect to the loop's own listeners.
class FakeDialer final : public Dialer {
 public:
  explicit FakeDialer(FakeLoop& loop) : loop_(loop) {}

  // ---- The test's side, see FakeLoop.

  void set_name(const std::string& name, std::vector<std::string> addresses) {
    names_[name] = std::move(addresses);
  }
  std::vector<std::string> waiting() const;
  std::shared_ptr<FakeLink> answer(const std::string& to);
  bool refuse(const std::string& to, int code);

  // ---- The loop's side.

  bool anything_due() const;
  // Delivers the results that are available. Returns their number.
  int deliver();

  // ---- Dialer.

  void look_up(ConnectId id, const std::string& host, int port) override;
  void stop_look_up(ConnectId id) override { questions_.erase(id); }
  Status dial(ConnectId id, const SocketAddress& to, const SocketAddress& source) override;
  void stop_dial(ConnectId id) override;
  Stream& take(ConnectId id, const ConnectRequest& request, StreamHandler& handler,
               std::unique_ptr<TlsStream> tls) override;

 private:
  struct Dialled {
    std::string to;
    std::string from;
    bool is_unix = false;
    std::optional<int> outcome;
    bool delivered = false;
    std::shared_ptr<FakeLink> link;
  };

  std::shared_ptr<FakeLink> make_link(const Dialled& dialled) const;
  void find_listener(Dialled& dialled, int port);
  Dialled* find_waiting(const std::string& to);

  FakeLoop& loop_;
  std::map<std::string, std::vector<std::string>> names_;
  std::map<ConnectId, Result<SocketAddresses>> questions_;
  std::map<ConnectId, Dialled> dialled_;
};

}  // namespace sorrel::io
