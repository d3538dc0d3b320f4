#include "server/tls_door.h"

namespace sorrel::server {
namespace {

bool is_wanted(const TlsOptions& tls) {
  return tls.port != 0 || tls.replication || tls.cluster;
}

io::TlsPeer peer_rule(TlsClientAuth rule) {
  switch (rule) {
    case TlsClientAuth::kNo:
      return io::TlsPeer::kNotAsked;
    case TlsClientAuth::kOptional:
      return io::TlsPeer::kOptional;
    case TlsClientAuth::kYes:
      break;
  }
  return io::TlsPeer::kRequired;
}

io::TlsName name_rule(TlsUser rule) {
  switch (rule) {
    case TlsUser::kCommonName:
      return io::TlsName::kCommonName;
    case TlsUser::kUri:
      return io::TlsName::kUri;
    case TlsUser::kOff:
      break;
  }
  return io::TlsName::kNone;
}

io::TlsPolicy policy_of(const Options& options) {
  io::TlsPolicy policy;
  policy.peer = peer_rule(options.tls.auth_clients);
  policy.name = name_rule(options.tls.auth_clients_user);
  policy.handshakes_per_turn = static_cast<int>(options.network.max_new_tls_connections_per_cycle);
  return policy;
}

io::TlsSettings settings_of(const TlsOptions& tls) {
  io::TlsSettings settings = tls;
  settings.needs_authorities =
      tls.auth_clients != TlsClientAuth::kNo || tls.replication || tls.cluster;
  return settings;
}

}  // namespace

Status TlsDoor::load(const Options& options) {
  if (!is_wanted(options.tls)) {
    // Read anew when it is wanted again: the files may have changed by then.
    context_.reset();
    return {};
  }
  auto made = io::TlsContext::make(settings_of(options.tls), policy_of(options), log_);
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
  if (context_ != nullptr) context_ = context_->with(policy_of(options));
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
