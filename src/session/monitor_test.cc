#include "session/monitor.h"

#include <fmt/format.h>

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

class MonitorTest : public SessionTest {
 protected:
  // The line that a command of `client` makes at the fake loop's first moment.
  static std::string line(const Client& client, int db, std::string_view words) {
    return fmt::format("+1700000000.000000 [{} {}] {}\r\n", db, client->address(), words);
  }
};

TEST_F(MonitorTest, ShowsWhatOthersRun) {
  auto watcher = connect();
  auto client = connect();
  EXPECT_EQ(ask(watcher, "MONITOR\r\n"), "+OK\r\n");
  EXPECT_EQ(ask(client, "Set k \"a b\\n\\xff\"\r\nEXISTS k\r\n"), "+OK\r\n:1\r\n");
  EXPECT_EQ(watcher->take(),
            line(client, 0, R"("Set" "k" "a b\n\xff")") + line(client, 0, R"("EXISTS" "k")"));
}

TEST_F(MonitorTest, ShowsTheDatabaseAfterTheCommand) {
  auto watcher = connect();
  auto client = connect();
  ask(watcher, "MONITOR\r\n");
  ask(client, "SELECT 9\r\n");
  EXPECT_EQ(watcher->take(), line(client, 9, R"("SELECT" "9")"));
}

TEST_F(MonitorTest, ShowsNeitherAdministrationNorWhatDidNotRun) {
  auto watcher = connect();
  auto client = connect();
  ask(watcher, "MONITOR\r\n");
  ask(client, "CLIENT LIST\r\nNOSUCH\r\nSET a\r\nCLIENT PAUSE 50 WRITE\r\nSET a b\r\n");
  EXPECT_EQ(watcher->take(), "");
  advance(50);
  const std::string lines = watcher->take();
  EXPECT_TRUE(lines.ends_with("\"SET\" \"a\" \"b\"\r\n"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1);
}

TEST_F(MonitorTest, LeavesSecretsOut) {
  auto watcher = connect();
  auto client = connect();
  ask(watcher, "MONITOR\r\n");
  const auto shown_as = [&](std::string_view request) {
    ask(client, request);
    const std::string seen = watcher->take();
    return seen.substr(seen.find("] ") + 2);
  };
  EXPECT_EQ(shown_as("AUTH x\r\n"), "\"AUTH\" \"(redacted)\"\r\n");
  EXPECT_EQ(shown_as("AUTH joe x\r\n"), "\"AUTH\" \"(redacted)\" \"(redacted)\"\r\n");
  EXPECT_EQ(shown_as("HELLO 3 AUTH joe x SETNAME n\r\n"),
            "\"HELLO\" \"3\" \"AUTH\" \"(redacted)\" \"(redacted)\" \"SETNAME\" \"n\"\r\n");
}

TEST_F(MonitorTest, ALineNeverLandsInsideAReply) {
  auto watcher = connect();
  auto client = connect();
  ask(watcher, "MONITOR\r\n");
  std::string requests;
  std::string replies;
  std::string lines;
  for (int i = 0; i < 100; i++) {
    requests += fmt::format("PING {}\r\n", i + 100);
    replies += fmt::format("$3\r\n{}\r\n", i + 100);
    lines += line(client, 0, fmt::format("\"PING\" \"{}\"", i + 100));
  }
  EXPECT_EQ(ask(client, requests), replies);
  EXPECT_EQ(watcher->take(), lines);
}

TEST_F(MonitorTest, AMonitorSeesItselfInOrder) {
  auto watcher = connect();
  const std::string seen = ask(watcher, "PING a\r\nMONITOR\r\nPING b\r\nMONITOR\r\nPING c\r\n");
  EXPECT_EQ(seen, "$1\r\na\r\n+OK\r\n$1\r\nb\r\n" + line(watcher, 0, R"("PING" "b")") +
                      "$1\r\nc\r\n" + line(watcher, 0, R"("PING" "c")"));
}

TEST_F(MonitorTest, SilencedRepliesDoNotSilenceTheLines) {
  auto watcher = connect();
  const std::string seen =
      ask(watcher, "MONITOR\r\nCLIENT REPLY OFF\r\nPING b\r\nGET 10\r\nCLIENT REPLY ON\r\n");
  EXPECT_EQ(seen, "+OK\r\n" + line(watcher, 0, R"("CLIENT" "REPLY" "OFF")") +
                      line(watcher, 0, R"("PING" "b")") + "+OK\r\n" +
                      line(watcher, 0, R"("CLIENT" "REPLY" "ON")"));
}

TEST_F(MonitorTest, ReachesMonitorsOfOtherWorkers) {
  start(3);
  auto here = connect(0);
  auto there = connect(2);
  auto client = connect(0);
  ask(here, "MONITOR\r\n");
  ask(there, "MONITOR\r\n");
  ask(client, "PING 1\r\nPING 2\r\n");
  const std::string lines = line(client, 0, R"("PING" "1")") + line(client, 0, R"("PING" "2")");
  EXPECT_EQ(here->take(), lines);
  EXPECT_EQ(there->take(), lines);
  EXPECT_EQ(sessions.monitors, 2);
}

TEST_F(MonitorTest, EndsWithTheConnectionOrAReset) {
  auto one = connect();
  auto two = connect();
  auto client = connect();
  ask(one, "MONITOR\r\n");
  ask(two, "MONITOR\r\n");
  EXPECT_EQ(host().monitor_count(), 2u);
  one->close();
  run();
  EXPECT_EQ(host().monitor_count(), 1u);
  EXPECT_EQ(node.reasons, uint32_t{NodeState::kMonitored});
  EXPECT_EQ(ask(two, "RESET\r\n").substr(0, 8), "+RESET\r\n");
  EXPECT_EQ(host().monitor_count(), 0u);
  EXPECT_EQ(node.reasons, 0u);
  ask(client, "PING\r\n");
  EXPECT_EQ(two->take(), "");
}

TEST_F(MonitorTest, AMonitorThatDoesNotReadIsClosedAtTheLimit) {
  sessions.options.normal_output.hard_bytes = 10'000;
  auto watcher = connect();
  auto client = connect();
  ask(watcher, "MONITOR\r\n");
  watcher->set_window(1);
  for (int i = 0; i < 100; i++) ask(client, "PING " + std::string(200, 'x') + "\r\n");
  EXPECT_TRUE(watcher->closed_by_server());
  EXPECT_FALSE(client->closed_by_server());
  EXPECT_EQ(host().monitor_count(), 0u);
}

TEST_F(MonitorTest, NamesUnixSockets) {
  TestWorker& one = worker();
  auto listener = one.loop.listen({.kind = io::Endpoint::Kind::kUnix, .host = "/tmp/a:b"}, one);
  auto client = one.loop.connect_unix("/tmp/a:b");
  auto watcher = connect();
  ask(watcher, "MONITOR\r\n");
  ask(client, "PING\r\n");
  EXPECT_EQ(watcher->take(), "+1700000000.000000 [0 unix:/tmp/a:b] \"PING\"\r\n");
}

}  // namespace
}  // namespace sorrel::testing
