#include "config/config_store.h"

#include <gtest/gtest.h>

#include "persist/option_parts.h"
#include "server/option_parts.h"
#include "server/options.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

using config::ConfigStore;
using config::FileAccess;
using Setting = ConfigStore::Setting;
using Settings = std::vector<Setting>;
using Words = std::vector<std::string>;

class OptionSet : public ::testing::Test {
 protected:
  std::string set(const Settings& settings, ConfigStore::Caller caller = {}) {
    const Status status = store_.set(settings, caller);
    return status ? "OK" : status.error().text;
  }
  Settings get(const Words& patterns) { return store_.get(patterns); }

  Options options_;
  ConfigStore store_{server_directives(), options_};
};

TEST_F(OptionSet, GetByNameAliasAndPattern) {
  EXPECT_EQ(get({"port"}), (Settings{{"port", "6379"}}));
  EXPECT_EQ(get({"PORT", "port", "Port"}), (Settings{{"PORT", "6379"}})) << "as asked, once";
  EXPECT_EQ(get({"PO?T"}), (Settings{{"port", "6379"}}));
  EXPECT_EQ(get({"slave-read-only"}), (Settings{{"slave-read-only", "yes"}}));
  EXPECT_EQ(get({"*-read-only"}),
            (Settings{{"replica-read-only", "yes"}, {"slave-read-only", "yes"}}));
  EXPECT_EQ(get({"slave-prio*", "REPLICA-PRIORITY", "replica-prior*"}),
            (Settings{{"slave-priority", "100"}, {"REPLICA-PRIORITY", "100"}}));
  EXPECT_EQ(get({"nothing", "no*such*thing"}), Settings{});
}

TEST_F(OptionSet, HiddenOnesOnlyByTheirName) {
  EXPECT_EQ(get({"use-exit*"}), Settings{});
  EXPECT_EQ(get({"USE-EXIT-ON-PANIC"}), (Settings{{"USE-EXIT-ON-PANIC", "no"}}));
  EXPECT_EQ(get({"*"}).size(), 198u + 8) << "Redis's 198, and ours";
}

TEST_F(OptionSet, SetsSeveral) {
  EXPECT_EQ(set({{"timeout", "5"}, {"LOGLEVEL", "Debug"}, {"lua-time-limit", "7"}}), "OK");
  EXPECT_EQ(options_.clients.idle_timeout_seconds, 5);
  EXPECT_EQ(options_.logging.level, LogLevel::kDebug);
  EXPECT_EQ(options_.scripting.busy_threshold_ms, 7);
}

TEST_F(OptionSet, AllOrNothing) {
  EXPECT_EQ(set({{"timeout", "5"}, {"save", "1 2"}, {"hz", "x"}}),
            "ERR CONFIG SET failed (possibly related to argument 'hz') - "
            "argument couldn't be parsed into an integer");
  EXPECT_EQ(get({"timeout", "save"}),
            (Settings{{"timeout", "0"}, {"save", "3600 1 300 100 60 10000"}}));
}

TEST_F(OptionSet, ErrorsOfNames) {
  EXPECT_EQ(set({{"timeout", "5"}, {"FOO", "1"}, {"daemonize", "yes"}}),
            "ERR Unknown option or number of arguments for CONFIG SET - 'FOO'");
  EXPECT_EQ(set({{"DAEMONIZE", "yes"}}),
            "ERR CONFIG SET failed (possibly related to argument 'DAEMONIZE') - "
            "can't set immutable config");
  EXPECT_EQ(set({{"slaveof", "a 1"}}),
            "ERR CONFIG SET failed (possibly related to argument 'slaveof') - "
            "can't set immutable config");
  EXPECT_EQ(set({{"port", "abc"}, {"POrt", "2"}}),
            "ERR CONFIG SET failed (possibly related to argument 'POrt') - duplicate parameter");
  EXPECT_EQ(set({{"slave-priority", "5"}, {"replica-priority", "6"}}), "OK");
  EXPECT_EQ(options_.replication.priority, 6);
  EXPECT_EQ(set({{"SLAVE-PRIORITY", "x"}}),
            "ERR CONFIG SET failed (possibly related to argument 'slave-priority') - "
            "argument couldn't be parsed into an integer");
  EXPECT_EQ(options_.clients.idle_timeout_seconds, 0);
}

TEST_F(OptionSet, ProtectedOnesNeedPermission) {
  const std::string refused =
      "ERR CONFIG SET failed (possibly related to argument 'dbfilename') - "
      "can't set protected config";
  EXPECT_EQ(set({{"dbfilename", "x.rdb"}}, {.may_set_protected = false}), refused);
  EXPECT_EQ(set({{"dbfilename", "x.rdb"}}, {.may_set_protected = true}), "OK");
  EXPECT_EQ(options_.persistence.rdb_filename, "x.rdb");
}

TEST_F(OptionSet, SomeWaitForLoading) {
  EXPECT_EQ(set({{"appendonly", "yes"}}, {.loading = true}),
            "LOADING Redis is loading the dataset in memory");
  EXPECT_EQ(set({{"timeout", "1"}}, {.loading = true}), "OK");
}

TEST_F(OptionSet, LineBreaksAreRefused) {
  const std::string text = set({{"bind", "127.0.0.1\nrequirepass"}});
  EXPECT_EQ(text.find("ERR CONFIG SET failed (possibly related to argument 'bind') - "), 0u);
  EXPECT_NE(set({{"masteruser", "a\nb"}}), "OK");
  EXPECT_NE(set({{"requirepass", "a\r\nb"}}), "OK");
}

TEST_F(OptionSet, AddressesArePlainWords) {
  EXPECT_EQ(set({{"bind", "a\v\xff"}}),
            "ERR CONFIG SET failed (possibly related to argument 'bind') - Invalid bind address");
  EXPECT_NE(set({{"bind", "'127.0.0.1"}}), "OK");
  EXPECT_EQ(set({{"bind", "-fe80::1%eth0 my-host_1.example"}}), "OK");
}

TEST_F(OptionSet, SpellingsOfLaterVersionsAreUnderstoodButNotListed) {
  EXPECT_EQ(get({"server*cpulist"}), (Settings{{"server_cpulist", ""}}));
  EXPECT_EQ(get({"server-cpulist"}), (Settings{{"server-cpulist", ""}}));
}

TEST_F(OptionSet, SeveralArgumentsInOneValue) {
  EXPECT_EQ(set({{"save", "1 2 3 4"}, {"bind", ""}}), "OK");
  EXPECT_EQ(get({"save", "bind"}), (Settings{{"save", "1 2 3 4"}, {"bind", ""}}));
  EXPECT_EQ(set({{"save", ""}}), "OK");
  EXPECT_TRUE(options_.persistence.save.empty());
  EXPECT_NE(set({{"save", "1  2"}}), "OK");
  EXPECT_NE(set({{"save", " 1 2"}}), "OK");
  EXPECT_NE(set({{"shutdown-on-sigterm", ""}}), "OK");
  EXPECT_EQ(set({{"client-output-buffer-limit", ""}}), "OK");
}

TEST_F(OptionSet, ValuesAreBroughtIntoRange) {
  EXPECT_EQ(set({{"hz", "10000"}}), "OK");
  EXPECT_EQ(options_.process.hz, 500);
  EXPECT_EQ(set({{"hz", "0"}}), "OK");
  EXPECT_EQ(options_.process.hz, 1);
}

TEST_F(OptionSet, PartsAreServedOnceAndOnlyForChanges) {
  int calls = 0;
  store_.on_change(persist::part::kSnapshots, [&]() -> Status {
    calls++;
    return {};
  });
  EXPECT_EQ(set({{"timeout", "1"}}), "OK");
  EXPECT_EQ(set({{"save", "3600 1 300 100 60 10000"}}), "OK");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(set({{"save", ""}, {"stop-writes-on-bgsave-error", "no"}}), "OK");
  EXPECT_EQ(calls, 1);
}

TEST_F(OptionSet, AChangedFileIsReadAgain) {
  int calls = 0;
  store_.on_change(part::kTlsKeys, [&]() -> Status {
    calls++;
    return {};
  });
  EXPECT_EQ(set({{"tls-cert-file", "a.pem"}}), "OK");
  EXPECT_EQ(set({{"tls-cert-file", "a.pem"}}), "OK");
  EXPECT_EQ(calls, 2);
}

TEST_F(OptionSet, APartMayCorrect) {
  store_.on_change(part::kDirectory, [this]() -> Status {
    options_.persistence.dir = "/abs/" + options_.persistence.dir;
    return {};
  });
  EXPECT_EQ(set({{"dir", "x"}}, {.may_set_protected = true}), "OK");
  EXPECT_EQ(get({"dir"}), (Settings{{"dir", "/abs/x"}}));
}

TEST_F(OptionSet, ARefusingPartTakesEverythingBack) {
  std::vector<int64_t> timeouts;
  std::vector<int64_t> ports;
  store_.on_change(part::kClients, [&]() -> Status {
    timeouts.push_back(options_.clients.idle_timeout_seconds);
    return {};
  });
  store_.on_change(part::kPort, [&]() -> Status {
    ports.push_back(options_.network.port);
    if (options_.network.port == 1) {
      return Error{"Unable to listen on this port. Check server logs."};
    }
    return {};
  });
  bool later = false;
  store_.on_change(part::kCronRate, [&]() -> Status {
    later = true;
    return {};
  });
  EXPECT_EQ(set({{"timeout", "5"}, {"port", "1"}, {"hz", "20"}}),
            "ERR CONFIG SET failed (possibly related to argument 'port') - "
            "Unable to listen on this port. Check server logs.");
  EXPECT_EQ(get({"timeout", "port", "hz"}),
            (Settings{{"timeout", "0"}, {"port", "6379"}, {"hz", "10"}}));
  EXPECT_EQ(timeouts, (std::vector<int64_t>{5, 0})) << "called again with the old value";
  EXPECT_EQ(ports, (std::vector<int64_t>{1, 6379}));
  EXPECT_FALSE(later);
}

TEST_F(OptionSet, EveryValueShownCanBeSetAgain) {
  for (const Setting& setting : get({"*"})) {
    if (server_directives().find(setting.first)->has(config::kStartupOnly)) continue;
    EXPECT_EQ(set({setting}, {.may_set_protected = true}), "OK") << setting.first;
    EXPECT_EQ(get({setting.first}), Settings{setting});
  }
}

TEST_F(OptionSet, RewriteNeedsAFile) {
  const Status status = store_.rewrite({}, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text, "ERR The server is running without a config file");
}

TEST_F(OptionSet, RewriteReplacesTheFile) {
  std::string content = "# mine\nport 1\n";
  bool there = true;
  FileAccess files;
  files.exists = [&](const std::string&) { return there; };
  files.read = [&](const std::string& path) -> Result<std::string> {
    EXPECT_EQ(path, "/etc/s.conf");
    return content;
  };
  files.replace = [&](const std::string&, std::string_view text) -> Status {
    content = text;
    return {};
  };
  store_.set_config_file("/etc/s.conf");
  EXPECT_EQ(set({{"timeout", "5"}}), "OK");
  ASSERT_TRUE(store_.rewrite(files, {}));
  EXPECT_EQ(content, "# mine\nport 6379\n# Generated by CONFIG REWRITE\ntimeout 5\n");
  there = false;
  ASSERT_TRUE(store_.rewrite(files, {}));
  EXPECT_EQ(content, "# Generated by CONFIG REWRITE\ntimeout 5\n") << "made anew";

  files.replace = [](const std::string&, std::string_view) -> Status {
    return Error{"Permission denied"};
  };
  const Status status = store_.rewrite(files, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text, "ERR Rewriting config file: Permission denied");
}

}  // namespace
}  // namespace sorrel::server
