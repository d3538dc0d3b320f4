#include "server/command_log.h"

#include <gtest/gtest.h>

#include "commands/test_harness.h"

namespace sorrel::server {
namespace {

using commands::TestServer;

class CommandLogTest : public ::testing::Test {
 protected:
  void add(std::string word) {
    LoggedCommand entry;
    entry.time_s = 1700000000;
    entry.value = 12;
    entry.args = {std::move(word)};
    entry.address = "127.0.0.1:1";
    log_.add(std::move(entry));
  }
  std::vector<std::string> shown(std::vector<std::string_view> args) {
    const Command* command = server_.table().find(args[0]);
    if (const Command* sub = args.size() > 1 ? command->subcommand(args[1]) : nullptr) {
      command = sub;
    }
    return logged_arguments(*command, args);
  }

  static void unused(Call&) {}
  static constexpr Binding kOthers[] = {{"auth", unused}, {"config|set", unused}};

  CommandLogs logs_;
  CommandLog& log_ = logs_.slow;
  std::vector<Binding> bindings_ = command_log_bindings(logs_);
  TestServer server_{{commands::string_set_bindings(), std::span<const Binding>(kOthers),
                      std::span<const Binding>(bindings_)}};
};

TEST_F(CommandLogTest, KeepsTheNewestAndCountsOn) {
  log_.set_max_length(2);
  for (const char* word : {"a", "b", "c"}) add(word);
  const std::vector<LoggedCommand> entries = log_.newest(10);
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

TEST_F(CommandLogTest, ShortensItselfWithTheNextEntry) {
  for (const char* word : {"a", "b", "c"}) add(word);
  log_.set_max_length(0);
  EXPECT_EQ(log_.size(), 3u);
  add("d");
  EXPECT_EQ(log_.size(), 0u);
}

TEST_F(CommandLogTest, CutsLongRequests) {
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

TEST_F(CommandLogTest, HidesSecrets) {
  using LoggedWords = std::vector<std::string>;
  EXPECT_EQ(shown({"AUTH", "user", "word"}), (LoggedWords{"AUTH", "(redacted)", "(redacted)"}));
  EXPECT_EQ(shown({"config", "set", "port", "1", "RequirePass", "x"}),
            (LoggedWords{"config", "set", "port", "1", "RequirePass", "(redacted)"}));
  EXPECT_EQ(shown({"config", "set", "tls-key-file-pass", "x"}),
            (LoggedWords{"config", "set", "tls-key-file-pass", "(redacted)"}));
}

TEST_F(CommandLogTest, ServesTheCommand) {
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

TEST_F(CommandLogTest, ServesEachKindByItsName) {
  add("slow one");
  LoggedCommand large;
  large.value = 2'000'000;
  large.args = {"SET", "key"};
  logs_.large_requests.add(large);
  EXPECT_EQ(server_("COMMANDLOG LEN slow"), "(integer) 1");
  EXPECT_EQ(server_("COMMANDLOG LEN Large-Request"), "(integer) 1");
  EXPECT_EQ(server_("COMMANDLOG LEN large-reply"), "(integer) 0");
  EXPECT_EQ(server_("COMMANDLOG GET -1 slow"), server_("SLOWLOG GET"));
  EXPECT_EQ(server_("COMMANDLOG GET 5 large-request"),
            R"([[(integer) 0, (integer) 0, (integer) 2000000, ["SET", "key"], "", ""]])");
  EXPECT_EQ(server_("COMMANDLOG GET 0 large-request"), "[]");
  EXPECT_EQ(server_("COMMANDLOG RESET large-request"), "OK");
  EXPECT_EQ(server_("COMMANDLOG LEN large-request"), "(integer) 0");
  EXPECT_EQ(server_("COMMANDLOG LEN slow"), "(integer) 1");
  constexpr std::string_view kNoKind =
      "(error) ERR type should be one of the following: slow, large-request, large-reply";
  for (const char* line :
       {"COMMANDLOG GET 1 fast", "COMMANDLOG LEN fast", "COMMANDLOG RESET fast"}) {
    EXPECT_EQ(server_(line), kNoKind) << line;
  }
  EXPECT_EQ(server_("COMMANDLOG GET -2 slow"),
            "(error) ERR count should be greater than or equal to -1");
}

}  // namespace
}  // namespace sorrel::server
