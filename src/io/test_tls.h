#pragma once

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// For tests: generated keys and certificates, and the client's end of a TLS connection over memory
// buffers.
namespace sorrel::io {

struct KeyAndCertificate {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> certificate;
};

// Contents of a certificate. Texts may contain any byte.
struct CertificateWish {
  std::string common_name = {};
  std::string second_common_name = {};
  std::string uri = {};
  std::string dns = {};
  std::string address = {};  // in binary form
  bool authority = false;
  bool expired = false;
};

inline void add_name(GENERAL_NAMES* names, int kind, const std::string& text) {
  if (text.empty()) return;
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_STRING* value = kind == GEN_IPADD ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
  ASN1_STRING_set(value, text.data(), static_cast<int>(text.size()));
  GENERAL_NAME_set0_value(name, kind, value);
  sk_GENERAL_NAME_push(names, name);
}

inline KeyAndCertificate make_certificate(const CertificateWish& wish,
                                          const KeyAndCertificate* signer = nullptr) {
  KeyAndCertificate made;
  made.key = {EVP_EC_gen("P-256"), EVP_PKEY_free};
  made.certificate = {X509_new(), X509_free};
  X509* x509 = made.certificate.get();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), wish.authority ? 1 : 2);
  X509_gmtime_adj(X509_getm_notBefore(x509), wish.expired ? -3600 : -60);
  X509_gmtime_adj(X509_getm_notAfter(x509), wish.expired ? -60 : 24 * 3600);
  X509_set_pubkey(x509, made.key.get());
  const auto add_common_name = [&](const std::string& name) {
    if (name.empty()) return;
    X509_NAME_add_entry_by_NID(X509_get_subject_name(x509), NID_commonName, V_ASN1_UTF8STRING,
                               reinterpret_cast<const unsigned char*>(name.data()),
                               static_cast<int>(name.size()), -1, 0);
  };
  add_common_name(wish.common_name);
  add_common_name(wish.second_common_name);
  if (!wish.uri.empty() || !wish.dns.empty() || !wish.address.empty()) {
    GENERAL_NAMES* names = sk_GENERAL_NAME_new_null();
    add_name(names, GEN_URI, wish.uri);
    add_name(names, GEN_DNS, wish.dns);
    add_name(names, GEN_IPADD, wish.address);
    X509_add1_ext_i2d(x509, NID_subject_alt_name, names, 0, 0);
    GENERAL_NAMES_free(names);
  }
  if (wish.authority) {
    BASIC_CONSTRAINTS* constraints = BASIC_CONSTRAINTS_new();
    constraints->ca = 0xFF;
    X509_add1_ext_i2d(x509, NID_basic_constraints, constraints, 1, 0);
    BASIC_CONSTRAINTS_free(constraints);
  }
  const KeyAndCertificate& by = signer != nullptr ? *signer : made;
  X509_set_issuer_name(x509, X509_get_subject_name(by.certificate.get()));
  X509_sign(x509, by.key.get(), EVP_sha256());
  return made;
}

// A temporary folder with certificates of an authority, a server and a client; removed by the
// destructor.
class TestCertificates {
 public:
  TestCertificates() {
    char name[] = "/tmp/sorrel-tls-test-XXXXXX";
    folder_ = mkdtemp(name);
    authority = make_certificate({.common_name = "authority", .authority = true});
    server = make_certificate({.common_name = "server"}, &authority);
    client = make_certificate({.common_name = "client"}, &authority);
    write_certificate("ca.crt", authority);
    write_certificate("server.crt", server);
    write_key("server.key", server, "");
  }
  ~TestCertificates() { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  void write_certificate(const std::string& name, const KeyAndCertificate& of) const {
    const auto bio = memory();
    PEM_write_bio_X509(bio.get(), of.certificate.get());
    write(name, text_of(bio.get()));
  }
  void write_key(const std::string& name, const KeyAndCertificate& of,
                 const std::string& password) const {
    const auto bio = memory();
    const auto* text = reinterpret_cast<const unsigned char*>(password.data());
    PEM_write_bio_PrivateKey(
        bio.get(), of.key.get(), password.empty() ? nullptr : EVP_aes_256_cbc(),
        password.empty() ? nullptr : text, static_cast<int>(password.size()), nullptr, nullptr);
    write(name, text_of(bio.get()));
  }

  KeyAndCertificate authority;
  KeyAndCertificate server;
  KeyAndCertificate client;

 private:
  static std::shared_ptr<BIO> memory() { return {BIO_new(BIO_s_mem()), BIO_free}; }
  static std::string_view text_of(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<size_t>(size)};
  }

  std::string folder_;
};

// The client's end, independent of the transport: put_in() takes bytes from the server, take_out()
// returns the bytes to send.
class TlsTestClient {
 public:
  // Null: presents no certificate.
  explicit TlsTestClient(const KeyAndCertificate* own = nullptr, int version = TLS1_3_VERSION) {
    context_ = {SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_CLIENT);
    if (own != nullptr) {
      SSL_CTX_use_certificate(context_.get(), own->certificate.get());
      SSL_CTX_use_PrivateKey(context_.get(), own->key.get());
    }
    start();
  }

  // Begins a new connection, resuming `session` unless null.
  void start(SSL_SESSION* session = nullptr) {
    ssl_ = {SSL_new(context_.get()), SSL_free};
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(in_, -1);
    SSL_set_bio(ssl_.get(), in_, out_);
    SSL_set_connect_state(ssl_.get());
    if (session != nullptr) SSL_set_session(ssl_.get(), session);
    clear_.clear();
    step();
  }

  void put_in(std::string_view bytes) {
    if (!bytes.empty()) BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
    step();
  }
  std::string take_out() {
    std::string bytes(BIO_ctrl_pending(out_), '\0');
    if (!bytes.empty()) BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }
  // Precondition: connected().
  void say(std::string_view text) {
    while (!text.empty()) {
      size_t taken = 0;
      ASSERT_EQ(SSL_write_ex(ssl_.get(), text.data(), text.size(), &taken), 1);
      text.remove_prefix(taken);
    }
  }
  void send_close_notify() { SSL_shutdown(ssl_.get()); }

  bool connected() const { return SSL_is_init_finished(ssl_.get()) == 1; }
  bool received_close_notify() const {
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  bool failed() const { return failed_; }
  bool resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
  std::string take_clear() { return std::exchange(clear_, {}); }
  std::shared_ptr<SSL_SESSION> session() const {
    return {SSL_get1_session(ssl_.get()), SSL_SESSION_free};
  }
  SSL* ssl() const { return ssl_.get(); }

 private:
  void step() {
    ERR_clear_error();
    char buffer[16 * 1024];
    size_t got = 0;
    while (SSL_read_ex(ssl_.get(), buffer, sizeof buffer, &got) == 1) clear_.append(buffer, got);
    const int error = SSL_get_error(ssl_.get(), 0);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_ZERO_RETURN) failed_ = true;
    ERR_clear_error();
  }

  std::shared_ptr<SSL_CTX> context_;
  std::shared_ptr<SSL> ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  std::string clear_;
  bool failed_ = false;
};

}  // namespace sorrel::io
