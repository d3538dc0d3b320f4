#include "server/slowlog.h"

#include <gtest/gtest.h>

#include "commands/test_harness.h"

namespace sorrel::server {
namespace {

using commands::TestServer;

class SlowLogTest : public ::testing::Test {
 protected:
  void add(std::string word) {
    SlowEntry entry;
    entry.time_s = 1700000000;
    entry.duration_us = 12;
    entry.args = {std::move(word)};
    entry.address = "127.0.0.1:1";
    log_.add(std::move(entry));
  }
  std::vector<std::string> shown(std::vector<std::string_view> args) {
    const Command* command = server_.table().find(args[0]);
    if (const Command* sub = args.size() > 1 ? command->subcommand(args[1]) : nullptr) {
      command = sub;
    }
    return slow_arguments(*command, args);
  }

  static void unused(Call&) {}
  static constexpr Binding kOthers[] = {{"auth", unused}, {"config|set", unused}};

  SlowLog log_;
  std::vector<Binding> bindings_ = slowlog_bindings(log_);
  TestServer server_{{commands::string_set_bindings(), std::span<const Binding>(kOthers),
                      std::span<const Binding>(bindings_)}};
};

TEST_F(SlowLogTest, KeepsTheNewestAndCountsOn) {
  log_.set_max_length(2);
  for (const char* word : {"a", "b", "c"}) add(word);
  const std::vector<SlowEntry> entries = log_.newest(10);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].id, 2u);
  EXPECT_EQ(entries[0].args[0], "c");
  EXPECT_EQ(entries[1].id, 1u);
  EXPECT_EQ(log_.newest(1).size(), 1u);
  log_.clear();
  EXPECT_EQ(log_.size(), 0u);
  add("d");
  EXPECT_EQ(log_.newest(1)[0].id, 3u);
}

TEST_F(SlowLogTest, ShortensItselfWithTheNextEntry) {
  for (const char* word : {"a", "b", "c"}) add(word);
  log_.set_max_length(0);
  EXPECT_EQ(log_.size(), 3u);
  add("d");
  EXPECT_EQ(log_.size(), 0u);
}

TEST_F(SlowLogTest, CutsLongRequests) {
  std::vector<std::string_view> args(33, "x");
  args[0] = "set";
  const std::vector<std::string> many = shown(args);
  ASSERT_EQ(many.size(), 32u);
  EXPECT_EQ(many[31], "... (2 more arguments)");
  args.resize(32);
  EXPECT_EQ(shown(args).size(), 32u);
  EXPECT_EQ(shown(args)[31], "x");

  const std::string fits(128, 'A');
  const std::string longer(130, 'A');
  EXPECT_EQ(shown({"set", fits}), (std::vector<std::string>{"set", fits}));
  EXPECT_EQ(shown({"set", longer}), (std::vector<std::string>{"set", fits + "... (2 more bytes)"}));
}

TEST_F(SlowLogTest, HidesSecrets) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(shown({"AUTH", "user", "word"}), (Words{"AUTH", "(redacted)", "(redacted)"}));
  EXPECT_EQ(shown({"config", "set", "port", "1", "RequirePass", "x"}),
            (Words{"config", "set", "port", "1", "RequirePass", "(redacted)"}));
  EXPECT_EQ(shown({"config", "set", "tls-key-file-pass", "x"}),
            (Words{"config", "set", "tls-key-file-pass", "(redacted)"}));
}

TEST_F(SlowLogTest, ServesTheCommand) {
  for (const char* word : {"a", "b", "c"}) add(word);
  EXPECT_EQ(server_("SLOWLOG LEN"), "(integer) 3");
  EXPECT_EQ(server_("SLOWLOG GET 1"),
            R"([[(integer) 2, (integer) 1700000000, (integer) 12, ["c"], "127.0.0.1:1", ""]])");
  EXPECT_EQ(server_("SLOWLOG GET 0"), "[]");
  EXPECT_EQ(server_("SLOWLOG GET -1"), server_("SLOWLOG GET"));
  EXPECT_EQ(server_("SLOWLOG GET 9223372036854775807"), server_("SLOWLOG GET"));
  for (const char* line : {"SLOWLOG GET -2", "SLOWLOG GET x", "SLOWLOG GET 9223372036854775808"}) {
    EXPECT_EQ(server_(line), "(error) ERR count should be greater than or equal to -1") << line;
  }
  EXPECT_EQ(server_("SLOWLOG RESET"), "OK");
  EXPECT_EQ(server_("SLOWLOG LEN"), "(integer) 0");
}

}  // namespace
}  // namespace sorrel::server
