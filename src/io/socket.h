#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "io/loop.h"

namespace sorrel::io {

// Owns one descriptor and closes it.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  void reset();

 private:
  int number_ = -1;
};

// EAGAIN or EWOULDBLOCK?
bool would_block(int code);

// "operation: system message", from the current errno.
Error system_error(std::string_view operation);
Error system_error(std::string_view operation, int code);

// An internet address and port in 20 bytes instead of the 128 of a sockaddr_storage; each stream
// holds two. A unix socket has no address here; its path is the listener's.
struct Address {
  enum class Family : uint8_t { kNone, kIp4, kIp6, kUnix } family = Family::kNone;
  uint16_t port = 0;
  std::array<uint8_t, 16> bytes{};

  static Address from(const sockaddr_storage& from);
  std::string text() const;  // "127.0.0.1:6379", "[::1]:6379"; empty for kNone and kUnix
  bool is_loopback() const;
};

Address local_address_of(int descriptor);

// A sockaddr of any family, to connect to or to bind.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sa_family_t family() const { return storage.ss_family; }
};

// Fails for a path that is too long.
Result<SocketAddress> unix_address(std::string_view path);

// Creates a non-blocking socket and begins to connect it, from `source` if that can be bound (size
// 0: the kernel chooses). Once the socket is writable, connect_outcome() gives the result.
Result<Descriptor> begin_connect(const SocketAddress& to, const SocketAddress& source);
// 0: connected; else an errno.
int connect_outcome(int descriptor);

// Identity of the file at a path; {0, 0}: no file.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;

  static FileIdentity of(const std::string& path);
  bool operator==(const FileIdentity&) const = default;
};

struct ListenSocket {
  Descriptor descriptor;
  int port = 0;
  FileIdentity file;  // of a unix socket
};

// Creates a non-blocking listening socket. A file of any kind at the path of a unix socket is
// replaced, except a folder. The error text is "bind: Address already in use" and the like. An
// `optional` endpoint whose address or family the machine lacks gives an invalid descriptor.
Result<ListenSocket> open_listener(const Endpoint& at);

// TCP keepalive as Redis sets it: first probe after `seconds`, then one every third of that; three
// lost probes end the connection. 0 turns keepalive off.
void set_socket_keepalive(int descriptor, int seconds);

}  // namespace sorrel::io
