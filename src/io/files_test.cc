#include "io/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

namespace sorrel::io {
namespace {

namespace fs = std::filesystem;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("sorrel_files_" + std::to_string(getpid()));
    fs::remove_all(folder);
    ASSERT_TRUE(make_directory(folder).ok());
    path = folder / "file";
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string contents(const std::string& of) {
    Result<std::string> bytes = read_file(of, 1 << 20);
    return bytes ? *bytes : "error: " + bytes.error().text;
  }
  static int mode_of(const std::string& file) {
    struct stat status {};
    return stat(file.c_str(), &status) == 0 ? static_cast<int>(status.st_mode & 0777) : -1;
  }
  size_t file_count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
  }

  fs::path folder;
  std::string path;
};

TEST_F(FilesTest, ReadIsBounded) {
  ASSERT_TRUE(write_file_atomically(path, std::string(100'000, 'x')).ok());
  EXPECT_EQ(100'000u, read_file(path, 100'000)->size());
  EXPECT_EQ(100'000u, read_file(path, std::numeric_limits<size_t>::max())->size());
  const Result<std::string> larger = read_file(path, 99'999);
  ASSERT_FALSE(larger.ok());
  EXPECT_EQ("read " + path + ": File too large", larger.error().text);
  EXPECT_FALSE(read_file("/dev/zero", 1000).ok());
  EXPECT_GT(read_file("/proc/self/statm", 4096)->size(), 0u) << "files without a size are read too";
  EXPECT_EQ("open /nowhere/x: No such file or directory", read_file("/nowhere/x", 9).error().text);
  ASSERT_TRUE(write_file_atomically(path, "").ok());
  EXPECT_EQ("", *read_file(path, 0));
}

TEST_F(FilesTest, AtomicWriteReplacesAndLeavesNothingBehind) {
  ASSERT_TRUE(write_file_atomically(path, "old", 0600).ok());
  EXPECT_EQ(0600, mode_of(path));
  ASSERT_TRUE(write_file_atomically(path, "new", 0644).ok());
  EXPECT_EQ("new", contents(path));
  EXPECT_EQ(0600, mode_of(path)) << "a secret stays as secret as it was";
  EXPECT_EQ(1u, file_count());
}

TEST_F(FilesTest, AtomicWriteKeepsALink) {
  const std::string link = folder / "link";
  ASSERT_TRUE(write_file_atomically(path, "old").ok());
  fs::create_symlink(path, link);
  ASSERT_TRUE(write_file_atomically(link, "new").ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ("new", contents(path));
}

TEST_F(FilesTest, FailedAtomicWriteKeepsTheOldFile) {
  const std::string taken = folder / "taken";
  ASSERT_TRUE(make_directory(taken).ok());
  ASSERT_TRUE(write_file_atomically(taken + "/inside", "x").ok());
  EXPECT_FALSE(write_file_atomically(taken, "x").ok()) << "a folder cannot be replaced by a file";
  EXPECT_EQ(1u, file_count());
  EXPECT_FALSE(write_file_atomically(folder / "missing" / "x", "x").ok());
}

TEST_F(FilesTest, AppendFileGrowsAndShrinks) {
  {
    Result<AppendFile> file = AppendFile::open(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->append("hello ").ok());
    ASSERT_TRUE(file->append("wor").ok());
    EXPECT_EQ(9u, file->size());
    ASSERT_TRUE(file->truncate(6).ok());
    ASSERT_TRUE(file->append("world").ok());
    ASSERT_TRUE(file->sync().ok());
  }
  Result<AppendFile> again = AppendFile::open(path);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(11u, again->size());
  ASSERT_TRUE(again->append("!").ok());
  EXPECT_EQ("hello world!", contents(path));
}

TEST_F(FilesTest, AppendToAFullDeviceIsAnError) {
  Result<AppendFile> file = AppendFile::open("/dev/full");
  ASSERT_TRUE(file.ok());
  const Status appended = file->append("x");
  ASSERT_FALSE(appended.ok());
  EXPECT_EQ("write /dev/full: No space left on device", appended.error().text);
}

TEST_F(FilesTest, GlobIsSortedAndAPlainNameIsItself) {
  for (const char* name : {"b.conf", "a.conf", "c.txt"}) {
    ASSERT_TRUE(write_file_atomically(folder / name, "").ok());
  }
  const std::string base = folder.string();
  EXPECT_EQ((std::vector<std::string>{base + "/a.conf", base + "/b.conf"}),
            expand_glob(base + "/*.conf"));
  EXPECT_TRUE(expand_glob(base + "/*.none").empty());
  EXPECT_EQ((std::vector<std::string>{"/no/such"}), expand_glob("/no/such"));
}

TEST_F(FilesTest, FoldersAndPaths) {
  const std::string before = *current_directory();
  ASSERT_TRUE(change_directory(folder).ok());
  const std::string here = *current_directory();
  EXPECT_EQ(here + "/x/z", absolute_path("./x/y/../z"));
  EXPECT_EQ("/etc/x", absolute_path("/etc/x"));
  ASSERT_TRUE(change_directory(before).ok());
  EXPECT_EQ("chdir /no/such: No such file or directory", change_directory("/no/such").error().text);
  EXPECT_TRUE(make_directory(folder).ok()) << "exists already";
  ASSERT_TRUE(write_file_atomically(path, "").ok());
  EXPECT_FALSE(make_directory(path).ok()) << "is a file";
}

TEST_F(FilesTest, Pidfile) {
  ASSERT_TRUE(write_pidfile(path).ok());
  EXPECT_EQ(std::to_string(getpid()) + "\n", contents(path));
  EXPECT_TRUE(file_exists(path));
  EXPECT_TRUE(remove_file(path).ok());
  EXPECT_TRUE(remove_file(path).ok()) << "gone already";
  EXPECT_FALSE(file_exists(path));
}

}  // namespace
}  // namespace sorrel::io
