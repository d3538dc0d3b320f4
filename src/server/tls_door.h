#pragma once

#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "io/loop.h"
#include "io/tls_context.h"
#include "server/options.h"

namespace sorrel::server {

// The door for clients that speak TLS: holds the keys in use and gives them to every connection
// that comes in through it. Connections keep what they were given when it changes.
//
// Thread rule: the thread of the loop that listens, or any that keeps it out of its batch.
class TlsDoor : public io::AcceptHandler {
 public:
  // What comes in goes on to `inside`.
  TlsDoor(io::AcceptHandler& inside, Logger& log) : inside_(inside), log_(log) {}

  // Reads keys and certificates, as far as anything wants them. An Error has been logged, and what
  // was in use stays in use.
  Status load(const Options& options);
  // The same, but only when nothing is in use.
  Status ensure_loaded(const Options& options);
  // Whether clients are asked for certificates, and how many are welcomed at once.
  void set_policy(const Options& options);

  // Null: nothing is in use.
  std::shared_ptr<const io::TlsContext> context() const { return context_; }

  void on_accept(std::unique_ptr<io::Accepted> connection) override;
  void on_overflow(std::unique_ptr<io::Accepted> connection, const Error& why) override;

 private:
  io::AcceptHandler& inside_;
  Logger& log_;
  std::shared_ptr<const io::TlsContext> context_;  // null: nothing is in use
};

}  // namespace sorrel::server
