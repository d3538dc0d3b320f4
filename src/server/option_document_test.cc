#include "server/config_document.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/config_file.h"
#include "server/option_table.h"

namespace sorrel::server {
namespace {

std::filesystem::path committed_file() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "sorrel.conf";
}

TEST(ConfigDocument, LoadsAndChangesNothing) {
  Options options;
  const Status status = load_config(documented_config(), options, {});
  ASSERT_TRUE(status) << status.error().text;
  for (const DirectiveGroup& group : directive_groups()) {
    for (const Directive& row : group.rows) {
      EXPECT_EQ(show(row, options), show(row, Options{})) << row.name;
    }
  }
}

TEST(ConfigDocument, NamesEveryDirectiveThatIsNotHidden) {
  const std::string text = documented_config();
  for (const DirectiveGroup& group : directive_groups()) {
    for (const Directive& row : group.rows) {
      const std::string plain = "\n" + std::string(row.name) + " ";
      const std::string unset = "\n# " + std::string(row.name) + " ...\n";
      const bool named =
          text.find(plain) != std::string::npos || text.find(unset) != std::string::npos;
      EXPECT_EQ(named, !row.has(kHidden)) << row.name;
    }
  }
}

// Run this test with SORREL_UPDATE=1 in the environment to write sorrel.conf anew.
TEST(ConfigDocument, CommittedFileIsUpToDate) {
  if (std::getenv("SORREL_UPDATE") != nullptr)
    std::ofstream(committed_file()) << documented_config();
  std::ifstream file(committed_file());
  ASSERT_TRUE(file) << "sorrel.conf is missing";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), documented_config());
}

}  // namespace
}  // namespace sorrel::server
