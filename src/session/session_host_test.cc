#include "session/session_host.h"

#include "session/client_eviction.h"
#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

TEST_F(SessionTest, CountsConnections) {
  auto one = connect();
  auto two = connect();
  EXPECT_EQ(sessions.connected.load(), 2);
  EXPECT_EQ(host().stats().connections_received, 2u);
  EXPECT_EQ(host().session_count(), 2u);
  two->close();
  run();
  EXPECT_EQ(sessions.connected.load(), 1);
  EXPECT_EQ(host().stats().connections_received, 2u);
}

TEST_F(SessionTest, NumbersAreNeverUsedTwice) {
  auto one = connect();
  const uint64_t first = id_of(one);
  one->close();
  run();
  auto two = connect();
  EXPECT_GT(id_of(two), first);
}

TEST_F(SessionTest, ProtectedModeServesOnlyTheMachineItself) {
  auto stranger = connect(0, "10.1.2.3:4000");
  run();
  EXPECT_TRUE(stranger->take().starts_with("-DENIED "));
  EXPECT_TRUE(stranger->closed_by_server());
  EXPECT_EQ(sessions.rejected.load(), 1u);
  sessions.options.protected_mode = false;
  auto welcome = connect(0, "10.1.2.3:4001");
  EXPECT_EQ(ask(welcome, "PING\r\n"), "+PONG\r\n");
  sessions.options.protected_mode = true;
  require_password("secret");
  auto with_password = connect(0, "10.1.2.3:4002");
  EXPECT_EQ(ask(with_password, "AUTH secret\r\n"), "+OK\r\n");
}

TEST_F(SessionTest, ADeniedClientRunsNothing) {
  auto stranger = worker().loop.connect(6379, "10.1.2.3:4000");
  stranger->push("SET a b\r\n");
  run();
  EXPECT_TRUE(stranger->closed_by_server());
  EXPECT_EQ(keyspace.key_count(0), 0u);
}

TEST_F(SessionTest, EvictionTakesTheLargestThatMayGo) {
  auto small = connect();
  auto large = connect();
  auto larger = connect();
  ask(larger, "CLIENT NO-EVICT ON\r\n");
  large->push("*2\r\n$4\r\nECHO\r\n$500000\r\n" + std::string(100'000, 'x'));
  larger->push("*2\r\n$4\r\nECHO\r\n$500000\r\n" + std::string(200'000, 'x'));
  run();
  evict_clients(sessions, 250'000);
  run();
  EXPECT_TRUE(large->closed_by_server());
  EXPECT_FALSE(larger->closed_by_server());
  evict_clients(sessions, 1);
  run();
  EXPECT_TRUE(small->closed_by_server());
  EXPECT_FALSE(larger->closed_by_server());
  EXPECT_EQ(host().stats().evicted, 2u);
}

TEST_F(SessionTest, PostedTasksRunInTheirWorkersTurn) {
  start(2);
  int ran = 0;
  worker(1).host.post([&] { ran++; });
  EXPECT_EQ(ran, 0);
  run();
  EXPECT_EQ(ran, 1);
  // A task may post again; that one has its own turn.
  worker(1).host.post([&] { worker(1).host.post([&] { ran = 10; }); });
  run();
  EXPECT_EQ(ran, 10);
}

TEST_F(SessionTest, ManySessionsAreAllLookedAtWithinARound) {
  sessions.options.idle_timeout_seconds = 1;
  std::vector<Client> clients;
  for (int i = 0; i < 500; i++) clients.push_back(connect());
  advance(5000);
  for (int i = 0; i < 40; i++) cron();
  EXPECT_EQ(host().session_count(), 0u);
}

}  // namespace
}  // namespace sorrel::testing
