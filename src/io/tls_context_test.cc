#include "io/tls_context.h"

#include <gtest/gtest.h>

#include "io/test_tls.h"

namespace sorrel::io {
namespace {

class TlsContextTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { certificates_ = new TestCertificates; }
  static void TearDownTestSuite() { delete std::exchange(certificates_, nullptr); }

  TlsContextTest() {
    settings_.cert_file = path("server.crt");
    settings_.key_file = path("server.key");
    settings_.ca_cert_file = path("ca.crt");
  }
  static std::string path(const std::string& name) { return certificates_->path(name); }
  // The error text; empty: success.
  std::string problem() {
    const auto made = TlsContext::make(settings_, {}, log_);
    return made ? "" : made.error().text;
  }

  static inline TestCertificates* certificates_ = nullptr;
  NullLogger log_;
  TlsSettings settings_;
};

TEST_F(TlsContextTest, NeedsKeyCertificateAndAuthorities) {
  EXPECT_EQ(problem(), "");
  settings_.cert_file = "";
  EXPECT_EQ(problem(), "No tls-cert-file configured!");
  settings_.cert_file = path("server.crt");
  settings_.key_file = "";
  EXPECT_EQ(problem(), "No tls-key-file configured!");
  settings_.key_file = path("server.key");
  settings_.ca_cert_file = "";
  EXPECT_NE(problem().find("Either tls-ca-cert-file or tls-ca-cert-dir must be specified"),
            std::string::npos);
  settings_.needs_authorities = false;
  EXPECT_EQ(problem(), "");
  settings_.ca_cert_dir = path("");
  settings_.needs_authorities = true;
  EXPECT_EQ(problem(), "");
}

TEST_F(TlsContextTest, SaysWhichFileIsWrong) {
  settings_.cert_file = path("nowhere.crt");
  EXPECT_EQ(problem().find("Failed to load certificate: " + settings_.cert_file + ": error:"), 0u);
  settings_.cert_file = path("server.key");
  EXPECT_EQ(problem().find("Failed to load certificate: "), 0u);
  settings_.cert_file = path("server.crt");
  settings_.key_file = path("ca.crt");
  EXPECT_EQ(problem().find("Failed to load private key: " + settings_.key_file + ": error:"), 0u);
  certificates_->write_key("other.key", certificates_->client, "");
  settings_.key_file = path("other.key");
  EXPECT_NE(problem().find("key values mismatch"), std::string::npos);
  settings_.key_file = path("server.key");
  settings_.ca_cert_file = path("server.key");
  EXPECT_EQ(problem().find("Failed to configure CA certificate(s) file/directory: "), 0u);
}

TEST_F(TlsContextTest, AnEncryptedKeyNeedsItsPassword) {
  certificates_->write_key("secret.key", certificates_->server, "1234");
  settings_.key_file = path("secret.key");
  EXPECT_EQ(problem().find("Failed to load private key: "), 0u);
  settings_.key_file_pass = "wrong";
  EXPECT_EQ(problem().find("Failed to load private key: "), 0u);
  settings_.key_file_pass = std::string(5000, 'x');
  EXPECT_EQ(problem().find("Failed to load private key: "), 0u);
  settings_.key_file_pass = "1234";
  EXPECT_EQ(problem(), "");
}

TEST_F(TlsContextTest, TheFilesForOutgoingConnectionsAreCheckedToo) {
  settings_.client_cert_file = path("nowhere.crt");
  EXPECT_EQ(problem(), "");  // one without the other is not used
  settings_.client_key_file = path("server.key");
  EXPECT_EQ(problem().find("Failed to load certificate: " + path("nowhere.crt")), 0u);
  settings_.client_cert_file = path("server.crt");
  EXPECT_EQ(problem(), "");
}

TEST_F(TlsContextTest, ProtocolsAndCiphersAreWords) {
  for (const char* good : {"", "TLSv1.2", "tlsv1.3", "TLSv1 TLSv1.1 TLSv1.2 TLSv1.3"}) {
    settings_.protocols = good;
    EXPECT_EQ(problem(), "") << good;
  }
  for (const char* bad : {"SSLv3", "TLSv1.2,TLSv1.3", " ", "TLSv1.2 ", "TLSv1.4"}) {
    settings_.protocols = bad;
    EXPECT_EQ(problem().find("Invalid tls-protocols specified."), 0u) << bad;
  }
  settings_.protocols = "";
  settings_.ciphers = "NOTHING-OF-THAT-NAME";
  EXPECT_EQ(problem(), "Failed to configure ciphers: NOTHING-OF-THAT-NAME");
  settings_.ciphers = "DEFAULT:!SHA1";
  settings_.ciphersuites = "TLS_NOTHING";
  EXPECT_EQ(problem(), "Failed to configure ciphersuites: TLS_NOTHING");
  settings_.ciphersuites = "TLS_AES_128_GCM_SHA256";
  EXPECT_EQ(problem(), "");
}

TEST_F(TlsContextTest, DiffieHellmanParametersComeFromAFile) {
  settings_.dh_params_file = path("nowhere.dh");
  EXPECT_EQ(problem().find("Failed to load " + settings_.dh_params_file + ": "), 0u);
  settings_.dh_params_file = path("server.key");
  EXPECT_EQ(problem(), settings_.dh_params_file + ": failed to read DH params.");
  // ffdhe2048 of RFC 7919, by its name.
  const std::shared_ptr<EVP_PKEY_CTX> maker(EVP_PKEY_CTX_new_from_name(nullptr, "DH", nullptr),
                                            EVP_PKEY_CTX_free);
  ASSERT_EQ(EVP_PKEY_paramgen_init(maker.get()), 1);
  char group[] = "ffdhe2048";
  const OSSL_PARAM wish[] = {OSSL_PARAM_construct_utf8_string("group", group, 0),
                             OSSL_PARAM_construct_end()};
  ASSERT_EQ(EVP_PKEY_CTX_set_params(maker.get(), wish), 1);
  EVP_PKEY* params = nullptr;
  ASSERT_EQ(EVP_PKEY_generate(maker.get(), &params), 1);
  const std::shared_ptr<EVP_PKEY> owner(params, EVP_PKEY_free);
  const std::shared_ptr<BIO> file(BIO_new_file(path("good.dh").c_str(), "w"), BIO_free);
  ASSERT_EQ(PEM_write_bio_Parameters(file.get(), params), 1);
  BIO_flush(file.get());
  settings_.dh_params_file = path("good.dh");
  EXPECT_EQ(problem(), "");
}

}  // namespace
}  // namespace sorrel::io
