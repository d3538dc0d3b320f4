#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "io/loop.h"
#include "server/options.h"

namespace sorrel::server {

// The sockets that this server listens on, kept as the configuration wants them.
//
// Thread rule: the loop's own thread, or any thread that keeps it out of its batch (the gate).
class Listeners {
 public:
  // Who comes through the TLS port goes to `tls`, everybody else to `plain`.
  Listeners(io::AcceptHandler& plain, io::AcceptHandler& tls, Logger& log)
      : plain_(plain), tls_(tls), log_(log) {}

  // Opens what is missing and closes what is not wanted any more. An Error has been logged, names
  // what could not be opened ("port 6379 (tcp)"), and leaves open what could be kept: calling it
  // again with the old options restores the rest.
  Status apply(io::Loop& loop, const Options& options);
  // How many connections each takes in a turn.
  void set_limits(const Options& options);
  void close() { open_.clear(); }
  size_t count() const { return open_.size(); }
  // Of those that are open: "tcp", "unix", "tls", in this order.
  std::vector<std::string_view> kinds() const;

 private:
  struct Wanted {
    std::string_view kind;
    io::Endpoint at;
  };
  struct Open {
    std::string_view kind;
    std::unique_ptr<io::Listener> listener;
  };
  using Endpoints = std::map<std::string, Wanted>;  // by what makes one socket another

  static Endpoints wanted(const Options& options);
  static void add_ports(Endpoints& endpoints, const NetworkOptions& options, std::string_view kind,
                        int64_t port);
  Status open_missing(io::Loop& loop, const Endpoints& wanted, bool report);
  void close_unwanted(const Endpoints& wanted);
  void report_failure(const io::Endpoint& at, const std::string& reason);

  io::AcceptHandler& plain_;
  io::AcceptHandler& tls_;
  Logger& log_;
  std::map<std::string, Open> open_;
};

}  // namespace sorrel::server
