#include "server/directive_effect.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/config_document.h"
#include "server/config_store.h"

namespace sorrel::server {
namespace {

class Lines final : public Logger {
 public:
  void write(LogLevel level, std::string_view message) override {
    EXPECT_EQ(level, LogLevel::kWarning);
    lines.emplace_back(message);
  }
  void write_raw(std::string_view) override {}
  std::vector<std::string> lines;
};

void assign(std::string_view name, Options& options, std::vector<std::string> values) {
  const Directive* row = find_directive(name);
  ASSERT_NE(row, nullptr) << name;
  const Status status = assign(*row, options, values);
  ASSERT_TRUE(status) << status.error().text;
}

TEST(DirectiveEffect, DefaultsAreNotWarnedOf) {
  Lines log;
  NoEffectWarnings warnings(log);
  warnings.warn(Options{});
  EXPECT_TRUE(log.lines.empty());
}

TEST(DirectiveEffect, EachIsWarnedOfOnce) {
  Lines log;
  NoEffectWarnings warnings(log);
  Options options;
  assign("slave-priority", options, {"7"});
  assign("activedefrag", options, {"yes"});
  assign("timeout", options, {"7"});
  warnings.warn(options);
  warnings.warn(options);
  const std::vector<std::string> wanted = {
      "Directive 'activedefrag' is accepted but has no effect",
      "Directive 'replica-priority' is accepted but has no effect yet"};
  EXPECT_EQ(log.lines, wanted);
  assign("repl-timeout", options, {"7"});
  warnings.warn(options);
  EXPECT_EQ(log.lines.size(), 3u);
}

TEST(DirectiveEffect, WhatIsUnsupportedIsNamed) {
  EXPECT_TRUE(check_supported(Options{}));
  Options options;
  assign("replicaof", options, {"no", "one"});
  assign("cluster-enabled", options, {"no"});
  assign("min-replicas-to-write", options, {"0"});
  EXPECT_TRUE(check_supported(options));
  for (const auto& [name, values, text] :
       std::vector<std::tuple<std::string, std::vector<std::string>, std::string>>{
           {"slaveof", {"host", "6379"}, "Directive 'replicaof' is not supported yet"},
           {"cluster-enabled", {"yes"}, "Directive 'cluster-enabled' is not supported yet"},
           {"min-slaves-to-write", {"1"}, "Directive 'min-replicas-to-write' is not supported yet"},
       }) {
    Options asked;
    assign(name, asked, values);
    const Status status = check_supported(asked);
    ASSERT_FALSE(status) << name;
    EXPECT_TRUE(status.error().text.starts_with(text)) << status.error().text;
  }
}

TEST(DirectiveEffect, ConfigSetRefusesWhatIsUnsupportedAndChangesNothing) {
  Options options;
  ConfigStore store(options);
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
  for (const DirectiveGroup& group : directive_groups()) {
    for (const Directive& row : group.rows) {
      EXPECT_LE(row.has(kNoEffectYet) + row.has(kNeedless) + row.has(kUnsupported), 1) << row.name;
    }
  }
}

TEST(DirectiveEffect, TheDocumentShowsItAtTheDirective) {
  const std::string text = documented_config();
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
