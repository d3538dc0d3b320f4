#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "dispatch/command_table.h"
#include "io/outgoing_line.h"

namespace sorrel::server {

// MIGRATE, and the lines to other servers that it keeps for the next one. Everything but the
// look-up of a name runs in an exclusive section: no client may see a key in both servers, or in
// none.
class Migrate {
 public:
  // How other servers are spoken to. An Error: they cannot be.
  using Tls = std::function<Result<std::shared_ptr<const io::TlsContext>>()>;

  // `tls` is asked in exclusive sections; a null context means that bytes go as they are.
  Migrate(const Clock& clock, Tls tls) : clock_(clock), tls_(std::move(tls)) {}

  std::vector<Binding> bindings();
  // Closes lines that were not used for a while.
  void cron();
  size_t kept_lines() const { return lines_.size(); }

  struct Line {
    io::OutgoingLine io;
    int64_t db = -1;  // that the other side has selected; -1: unknown
    int64_t used_ms = 0;
  };

  using Lines = std::map<std::string, Line>;
  Lines& lines() { return lines_; }
  const Clock& clock() const { return clock_; }
  // A new line, kept under this address. An Error: there is none.
  Result<Lines::iterator> open_line(const std::string& address, const std::string& host, int port,
                                    int64_t timeout_ms);
  // Lines to the same address are of no use to each other when one is encrypted.
  std::string line_name(const std::string& address) const;

 private:
  // What a look-up found. A failure is forgotten soon.
  struct Found {
    Result<io::SocketAddresses> addresses;
    int64_t until_ms;
  };

  static void run(Call& call);
  static void prepare(const Command& command, std::span<const std::string_view> args);
  Result<io::SocketAddresses> find_addresses(const std::string& host, int port);
  int64_t now_ms() const { return clock_.monotonic_ns() / 1'000'000; }

  const Clock& clock_;
  const Tls tls_;
  Lines lines_;  // by line_name()
  std::mutex mutex_;
  std::map<std::string, Found> found_;  // by host and port; guarded by mutex_
};

}  // namespace sorrel::server
