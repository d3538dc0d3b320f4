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

// nullopt when `host` is a name. Never blocks.
std::optional<SocketAddress> numeric_address(const std::string& host, int port);

// All addresses of a name, or of a numeric address, in the system's order of preference. Blocks on
// the system's resolver. The error is "lookup: Name or service not known" and the like.
Result<SocketAddresses> look_up_host(const std::string& host, int port);

// Looks names up in a thread, one after the other, because the system's resolver blocks. The thread
// exists only while names are queued, and outlives the Resolver until the look-up in progress ends;
// that answer is dropped.
//
// Thread rule: all functions are called by one thread; `notify` is called in the resolver's thread.
class Resolver {
 public:
  using LookUp = std::function<Result<SocketAddresses>(const std::string& host, int port)>;
  struct Answer {
    uint64_t id;
    Result<SocketAddresses> addresses;
  };

  // `notify` is called when answers are available; never after the destructor.
  explicit Resolver(std::function<void()> notify, LookUp look_up = look_up_host);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  void ask(uint64_t id, const std::string& host, int port);
  // Drops the question; no answer follows.
  void forget(uint64_t id);
  std::vector<Answer> take_answers();

  // For tests, before the first ask().
  void set_look_up(LookUp look_up);

 private:
  struct Shared;
  static void serve(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace sorrel::io
