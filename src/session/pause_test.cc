#include "session/pause.h"

#include "session/client_list.h"
#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

using Pause = NodeState::Pause;

class PauseTest : public SessionTest {};

TEST_F(PauseTest, WritesWaitAndReadsDoNot) {
  auto admin = connect();
  auto client = connect();
  EXPECT_EQ(ask(admin, "CLIENT PAUSE 1000 WRITE\r\n"), "+OK\r\n");
  EXPECT_EQ(ask(client, "EXISTS a\r\nPING\r\nSET a b\r\nPING behind\r\n"), ":0\r\n+PONG\r\n");
  EXPECT_EQ(host().suspended_count(), 1u);
  EXPECT_NE(client_line(*session_of(client), 0).find(" flags=b "), std::string::npos);
  advance(500);
  EXPECT_EQ(client->take(), "");
  advance(500);
  EXPECT_EQ(client->take(), "+OK\r\n$6\r\nbehind\r\n");
  EXPECT_EQ(host().suspended_count(), 0u);
  EXPECT_EQ(node.reasons, 0u);
  EXPECT_EQ(node.pause, Pause::kNone);
}

TEST_F(PauseTest, AllCommandsWaitButTheWayOut) {
  auto admin = connect();
  auto client = connect();
  ask(admin, "CLIENT PAUSE 100000 ALL\r\n");
  EXPECT_EQ(ask(client, "PING\r\n"), "");
  EXPECT_EQ(ask(admin, "CLIENT UNPAUSE\r\n"), "+OK\r\n");
  EXPECT_EQ(client->take(), "+PONG\r\n");
  EXPECT_EQ(worker().loop.timer_count(), 0u);
}

TEST_F(PauseTest, MistakesAreAnsweredAtOnce) {
  auto client = connect();
  ask(client, "CLIENT PAUSE 100000 WRITE\r\n");
  EXPECT_EQ(ask(client, "SET a\r\n"), "-ERR wrong number of arguments for 'set' command\r\n");
  EXPECT_EQ(host().suspended_count(), 0u);
}

TEST_F(PauseTest, WhoWaitsReadsNothingMore) {
  auto client = connect();
  ask(client, "CLIENT PAUSE 1000 WRITE\r\nSET a b\r\n");
  for (int i = 0; i < 100; i++) client->push(std::string(60'000, '\n'));
  run();
  EXPECT_LT(session_of(client)->memory_bytes(), 10'000u);
  client->push("PING\r\n");
  client->take();
  advance(1000);
  EXPECT_EQ(client->take(), "+OK\r\n+PONG\r\n");
}

TEST_F(PauseTest, ARequestCutByThePauseIsReadOn) {
  auto client = connect();
  ask(client, "CLIENT PAUSE 1000 WRITE\r\n");
  // The postponed request stands between a finished and an unfinished one.
  EXPECT_EQ(
      ask(client, "PING\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n*2\r\n$4\r\nECHO\r\n$4\r\nab"),
      "+PONG\r\n");
  client->push("cd\r\nPING\r\n");
  advance(1000);
  EXPECT_EQ(client->take(), "+OK\r\n$4\r\nabcd\r\n+PONG\r\n");
  EXPECT_EQ(session_of(client)->query_bytes(), 0u);
}

TEST_F(PauseTest, APauseInsideAPipelineHoldsTheRestOfIt) {
  auto client = connect();
  EXPECT_EQ(ask(client, "SET a b\r\nCLIENT PAUSE 50 WRITE\r\nSET c d\r\nSET e f\r\n"),
            "+OK\r\n+OK\r\n");
  advance(50);
  EXPECT_EQ(client->take(), "+OK\r\n+OK\r\n");
}

TEST_F(PauseTest, ASkippedReplyStaysSkippedAcrossThePause) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT PAUSE 50 WRITE\r\nCLIENT REPLY SKIP\r\nSET a b\r\nPING\r\n"),
            "+OK\r\n");
  advance(50);
  EXPECT_EQ(client->take(), "+PONG\r\n");
}

TEST_F(PauseTest, TheLongerAndStricterOneHolds) {
  const int64_t now = 1000;
  begin_pause(sessions, Pause::kAll, now + 200, now);
  begin_pause(sessions, Pause::kWrites, now + 20, now);
  EXPECT_EQ(node.pause, Pause::kAll);
  EXPECT_EQ(node.pause_until_ms, now + 200);
  begin_pause(sessions, Pause::kWrites, now + 500, now);
  EXPECT_EQ(node.pause, Pause::kAll);
  EXPECT_EQ(node.pause_until_ms, now + 500);
  // What is over does not count.
  begin_pause(sessions, Pause::kWrites, now + 1000, now + 600);
  EXPECT_EQ(node.pause, Pause::kWrites);
  end_pause(sessions);
  EXPECT_EQ(node.reasons, 0u);
  begin_pause(sessions, Pause::kAll, now, now);
  EXPECT_EQ(node.reasons, 0u);
}

TEST_F(PauseTest, ALaterEndHoldsThoseWhoWaitAlready) {
  auto admin = connect();
  auto client = connect();
  ask(admin, "CLIENT PAUSE 100 WRITE\r\n");
  ask(client, "SET a b\r\n");
  ask(admin, "CLIENT PAUSE 500 WRITE\r\n");
  advance(300);
  EXPECT_EQ(client->take(), "");
  advance(200);
  EXPECT_EQ(client->take(), "+OK\r\n");
}

TEST_F(PauseTest, AnEndlessPauseIsNoOverflow) {
  auto client = connect();
  EXPECT_EQ(ask(client, "CLIENT PAUSE 9223372036854775807\r\n"),
            "-ERR timeout is out of range\r\n");
  ask(client, "CLIENT PAUSE 9000000000000000000 WRITE\r\nSET a b\r\n");
  advance(10'000'000);
  EXPECT_EQ(client->take(), "");
  EXPECT_EQ(host().suspended_count(), 1u);
}

TEST_F(PauseTest, KeysAreHiddenButNotDeletedMeanwhile) {
  auto client = connect();
  ask(client, "SET a b 10\r\n");
  EXPECT_EQ(ask(client, "CLIENT PAUSE 1000 WRITE\r\n"), "+OK\r\n");
  advance(20);
  EXPECT_EQ(ask(client, "EXISTS a\r\n"), ":0\r\n");
  EXPECT_EQ(keyspace.stats().expired, 0u);
  EXPECT_EQ(keyspace.key_count(0), 1u);
  EXPECT_EQ(ask(client, "CLIENT UNPAUSE\r\nEXISTS a\r\n"), "+OK\r\n:0\r\n");
  EXPECT_EQ(keyspace.stats().expired, 1u);
  EXPECT_EQ(keyspace.key_count(0), 0u);
}

TEST_F(PauseTest, TheEndByTimeLetsKeysExpireAgain) {
  auto client = connect();
  ask(client, "SET a b 10\r\nCLIENT PAUSE 1000 WRITE\r\n");
  advance(2000);
  cron();
  EXPECT_EQ(node.reasons, 0u);
  EXPECT_EQ(ask(client, "EXISTS a\r\n"), ":0\r\n");
  EXPECT_EQ(keyspace.stats().expired, 1u);
}

TEST_F(PauseTest, AClosedWaiterIsForgotten) {
  auto admin = connect();
  auto client = connect();
  ask(admin, "CLIENT PAUSE 1000 WRITE\r\n");
  ask(client, "SET a b\r\n");
  client->close();
  run();
  EXPECT_EQ(host().suspended_count(), 0u);
  advance(1000);
  EXPECT_EQ(keyspace.key_count(0), 0u);
}

TEST_F(PauseTest, AKilledWaiterDoesNotRun) {
  auto admin = connect();
  auto client = connect();
  ask(admin, "CLIENT PAUSE 1000 WRITE\r\n");
  ask(client, "SET a b\r\n");
  EXPECT_EQ(ask(admin, "CLIENT KILL SKIPME YES\r\nCLIENT UNPAUSE\r\n"), ":1\r\n+OK\r\n");
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(keyspace.key_count(0), 0u);
  EXPECT_EQ(host().suspended_count(), 0u);
}

TEST_F(PauseTest, EveryWorkersWaitersAreWoken) {
  start(3);
  auto admin = connect(0);
  std::vector<Client> clients;
  for (size_t i = 0; i < 3; i++) clients.push_back(connect(i));
  ask(admin, "CLIENT PAUSE 100000 WRITE\r\n");
  for (auto& client : clients) EXPECT_EQ(ask(client, "SET a b\r\n"), "");
  ask(admin, "CLIENT UNPAUSE\r\n");
  for (auto& client : clients) EXPECT_EQ(client->take(), "+OK\r\n");
  // And by time, each by its own timer.
  ask(admin, "CLIENT PAUSE 100 WRITE\r\n");
  for (auto& client : clients) EXPECT_EQ(ask(client, "SET a b\r\n"), "");
  advance(100);
  for (auto& client : clients) EXPECT_EQ(client->take(), "+OK\r\n");
  EXPECT_EQ(node.reasons, 0u);
}

TEST_F(PauseTest, MonitorsAreExemptAndKeptOutOfTheKeyspace) {
  auto admin = connect();
  auto watcher = connect();
  ask(watcher, "MONITOR\r\n");
  ask(admin, "CLIENT PAUSE 100000 ALL\r\n");
  EXPECT_NE(ask(watcher, "PING\r\n").find("+PONG\r\n"), std::string::npos);
  EXPECT_EQ(ask(watcher, "SET a b\r\n"), "-ERR Replica can't interact with the keyspace\r\n");
  EXPECT_EQ(ask(watcher, "EXISTS a\r\n"), "-ERR Replica can't interact with the keyspace\r\n");
}

}  // namespace
}  // namespace sorrel::testing
