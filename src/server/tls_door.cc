#include "server/tls_door.h"

namespace sorrel::server {
namespace {

bool is_wanted(const TlsOptions& tls) {
  return tls.port != 0 || tls.replication || tls.cluster;
}

io::TlsSettings settings_of(const TlsOptions& tls) {
  io::TlsSettings settings = tls;
  settings.needs_authorities =
      tls.policy.peer != io::TlsPeer::kNotAsked || tls.replication || tls.cluster;
  return settings;
}

}  // namespace

Status TlsDoor::load(const Options& options) {
  if (!is_wanted(options.tls)) {
    // Read anew when it is wanted again: the files may have changed by then.
    context_.reset();
    return {};
  }
  auto made = io::TlsContext::make(settings_of(options.tls), options.tls.policy, log_);
  if (!made) {
    log_.warning(made.error().text);
    return made.error();
  }
  context_ = std::move(*made);
  return {};
}

Status TlsDoor::ensure_loaded(const Options& options) {
  if (context_ != nullptr && is_wanted(options.tls)) return {};
  return load(options);
}

void TlsDoor::set_policy(const Options& options) {
  if (context_ != nullptr) context_ = context_->with(options.tls.policy);
}

void TlsDoor::on_accept(std::unique_ptr<io::Accepted> connection) {
  // The door is shut before its keys go.
  connection->tls = context_;
  if (connection->tls != nullptr) inside_.on_accept(std::move(connection));
}

void TlsDoor::on_overflow(std::unique_ptr<io::Accepted> connection, const Error& why) {
  connection->tls = context_;
  if (connection->tls != nullptr) inside_.on_overflow(std::move(connection), why);
}

}  // namespace sorrel::server
