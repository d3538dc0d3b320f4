// Shares of time: clients that pipeline much, and those beside them. Commands take real time, so
// shares are of no length here: each is used up by the first batch of requests, before a login by
// the first request.

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

constexpr std::string_view kWrong = "AUTH wrong\r\n";
constexpr std::string_view kWrongPass =
    "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

std::string pipeline_of(std::string_view request, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; i++) text += request;
  return text;
}

class ThrottleTest : public SessionTest {
 protected:
  ThrottleTest() { sessions.options.share_ns = 0; }

  std::vector<Client> connect_many(size_t count) {
    std::vector<Client> clients;
    for (size_t i = 0; i < count; i++) clients.push_back(connect());
    return clients;
  }
  // From here on each command counts as one that takes long.
  void make_commands_late() { node.watch_from_ns = 0; }
  int turn() { return worker().loop.poll(0); }
};

TEST_F(ThrottleTest, OthersAreServedBetweenWrongPasswords) {
  require_password("right");
  auto other = connect();
  EXPECT_EQ(ask(other, "AUTH right\r\n"), "+OK\r\n");
  const auto flood = connect_many(10);
  for (const Client& client : flood) client->push(pipeline_of(kWrong, 1000));
  other->push("PING\r\n");
  turn();
  EXPECT_EQ(other->take(), "+PONG\r\n");
  // A share each, and one that had waited.
  size_t answered = 0;
  std::vector<std::string> got;
  for (const Client& client : flood) {
    got.push_back(client->take());
    answered += got.back().size() / kWrongPass.size();
  }
  EXPECT_EQ(answered, 11u);
  // And so it goes on: one share of those that wait, for each iteration of the loop.
  for (int i = 0; i < 100; i++) {
    other->push("PING\r\n");
    turn();
    ASSERT_EQ(other->take(), "+PONG\r\n");
  }
  run();
  for (size_t i = 0; i < flood.size(); i++) {
    EXPECT_EQ(got[i] + flood[i]->take(), pipeline_of(kWrongPass, 1000));
  }
  EXPECT_EQ(host().throttled_count(), 0u);
}

TEST_F(ThrottleTest, ANewClientLogsInMeanwhile) {
  require_password("right");
  const auto flood = connect_many(10);
  for (const Client& client : flood) client->push(pipeline_of(kWrong, 1000));
  turn();
  auto fresh = worker().loop.connect(6379);
  fresh->push("AUTH right\r\n");
  for (int i = 0; i < 2; i++) turn();  // accepted, the login
  EXPECT_EQ(fresh->take(), "+OK\r\n");
  fresh->push("PING\r\n");
  turn();
  EXPECT_EQ(fresh->take(), "+PONG\r\n");
  EXPECT_GT(host().throttled_count(), 0u);
}

TEST_F(ThrottleTest, RefusedAndUnknownCommandsTakeTimeToo) {
  auto early = connect();
  require_password("right");
  auto late = connect();
  EXPECT_EQ(ask(early, "AUTH right\r\n"), "+OK\r\n");
  early->push(pipeline_of("NONSENSE\r\n", 1000));
  late->push(pipeline_of("PING\r\n", 1000));
  turn();
  const std::string unknown = early->take();
  const std::string refused = late->take();
  EXPECT_LE(static_cast<size_t>(std::count(unknown.begin(), unknown.end(), '\n')), 64u);
  EXPECT_LE(static_cast<size_t>(std::count(refused.begin(), refused.end(), '\n')), 2u);
  run();
  const std::string all = unknown + early->take();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1000);
  EXPECT_EQ(refused + late->take(), pipeline_of("-NOAUTH Authentication required.\r\n", 1000));
}

TEST_F(ThrottleTest, QueuedCommandsTakeTimeToo) {
  auto client = connect();
  client->push("MULTI\r\n" + pipeline_of("SET a b\r\n", 1000) + "DISCARD\r\n");
  turn();
  const std::string begun = client->take();
  EXPECT_LE(static_cast<size_t>(std::count(begun.begin(), begun.end(), '\n')), 64u);
  run();
  EXPECT_EQ(begun + client->take(), "+OK\r\n" + pipeline_of("+QUEUED\r\n", 1000) + "+OK\r\n");
}

TEST_F(ThrottleTest, NoBatchOfSlowCommandsRunsAtOnce) {
  make_commands_late();
  const auto slow = connect_many(3);
  auto other = connect();
  size_t calls = 0;
  during = [&](Call&) { calls++; };
  for (const Client& client : slow) client->push(pipeline_of("TOUCH key\r\n", 30));
  other->push("PING\r\n");
  turn();
  EXPECT_EQ(other->take(), "+PONG\r\n");
  EXPECT_EQ(calls, slow.size() + 1);
  for (size_t wanted = calls + 1; wanted < 20; wanted++) {
    turn();
    ASSERT_EQ(calls, wanted);
  }
  run();
  for (const Client& client : slow) EXPECT_EQ(client->take(), pipeline_of(":0\r\n", 30));
}

TEST_F(ThrottleTest, ThoseWhoWaitTakeTurns) {
  make_commands_late();
  std::vector<std::string> order;
  during = [&](Call& call) { order.emplace_back(call.arg(1)); };
  auto first = connect();
  auto second = connect();
  first->push(pipeline_of("TOUCH first\r\n", 20));
  second->push(pipeline_of("TOUCH second\r\n", 20));
  run();
  ASSERT_EQ(order.size(), 40u);
  for (size_t i = 0; i < order.size(); i++) {
    EXPECT_EQ(order[i], i % 2 == 0 ? "first" : "second") << i;
  }
}

TEST_F(ThrottleTest, AShareIsThatOfAllReadsOfAnIteration) {
  require_password("right");
  auto client = connect();
  client->push("AUTH wrong\r\n");
  client->push("AUTH wrong\r\n");
  turn();
  // One piece each iteration, whether or not it is the rest of another one.
  EXPECT_EQ(client->take(), kWrongPass);
  Session* session = session_of(client);
  worker().executor.enter();
  host().begin_turn(worker().loop.clock().wall_ms());
  session->on_data(pipeline_of(kWrong, 1));
  session->on_data(pipeline_of(kWrong, 1));
  host().release_replies();
  EXPECT_EQ(client->take(), kWrongPass);
  host().serve_throttled();
  worker().executor.leave();
  EXPECT_EQ(client->take(), kWrongPass);
  run();
  EXPECT_EQ(client->take(), kWrongPass);
}

TEST_F(ThrottleTest, AShortRequestIsNotThrottled) {
  auto client = connect();
  client->push("PING\r\n");
  turn();
  EXPECT_EQ(client->take(), "+PONG\r\n");
  EXPECT_EQ(turn(), 0);
  EXPECT_EQ(host().throttled_count(), 0u);
}

// It may have said that it sends nothing more, and wait for the answers.
TEST_F(ThrottleTest, ThePeersEndIsSeenBehindItsRequests) {
  auto client = connect();
  client->push(pipeline_of("PING\r\n", 500));
  client->close();
  turn();
  EXPECT_FALSE(client->closed_by_server());
  run();
  EXPECT_EQ(client->take(), pipeline_of("+PONG\r\n", 500));
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().session_count(), 0u);
}

TEST_F(ThrottleTest, WhatWasSentBeforeTheConnectionBrokeIsRun) {
  make_commands_late();
  size_t calls = 0;
  during = [&](Call&) { calls++; };
  auto client = connect();
  client->push(pipeline_of("TOUCH key\r\n", 500));
  turn();
  EXPECT_LT(calls, 500u);
  client->break_connection();
  run();
  EXPECT_EQ(calls, 500u);
  EXPECT_EQ(host().session_count(), 0u);
  EXPECT_EQ(host().throttled_count(), 0u);
}

TEST_F(ThrottleTest, BeforeALoginItIsNot) {
  require_password("right");
  auto client = connect();
  client->push(pipeline_of(kWrong, 500));
  turn();
  client->break_connection();
  run();
  EXPECT_LT(sessions.access_log.total(acl::Reason::kAuth), 10u);
  EXPECT_EQ(host().session_count(), 0u);
}

TEST_F(ThrottleTest, WhoIsKilledRunsNothingMore) {
  make_commands_late();
  size_t calls = 0;
  during = [&](Call&) { calls++; };
  auto client = connect();
  auto other = connect();
  client->push(pipeline_of("TOUCH key\r\n", 500));
  turn();
  other->push(fmt::format("CLIENT KILL ID {}\r\n", id_of(client)));
  run();
  EXPECT_EQ(other->take(), ":1\r\n");
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_LT(calls, 20u);
  EXPECT_EQ(host().session_count(), 1u);
}

TEST_F(ThrottleTest, APauseHoldsThrottledClientsToo) {
  auto client = connect();
  auto other = connect();
  client->push(pipeline_of("PING\r\n", 500));
  turn();
  const std::string begun = client->take();
  other->push("CLIENT PAUSE 100\r\n");
  run();
  const std::string more = client->take();
  EXPECT_LT(begun.size() + more.size(), 500 * 7u);
  EXPECT_EQ(host().suspended_count(), 1u);
  advance(200);
  EXPECT_EQ(begun + more + client->take(), pipeline_of("+PONG\r\n", 500));
}

TEST_F(ThrottleTest, OthersAreServedWhileASlowCommandLetsThemIn) {
  make_commands_late();
  auto client = connect();
  auto flood = connect();
  auto other = connect();
  flood->push(pipeline_of("PING\r\n", 500));
  turn();
  during = [&](Call&) {
    other->push("PING\r\n");
    const size_t waiting = session_of(flood)->query_bytes();
    host().serve_others();
    EXPECT_EQ(other->take(), "+PONG\r\n");
    EXPECT_LT(session_of(flood)->query_bytes(), waiting);
    host().end_serving_others();
  };
  client->push("TOUCH a\r\nTOUCH b\r\n");
  run();
  EXPECT_EQ(client->take(), ":0\r\n:0\r\n");
  EXPECT_EQ(flood->take(), pipeline_of("+PONG\r\n", 500));
}

TEST_F(ThrottleTest, EachWorkerHasAQueueOfItsOwn) {
  start(4);
  require_password("right");
  std::vector<Client> flood;
  for (size_t i = 0; i < 8; i++) {
    flood.push_back(connect(i % 4));
    flood.back()->push(pipeline_of(kWrong, 200));
  }
  auto other = connect(1);
  EXPECT_EQ(ask(other, "AUTH right\r\n"), "+OK\r\n");
  for (const Client& client : flood) EXPECT_EQ(client->take(), pipeline_of(kWrongPass, 200));
}

}  // namespace
}  // namespace sorrel::testing
