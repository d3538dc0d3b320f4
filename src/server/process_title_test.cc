#include "server/process_title.h"

#include <gtest/gtest.h>

namespace sorrel::server {
namespace {

TEST(ProcessTitleText, FillsTheTemplate) {
  Options options;
  options.network.port = 7000;
  options.network.bind = {"127.0.0.1", "::1"};
  EXPECT_EQ(process_title(options, "sorrel-server", ""), "sorrel-server 127.0.0.1:7000");
  options.cluster.enabled = true;
  EXPECT_EQ(process_title(options, "sorrel-server", ""), "sorrel-server 127.0.0.1:7000 [cluster]");
  options.network.bind.clear();
  options.network.unix_socket = "/run/s";
  options.process.proc_title_template =
      "{{x} {title} {listen-addr} {port} {tls-port} {unixsocket} {config-file} ";
  EXPECT_EQ(process_title(options, "me", "/etc/s.conf"), "{x} me *:7000 7000 0 /run/s /etc/s.conf");
  options.network.port = 0;
  options.process.proc_title_template = "{listen-addr}";
  EXPECT_EQ(process_title(options, "me", ""), "/run/s");
}

}  // namespace
}  // namespace sorrel::server
