#include "config/config_disk.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "config/config_file.h"
#include "config/sample_options.h"
#include "io/files.h"

namespace sorrel::config {
namespace {

class ConfigDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = std::filesystem::current_path();
    std::string pattern = (std::filesystem::temp_directory_path() / "config_disk_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = std::filesystem::canonical(pattern);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path before_;
  std::filesystem::path folder_;
  FileAccess files_ = disk_files();
};

TEST_F(ConfigDisk, ReadsAndReplaces) {
  EXPECT_FALSE(files_.exists(at("a.conf")));
  ASSERT_TRUE(files_.replace(at("a.conf"), "port 1\n"));
  EXPECT_TRUE(files_.exists(at("a.conf")));
  const Result<std::string> text = files_.read(at("a.conf"));
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "port 1\n");
}

TEST_F(ConfigDisk, ErrorsAreTheSystemsTextOnly) {
  const Result<std::string> text = files_.read(at("none"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().text, "No such file or directory");
  const Result<std::string> entered = files_.change_dir(at("none"));
  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().text, "No such file or directory");
  const Status status = files_.replace(at("none/a.conf"), "");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text, "No such file or directory");
}

TEST_F(ConfigDisk, LoadsWithIncludesRelativeToDir) {
  ASSERT_TRUE(std::filesystem::create_directory(folder_ / "conf.d"));
  ASSERT_TRUE(io::write_file_atomically(at("conf.d/1.conf"), "port 1\npool-size 20"));
  ASSERT_TRUE(io::write_file_atomically(at("conf.d/2.conf"), "port 2\n"));
  LoadEnvironment environment;
  environment.files = files_;
  SampleOptions options;
  const Status status =
      load_config(sample_table(), "folder " + folder_.string() + "\ninclude conf.d/*.conf\n",
                  options, environment);
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_EQ(options.listen.port, 2);
  EXPECT_EQ(options.pool.size, 20);
  EXPECT_EQ(options.folder, folder_.string());
}

}  // namespace
}  // namespace sorrel::config
