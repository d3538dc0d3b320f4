#include "session/session.h"

#include <fmt/format.h>

#include "base/random.h"
#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";
constexpr std::string_view kPong = "+PONG\r\n";

std::string echo(std::string_view text) {
  return fmt::format("*2\r\n$4\r\nECHO\r\n${}\r\n{}\r\n", text.size(), text);
}
std::string bulk(std::string_view text) {
  return fmt::format("${}\r\n{}\r\n", text.size(), text);
}
std::string repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; i++) all += text;
  return all;
}

// ---- Requests, whole and in pieces.

TEST_F(SessionTest, AnswersARequest) {
  auto client = connect();
  EXPECT_EQ(ask(client, kPing), kPong);
  EXPECT_EQ(ask(client, "ping hello\r\n"), "$5\r\nhello\r\n");
}

TEST_F(SessionTest, AnIdleSessionHoldsNoBuffer) {
  auto client = connect();
  const Session* session = session_of(client);
  const size_t before = session->memory_bytes();
  ask(client, echo(std::string(200'000, 'a')));
  EXPECT_EQ(session->memory_bytes(), before);
  EXPECT_EQ(session->query_bytes(), 0u);
  EXPECT_EQ(session->query_free_bytes(), 0u);
  EXPECT_EQ(session->argument_bytes(), 0u);
  EXPECT_EQ(session->output_bytes(), 0u);
}

TEST_F(SessionTest, ReadsAByteAtATime) {
  auto client = connect();
  const std::string requests = std::string("\r\n") + std::string(kPing) + echo("caf\xc3\xa9") +
                               "PING \"two words\"\r\n*0\r\n" + echo("");
  for (char byte : requests) client->push({&byte, 1});
  run();
  EXPECT_EQ(client->take(),
            std::string(kPong) + bulk("caf\xc3\xa9") + bulk("two words") + bulk(""));
  EXPECT_EQ(session_of(client)->query_bytes(), 0u);
}

TEST_F(SessionTest, EveryCutOfAPipelineGivesTheSameReplies) {
  const std::string requests = echo("one") + std::string(kPing) + echo("") + "PING inline\r\n" +
                               echo("a\r\nb") + "\r\n" + std::string(kPing);
  auto whole = connect();
  const std::string expected = ask(whole, requests);
  for (size_t cut = 1; cut < requests.size(); cut++) {
    auto client = connect();
    client->push(std::string_view(requests).substr(0, cut));
    client->push(std::string_view(requests).substr(cut));
    run();
    ASSERT_EQ(client->take(), expected) << "cut at " << cut;
  }
}

TEST_F(SessionTest, RunsPipelinesLongerThanAWindowInOrder) {
  auto client = connect();
  std::string requests;
  std::string replies;
  for (int i = 0; i < 1000; i++) {
    requests += echo(std::to_string(i));
    replies += bulk(std::to_string(i));
  }
  EXPECT_EQ(ask(client, requests), replies);
}

TEST_F(SessionTest, ALargeRequestArrivesInPieces) {
  auto client = connect();
  const std::string value(3'000'000, 'v');
  EXPECT_EQ(ask(client, echo(value) + std::string(kPing)), bulk(value) + std::string(kPong));
  // What follows it does not keep its memory.
  client->push(echo(value) + "*1\r\n$4\r\nPI");
  run();
  EXPECT_LT(session_of(client)->memory_bytes(), 10'000u);
  client->take();
  EXPECT_EQ(ask(client, "NG\r\n"), kPong);
}

TEST_F(SessionTest, SeveralConnectionsDoNotMixTheirReplies) {
  auto one = connect();
  auto two = connect();
  one->push(echo("one") + "*2\r\n$4\r\nEC");
  two->push(echo("two") + "*2\r\n$4\r\nECHO\r\n$3");
  run();
  EXPECT_EQ(one->take(), bulk("one"));
  EXPECT_EQ(two->take(), bulk("two"));
  one->push("HO\r\n$1\r\n1\r\n");
  two->push("\r\n222\r\n");
  run();
  EXPECT_EQ(one->take(), bulk("1"));
  EXPECT_EQ(two->take(), bulk("222"));
}

// ---- Hostile bytes.

TEST_F(SessionTest, GarbageIsAnsweredOnceAndClosed) {
  auto client = connect();
  EXPECT_EQ(ask(client, std::string(kPing) + "*1\r\n:4\r\n" + std::string(kPing)),
            "+PONG\r\n-ERR Protocol error: expected '$', got ':'\r\n");
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().session_count(), 0u);
  EXPECT_EQ(sessions.connected.load(), 0);
}

TEST_F(SessionTest, AnnouncedSizesAreNotAllocated) {
  auto client = connect();
  ask(client, "*1000000\r\n$536870912\r\nabc");
  EXPECT_LT(session_of(client)->memory_bytes(), 2000u);
  EXPECT_FALSE(client->closed_by_server());
}

TEST_F(SessionTest, ABulkOver512MegabytesIsRefusedByItsHeader) {
  auto client = connect();
  EXPECT_EQ(ask(client, "*2\r\n$4\r\nECHO\r\n$629145600\r\n"),
            "-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(client->closed_by_server());
}

TEST_F(SessionTest, AnEndlessLineIsRefused) {
  auto client = connect();
  EXPECT_EQ(ask(client, std::string(70'000, 'A')),
            "-ERR Protocol error: too big inline request\r\n");
  EXPECT_TRUE(client->closed_by_server());
}

TEST_F(SessionTest, RandomBytesNeverBreakAnything) {
  Random random(7);
  constexpr std::string_view kAlphabet = "*$\r\n0123456789-+:PINGping\"' \x00\xff{}";
  for (int round = 0; round < 300; round++) {
    auto client = connect();
    for (int piece = 0; piece < 20; piece++) {
      std::string bytes;
      for (uint64_t i = random.next() % 40; i > 0; i--) {
        bytes += kAlphabet[random.next() % kAlphabet.size()];
      }
      client->push(bytes);
    }
    run();
    client->close();
    run();
    ASSERT_EQ(host().session_count(), 0u);
  }
  auto client = connect();
  EXPECT_EQ(ask(client, kPing), kPong);
}

TEST_F(SessionTest, WebRequestsAreCutOffBeforeTheirBody) {
  auto client = connect();
  EXPECT_EQ(ask(client, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET hacked 1\r\n"), "");
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_NE(log.text.find("SECURITY ATTACK"), std::string::npos);
  auto other = connect();
  EXPECT_EQ(ask(other, "host: x\r\nSET hacked 1\r\n"), "");
  EXPECT_TRUE(other->closed_by_server());
  EXPECT_EQ(keyspace.key_count(0), 0u);
}

TEST_F(SessionTest, TheQueryBufferHasALimit) {
  sessions.options.query_buffer_limit = 100'000;
  auto client = connect();
  EXPECT_EQ(ask(client, "*2\r\n$4\r\nECHO\r\n$300000\r\n" + std::string(250'000, 'x')), "");
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().stats().query_limit_closes, 1u);
  EXPECT_NE(log.text.find("max query buffer length: id=1 addr="), std::string::npos);
  // It counts what waits, not what passes through.
  auto other = connect();
  EXPECT_EQ(ask(other, repeated(echo(std::string(1000, 'y')), 500)).size(), 1009u * 500);
}

// The request arrives in pieces of a tenth of the limit.
TEST_F(SessionTest, ParsedArgumentsHaveLeftTheQueryBuffer) {
  constexpr size_t kLimit = 100'000;
  sessions.options.query_buffer_limit = kLimit;
  const auto send = [&](const Client& client, std::string_view bytes) {
    std::string got;
    for (size_t at = 0; at < bytes.size(); at += kLimit / 10) {
      got += ask(client, bytes.substr(at, kLimit / 10));
    }
    return got;
  };
  const std::string many = "*41\r\n$6\r\nEXISTS\r\n" + repeated(bulk(std::string(30'000, 'k')), 40);
  auto client = connect();
  EXPECT_EQ(send(client, many), ":0\r\n");
  EXPECT_EQ(send(client, many.substr(0, 600'000)), "");
  EXPECT_FALSE(client->closed_by_server());
  EXPECT_GT(session_of(client)->memory_bytes(), 600'000u);
  // An argument with its end may be as long as the limit, wherever it stands.
  for (const size_t before : {0, 70'000}) {
    const std::string begin = before == 0
                                  ? "*2\r\n$6\r\nEXISTS\r\n"
                                  : "*3\r\n$6\r\nEXISTS\r\n" + bulk(std::string(before, 'k'));
    auto fits = connect();
    EXPECT_EQ(send(fits, begin + bulk(std::string(kLimit - 2, 'k'))), ":0\r\n");
    auto too_long = connect();
    EXPECT_EQ(send(too_long, begin + bulk(std::string(kLimit - 1, 'k'))), "");
    EXPECT_TRUE(too_long->closed_by_server());
  }
  EXPECT_EQ(host().stats().query_limit_closes, 2u);
}

TEST_F(SessionTest, APostponedRequestHasLeftTheQueryBuffer) {
  sessions.options.query_buffer_limit = 100'000;
  auto admin = connect();
  ask(admin, "CLIENT PAUSE 100000 ALL\r\n");
  auto client = connect();
  const std::string key(90'000, 'k');
  EXPECT_EQ(ask(client, "*4\r\n$6\r\nEXISTS\r\n" + bulk(key)), "");
  EXPECT_EQ(ask(client, bulk(key)), "");
  EXPECT_EQ(ask(client, bulk(key)), "");
  EXPECT_TRUE(session_of(client)->suspended());
  EXPECT_EQ(ask(admin, "CLIENT UNPAUSE\r\n"), "+OK\r\n");
  EXPECT_EQ(client->take(), ":0\r\n");
  EXPECT_FALSE(client->closed_by_server());
}

// ---- Before authentication.

class UnauthenticatedTest : public SessionTest {
  void SetUp() override {
    SessionTest::SetUp();
    require_password("secret");
  }
};

TEST_F(UnauthenticatedTest, MayHoldLittleMemory) {
  auto bulk_client = connect();
  EXPECT_EQ(ask(bulk_client, "*1\r\n$16385\r\n"),
            "-ERR Protocol error: unauthenticated bulk length\r\n");
  EXPECT_TRUE(bulk_client->closed_by_server());
  auto array_client = connect();
  EXPECT_EQ(ask(array_client, "*11\r\n"),
            "-ERR Protocol error: unauthenticated multibulk length\r\n");
  EXPECT_TRUE(array_client->closed_by_server());
}

TEST_F(UnauthenticatedTest, TheLimitsEndWithTheLoginInTheSamePipeline) {
  auto client = connect();
  const std::string large(50'000, 'x');
  EXPECT_EQ(ask(client, "PING\r\nAUTH secret\r\n" + echo(large)),
            "-NOAUTH Authentication required.\r\n+OK\r\n" + bulk(large));
}

TEST_F(UnauthenticatedTest, BigPipelinesAreAnsweredWithErrorsOnly) {
  auto client = connect();
  const std::string replies = ask(client, repeated("SET a b\r\n", 20'000));
  EXPECT_EQ(replies, repeated("-NOAUTH Authentication required.\r\n", 20'000));
  EXPECT_EQ(keyspace.key_count(0), 0u);
}

TEST_F(UnauthenticatedTest, WhoDoesNotReadTheErrorsIsClosed) {
  auto client = connect();
  client->set_window(1000);
  client->push(repeated("PING\r\n", 100'000));
  run();
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().stats().output_limit_closes, 1u);
  EXPECT_LE(client->take().size(), 1000u);
}

TEST_F(UnauthenticatedTest, NoPasswordAnyMoreMeansNoLoginIsNeeded) {
  auto client = connect();
  EXPECT_EQ(ask(client, "PING\r\n"), "-NOAUTH Authentication required.\r\n");
  require_password("");
  EXPECT_EQ(ask(client, "PING\r\n"), kPong);
}

// ---- Replies.

TEST_F(SessionTest, RepliesAreSentOnceATurn) {
  auto client = connect();
  ask(client, repeated(kPing, 100));
  EXPECT_EQ(host().stats().writes, 1u);
  EXPECT_EQ(host().stats().output_bytes, 700u);
}

TEST_F(SessionTest, LargeRepliesDoNotPileUpBeforeTheyAreSent) {
  auto client = connect();
  const size_t before = host().memory_bytes();
  EXPECT_EQ(ask(client, repeated("GET 1000000\r\n", 30)).size(), 30u * 1'000'012);
  EXPECT_GE(host().stats().writes, 30u);
  EXPECT_LT(host().memory_bytes(), before + 4'000'000);
}

TEST_F(SessionTest, ReplyOffSilencesUntilReplyOn) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT REPLY OFF\r\nPING\r\nNOSUCH\r\nGET 100\r\n"), "");
  EXPECT_EQ(ask(client, "PING\r\nCLIENT REPLY ON\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
}

TEST_F(SessionTest, ReplySkipSilencesOneRequest) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT REPLY SKIP\r\nPING a\r\nPING b\r\n"), bulk("b"));
  EXPECT_EQ(ask(client, "CLIENT REPLY SKIP\r\n"), "");
  EXPECT_EQ(ask(client, "PING a\r\n"), "");
  EXPECT_EQ(ask(client, "PING b\r\n"), bulk("b"));
}

TEST_F(SessionTest, ReplyOnIsAnsweredEvenWhenSkipped) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(ask(client, "CLIENT REPLY OFF\r\nCLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nPING\r\n"),
            "+OK\r\n+PONG\r\n");
}

TEST_F(SessionTest, AProtocolErrorIsNotAnsweredWhileRepliesAreOff) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT REPLY OFF\r\n*x\r\n"), "");
  EXPECT_TRUE(client->closed_by_server());
}

TEST_F(SessionTest, TheProtocolChangesWithinAPipeline) {
  auto client = connect();
  const std::string replies =
      ask(client, "CLIENT GETNAME\r\nHELLO 3\r\nCLIENT GETNAME\r\nHELLO 2\r\nCLIENT GETNAME\r\n");
  EXPECT_TRUE(replies.starts_with("$-1\r\n%7\r\n"));
  EXPECT_NE(replies.find("_\r\n*14\r\n"), std::string::npos);
  EXPECT_TRUE(replies.ends_with("*0\r\n$-1\r\n"));
}

// ---- Output limits.

TEST_F(SessionTest, WhoNeverReadsIsClosedAtTheHardLimit) {
  sessions.options.normal_output.hard_bytes = 500'000;
  auto client = connect();
  client->set_window(100);
  client->push(repeated("GET 100000\r\n", 4));
  run();
  EXPECT_FALSE(client->closed_by_server());
  client->push(repeated("GET 100000\r\n", 100));
  run();
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().stats().output_limit_closes, 1u);
  EXPECT_EQ(host().session_count(), 0u);
  // It was noticed between two requests, not after all of them.
  EXPECT_LT(host().stats().output_bytes, 1'500'000u);
  EXPECT_NE(log.text.find("overcoming of output buffer limits"), std::string::npos);
}

TEST_F(SessionTest, QuitDoesNotEscapeTheHardLimit) {
  sessions.options.normal_output.hard_bytes = 50'000;
  auto client = connect();
  client->set_window(100);
  client->push("GET 100000\r\nQUIT\r\n");
  run();
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().session_count(), 0u);
}

TEST_F(SessionTest, TheSoftLimitGrantsSomeSeconds) {
  sessions.options.normal_output = {.soft_bytes = 1000, .soft_seconds = 2};
  auto client = connect();
  client->set_window(10);
  ask(client, "GET 5000\r\n");
  cron();
  advance(1500);
  cron();
  EXPECT_FALSE(client->closed_by_server());
  advance(1000);
  cron();
  EXPECT_TRUE(client->closed_by_server());
}

TEST_F(SessionTest, ReadingInTimeKeepsTheSoftLimitAway) {
  sessions.options.normal_output = {.soft_bytes = 1000, .soft_seconds = 2};
  auto client = connect();
  client->set_window(10);
  ask(client, "GET 5000\r\n");
  cron();
  client->set_window(100'000);
  run();
  advance(5000);
  cron();
  EXPECT_FALSE(client->closed_by_server());
  EXPECT_EQ(client->take().size() + 10, 5009u);
}

// ---- The end.

TEST_F(SessionTest, QuitAnswersAndRunsNothingBehindIt) {
  auto client = connect();
  EXPECT_EQ(ask(client, "PING\r\nQUIT\r\nSET a b\r\n"), "+PONG\r\n+OK\r\n");
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(keyspace.key_count(0), 0u);
}

TEST_F(SessionTest, QuitWaitsForASlowReader) {
  auto client = connect();
  client->set_window(1000);
  client->push("GET 100000\r\nQUIT\r\n");
  run();
  EXPECT_FALSE(client->closed_by_server());
  std::string got;
  for (int i = 0; i < 200 && !client->closed_by_server(); i++) {
    got += client->take();
    run();
  }
  got += client->take();
  EXPECT_EQ(got.size(), 100'011u + 5);
  EXPECT_TRUE(client->closed_by_server());
}

TEST_F(SessionTest, QuitDoesNotWaitForEver) {
  auto client = connect();
  client->set_window(1000);
  client->push("GET 100000\r\nQUIT\r\n");
  run();
  cron();
  advance(59'000);
  cron();
  EXPECT_FALSE(client->closed_by_server());
  client->take();  // a sign of life
  run();
  cron();
  advance(59'000);
  cron();
  EXPECT_FALSE(client->closed_by_server());
  advance(2000);
  cron();
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().session_count(), 0u);
}

TEST_F(SessionTest, AClientThatGoesAwayLeavesNothing) {
  auto polite = connect();
  auto rude = connect();
  polite->push("*2\r\n$4\r\nECHO\r\n$100\r\nabc");
  rude->push("*3\r\n$3\r\nSET");
  run();
  EXPECT_EQ(sessions.connected.load(), 2);
  polite->close();
  rude->break_connection();
  run();
  EXPECT_EQ(sessions.connected.load(), 0);
  EXPECT_EQ(host().session_count(), 0u);
  EXPECT_EQ(worker().loop.stream_count(), 0u);
}

TEST_F(SessionTest, GoingAwayWithRepliesPendingLeavesNothing) {
  auto client = connect();
  client->set_window(10);
  client->push("GET 100000\r\n");
  run();
  client->break_connection();
  run();
  EXPECT_EQ(host().session_count(), 0u);
}

TEST_F(SessionTest, IdleClientsAreClosedAfterTheTimeout) {
  sessions.options.idle_timeout_seconds = 10;
  auto idle = connect();
  auto busy = connect();
  auto watcher = connect();
  ask(watcher, "MONITOR\r\n");
  advance(9000);
  ask(busy, kPing);
  cron();
  EXPECT_FALSE(idle->closed_by_server());
  advance(2000);
  cron();
  EXPECT_TRUE(idle->closed_by_server());
  EXPECT_FALSE(busy->closed_by_server());
  EXPECT_FALSE(watcher->closed_by_server());
}

}  // namespace
}  // namespace sorrel::testing
