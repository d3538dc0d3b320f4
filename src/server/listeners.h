#pragma once

#include <map>
#include <memory>
#include <string>
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
  Listeners(io::AcceptHandler& handler, Logger& log) : handler_(handler), log_(log) {}

  // Opens what is missing and closes what is not wanted any more. An Error has been logged, and
  // leaves open what could be kept: calling it again with the old options restores the rest.
  Status apply(io::Loop& loop, const NetworkOptions& options);
  void close() { open_.clear(); }
  size_t count() const { return open_.size(); }

 private:
  using Endpoints = std::map<std::string, io::Endpoint>;  // by what makes one socket another

  static Endpoints wanted(const NetworkOptions& options);
  Status open_missing(io::Loop& loop, const Endpoints& wanted, bool report);
  void close_unwanted(const Endpoints& wanted);
  void report_failure(const io::Endpoint& at, const std::string& reason);

  io::AcceptHandler& handler_;
  Logger& log_;
  std::map<std::string, std::unique_ptr<io::Listener>> open_;
};

}  // namespace sorrel::server
