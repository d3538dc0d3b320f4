#include "server/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/numbers.h"
#include "server/info.h"

namespace sorrel::server {
namespace {

// A whole server that listens on a unix socket in a folder of its own and never runs.
class ServerTest : public ::testing::TestWithParam<int64_t> {
 protected:
  ServerTest() {
    char folder[] = "/tmp/sorrel-server-test-XXXXXX";
    folder_ = mkdtemp(folder);
    options_.network.port = 0;
    options_.network.unix_socket = folder_ + "/socket";
    options_.process.threads = GetParam();
  }
  ~ServerTest() override {
    server_.reset();
    (void)unlink((folder_ + "/socket").c_str());
    (void)rmdir(folder_.c_str());
  }
  Server& start() {
    server_ = std::make_unique<Server>(options_, clock_, log_, config::FileAccess{});
    const Status started = server_->start();
    EXPECT_TRUE(started) << started.error().text;
    return *server_;
  }

  std::string folder_;
  Options options_;
  io::SystemClock clock_;
  NullLogger log_;
  std::unique_ptr<Server> server_;
};

TEST_P(ServerTest, EveryCommandOfTheCatalogCanBeCalled) {
  // The reverse, a handler without an entry, would have kept the server from starting.
  std::string missing;
  for (const std::string& name : start().commands().unbound()) missing += name + " ";
  EXPECT_EQ(missing, "");
}

TEST_P(ServerTest, InfoShowsTheSectionsAskedFor) {
  Server& server = start();
  const auto info = [&server](std::vector<std::string_view> sections) {
    return info_text(server, sections);
  };
  EXPECT_EQ(info({"nothing"}), "");
  EXPECT_EQ(info({"KEYSPACE"}), "# Keyspace\r\n");
  EXPECT_EQ(info({"cluster", "modules", "cluster"}),
            "# Modules\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n");
  const std::string standard = info({});
  EXPECT_EQ(standard.find("# Commandstats"), std::string::npos);
  EXPECT_NE(standard.find("redis_version:7.2.4\r\n"), std::string::npos);
  const std::string all = info({"all"});
  EXPECT_NE(all.find("\r\n\r\n# Commandstats\r\n"), std::string::npos);
  EXPECT_EQ(all.find("# Debug"), std::string::npos);
  EXPECT_TRUE(info({"debug"}).starts_with("# Debug\r\n"));
}

TEST_P(ServerTest, EveryLineOfInfoIsATitleOrAField) {
  const std::string text = info_text(start(), std::vector<std::string_view>{"all", "debug"});
  size_t from = 0;
  while (from < text.size()) {
    const size_t end = text.find("\r\n", from);
    ASSERT_NE(end, std::string::npos);
    const std::string_view line = std::string_view(text).substr(from, end - from);
    EXPECT_TRUE(line.empty() || line.starts_with("# ") || line.find(':') != line.npos) << line;
    from = end + 2;
  }
}

TEST_P(ServerTest, EveryPartReceivesItsDirectives) {
  Server& server = start();
  for (const config::Directive* row : server_directives().rows()) {
    if (row->part == nullptr) continue;
    EXPECT_TRUE(server.config().has_receiver(*row->part)) << row->name << ": " << row->part->name;
  }
}

TEST_P(ServerTest, OptionsReachThoseWhoKeepACopy) {
  Server& server = start();
  const auto set = [&server](std::string name, std::string value) {
    const std::vector<config::ConfigStore::Setting> settings = {
        {std::move(name), std::move(value)}};
    return server.config().set(settings, {.may_set_protected = true});
  };
  ASSERT_TRUE(set("slowlog-log-slower-than", "7"));
  EXPECT_EQ(server.node().slowlog_slower_than_us, 7);
  ASSERT_TRUE(set("maxclients", "12"));
  EXPECT_EQ(server.sessions().options.max_clients, 12);
  ASSERT_TRUE(set("threads", to_text(GetParam())));
  const Status other = set("threads", "3");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text,
            "ERR CONFIG SET failed (possibly related to argument 'threads') - "
            "can't set immutable config");
  EXPECT_EQ(server.options().process.threads, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Threads, ServerTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sorrel::server
