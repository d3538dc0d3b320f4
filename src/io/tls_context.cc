// Translates the tls-* directives to two OpenSSL contexts (server, client), with error texts that
// name the file at fault, and extracts user names from verified certificates.

#include "io/tls_context.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/bytes.h"
#include "io/socket.h"

namespace sorrel::io {

namespace {

using KeysHandle = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

constexpr std::string_view kBadProtocols =
    "Invalid tls-protocols specified. Use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and "
    "'TLSv1.3'.";

// The options that switch off every version that `text` does not name.
Result<uint64_t> refused_versions(std::string_view text) {
  struct Version {
    std::string_view name;
    uint64_t off;
    bool by_default;
  };
  static constexpr Version kVersions[] = {
      {"tlsv1", SSL_OP_NO_TLSv1, false},
      {"tlsv1.1", SSL_OP_NO_TLSv1_1, false},
      {"tlsv1.2", SSL_OP_NO_TLSv1_2, true},
      {"tlsv1.3", SSL_OP_NO_TLSv1_3, true},
  };
  uint64_t off = SSL_OP_NO_SSLv3;
  for (const Version& version : kVersions) off |= version.off;
  if (text.empty()) {
    for (const Version& version : kVersions) {
      if (version.by_default) off &= ~version.off;
    }
    return off;
  }
  while (true) {
    const size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    const auto found =
        std::find_if(std::begin(kVersions), std::end(kVersions),
                     [&](const Version& version) { return iequals(version.name, word); });
    if (found == std::end(kVersions)) return Error{std::string(kBadProtocols)};
    off &= ~found->off;
    if (blank == std::string_view::npos) return off;
    text.remove_prefix(blank + 1);
  }
}

int give_password(char* buffer, int size, int, void* password) {
  const auto* text = static_cast<const std::string*>(password);
  // Always answered here: OpenSSL would otherwise prompt on the terminal.
  if (text->empty() || text->size() > static_cast<size_t>(size)) return -1;
  std::memcpy(buffer, text->data(), text->size());
  return static_cast<int>(text->size());
}

// Own certificate and key: as a server, or as a client of another server.
struct OwnFiles {
  const std::string& certificate;
  const std::string& key;
  const std::string& password;
};

Status load_own_files(SSL_CTX* keys, const OwnFiles& files) {
  if (files.certificate.empty()) return {};
  SSL_CTX_set_default_passwd_cb(keys, give_password);
  SSL_CTX_set_default_passwd_cb_userdata(keys, const_cast<std::string*>(&files.password));
  if (SSL_CTX_use_certificate_chain_file(keys, files.certificate.c_str()) != 1) {
    return Error{"Failed to load certificate: " + files.certificate + ": " + take_tls_error()};
  }
  if (SSL_CTX_use_PrivateKey_file(keys, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Error{"Failed to load private key: " + files.key + ": " + take_tls_error()};
  }
  // The password belongs to the caller: drop the pointer before it dangles.
  SSL_CTX_set_default_passwd_cb_userdata(keys, nullptr);
  SSL_CTX_set_default_passwd_cb(keys, nullptr);
  return {};
}

Status load_authorities(SSL_CTX* keys, const TlsSettings& settings) {
  if (settings.ca_cert_file.empty() && settings.ca_cert_dir.empty()) return {};
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  };
  if (SSL_CTX_load_verify_locations(keys, or_null(settings.ca_cert_file),
                                    or_null(settings.ca_cert_dir)) == 1) {
    return {};
  }
  return Error{"Failed to configure CA certificate(s) file/directory: " + take_tls_error()};
}

Status choose_ciphers(SSL_CTX* keys, const TlsSettings& settings) {
  if (!settings.ciphers.empty() && SSL_CTX_set_cipher_list(keys, settings.ciphers.c_str()) != 1) {
    return Error{"Failed to configure ciphers: " + settings.ciphers};
  }
  if (!settings.ciphersuites.empty() &&
      SSL_CTX_set_ciphersuites(keys, settings.ciphersuites.c_str()) != 1) {
    return Error{"Failed to configure ciphersuites: " + settings.ciphersuites};
  }
  return {};
}

// Settings common to both directions.
Result<KeysHandle> make_keys(const TlsSettings& settings, const OwnFiles& files) {
  const Result<uint64_t> off = refused_versions(settings.protocols);
  if (!off) return off.error();
  KeysHandle keys(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  if (!keys) return Error{"Failed to create a TLS context: " + take_tls_error()};
  SSL_CTX_set_options(keys.get(), *off | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // SSL_MODE_RELEASE_BUFFERS: the record buffers of an idle connection are ten times its other
  // memory.
  SSL_CTX_set_mode(keys.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                   SSL_MODE_RELEASE_BUFFERS);
  if (Status loaded = load_own_files(keys.get(), files); !loaded) return loaded.error();
  if (Status loaded = load_authorities(keys.get(), settings); !loaded) return loaded.error();
  if (Status chosen = choose_ciphers(keys.get(), settings); !chosen) return chosen.error();
  return keys;
}

void set_up_sessions(SSL_CTX* keys, const TlsSettings& settings) {
  if (!settings.session_caching) {
    SSL_CTX_set_session_cache_mode(keys, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(keys, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(keys, 0);
    return;
  }
  SSL_CTX_set_session_cache_mode(keys, SSL_SESS_CACHE_SERVER);
  SSL_CTX_sess_set_cache_size(keys, static_cast<long>(settings.session_cache_size));
  SSL_CTX_set_timeout(keys, static_cast<long>(settings.session_cache_timeout_seconds));
}

Status load_dh_params(SSL_CTX* keys, const std::string& path) {
  if (path.empty()) {
    SSL_CTX_set_dh_auto(keys, 1);
    return {};
  }
  using File = std::unique_ptr<BIO, decltype(&BIO_free)>;
  const File file(BIO_new_file(path.c_str(), "r"), BIO_free);
  if (!file) return Error{"Failed to load " + path + ": " + take_tls_error()};
  using Params = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  Params params(PEM_read_bio_Parameters(file.get(), nullptr), EVP_PKEY_free);
  if (!params || EVP_PKEY_is_a(params.get(), "DH") != 1) {
    ERR_clear_error();
    return Error{path + ": failed to read DH params."};
  }
  if (SSL_CTX_set0_tmp_dh_pkey(keys, params.get()) != 1) {
    return Error{"Failed to load DH params file: " + path + ": " + take_tls_error()};
  }
  (void)params.release();
  return {};
}

// Two common names are ambiguous and rejected.
void add_common_name(X509* certificate, TlsPeerNames& found) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int first = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (first < 0) return;
  if (X509_NAME_get_index_by_NID(subject, NID_commonName, first) >= 0) {
    found.sound = false;
    return;
  }
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, first));
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, value);
  if (size >= 0) found.names.emplace_back(reinterpret_cast<char*>(text), static_cast<size_t>(size));
  OPENSSL_free(text);
}

void add_uris(X509* certificate, TlsPeerNames& found) {
  const auto free_names = [](GENERAL_NAMES* names) { GENERAL_NAMES_free(names); };
  const std::unique_ptr<GENERAL_NAMES, decltype(free_names)> others(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      free_names);
  if (!others) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(others.get()); i++) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(others.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* value = name->d.uniformResourceIdentifier;
    found.names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                             static_cast<size_t>(ASN1_STRING_length(value)));
  }
}

}  // namespace

void SslFree::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}

std::string take_tls_error() {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_get_error(); code != 0) {
    ERR_error_string_n(code, text, sizeof text);
  }
  ERR_clear_error();
  return text;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::make(const TlsSettings& settings,
                                                           const TlsPolicy& policy, Logger& log) {
  ERR_clear_error();
  if (settings.cert_file.empty()) return Error{"No tls-cert-file configured!"};
  if (settings.key_file.empty()) return Error{"No tls-key-file configured!"};
  if (settings.needs_authorities && settings.ca_cert_file.empty() && settings.ca_cert_dir.empty()) {
    return Error{
        "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, "
        "tls-replication or tls-auth-clients are enabled!"};
  }
  Result<KeysHandle> made =
      make_keys(settings, OwnFiles{settings.cert_file, settings.key_file, settings.key_file_pass});
  if (!made) return made.error();
  SSL_CTX* keys = made->get();
  set_up_sessions(keys, settings);
  SSL_CTX_set_options(keys, SSL_OP_SINGLE_DH_USE);
  if (settings.prefer_server_ciphers) SSL_CTX_set_options(keys, SSL_OP_CIPHER_SERVER_PREFERENCE);
  if (Status loaded = load_dh_params(keys, settings.dh_params_file); !loaded) {
    return loaded.error();
  }
  Keys both;
  both.server = {made->release(), SSL_CTX_free};
  both.client = both.server;
  if (!settings.client_cert_file.empty() && !settings.client_key_file.empty()) {
    Result<KeysHandle> outgoing =
        make_keys(settings, OwnFiles{settings.client_cert_file, settings.client_key_file,
                                     settings.client_key_file_pass});
    if (!outgoing) return outgoing.error();
    both.client = {outgoing->release(), SSL_CTX_free};
  }
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(both), policy, log));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::make_client(const TlsSettings& settings,
                                                                  const TlsPolicy& policy,
                                                                  Logger& log) {
  ERR_clear_error();
  if (settings.client_cert_file.empty() != settings.client_key_file.empty()) {
    return Error{"A client certificate needs both a certificate file and a key file"};
  }
  Result<KeysHandle> made = make_keys(
      settings,
      OwnFiles{settings.client_cert_file, settings.client_key_file, settings.client_key_file_pass});
  if (!made) return made.error();
  if (settings.ca_cert_file.empty() && settings.ca_cert_dir.empty() &&
      SSL_CTX_set_default_verify_paths(made->get()) != 1) {
    return Error{"Failed to load the system's CA certificates: " + take_tls_error()};
  }
  Keys keys;
  keys.client = {made->release(), SSL_CTX_free};
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(keys), policy, log));
}

std::shared_ptr<const TlsContext> TlsContext::with(const TlsPolicy& policy) const {
  return std::shared_ptr<const TlsContext>(new TlsContext(keys_, policy, log_));
}

SslHandle TlsContext::accept() const {
  SslHandle ssl(keys_.server ? SSL_new(keys_.server.get()) : nullptr);
  if (!ssl) return nullptr;
  int mode = SSL_VERIFY_NONE;
  if (policy_.peer == TlsPeer::kOptional) mode = SSL_VERIFY_PEER;
  if (policy_.peer == TlsPeer::kRequired) mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_set_verify(ssl.get(), mode, nullptr);
  // A resumed session presents no certificate again, so one begun without must not be resumed once
  // certificates are required: the session id context contains the rule.
  const auto rule = static_cast<unsigned char>('0' + static_cast<int>(policy_.peer));
  if (SSL_set_session_id_context(ssl.get(), &rule, 1) != 1) return nullptr;
  SSL_set_accept_state(ssl.get());
  return ssl;
}

SslHandle TlsContext::connect(const TlsPeerAddress& peer) const {
  SslHandle ssl(SSL_new(keys_.client.get()));
  if (!ssl || peer.name.find('\0') != std::string::npos) return nullptr;
  in6_addr scrap;
  const char* const name = peer.name.c_str();
  const bool numeric =
      inet_pton(AF_INET, name, &scrap) == 1 || inet_pton(AF_INET6, name, &scrap) == 1;
  // SNI excludes numeric addresses.
  if (!numeric && !peer.name.empty() && SSL_set_tlsext_host_name(ssl.get(), name) != 1)
    return nullptr;
  if (peer.must_match) {
    X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl.get());
    SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // An empty name would match every certificate.
    if (peer.name.empty()) return nullptr;
    const int set =
        numeric ? X509_VERIFY_PARAM_set1_ip_asc(rules, name) : SSL_set1_host(ssl.get(), name);
    if (set != 1) return nullptr;
  }
  SSL_set_verify(ssl.get(), policy_.any_server ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  SSL_set_connect_state(ssl.get());
  return ssl;
}

std::string take_handshake_error(ssl_st* ssl) {
  std::string text = take_tls_error();
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict == X509_V_OK || !text.ends_with("certificate verify failed")) return text;
  return std::string("certificate verify failed: ") + X509_verify_cert_error_string(verdict);
}

TlsPeerNames peer_names(ssl_st* ssl, TlsName kind) {
  TlsPeerNames found;
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (kind == TlsName::kNone || certificate == nullptr) return found;
  if (SSL_get_verify_result(ssl) != X509_V_OK) return found;
  found.shown = true;
  kind == TlsName::kCommonName ? add_common_name(certificate, found) : add_uris(certificate, found);
  const size_t count = found.names.size();
  std::erase_if(found.names, [](const std::string& name) {
    return name.empty() || name.find('\0') != std::string::npos;
  });
  if (found.names.size() != count) found.sound = false;
  ERR_clear_error();
  return found;
}

}  // namespace sorrel::io
