#include "server/option_special.h"

#include <gtest/gtest.h>

namespace sorrel::server {
namespace {

using Words = std::vector<std::string>;

std::string reason(const Status& status) {
  return status ? "" : status.error().text;
}

TEST(OptionSpecial, SavePoints) {
  Options options;
  EXPECT_TRUE(parse_save(options, Words{"+1", "01", "60", "0"}, Repeat::kReplaces));
  EXPECT_EQ(show_save(options), "1 1 60 0");
  EXPECT_TRUE(parse_save(options, Words{"5", "5"}, Repeat::kAdds));
  EXPECT_EQ(show_save(options), "1 1 60 0 5 5");
  for (const Words& bad :
       {Words{"1"}, Words{"1", "2", "3"}, Words{"a", "b"}, Words{"1", "", "2"}, Words{"0", "1"},
        Words{"1", "-1"}, Words{"1", ""}, Words{"9223372036854775808", "1"}}) {
    EXPECT_EQ(reason(parse_save(options, bad, Repeat::kReplaces)), "Invalid save parameters");
  }
  EXPECT_EQ(show_save(options), "1 1 60 0 5 5");
  EXPECT_TRUE(parse_save(options, Words{""}, Repeat::kAdds));
  EXPECT_EQ(show_save(options), "");
  EXPECT_EQ(save_lines(options), Words{"\"\""});
}

TEST(OptionSpecial, Bind) {
  Options options;
  EXPECT_EQ(bind_lines(options), Words{"* -::*"});
  EXPECT_TRUE(parse_bind(options, Words{"127.0.0.1", "-::1"}, Repeat::kReplaces));
  EXPECT_EQ(show_bind(options), "127.0.0.1 -::1");
  EXPECT_EQ(reason(parse_bind(options, Words(17, "::1"), Repeat::kReplaces)),
            "Too many bind addresses specified.");
  EXPECT_TRUE(parse_bind(options, Words{""}, Repeat::kReplaces));
  EXPECT_TRUE(options.network.bind.empty());
  EXPECT_EQ(bind_lines(options), Words{"\"\""});
}

TEST(OptionSpecial, OutputLimits) {
  Options options;
  EXPECT_EQ(show_output_limits(options),
            "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60");
  EXPECT_EQ(output_limit_lines(options),
            (Words{"normal 0 0 0", "replica 256mb 64mb 60", "pubsub 32mb 8mb 60"}));
  EXPECT_TRUE(parse_output_limits(options, Words{"replica", "1kb", "2mb", "3"}, Repeat::kReplaces));
  EXPECT_EQ(options.clients.replica_output, (OutputLimit{1024, 2097152, 3}));
  EXPECT_TRUE(parse_output_limits(options, Words{"normal", "1", "2", "3", "NORMAL", "4", "5", "6"},
                                  Repeat::kReplaces));
  EXPECT_EQ(options.clients.normal_output, (OutputLimit{4, 5, 6}));
  EXPECT_EQ(reason(parse_output_limits(options, Words{"normal", "1", "2"}, Repeat::kReplaces)),
            "Wrong number of arguments in buffer limit configuration.");
  for (const char* name : {"foo", "master", ""}) {
    EXPECT_EQ(reason(parse_output_limits(
                  options, Words{"normal", "9", "9", "9", name, "1", "2", "3"}, Repeat::kReplaces)),
              "Invalid client class specified in buffer limit configuration.");
  }
  for (const Words& bad : {Words{"normal", "-1", "0", "0"}, Words{"normal", "0", "x", "0"},
                           Words{"normal", "0", "0", "-1"}, Words{"normal", "0", "0", "1x"}}) {
    EXPECT_EQ(reason(parse_output_limits(options, bad, Repeat::kReplaces)),
              "Error in hard, soft or soft_seconds setting in buffer limit configuration.");
  }
  EXPECT_EQ(options.clients.normal_output, (OutputLimit{4, 5, 6})) << "a failure changes nothing";
}

TEST(OptionSpecial, OomScores) {
  Options options;
  EXPECT_TRUE(parse_oom_values(options, Words{"-2000", "0", "2000"}, Repeat::kReplaces));
  EXPECT_EQ(show_oom_values(options), "-2000 0 2000");
  EXPECT_EQ(reason(parse_oom_values(options, Words{"1", "2"}, Repeat::kReplaces)),
            "wrong number of arguments");
  for (const char* bad : {"2001", "-2001", "x", ""}) {
    EXPECT_EQ(reason(parse_oom_values(options, Words{"1", "2", bad}, Repeat::kReplaces)),
              "Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
  }
}

TEST(OptionSpecial, KeyspaceEvents) {
  Options options;
  EXPECT_TRUE(parse_keyspace_events(options, Words{"KEA"}, Repeat::kReplaces));
  EXPECT_EQ(show_keyspace_events(options), "AKE");
  EXPECT_TRUE(parse_keyspace_events(options, Words{"g$lshzxetd"}, Repeat::kReplaces));
  EXPECT_EQ(show_keyspace_events(options), "A");
  EXPECT_TRUE(parse_keyspace_events(options, Words{"mExg"}, Repeat::kReplaces));
  EXPECT_EQ(show_keyspace_events(options), "gxEm");
  // Redis forgets the n here when it shows or rewrites the value; we do not.
  EXPECT_TRUE(parse_keyspace_events(options, Words{"nA"}, Repeat::kReplaces));
  EXPECT_EQ(show_keyspace_events(options), "An");
  EXPECT_EQ(reason(parse_keyspace_events(options, Words{"Kq"}, Repeat::kReplaces)),
            "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
  EXPECT_TRUE(parse_keyspace_events(options, Words{""}, Repeat::kReplaces));
  EXPECT_EQ(options.monitor.keyspace_events, 0u);
}

TEST(OptionSpecial, ReplicaOf) {
  Options options;
  EXPECT_TRUE(replicaof_lines(options).empty());
  EXPECT_TRUE(parse_replicaof(options, Words{"localhost", "6380"}, Repeat::kReplaces));
  EXPECT_EQ(show_replicaof(options), "localhost 6380");
  for (const char* bad : {"65536", "-1", "x", "", "1x"}) {
    EXPECT_EQ(reason(parse_replicaof(options, Words{"h", bad}, Repeat::kReplaces)),
              "Invalid master port");
  }
  EXPECT_EQ(show_replicaof(options), "localhost 6380");
  EXPECT_TRUE(parse_replicaof(options, Words{"NO", "one"}, Repeat::kReplaces));
  EXPECT_EQ(show_replicaof(options), "");
  EXPECT_EQ(reason(parse_replicaof(options, Words{"h"}, Repeat::kReplaces)),
            "wrong number of arguments");
  EXPECT_TRUE(parse_replicaof(options, Words{"a b", "1"}, Repeat::kReplaces));
  EXPECT_EQ(replicaof_lines(options), Words{"\"a b\" 1"});
}

TEST(OptionSpecial, Percentiles) {
  Options options;
  EXPECT_TRUE(parse_percentiles(options, Words{"99.123456789", "0.5", "100"}, Repeat::kReplaces));
  EXPECT_EQ(show_percentiles(options), "99.123457 0.5 100");
  EXPECT_EQ(reason(parse_percentiles(options, Words{"a"}, Repeat::kReplaces)),
            "Invalid latency-tracking-info-percentiles parameters");
  for (const char* bad : {"101", "-0.1", "inf"}) {
    EXPECT_EQ(reason(parse_percentiles(options, Words{"50", bad}, Repeat::kReplaces)),
              "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]");
  }
  EXPECT_EQ(show_percentiles(options), "99.123457 0.5 100");
  EXPECT_TRUE(parse_percentiles(options, Words{""}, Repeat::kReplaces));
  EXPECT_EQ(percentile_lines(options), Words{"\"\""});
}

}  // namespace
}  // namespace sorrel::server
