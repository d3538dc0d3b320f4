#include <gtest/gtest.h>

#include "commands/test_harness.h"
#include "server/latency_commands.h"
#include "server/latency_report.h"

namespace sorrel::server {
namespace {

using commands::TestServer;

TEST(LatencyMonitor, KeepsTheWorstOfEachSecond) {
  LatencyMonitor monitor;
  monitor.add("command", 100, 30);
  monitor.add("command", 100, 50);
  monitor.add("command", 100, 40);
  monitor.add("command", 102, 20);
  const LatencyEvent event = monitor.event("command");
  ASSERT_EQ(event.samples.size(), 2u);
  EXPECT_EQ(event.samples[0].latency_ms, 50);
  EXPECT_EQ(event.samples[1].time_s, 102);
  EXPECT_EQ(event.max_ms, 50);
}

TEST(LatencyMonitor, ForgetsTheOldest) {
  LatencyMonitor monitor;
  for (int64_t second = 0; second < 200; second++) monitor.add("command", second, 1000 - second);
  const LatencyEvent event = monitor.event("command");
  EXPECT_EQ(event.samples.size(), LatencyMonitor::kMostSamples);
  EXPECT_EQ(event.samples.front().time_s, 40);
  EXPECT_EQ(event.max_ms, 1000);
}

TEST(LatencyMonitor, Resets) {
  LatencyMonitor monitor;
  monitor.add("command", 1, 1);
  monitor.add("expire-cycle", 1, 1);
  EXPECT_FALSE(monitor.reset("fork"));
  EXPECT_TRUE(monitor.reset("command"));
  EXPECT_EQ(monitor.events().size(), 1u);
  EXPECT_EQ(monitor.reset_all(), 1u);
  EXPECT_TRUE(monitor.event("expire-cycle").samples.empty());
}

TEST(LatencyReport, DrawsColumnsOfDifferentHeight) {
  LatencyEvent event{"command", {{100, 10}, {160, 40}, {4000, 20}}, 90};
  EXPECT_EQ(latency_graph(event, 4000), "command - high 40 ms, low 10 ms (all time high 90 ms)\n" +
                                            std::string(80, '-') +
                                            "\n"
                                            " #\n"
                                            " |\n"
                                            " |#\n"
                                            "_||\n"
                                            "\n"
                                            "110\n"
                                            "hhs\n");
}

TEST(LatencyReport, DrawsTheLastColumnsOnly) {
  LatencyEvent event{"command", {}, 0};
  for (int64_t i = 0; i < 160; i++) event.samples.push_back({i, i});
  const std::string graph = latency_graph(event, 1000);
  EXPECT_TRUE(graph.starts_with("command - high 159 ms, low 80 ms")) << graph;
}

TEST(LatencyReport, GivesAdvice) {
  EXPECT_NE(latency_doctor({}, 0, 0).find("latency-monitor-threshold"), std::string::npos);
  EXPECT_NE(latency_doctor({}, 5, 0).find("Nothing has taken 5 ms"), std::string::npos);
  const LatencyEvent events[] = {{"command", {{100, 10}, {110, 30}}, 30}, {"other", {{1, 1}}, 1}};
  const std::string text = latency_doctor(events, 5, 120);
  EXPECT_NE(text.find("1. command: 2 latency spikes, 20 ms on average (mean deviation 10 ms), one "
                      "every 10.00 seconds. The worst took 30 ms."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("- command: "), std::string::npos);
  EXPECT_EQ(text.find("- other: "), std::string::npos);
}

class LatencyCommandTest : public ::testing::Test {
 protected:
  LatencyCommandTest() {
    commands_.table = &server_.table();
    commands_.statistics = [this] { return collect(); };
  }
  std::vector<CommandStats> collect() {
    std::vector<CommandStats> all(server_.table().all().size());
    for (const auto& [name, ns] : runs_) all[server_.table().find(name)->index].durations.add(ns);
    return all;
  }

  LatencyMonitor monitor_;
  NodeState node_;
  ManualClock clock_;
  LatencyCommands commands_{monitor_, node_, clock_, {}, nullptr};
  std::vector<Binding> bindings_ = latency_bindings(commands_);
  TestServer server_{{commands::string_bindings(), commands::string_set_bindings(),
                      std::span<const Binding>(bindings_)}};
  std::vector<std::pair<std::string, uint64_t>> runs_;
};

TEST_F(LatencyCommandTest, ListsEvents) {
  EXPECT_EQ(server_("LATENCY LATEST"), "[]");
  monitor_.add("command", 5, 70);
  monitor_.add("command", 6, 60);
  EXPECT_EQ(server_("LATENCY LATEST"), R"([["command", (integer) 6, (integer) 60, (integer) 70]])");
  EXPECT_EQ(server_("LATENCY HISTORY command"),
            "[[(integer) 5, (integer) 70], [(integer) 6, (integer) 60]]");
  EXPECT_EQ(server_("LATENCY HISTORY nothing"), "[]");
  EXPECT_EQ(server_("LATENCY GRAPH nothing"),
            "(error) ERR No samples available for event 'nothing'");
  EXPECT_EQ(server_("LATENCY RESET nothing command"), "(integer) 1");
  EXPECT_EQ(server_("LATENCY RESET"), "(integer) 0");
}

TEST_F(LatencyCommandTest, ShowsCumulativeHistograms) {
  EXPECT_EQ(server_("LATENCY HISTOGRAM"), "{}");
  runs_ = {{"set", 500}, {"set", 900}, {"set", 5000}, {"get", 40'000'000'000}};
  EXPECT_EQ(server_("LATENCY HISTOGRAM set nothing append set|x"),
            R"({"set" => {"calls" => (integer) 3, "histogram_usec" => )"
            R"({(integer) 1 => (integer) 2, (integer) 8 => (integer) 3}}})");
  // What took longer than the last bucket is in the last bucket.
  EXPECT_EQ(server_("LATENCY HISTOGRAM get"),
            R"({"get" => {"calls" => (integer) 1, "histogram_usec" => )"
            R"({(integer) 1082130 => (integer) 1}}})");
}

}  // namespace
}  // namespace sorrel::server
