#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/socket.h"

namespace sorrel::io {

using SocketAddresses = std::vector<SocketAddress>;

// nullopt when `host` is a name. Waits for nothing.
std::optional<SocketAddress> numeric_address(const std::string& host, int port);

// All addresses of a name, or of a numeric address, in the system's order of preference. Waits for
// the system's resolver. The error is "lookup: Name or service not known" and the like.
Result<SocketAddresses> look_up_host(const std::string& host, int port);

// Looks names up in a thread, one after the other: the system's resolver waits for servers. The
// thread is there only while there are names, and outlives the Resolver while it waits for the one
// that it has begun; its answer is dropped then.
//
// Thread rule: everything belongs to one thread; `notify` is called in the resolver's own.
class Resolver {
 public:
  using LookUp = std::function<Result<SocketAddresses>(const std::string& host, int port)>;
  struct Answer {
    uint64_t id;
    Result<SocketAddresses> addresses;
  };

  // `notify` says that there are answers; not after the destructor.
  explicit Resolver(std::function<void()> notify, LookUp look_up = look_up_host);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  void ask(uint64_t id, const std::string& host, int port);
  // There will be no answer.
  void forget(uint64_t id);
  std::vector<Answer> take_answers();

  // For tests, before anything is asked.
  void set_look_up(LookUp look_up);

 private:
  struct Shared;
  static void serve(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace sorrel::io
