#include "session/tracking.h"

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

std::string invalidate(std::vector<std::string> keys) {
  std::string text = ">2\r\n" + bulk("invalidate") + fmt::format("*{}\r\n", keys.size());
  for (const std::string& key : keys) text += bulk(key);
  return text;
}

const std::string kAll = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

class TrackingTest : public SessionTest {
 protected:
  Client reader(std::string_view options = "", size_t worker = 0) {
    Client client = connect(worker);
    ask(client, fmt::format("HELLO 3\r\nCLIENT TRACKING ON {}\r\n", options));
    return client;
  }
  void set(std::string_view key, size_t worker = 0) {
    ask(connect(worker), fmt::format("SET {} x\r\n", key));
  }
};

TEST_F(TrackingTest, TellsOnceOfAKeyThatWasRead) {
  auto client = reader();
  EXPECT_EQ(ask(client, "EXISTS k\r\n"), ":0\r\n");
  set("other");
  EXPECT_EQ(client->take(), "");
  set("k");
  EXPECT_EQ(client->take(), invalidate({"k"}));
  set("k");
  EXPECT_EQ(client->take(), "");
  EXPECT_EQ(sessions.tracking.key_count(), 0u);
}

TEST_F(TrackingTest, OnesOwnChangeIsToldBehindTheAnswer) {
  auto client = reader();
  EXPECT_EQ(ask(client, "EXISTS k\r\nSET k x\r\nPING\r\n"),
            ":0\r\n+OK\r\n" + invalidate({"k"}) + "+PONG\r\n");
  auto quiet = reader("NOLOOP");
  EXPECT_EQ(ask(quiet, "EXISTS k\r\nSET k x\r\nPING\r\n"), ":1\r\n+OK\r\n+PONG\r\n");
}

TEST_F(TrackingTest, ReadsInsideTransactionsAreNoted) {
  auto client = reader();
  ask(client, "MULTI\r\nEXISTS k\r\nEXEC\r\n");
  set("k");
  EXPECT_EQ(client->take(), invalidate({"k"}));
}

TEST_F(TrackingTest, ExceptionsHoldForOneRequest) {
  auto in = reader("OPTIN");
  ask(in, "EXISTS a\r\nCLIENT CACHING YES\r\nEXISTS b\r\nEXISTS c\r\n");
  ask(in, "CLIENT CACHING YES\r\nMULTI\r\nEXISTS d\r\nEXISTS e\r\nEXEC\r\nEXISTS f\r\n");
  EXPECT_EQ(sessions.tracking.key_count(), 3u);
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) set(key);
  EXPECT_EQ(in->take(), invalidate({"b"}) + invalidate({"d"}) + invalidate({"e"}));
  auto out = reader("OPTOUT");
  ask(out, "EXISTS a\r\nCLIENT CACHING NO\r\nEXISTS b\r\nEXISTS c\r\n");
  for (const char* key : {"a", "b", "c"}) set(key);
  EXPECT_EQ(out->take(), invalidate({"a"}) + invalidate({"c"}));
}

TEST_F(TrackingTest, BroadcastsComeTogetherAtTheEndOfTheTurn) {
  auto all = reader("BCAST");
  auto some = reader("BCAST PREFIX a PREFIX b NOLOOP");
  auto writer = connect();
  ask(writer, "SET b x\r\nSET a1 x\r\nSET a0 x\r\nSET a1 y\r\nSET c x\r\n");
  EXPECT_EQ(all->take(), invalidate({"a0", "a1", "b", "c"}));
  EXPECT_EQ(some->take(), invalidate({"a0", "a1"}) + invalidate({"b"}));
  EXPECT_EQ(ask(some, "SET a x\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(all->take(), invalidate({"a"}));
  EXPECT_EQ(sessions.tracking.prefix_count(), 3u);
  some->close();
  run();
  EXPECT_EQ(sessions.tracking.prefix_count(), 1u);
}

TEST_F(TrackingTest, ExpiredKeysAreToldOf) {
  auto client = connect();
  ask(client, "SET k x 100\r\n");
  ask(client, "HELLO 3\r\nCLIENT TRACKING ON\r\n");
  EXPECT_EQ(ask(client, "EXISTS k\r\n"), ":1\r\n");
  advance(200);
  auto other = connect();
  EXPECT_EQ(ask(other, "EXISTS k\r\n"), ":0\r\n");
  EXPECT_EQ(client->take(), invalidate({"k"}));
}

TEST_F(TrackingTest, RoomIsMadeByForgetting) {
  sessions.tracking.set_max_keys(2);
  auto client = reader();
  ask(client, "EXISTS a\r\nEXISTS b\r\n");
  const std::string text = ask(client, "EXISTS c\r\n");
  EXPECT_EQ(text.substr(0, 4), ":0\r\n");
  EXPECT_NE(text.find("invalidate"), std::string::npos);
  EXPECT_EQ(sessions.tracking.key_count(), 2u);
  sessions.tracking.set_max_keys(0);
  ask(client, "EXISTS c\r\nEXISTS d\r\nEXISTS e\r\n");
  EXPECT_GE(sessions.tracking.key_count(), 4u);
}

TEST_F(TrackingTest, ListenersOfRESP2AreToldOnBehalfOfOthers) {
  auto ear = connect();
  ask(ear, "SUBSCRIBE __redis__:invalidate\r\n");
  auto client = connect();
  EXPECT_EQ(ask(client, fmt::format("CLIENT TRACKING ON REDIRECT {}\r\n", id_of(ear))), "+OK\r\n");
  ask(client, "EXISTS k\r\n");
  set("k");
  EXPECT_EQ(client->take(), "");
  EXPECT_EQ(ear->take(), "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n");
}

TEST_F(TrackingTest, ABrokenRedirectIsTold) {
  auto ear = connect();
  auto client = reader(fmt::format("REDIRECT {}", id_of(ear)));
  const uint64_t id = id_of(ear);
  ear->close();
  run();
  ask(client, "EXISTS k\r\n");
  set("k");
  EXPECT_EQ(client->take(), fmt::format(">2\r\n$21\r\ntracking-redir-broken\r\n:{}\r\n", id));
  EXPECT_TRUE(session_of(client)->tracking()->broken_redirect);
}

TEST_F(TrackingTest, AcrossWorkers) {
  start(3);
  auto ear = connect(1);
  ask(ear, "HELLO 3\r\n");
  auto client = reader("", 0);
  auto redirected = reader(fmt::format("REDIRECT {}", id_of(ear)), 0);
  auto broadcast = reader("BCAST", 1);
  ask(client, "EXISTS k\r\n");
  ask(redirected, "EXISTS k\r\n");
  set("k", 2);
  EXPECT_EQ(client->take(), invalidate({"k"}));
  EXPECT_EQ(redirected->take(), "");
  EXPECT_EQ(ear->take(), invalidate({"k"}));
  EXPECT_EQ(broadcast->take(), invalidate({"k"}));
  ear->close();
  run();
  ask(redirected, "EXISTS k\r\n");
  set("k", 2);
  EXPECT_EQ(redirected->take().substr(0, 32), ">2\r\n$21\r\ntracking-redir-broken\r\n");
}

// The reader's worker has not woken yet when the reader asks for something.
TEST_F(TrackingTest, WordOfAnotherWorkerComesBeforeALaterAnswer) {
  start(2);
  auto client = reader("", 0);
  ask(client, "EXISTS k\r\n");
  auto writer = connect(1);
  writer->push("SET k x\r\n");
  worker(1).loop.run();
  EXPECT_EQ(writer->take(), "+OK\r\n");
  EXPECT_EQ(ask(client, "EXISTS k\r\n"), invalidate({"k"}) + ":1\r\n");
}

TEST_F(TrackingTest, FlushingTellsEverybodyToForgetEverything) {
  auto client = reader();
  auto broadcast = reader("BCAST");
  ask(client, "EXISTS a\r\nEXISTS b\r\n");
  hub.on_flush(0, host().executor().door());
  host().release_replies();
  EXPECT_EQ(client->take(), kAll);
  EXPECT_EQ(broadcast->take(), kAll);
  EXPECT_EQ(sessions.tracking.key_count(), 0u);
}

TEST_F(TrackingTest, NobodyIsInterestedWhenTheLastHasLeft) {
  auto one = reader();
  auto two = reader("BCAST");
  EXPECT_NE(hub.interest().who(), 0u);
  ask(one, "CLIENT TRACKING OFF\r\n");
  two->close();
  run();
  EXPECT_EQ(hub.interest().who(), 0u);
  EXPECT_EQ(sessions.tracking.client_count(), 0);
  auto three = reader();
  ask(three, "RESET\r\n");
  EXPECT_EQ(hub.interest().who(), 0u);
}

}  // namespace
}  // namespace sorrel::testing
