#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"

// OpenSSL's own names, so that its headers stay inside this room's sources.
struct ssl_ctx_st;
struct ssl_st;

namespace sorrel::io {

// Whether a peer has to show a certificate that one of our authorities signed.
enum class TlsPeer : uint8_t { kNotAsked, kOptional, kRequired };

// Which part of that certificate names its user.
enum class TlsName : uint8_t { kNone, kCommonName, kUri };

// What can change without new keys: it holds for connections that are accepted from then on.
struct TlsPolicy {
  TlsPeer peer = TlsPeer::kRequired;
  TlsName name = TlsName::kNone;
  // A handshake costs as much as a thousand commands. Of those that are ready at the same time a
  // loop takes so many steps a turn; the others wait for the next one.
  int handshakes_per_turn = 1;
  // Outgoing connections take any certificate, or one of an unknown authority.
  bool any_server = false;
};

// Where keys and certificates are and what is spoken; empty texts leave it to the library. The
// client files are for outgoing connections; without them these show the server's certificate.
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
  bool needs_authorities = true;  // somebody is going to be checked against them
};

struct SslFree {
  void operator()(ssl_st* ssl) const;
};
using SslHandle = std::unique_ptr<ssl_st, SslFree>;

// The peer of an outgoing connection.
struct TlsPeerAddress {
  const std::string& name;  // a host name or a numeric address
  bool must_match;          // its certificate must be for that name
};

// Keys, certificates and rules of both directions. Immutable: a changed configuration makes a new
// one, and connections keep the one that they began with.
//
// Thread rule: shared by all workers (OpenSSL locks what is shared inside); each connection made
// from it belongs to one.
class TlsContext {
 public:
  // Reads the files. The error is a line for the log. `log` hears of peers whose handshake failed,
  // and outlives the context.
  static Result<std::shared_ptr<const TlsContext>> make(const TlsSettings& settings,
                                                        const TlsPolicy& policy, Logger& log);
  // For a program that only connects: of the files the client's certificate and the authorities
  // are used, and each may be missing. Without authorities the
  // system's are trusted. Of the policy only `any_server` matters.
  static Result<std::shared_ptr<const TlsContext>> make_client(const TlsSettings& settings,
                                                               const TlsPolicy& policy,
                                                               Logger& log);
  // The same keys and sessions under another policy.
  std::shared_ptr<const TlsContext> with(const TlsPolicy& policy) const;

  // The server's end of a new connection; null when the library has no memory.
  SslHandle accept() const;
  // The client's end. As in Redis the certificate of the other side must be signed by one of our
  // authorities, whatever is asked of our own clients, but for `any_server`. Null also when the
  // name could not stand in a certificate.
  SslHandle connect(const TlsPeerAddress& peer) const;

  const TlsPolicy& policy() const { return policy_; }
  Logger& log() const { return log_; }

 private:
  struct Keys {
    std::shared_ptr<ssl_ctx_st> server;  // null: it only connects
    std::shared_ptr<ssl_ctx_st> client;
  };

  TlsContext(Keys keys, const TlsPolicy& policy, Logger& log)
      : keys_(std::move(keys)), policy_(policy), log_(log) {}

  Keys keys_;
  TlsPolicy policy_;
  Logger& log_;
};

// The names in the certificate that the peer has shown and that was found valid: one common name,
// or any number of URIs. `sound` is false when there was one that nobody may be called: it holds a
// NUL byte (whoever compares it as a C string sees another name), or there are two common names.
struct TlsPeerNames {
  std::vector<std::string> names;
  bool shown = false;
  bool sound = true;
};
TlsPeerNames peer_names(ssl_st* ssl, TlsName kind);

// Why a handshake failed, in the library's words: of a certificate that was refused what is wrong
// with it. Forgets the errors of this thread.
std::string take_handshake_error(ssl_st* ssl);

// The oldest error that the library remembers for this thread, in its words; forgets them all.
std::string take_tls_error();

}  // namespace sorrel::io
