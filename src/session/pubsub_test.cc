#include "session/pubsub.h"

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

// A confirmation of RESP2.
std::string confirmed(std::string_view word, std::string_view name, int count) {
  return "*3\r\n" + bulk(word) + bulk(name) + fmt::format(":{}\r\n", count);
}

std::string message(std::string_view channel, std::string_view text, char mark = '*') {
  return fmt::format("{}3\r\n", mark) + bulk("message") + bulk(channel) + bulk(text);
}

std::string pmessage(std::string_view pattern, std::string_view channel, std::string_view text) {
  return "*4\r\n" + bulk("pmessage") + bulk(pattern) + bulk(channel) + bulk(text);
}

class PubSubTest : public SessionTest {
 protected:
  Client listener(std::string_view request, size_t worker = 0) {
    Client client = connect(worker);
    ask(client, request);
    return client;
  }
};

TEST_F(PubSubTest, MessagesReachChannelsThenPatterns) {
  auto client = connect();
  EXPECT_EQ(ask(client, "SUBSCRIBE a b\r\nPSUBSCRIBE a*\r\n"),
            confirmed("subscribe", "a", 1) + confirmed("subscribe", "b", 2) +
                confirmed("psubscribe", "a*", 3));
  auto publisher = connect();
  EXPECT_EQ(ask(publisher, "PUBLISH a x\r\nPUBLISH c y\r\n"), ":2\r\n:0\r\n");
  EXPECT_EQ(client->take(), message("a", "x") + pmessage("a*", "a", "x"));
}

TEST_F(PubSubTest, EveryProtocolGetsItsOwnForm) {
  auto old = listener("SUBSCRIBE a\r\n");
  auto young = listener("HELLO 3\r\nSUBSCRIBE a\r\n");
  auto publisher = connect();
  EXPECT_EQ(ask(publisher, "PUBLISH a 1\r\nPUBLISH a 2\r\n"), ":2\r\n:2\r\n");
  EXPECT_EQ(old->take(), message("a", "1") + message("a", "2"));
  EXPECT_EQ(young->take(), message("a", "1", '>') + message("a", "2", '>'));
}

TEST_F(PubSubTest, AMessageToThePublisherFollowsItsAnswer) {
  auto client = connect();
  ask(client, "HELLO 3\r\nSUBSCRIBE a\r\n");
  EXPECT_EQ(
      ask(client, "PING\r\nPUBLISH a x\r\nPUBLISH a y\r\nPING\r\n"),
      "+PONG\r\n:1\r\n" + message("a", "x", '>') + ":1\r\n" + message("a", "y", '>') + "+PONG\r\n");
}

TEST_F(PubSubTest, OneSendPerListenerAndTurn) {
  auto client = listener("SUBSCRIBE a b\r\nPSUBSCRIBE a\r\n");
  auto publisher = connect();
  const uint64_t before = host().stats().writes;
  ask(publisher, "PUBLISH a 1\r\nPUBLISH b 2\r\nPUBLISH a 3\r\n");
  EXPECT_EQ(host().stats().writes - before, 2u);
  EXPECT_EQ(client->take(), message("a", "1") + pmessage("a", "a", "1") + message("b", "2") +
                                message("a", "3") + pmessage("a", "a", "3"));
}

TEST_F(PubSubTest, LongMessagesKeepTheirPlace) {
  auto client = listener("SUBSCRIBE a\r\nPSUBSCRIBE a\r\n");
  auto publisher = connect();
  const std::string text(20'000, 'x');
  ask(publisher, "PUBLISH a 1\r\nPUBLISH a " + text + "\r\nPUBLISH a 2\r\n");
  EXPECT_EQ(client->take(), message("a", "1") + pmessage("a", "a", "1") + message("a", text) +
                                pmessage("a", "a", text) + message("a", "2") +
                                pmessage("a", "a", "2"));
}

TEST_F(PubSubTest, ListenersMayAskForLittle) {
  auto client = listener("SUBSCRIBE a\r\n");
  EXPECT_EQ(ask(client, "EXISTS k\r\n").substr(0, 31), "-ERR Can't execute 'exists': on");
  EXPECT_EQ(ask(client, "PING x\r\n"), "*2\r\n$4\r\npong\r\n$1\r\nx\r\n");
  EXPECT_EQ(ask(client, "UNSUBSCRIBE\r\nEXISTS k\r\n"),
            confirmed("unsubscribe", "a", 0) + ":0\r\n");
}

TEST_F(PubSubTest, WhoIsGoneHearsNothingAndIsNotCounted) {
  auto quitter = listener("SUBSCRIBE a\r\n");
  auto resetter = listener("SUBSCRIBE a\r\nPSUBSCRIBE *\r\nSSUBSCRIBE a\r\n");
  auto closer = listener("SUBSCRIBE a\r\n");
  auto killed = listener("SUBSCRIBE a\r\n");
  auto publisher = connect();
  EXPECT_EQ(ask(publisher, "PUBLISH a x\r\n"), ":5\r\n");
  ask(resetter, "RESET\r\n");
  EXPECT_EQ(ask(publisher, "PUBLISH a x\r\n"), ":3\r\n");
  ask(quitter, "QUIT\r\n");
  EXPECT_EQ(ask(publisher, "PUBLISH a x\r\n"), ":2\r\n");
  closer->close();
  run();
  EXPECT_EQ(ask(publisher, "PUBLISH a x\r\n"), ":1\r\n");
  // Not even in the same turn.
  EXPECT_EQ(ask(publisher, "CLIENT KILL TYPE pubsub\r\nPUBLISH a x\r\n"), ":1\r\n:0\r\n");
  EXPECT_TRUE(killed->closed_by_server());
  EXPECT_TRUE(host().topics().empty());
  EXPECT_EQ(host().listening_count(), 0u);
}

TEST_F(PubSubTest, LeavingKeepsTheOthersInPlace) {
  std::vector<Client> clients;
  for (int i = 0; i < 20; i++) clients.push_back(listener("SUBSCRIBE a b\r\n"));
  for (size_t i = 0; i < 20; i += 3) ask(clients[i], "UNSUBSCRIBE a\r\n");
  for (size_t i = 1; i < 20; i += 3) {
    clients[i]->close();
    run();
  }
  auto publisher = connect();
  EXPECT_EQ(ask(publisher, "PUBLISH a x\r\nPUBLISH b y\r\n"), ":6\r\n:13\r\n");
  for (size_t i = 0; i < 20; i++) {
    const std::string of_b = message("b", "y");
    const std::string expected[] = {of_b, "", message("a", "x") + of_b};
    EXPECT_EQ(clients[i]->take(), expected[i % 3]) << i;
  }
}

TEST_F(PubSubTest, AnswersTurnedOffAreNoneButMessagesAre) {
  auto client = connect();
  EXPECT_EQ(ask(client, "HELLO 3\r\nCLIENT REPLY OFF\r\n").find("+OK"), std::string::npos);
  EXPECT_EQ(ask(client, "SUBSCRIBE a\r\nPING\r\n"),
            ">3\r\n" + bulk("subscribe") + bulk("a") + ":1\r\n");
  EXPECT_EQ(ask(client, "PUBLISH a x\r\nPING\r\n"), message("a", "x", '>'));
}

TEST_F(PubSubTest, ListenersAreNeverIdle) {
  sessions.options.idle_timeout_seconds = 1;
  auto client = listener("SUBSCRIBE a\r\n");
  auto idle = connect();
  advance(5000);
  cron();
  EXPECT_TRUE(idle->closed_by_server());
  EXPECT_FALSE(client->closed_by_server());
}

TEST_F(PubSubTest, ListenersHaveALimitOfTheirOwn) {
  sessions.options.pubsub_output.hard_bytes = 1000;
  auto client = listener("SUBSCRIBE a\r\n");
  auto publisher = connect();
  client->set_window(0);
  for (int i = 0; i < 3 && !client->closed_by_server(); i++) {
    ask(publisher, "PUBLISH a " + std::string(500, 'x') + "\r\n");
  }
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().stats().output_limit_closes, 1u);
  EXPECT_EQ(ask(publisher, "PUBLISH a x\r\n"), ":0\r\n");
}

TEST_F(PubSubTest, AcrossWorkers) {
  start(3);
  auto one = listener("SUBSCRIBE a\r\n", 0);
  auto two = listener("SUBSCRIBE a\r\nPSUBSCRIBE *\r\n", 1);
  auto publisher = connect(2);
  EXPECT_EQ(ask(publisher, "PUBLISH a 1\r\nPUBLISH a 2\r\n"), ":3\r\n:3\r\n");
  EXPECT_EQ(one->take(), message("a", "1") + message("a", "2"));
  EXPECT_EQ(two->take(), message("a", "1") + pmessage("*", "a", "1") + message("a", "2") +
                             pmessage("*", "a", "2"));
  EXPECT_EQ(ask(publisher, "PUBSUB NUMSUB a\r\nPUBSUB NUMPAT\r\n"),
            "*2\r\n$1\r\na\r\n:2\r\n:1\r\n");
  EXPECT_EQ(ask(publisher, "PUBSUB CHANNELS\r\n"), "*1\r\n$1\r\na\r\n");
}

// The listener's worker has not woken yet when the listener asks for something.
TEST_F(PubSubTest, AMessageOfAnotherWorkerComesBeforeALaterAnswer) {
  start(2);
  auto client = listener("SUBSCRIBE a\r\n", 0);
  auto publisher = connect(1);
  publisher->push("PUBLISH a x\r\n");
  worker(1).loop.run();
  EXPECT_EQ(publisher->take(), ":1\r\n");
  EXPECT_EQ(ask(client, "UNSUBSCRIBE a\r\n"), message("a", "x") + confirmed("unsubscribe", "a", 0));
}

}  // namespace
}  // namespace sorrel::testing
