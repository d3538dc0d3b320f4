#include "config/config_document.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/config_file.h"
#include "server/options.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

using config::Directive;
using config::documented_config;

std::filesystem::path committed_file() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "sorrel.conf";
}

TEST(OptionDocument, LoadsAndChangesNothing) {
  Options options;
  const Status status =
      load_config(server_directives(), documented_config(server_directives()), options, {});
  ASSERT_TRUE(status) << status.error().text;
  for (const Directive* row : server_directives().rows()) {
    EXPECT_EQ(show(*row, options), show(*row, Options{})) << row->name;
  }
}

TEST(OptionDocument, NamesEveryDirectiveThatIsNotHidden) {
  const std::string text = documented_config(server_directives());
  for (const Directive* row : server_directives().rows()) {
    const std::string plain = "\n" + std::string(row->name) + " ";
    const std::string unset = "\n# " + std::string(row->name) + " ...\n";
    const bool named =
        text.find(plain) != std::string::npos || text.find(unset) != std::string::npos;
    EXPECT_EQ(named, !row->has(config::kHidden)) << row->name;
  }
}

// Run this test with SORREL_UPDATE=1 in the environment to write sorrel.conf anew.
TEST(OptionDocument, CommittedFileIsUpToDate) {
  if (std::getenv("SORREL_UPDATE") != nullptr)
    std::ofstream(committed_file()) << documented_config(server_directives());
  std::ifstream file(committed_file());
  ASSERT_TRUE(file) << "sorrel.conf is missing";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), documented_config(server_directives()));
}

}  // namespace
}  // namespace sorrel::server
