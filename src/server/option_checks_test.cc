#include "server/option_checks.h"

#include <gtest/gtest.h>

#include <string>

namespace sorrel::server {
namespace {

std::string refusal(const Status& status) {
  return status ? "" : status.error().text;
}

TEST(OptionChecks, FileNames) {
  EXPECT_TRUE(check_dbfilename(""));
  EXPECT_EQ(refusal(check_dbfilename("a/b")), "dbfilename can't be a path, just a filename");
  EXPECT_EQ(refusal(check_appendfilename("")), "appendfilename can't be empty");
  EXPECT_EQ(refusal(check_appendfilename("/a")), "appendfilename can't be a path, just a filename");
  EXPECT_EQ(refusal(check_appenddirname("")), "appenddirname can't be empty");
  EXPECT_EQ(refusal(check_appenddirname("a/")), "appenddirname can't be a path, just a dirname");
}

TEST(OptionChecks, ClusterNames) {
  EXPECT_TRUE(check_announced_hostname("node-1.example.COM"));
  EXPECT_EQ(refusal(check_announced_hostname("a_b")),
            "Hostnames may only contain alphanumeric characters, hyphens or dots");
  EXPECT_TRUE(check_announced_hostname(std::string(255, 'a')));
  EXPECT_EQ(refusal(check_announced_hostname(std::string(256, 'a'))),
            "Hostnames must be less than 256 characters");
  EXPECT_TRUE(check_announced_nodename("shard-1 a"));
  EXPECT_EQ(refusal(check_announced_nodename("a:b")),
            "Announced human node name contained invalid character");
}

TEST(OptionChecks, ProcessTitle) {
  for (const char* good : {"{title} {listen-addr} {server-mode}", "{{x {port}", "{tls-port}",
                           "{config-file}{unixsocket}", "redis"}) {
    EXPECT_TRUE(check_proc_title_template(good)) << good;
  }
  for (const char* bad : {"", "  ", "{foo}", "{port", "{unixsocket}", "{title}", "{"}) {
    EXPECT_EQ(refusal(check_proc_title_template(bad)),
              "template format is invalid or contains unknown variables")
        << bad;
  }
}

}  // namespace
}  // namespace sorrel::server
