#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"

// Forward declarations, so that OpenSSL's headers are included by sources of this component only.
struct ssl_ctx_st;
struct ssl_st;

namespace sorrel::io {

// tls-auth-clients: whether a peer must present a certificate signed by a configured CA.
enum class TlsPeer : uint8_t { kNotAsked, kOptional, kRequired };

// tls-auth-clients-user: the certificate field that holds the user name.
enum class TlsName : uint8_t { kNone, kCommonName, kUri };

// Settings that can change without new keys; applied to connections accepted afterwards.
struct TlsPolicy {
  TlsPeer peer = TlsPeer::kRequired;
  TlsName name = TlsName::kNone;
  // Handshake steps of accepted connections per loop iteration; the remaining connections wait for
  // the next one. A handshake costs as much as a thousand commands.
  int handshakes_per_turn = 1;
  // Outgoing connections accept any certificate, also of an unknown CA.
  bool any_server = false;
};

// Files of keys and certificates, and protocol settings; empty texts mean OpenSSL's defaults. The
// client files are for outgoing connections, which otherwise present the server's certificate.
struct TlsSettings {
  std::string cert_file;
  std::string key_file;
  std::string key_file_pass;
  std::string client_cert_file;
  std::string client_key_file;
  std::string client_key_file_pass;
  std::string dh_params_file;
  std::string ca_cert_file;
  std::string ca_cert_dir;
  std::string protocols;  // "TLSv1.2 TLSv1.3"
  std::string ciphers;
  std::string ciphersuites;
  bool prefer_server_ciphers = false;
  bool session_caching = true;
  int64_t session_cache_size = 20480;
  int64_t session_cache_timeout_seconds = 300;
  bool needs_authorities = true;  // peers will be verified, so a CA is mandatory
};

struct SslFree {
  void operator()(ssl_st* ssl) const;
};
using SslHandle = std::unique_ptr<ssl_st, SslFree>;

// The peer of an outgoing connection.
struct TlsPeerAddress {
  const std::string& name;  // a host name or a numeric address
  bool must_match;          // the certificate must be valid for `name`
};

// Keys, certificates and policy for both directions. Immutable: CONFIG SET creates a new context,
// and existing connections keep theirs.
//
// Thread rule: shared by all workers (SSL_CTX locks internally); each SSL handle is used by one
// thread at a time.
class TlsContext {
 public:
  // Reads the files. The error is a line for the server log. Failed handshakes are logged to `log`,
  // which must outlive the context.
  static Result<std::shared_ptr<const TlsContext>> make(const TlsSettings& settings,
                                                        const TlsPolicy& policy, Logger& log);
  // For a program that only connects: uses the client certificate and the CA files, each of which
  // is optional. Without CA files the system's CAs are trusted. Of the policy only `any_server`
  // applies.
  static Result<std::shared_ptr<const TlsContext>> make_client(const TlsSettings& settings,
                                                               const TlsPolicy& policy,
                                                               Logger& log);
  // The same keys and sessions under another policy.
  std::shared_ptr<const TlsContext> with(const TlsPolicy& policy) const;

  // The server's end of a new connection; null when OpenSSL is out of memory.
  SslHandle accept() const;
  // The client's end. As in Redis the peer's certificate must be signed by a configured CA,
  // regardless of tls-auth-clients, unless `any_server` is set. Null also when the name is not
  // valid in a certificate.
  SslHandle connect(const TlsPeerAddress& peer) const;

  const TlsPolicy& policy() const { return policy_; }
  Logger& log() const { return log_; }

 private:
  struct Keys {
    std::shared_ptr<ssl_ctx_st> server;  // null in a context of make_client()
    std::shared_ptr<ssl_ctx_st> client;
  };

  TlsContext(Keys keys, const TlsPolicy& policy, Logger& log)
      : keys_(std::move(keys)), policy_(policy), log_(log) {}

  Keys keys_;
  TlsPolicy policy_;
  Logger& log_;
};

// The names in the peer's verified certificate: one common name, or any number of URIs. `sound` is
// false when a name was rejected: one with a NUL byte, which a comparison as a C string would
// truncate to another user's name, or a second common name.
struct TlsPeerNames {
  std::vector<std::string> names;
  bool shown = false;
  bool sound = true;
};
TlsPeerNames peer_names(ssl_st* ssl, TlsName kind);

// The reason of a failed handshake as OpenSSL's text: for a rejected certificate the verification
// error. Clears the error queue of this thread.
std::string take_handshake_error(ssl_st* ssl);

// The oldest error in OpenSSL's queue of this thread, as text; clears the queue.
std::string take_tls_error();

}  // namespace sorrel::io
