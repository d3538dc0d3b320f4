// DUMP and RESTORE: round trips, foreign payloads, options and errors.

#include <gtest/gtest.h>

#include "base/crc.h"
#include "commands/test_harness.h"
#include "rdb/payload.h"

namespace sorrel::commands {
namespace {

class DumpTest : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  std::string restore(const std::string& key, const std::string& ttl, const std::string& payload,
                      const Texts& more = {}, const std::string& name = "RESTORE") {
    Texts args = {name, key, ttl, payload};
    args.insert(args.end(), more.begin(), more.end());
    const std::vector<std::string_view> words(args.begin(), args.end());
    NotationSink sink;
    server_.execute(words, sink);
    return sink.text();
  }
  std::string payload_of(const std::string& key) {
    const std::string reply = server_.resp("DUMP " + key);
    const size_t begin = reply.find("\r\n") + 2;
    return reply.substr(begin, reply.size() - begin - 2);
  }
  static std::string payload_for(std::string_view text) {
    std::string payload;
    rdb::write_string(text, {}, payload);
    rdb::seal_payload(payload, 10);
    return payload;
  }

  TestServer server_{
      {dump_bindings(), keys_bindings(), string_bindings(), string_set_bindings(), list_bindings(),
       set_bindings(), hash_bindings(), hash_expiry_bindings(), bloom_bindings()},
      GetParam()};
};

TEST_P(DumpTest, AKeyThatIsNotThere) {
  EXPECT_EQ(server_("DUMP k"), "(nil)");
}

TEST_P(DumpTest, BloomFiltersAreThoseOfTheModule) {
  server_("BF.RESERVE k 0.01 10 EXPANSION 3");
  for (int i = 0; i < 50; i++) server_("BF.ADD k " + std::to_string(i));
  const std::string payload = payload_of("k");
  EXPECT_EQ(payload[0], '\x07');
  EXPECT_EQ(restore("other", "0", payload), "OK");
  EXPECT_EQ(server_("BF.INFO other"), server_("BF.INFO k"));
  EXPECT_EQ(payload_of("other"), payload);
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(server_("BF.EXISTS other " + std::to_string(i)), "(integer) 1");
  }
  // Another module's type has another number.
  std::string foreign = payload.substr(0, payload.size() - 10);
  foreign[3] = static_cast<char>(foreign[3] ^ 1);
  rdb::seal_payload(foreign, 10);
  EXPECT_EQ(restore("third", "0", foreign), "(error) ERR Bad data format");
}

// As Redis 7.0 writes it.
TEST_P(DumpTest, BytesAreThoseOfRedis) {
  server_("SET k hello");
  const std::string payload = payload_of("k");
  EXPECT_EQ(payload.substr(0, 9), std::string_view("\0\x05hello\x0a\0", 9));
  EXPECT_EQ(load<uint64_t>(payload.data() + 9), crc64(0, payload.substr(0, 9)));
  server_("SET k 10");
  EXPECT_EQ(payload_of("k").substr(0, 3), std::string_view("\0\xc0\x0a", 3));
}

TEST_P(DumpTest, DumpedValuesAreRestored) {
  server_("RPUSH k a b 3");
  EXPECT_EQ(restore("other", "0", payload_of("k")), "OK");
  EXPECT_EQ(server_("LRANGE other 0 -1"), R"(["a", "b", "3"])");
  EXPECT_EQ(server_("PTTL other"), "(integer) -1");
  EXPECT_EQ(restore("other", "0", payload_of("k")),
            "(error) BUSYKEY Target key name already exists.");
  server_("SET other x");
  EXPECT_EQ(restore("other", "0", payload_of("k"), {"replace"}), "OK");
  EXPECT_EQ(server_("TYPE other"), "list");
  EXPECT_EQ(restore("third", "0", payload_of("k"), {}, "RESTORE-ASKING"), "OK");
}

TEST_P(DumpTest, PayloadsOfValkeyAreTaken) {
  const auto sealed = [](std::string body, int version) {
    rdb::seal_payload(body, version);
    return body;
  };
  const auto deadline = [](int64_t at) {
    std::string bytes(sizeof(at), ' ');
    store(bytes.data(), at);
    return bytes;
  };
  const std::string text("\0\x05hello", 7);
  EXPECT_EQ(restore("text", "0", sealed(text, 80)), "OK");
  EXPECT_EQ(server_("GET text"), "\"hello\"");
  std::string hash(
      "\x16\x02\x01"
      "a\x01"
      "1",
      6);
  hash += deadline(2'000'000'000'000);
  hash += std::string(
      "\x01"
      "b\x01"
      "2",
      4);
  hash += deadline(-1);
  EXPECT_EQ(restore("hash", "0", sealed(hash, 80)), "OK");
  EXPECT_EQ(server_("HPEXPIRETIME hash FIELDS 2 a b"), "[(integer) 2000000000000, (integer) -1]");
  const std::string unknown = "(error) ERR DUMP payload version or checksum are wrong";
  EXPECT_EQ(restore("other", "0", sealed(text, 79)), unknown);
  EXPECT_EQ(restore("other", "0", sealed(text, 81)), unknown);
  EXPECT_EQ(restore("other", "0", sealed("\x17" + text, 80)), "(error) ERR Bad data format");
}

TEST_P(DumpTest, DeadlinesAreRelativeOrAbsolute) {
  const std::string payload = payload_for("v");
  EXPECT_EQ(restore("k", "5000", payload), "OK");
  EXPECT_EQ(server_("PTTL k"), "(integer) 5000");
  const std::string at = to_text(server_.now_ms() + 700);
  EXPECT_EQ(restore("k", at, payload, {"REPLACE", "ABSTTL"}), "OK");
  EXPECT_EQ(server_("PEXPIRETIME k"), "(integer) " + at);
  // Expired already: deleted, without an event.
  EXPECT_EQ(restore("k", "1", payload, {"REPLACE", "ABSTTL"}), "OK");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
  EXPECT_EQ(restore("k", "9223372036854775807", payload), "OK");
  EXPECT_EQ(server_("PEXPIRETIME k"), "(integer) 9223372036854775807");
}

TEST_P(DumpTest, EffectsAreAbsolute) {
  const std::string payload = payload_for("v");
  EXPECT_EQ(restore("k", "0", payload), "OK");
  EXPECT_EQ(server_.effects(), (Texts{"RESTORE k 0 " + payload}));
  EXPECT_EQ(server_.events(), (Texts{"restore k"}));
  EXPECT_EQ(restore("k", "5000", payload, {"REPLACE"}), "OK");
  const std::string at = to_text(server_.now_ms() + 5000);
  EXPECT_EQ(server_.effects(), (Texts{"RESTORE k " + at + " " + payload + " REPLACE ABSTTL"}));
  EXPECT_EQ(restore("k", at, payload, {"REPLACE", "ABSTTL"}), "OK");
  EXPECT_EQ(server_.effects(), (Texts{"RESTORE k " + at + " " + payload + " REPLACE ABSTTL"}));
  server_.events();
  EXPECT_EQ(restore("k", "1", payload, {"REPLACE", "ABSTTL"}), "OK");
  EXPECT_EQ(server_.effects(), (Texts{"DEL k"}));
  EXPECT_EQ(server_.events(), (Texts{"del k"}));
  EXPECT_EQ(restore("k", "1", payload, {"ABSTTL"}), "OK");
  EXPECT_EQ(server_.effects(), Texts{});
  EXPECT_EQ(server_.events(), Texts{});
}

TEST_P(DumpTest, IdleTimeAndFrequencyAreRestored) {
  const std::string payload = payload_for("v");
  EXPECT_EQ(restore("k", "0", payload, {"IDLETIME", "1000"}), "OK");
  EXPECT_EQ(server_("OBJECT IDLETIME k"), "(integer) 1000");
  EXPECT_EQ(restore("k", "0", payload, {"FREQ", "100", "REPLACE"}), "OK");
  EXPECT_EQ(server_("OBJECT IDLETIME k"), "(integer) 0");
  server_.keyspace().access_policy().kind = AccessPolicy::Kind::kLfu;
  EXPECT_EQ(restore("k", "0", payload, {"FREQ", "100", "REPLACE"}), "OK");
  EXPECT_EQ(server_("OBJECT FREQ k"), "(integer) 100");
}

TEST_P(DumpTest, Mistakes) {
  const std::string payload = payload_for("v");
  const auto error = [&](const std::string& ttl, const Texts& more) {
    return restore("k", ttl, payload, more);
  };
  EXPECT_EQ(error("-1", {}), "(error) ERR Invalid TTL value, must be >= 0");
  EXPECT_EQ(error("x", {}), "(error) ERR value is not an integer or out of range");
  EXPECT_EQ(error("0", {"IDLETIME", "-1"}), "(error) ERR Invalid IDLETIME value, must be >= 0");
  EXPECT_EQ(error("0", {"FREQ", "256"}), "(error) ERR Invalid FREQ value, must be >= 0 and <= 255");
  EXPECT_EQ(error("0", {"FREQ", "-1"}), "(error) ERR Invalid FREQ value, must be >= 0 and <= 255");
  EXPECT_EQ(error("0", {"FREQ", "x"}), "(error) ERR value is not an integer or out of range");
  EXPECT_EQ(error("0", {"FREQ", "1", "IDLETIME", "1"}), "(error) ERR syntax error");
  EXPECT_EQ(error("0", {"IDLETIME"}), "(error) ERR syntax error");
  EXPECT_EQ(error("0", {"KEEPTTL"}), "(error) ERR syntax error");
  EXPECT_EQ(restore("k", "0", ""), "(error) ERR DUMP payload version or checksum are wrong");
  EXPECT_EQ(restore("k", "0", payload + "x"),
            "(error) ERR DUMP payload version or checksum are wrong");
  std::string bad = "\x02";
  rdb::seal_payload(bad, 10);
  EXPECT_EQ(restore("k", "0", bad), "(error) ERR Bad data format");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
  EXPECT_EQ(server_.effects(), Texts{});
  // And no value is lost.
  server_("SET k old");
  EXPECT_EQ(restore("k", "0", bad, {"REPLACE"}), "(error) ERR Bad data format");
  EXPECT_EQ(server_("GET k"), R"("old")");
}

// The error is the same for all damage, as in Redis; the observer is notified of the details.
TEST_P(DumpTest, DamageIsReportedToTheObserver) {
  class Listener final : public ExecutionObserver {
   public:
    Texts heard;

   private:
    void on_execute(const Caller&, const Command&, std::span<const std::string_view>) override {}
    void on_slow(const Caller&, const Command&, std::span<const std::string_view>,
                 uint64_t) override {}
    void on_latency(const Command&, uint64_t) override {}
    void on_damaged(const Caller&, std::string_view damage) override { heard.emplace_back(damage); }
  };
  Listener listener;
  server_.set_observer(&listener);
  const auto refuse = [this](std::string payload) {
    rdb::seal_payload(payload, 10);
    EXPECT_EQ(restore("k", "0", payload), "(error) ERR Bad data format");
  };
  // A set with a duplicate member, and a string with a byte too many.
  refuse(std::string("\x02\x02\x01m\x01m", 6));
  refuse(std::string("\0\x01xy", 4));
  EXPECT_EQ(listener.heard, (Texts{"Value integrity check failed: dup elements",
                                   "Value integrity check failed: there is more behind it"}));
  EXPECT_EQ(restore("k", "0", payload_for("v")), "OK");
  EXPECT_EQ(listener.heard.size(), 2u);
  server_.set_observer(nullptr);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DumpTest, ::testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

}  // namespace
}  // namespace sorrel::commands
