#include "config/directive_effect.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/config_document.h"
#include "config/config_store.h"
#include "server/options.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

using namespace config;

class Lines final : public Logger {
 public:
  void write(LogLevel level, std::string_view message) override {
    EXPECT_EQ(level, LogLevel::kWarning);
    lines.emplace_back(message);
  }
  void write_raw(std::string_view) override {}
  std::vector<std::string> lines;
};

void assign_named(std::string_view name, Options& options, std::vector<std::string> values) {
  const Directive* row = server_directives().find(name);
  ASSERT_NE(row, nullptr) << name;
  const Status status = assign(*row, options, values);
  ASSERT_TRUE(status) << status.error().text;
}

TEST(DirectiveEffect, DefaultsAreNotWarnedOf) {
  Lines log;
  NoEffectWarnings warnings(server_directives(), log);
  warnings.warn(Options{});
  EXPECT_TRUE(log.lines.empty());
}

TEST(DirectiveEffect, EachIsWarnedOfOnce) {
  Lines log;
  NoEffectWarnings warnings(server_directives(), log);
  Options options;
  assign_named("slave-priority", options, {"7"});
  assign_named("activedefrag", options, {"yes"});
  assign_named("timeout", options, {"7"});
  warnings.warn(options);
  warnings.warn(options);
  const std::vector<std::string> wanted = {
      "Directive 'activedefrag' is accepted but has no effect",
      "Directive 'replica-priority' is accepted but has no effect yet"};
  EXPECT_EQ(log.lines, wanted);
  assign_named("repl-timeout", options, {"7"});
  warnings.warn(options);
  EXPECT_EQ(log.lines.size(), 3u);
}

TEST(DirectiveEffect, WhatIsUnsupportedIsNamed) {
  EXPECT_TRUE(check_supported(server_directives(), Options{}));
  Options options;
  assign_named("replicaof", options, {"no", "one"});
  assign_named("cluster-enabled", options, {"no"});
  assign_named("min-replicas-to-write", options, {"0"});
  EXPECT_TRUE(check_supported(server_directives(), options));
  for (const auto& [name, values, text] :
       std::vector<std::tuple<std::string, std::vector<std::string>, std::string>>{
           {"slaveof", {"host", "6379"}, "Directive 'replicaof' is not supported yet"},
           {"cluster-enabled", {"yes"}, "Directive 'cluster-enabled' is not supported yet"},
           {"min-slaves-to-write", {"1"}, "Directive 'min-replicas-to-write' is not supported yet"},
       }) {
    Options asked;
    assign_named(name, asked, values);
    const Status status = check_supported(server_directives(), asked);
    ASSERT_FALSE(status) << name;
    EXPECT_TRUE(status.error().text.starts_with(text)) << status.error().text;
  }
}

TEST(DirectiveEffect, ConfigSetRefusesWhatIsUnsupportedAndChangesNothing) {
  Options options;
  ConfigStore store(server_directives(), options);
  const std::vector<ConfigStore::Setting> settings = {{"timeout", "7"},
                                                      {"min-slaves-to-write", "1"}};
  const Status status = store.set(settings, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text,
            "ERR CONFIG SET failed (possibly related to argument 'min-slaves-to-write') - "
            "not supported yet, it must stay at its default '0'");
  EXPECT_EQ(options.clients.idle_timeout_seconds, 0);
  EXPECT_EQ(options.replication.min_replicas_to_write, 0);
  const std::vector<ConfigStore::Setting> same = {{"min-replicas-to-write", "0"}};
  EXPECT_TRUE(store.set(same, {}));
}

TEST(DirectiveEffect, AtMostOneFlag) {
  for (const Directive* row : server_directives().rows()) {
    EXPECT_LE(row->has(kNoEffectYet) + row->has(kNeedless) + row->has(kUnsupported), 1)
        << row->name;
  }
}

TEST(DirectiveEffect, TheDocumentShowsItAtTheDirective) {
  const std::string text = documented_config(server_directives());
  const auto comment_of = [&text](std::string_view line) {
    const size_t at = text.find("\n" + std::string(line));
    EXPECT_NE(at, std::string::npos) << line;
    const size_t begin = text.rfind("\n\n", at);
    std::string comment = text.substr(begin, at - begin);
    for (size_t i; (i = comment.find("\n# ")) != std::string::npos;) comment.replace(i, 3, " ");
    return comment;
  };
  const auto has = [&](std::string_view line, std::string_view words) {
    return comment_of(line).find(words) != std::string::npos;
  };
  EXPECT_TRUE(has("repl-timeout 60", "Accepted, but has no effect yet."));
  EXPECT_TRUE(has("activedefrag no", "Accepted, but has no effect."));
  EXPECT_TRUE(has("cluster-enabled no", "Not supported yet: any other value is refused."));
  EXPECT_FALSE(has("timeout 0", "effect"));
}

}  // namespace
}  // namespace sorrel::server
