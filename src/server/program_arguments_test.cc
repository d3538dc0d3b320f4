#include "server/program_arguments.h"

#include <gtest/gtest.h>

#include "server/options.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

using Action = ProgramArguments::Action;
using Words = std::vector<std::string>;

ProgramArguments parse(const Words& words) {
  return parse_arguments(words);
}

TEST(ProgramArgumentsTest, SpecialWords) {
  EXPECT_EQ(parse({}).action, Action::kRun);
  EXPECT_EQ(parse({"-v"}).action, Action::kVersion);
  EXPECT_EQ(parse({"--version"}).action, Action::kVersion);
  EXPECT_EQ(parse({"-h"}).action, Action::kHelp);
  EXPECT_EQ(parse({"--help"}).action, Action::kHelp);
  EXPECT_EQ(parse({"--check-system"}).action, Action::kCheckSystem);
  EXPECT_EQ(parse({"--test-memory", "10"}).action, Action::kRefuse);
  EXPECT_FALSE(parse({"--test-memory"}).message.empty());
  EXPECT_EQ(parse({"a.conf", "-v"}).action, Action::kRun) << "only the first word is special";
}

TEST(ProgramArgumentsTest, DirectivesBecomeText) {
  EXPECT_EQ(parse({"--port", "7000"}).directives, "port \"7000\" ");
  EXPECT_EQ(parse({"--a", "b", "--c", "d", "e"}).directives, "a \"b\" \nc \"d\" \"e\" ");
  EXPECT_EQ(parse({"--port 7000", "--hz", "5"}).directives, "port 7000 \nhz \"5\" ");
  EXPECT_EQ(parse({"--requirepass", "a \"b\n"}).directives, "requirepass \"a \\\"b\\n\" ");
}

TEST(ProgramArgumentsTest, TheWordBehindANameIsItsValue) {
  EXPECT_EQ(parse({"--requirepass", "--x", "--port", "1"}).directives,
            "requirepass \"--x\" \nport \"1\" ");
}

TEST(ProgramArgumentsTest, SaveMayStandAlone) {
  EXPECT_EQ(parse({"--save", "--port", "1"}).directives, "save \"\"\nport \"1\" ");
  EXPECT_EQ(parse({"--port", "1", "--save"}).directives, "port \"1\" \nsave \"\"");
  EXPECT_EQ(parse({"--save", "", "--port", "1"}).directives, "save \"\" \nport \"1\" ");
}

TEST(ProgramArgumentsTest, SentinelIsRefused) {
  const auto is_refused = [](const std::vector<std::string>& words, std::string_view program) {
    const ProgramArguments line = parse_arguments(words, program);
    const bool refused = line.action == ProgramArguments::Action::kRefuse;
    EXPECT_EQ(refused, line.message.find("not supported yet") != std::string::npos);
    return refused;
  };
  EXPECT_TRUE(is_refused({"s.conf", "--sentinel", "--port", "1"}, "sorrel-server"));
  EXPECT_TRUE(is_refused({"--SENTINEL"}, ""));
  EXPECT_TRUE(is_refused({}, "/usr/bin/redis-sentinel"));
  EXPECT_TRUE(is_refused({"s.conf"}, "redis-sentinel"));
  EXPECT_FALSE(is_refused({"sentinel.conf"}, "/opt/redis-sentinel/redis-server"));
  EXPECT_FALSE(is_refused({"--version"}, "redis-sentinel"));
}

TEST(ProgramArgumentsTest, FileAndStandardInput) {
  EXPECT_EQ(parse({"a.conf"}).config_path, "a.conf");
  EXPECT_FALSE(parse({"a.conf"}).config_from_stdin);
  EXPECT_TRUE(parse({"-"}).config_from_stdin);
  EXPECT_EQ(parse({"-"}).config_path, "");
  const ProgramArguments line = parse({"a.conf", "--port", "1", "-"});
  EXPECT_TRUE(line.config_from_stdin);
  EXPECT_EQ(line.directives, "port \"1\" ");
  EXPECT_EQ(parse({"--port", "-", "--hz", "1"}).directives, "port \"-\" \nhz \"1\" ");
}

Status load(const Words& words, Options& options, std::string_view stdin_text = "") {
  config::LoadEnvironment environment;
  environment.files.read = [](const std::string& path) -> Result<std::string> {
    if (path == "a.conf") return std::string("port 1\nhz 50\nsave 900 1");
    return Error{"No such file or directory"};
  };
  return config::load_from_command_line(server_directives(), parse(words), stdin_text, options,
                                        environment);
}

TEST(ProgramArgumentsTest, LaterSourcesWin) {
  Options options;
  const Status status =
      load({"a.conf", "--timeout", "3", "--save", "60", "5", "-"}, options, "\nhz 60\ntimeout 2\n");
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_EQ(options.network.port, 1);
  EXPECT_EQ(options.process.hz, 60);
  EXPECT_EQ(options.clients.idle_timeout_seconds, 3);
  EXPECT_EQ(options.persistence.save, (std::vector<SavePoint>{{900, 1}, {60, 5}}));
}

TEST(ProgramArgumentsTest, EmptySaveTurnsSnapshotsOff) {
  for (const Words& words : {Words{"--save", ""}, Words{"--save"}, Words{"--save", "--hz", "1"},
                             Words{"a.conf", "--save", ""}, Words{"--save \"\""}}) {
    Options options;
    ASSERT_TRUE(load(words, options));
    EXPECT_TRUE(options.persistence.save.empty());
  }
}

TEST(ProgramArgumentsTest, MistakesAreReportedAsInTheFile) {
  Options options;
  Status status = load({"--foo", "bar"}, options);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text,
            "\n*** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***\n"
            "Reading the configuration file, at line 2\n"
            ">>> 'foo \"bar\"'\n"
            "Bad directive or wrong number of arguments\n");
  status = load({"none.conf"}, options);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text,
            "Fatal error, can't open config file 'none.conf': No such file or directory");
  status = load({"-x"}, options);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text.find(">>> '\"-x\"'\nBad directive"), std::string::npos);
}

TEST(ProgramArgumentsTest, UsageNamesTheProgram) {
  EXPECT_EQ(usage_text("sorrel-server").find("Usage: sorrel-server "), 0u);
}

}  // namespace
}  // namespace sorrel::server
