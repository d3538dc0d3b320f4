#include "config/config_file.h"

#include <gtest/gtest.h>

#include <map>

#include "server/options.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

using config::FileAccess;
using config::LoadEnvironment;
using Words = std::vector<std::string>;

// A handful of files in memory.
struct FakeFiles {
  std::map<std::string, std::string> files;
  std::string directory = "/start";

  FileAccess access() {
    FileAccess out;
    out.read = [this](const std::string& path) -> Result<std::string> {
      auto found = files.find(path);
      if (found == files.end()) return Error{"No such file or directory"};
      return found->second;
    };
    out.glob = [this](const std::string& pattern) {
      Words paths;
      const std::string prefix = pattern.substr(0, pattern.find('*'));
      for (const auto& [path, text] : files) {
        if (path.starts_with(prefix)) paths.push_back(path);
      }
      return paths;
    };
    out.change_dir = [this](const std::string& path) -> Result<std::string> {
      if (path == "/missing") return Error{"No such file or directory"};
      directory = path.starts_with('/') ? path : directory + "/" + path;
      return directory;
    };
    return out;
  }
};

Status load(std::string_view text, Options& options, FakeFiles files = {}) {
  LoadEnvironment environment;
  environment.files = files.access();
  return load_config(server_directives(), text, options, environment);
}

std::string value(std::string_view name, const Options& options) {
  return show(*server_directives().find(name), options);
}

// The message for a bad line, without its frame.
std::string reason(std::string_view text) {
  Options options;
  const Status status = load(text, options);
  if (status) return "";
  std::string message = status.error().text;
  message.pop_back();
  return message.substr(message.rfind('\n') + 1);
}

TEST(OptionFile, ReadsDirectives) {
  Options options;
  const Status status = load(
      "# a comment\n"
      "\n"
      "  PORT 7000 \r\n"
      "\trequirepass \"a b\\x21\"\n"
      "logfile ''\n"
      "slave-priority 7\n"
      "maxmemory 2gb\n"
      "\v\n"
      "port 7001",
      options);
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_EQ(options.network.port, 7001) << "the last line wins";
  EXPECT_EQ(options.security.requirepass, "a b!");
  EXPECT_EQ(options.replication.priority, 7);
  EXPECT_EQ(options.memory.limit.max_bytes, uint64_t{2} << 30);
}

TEST(OptionFile, ErrorsLookAsInRedis) {
  Options options;
  const Status status = load("port 7000\n  timeout abc  \n", options);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text,
            "\n*** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***\n"
            "Reading the configuration file, at line 2\n"
            ">>> 'timeout abc'\n"
            "argument couldn't be parsed into an integer\n");
}

TEST(OptionFile, Reasons) {
  EXPECT_EQ(reason("FOO bar"), "Bad directive or wrong number of arguments");
  EXPECT_EQ(reason("include a b"), "Bad directive or wrong number of arguments");
  EXPECT_EQ(reason("rename-command a"), "Bad directive or wrong number of arguments");
  EXPECT_EQ(reason("user"), "Bad directive or wrong number of arguments");
  EXPECT_EQ(reason("bind \"a"), "Unbalanced quotes in configuration line");
  EXPECT_EQ(reason("bind '\"a'"), "Unbalanced quotes in configuration line");
  EXPECT_EQ(reason("port"), "wrong number of arguments");
  EXPECT_EQ(reason("port 1 2"), "wrong number of arguments");
  EXPECT_EQ(reason("daemonize maybe"), "argument must be 'yes' or 'no'");
  EXPECT_EQ(reason("save 1"), "Invalid save parameters");
  EXPECT_EQ(reason("sentinel monitor m 1 2 3"), "sentinel directive while not in sentinel mode");
  EXPECT_EQ(reason("sentinel"), "");
  EXPECT_EQ(reason("a.b"), "Module config specified without value");
  EXPECT_NE(reason("a.b 1"), "");
  EXPECT_NE(reason("loadmodule /x.so").find("does not run modules"), std::string::npos);
  EXPECT_EQ(reason("dir /missing"), "No such file or directory");
  EXPECT_EQ(reason(std::string("port 1\0", 7)), "NUL byte in configuration line");
  EXPECT_EQ(reason("threads 257"), "argument must be between 1 and 256 inclusive");
}

TEST(OptionFile, SaveLinesAddUp) {
  Options options;
  ASSERT_TRUE(load("save 900 1\nSAVE 300 10\n", options));
  EXPECT_EQ(value("save", options), "900 1 300 10") << "the built-in ones are gone";
  ASSERT_TRUE(load("save 900 1 300 10\n\nsave ''\nsave '60 5'", options));
  EXPECT_EQ(value("save", options), "60 5");
  ASSERT_TRUE(load("save", options));
  EXPECT_EQ(value("save", options), "");
}

TEST(OptionFile, OneQuotedArgumentIsSplit) {
  Options options;
  ASSERT_TRUE(load("bind \"127.0.0.1 -::1\"\nshutdown-on-sigterm 'now force'\n", options));
  EXPECT_EQ(value("bind", options), "127.0.0.1 -::1");
  EXPECT_EQ(value("shutdown-on-sigterm", options), "now force");
}

TEST(OptionFile, IncludesAreReadWhereTheyStand) {
  FakeFiles files;
  files.files = {{"a.conf", "port 1\ntimeout 5"}, {"conf.d/x", "hz 20"}, {"conf.d/y", "hz 30"}};
  Options options;
  const Status status =
      load("port 9\ninclude a.conf\ntimeout 6\ninclude conf.d/*\ninclude none/*\n", options, files);
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_EQ(options.network.port, 1);
  EXPECT_EQ(options.clients.idle_timeout_seconds, 6);
  EXPECT_EQ(options.process.hz, 30);
}

TEST(OptionFile, IncludeErrorsSpeakOfTheIncludedFile) {
  FakeFiles files;
  files.files = {{"a.conf", "\n\nport x"}};
  Options options;
  Status status = load("include a.conf", options, files);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text.find("at line 3\n>>> 'port x'\n"), std::string::npos);
  EXPECT_EQ(status.error().text.find("include a.conf"), std::string::npos);

  status = load("include b.conf", options, files);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text,
            "Fatal error, can't open config file 'b.conf': No such file or directory");
}

TEST(OptionFile, AFileThatIncludesItselfIsRefused) {
  FakeFiles files;
  files.files = {{"loop.conf", "include loop.conf\ninclude loop.conf\n"}};
  Options options;
  const Status status = load("include loop.conf", options, files);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text.find("Too many include"), std::string::npos);
}

TEST(OptionFile, DirIsEnteredAtOnce) {
  FakeFiles files;
  Options options;
  ASSERT_TRUE(load("dir sub", options, files));
  EXPECT_EQ(options.persistence.dir, "/start/sub");
}

TEST(OptionFile, UsersAndRenamedCommandsAreKept) {
  Options options;
  ASSERT_TRUE(
      load("user alice on '>p w' ~*\nuser bob off\nuser carol off\n"
           "rename-command CONFIG \"\"\nrename-command get fetch\n",
           options));
  ASSERT_EQ(options.security.users.size(), 3u);
  EXPECT_EQ(options.security.users[0], (Words{"alice", "on", ">p w", "~*"}));
  const std::vector<std::pair<std::string, std::string>> renamed = {{"CONFIG", ""},
                                                                    {"get", "fetch"}};
  EXPECT_EQ(options.security.renamed_commands, renamed);
}

TEST(OptionFile, UsersAreCheckedAndNamedOnce) {
  EXPECT_EQ(reason("user bob wrong"), "Error in user declaration 'wrong': Syntax error");
  Options options;
  const Status twice = load("user bob on\nuser bob off\n", options);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().text.find("Duplicate user found. A user can only be defined once"),
            std::string::npos);
}

TEST(OptionFile, RenamesAreCheckedAgainstTheCommands) {
  LoadEnvironment environment;
  environment.command_exists = [](std::string_view name) { return name == "get" || name == "set"; };
  const auto reason_of = [&](std::string_view text) -> std::string {
    Options options;
    const Status status = load_config(server_directives(), text, options, environment);
    return status ? "" : status.error().text;
  };
  EXPECT_EQ(reason_of("rename-command get g"), "");
  EXPECT_EQ(reason_of("rename-command get x\nrename-command set get"), "");
  EXPECT_NE(reason_of("rename-command foo g").find("No such command in rename-command"),
            std::string::npos);
  EXPECT_NE(reason_of("rename-command get ''\nrename-command get x").find("No such command"),
            std::string::npos);
  EXPECT_NE(reason_of("rename-command get set").find("Target command name already exists"),
            std::string::npos);
  EXPECT_NE(reason_of("rename-command get x\nrename-command set x").find("already exists"),
            std::string::npos);
}

TEST(OptionFile, OldWordsAreIgnored) {
  Options options;
  EXPECT_TRUE(
      load("list-max-ziplist-entries 512\nlist-max-ziplist-value 64\n"
           "lua-replicate-commands yes\n",
           options));
  EXPECT_EQ(reason("lua-replicate-commands"), "Bad directive or wrong number of arguments");
}

TEST(OptionFile, ValuesAreBroughtIntoRange) {
  Options options;
  ASSERT_TRUE(load("hz 100000", options));
  EXPECT_EQ(options.process.hz, 500);
  ASSERT_TRUE(load("repl-backlog-size 1", options));
  EXPECT_EQ(options.replication.backlog_bytes, 16384);
  ASSERT_TRUE(load("hz 0\ncluster-enabled yes", options));
  EXPECT_EQ(options.process.hz, 1);
  EXPECT_EQ(options.process.databases, 1);
}

TEST(OptionFile, NoReplicaInACluster) {
  Options options;
  const Status status = load("cluster-enabled yes\nreplicaof 127.0.0.1 1\n", options);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text,
            "\n*** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***\n"
            "replicaof directive not allowed in cluster mode\n");
}

TEST(OptionFile, TheHarnessConfigurationLoads) {
  Options options;
  const Status status = load(
      "always-show-logo yes\nnotify-keyspace-events KEA\ndaemonize no\npidfile /var/run/redis.pid\n"
      "port 6379\ntimeout 0\nbind 127.0.0.1\nloglevel verbose\nlogfile ''\ndatabases 16\n"
      "latency-monitor-threshold 1\nrepl-diskless-sync-delay 0\nsave ''\nrdbcompression yes\n"
      "dbfilename dump.rdb\ndir ./\nslave-serve-stale-data yes\nappendonly no\n"
      "appendfsync everysec\nno-appendfsync-on-rewrite no\nactiverehashing yes\n"
      "enable-protected-configs yes\nenable-debug-command yes\nenable-module-command yes\n"
      "propagation-error-behavior panic\nshutdown-on-sigterm force\nunixsocket /tmp/s\n"
      "cluster-ping-interval 100\ncluster-node-timeout 3000\nport 21111\n",
      options);
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_EQ(value("port", options), "21111");
  EXPECT_EQ(value("save", options), "");
  EXPECT_EQ(value("notify-keyspace-events", options), "AKE");
  EXPECT_EQ(value("cluster-ping-interval", options), "100");
}

}  // namespace
}  // namespace sorrel::server
