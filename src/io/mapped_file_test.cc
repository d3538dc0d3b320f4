#include "io/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/files.h"

namespace sorrel::io {
namespace {

TEST(MappedFile, ShowsTheBytesOfAFile) {
  const std::string path = ::testing::TempDir() + "/sorrel-mapped-file-test";
  const std::string bytes(3'000'000, 'x');
  ASSERT_TRUE(write_file_atomically(path, bytes));
  {
    auto file = MappedFile::open(path);
    ASSERT_TRUE(file) << file.error().text;
    EXPECT_EQ(file->bytes(), bytes);
    file->release_front(2'500'000);
    EXPECT_EQ(file->bytes(), bytes);  // released pages are paged in again
  }
  ASSERT_TRUE(write_file_atomically(path, ""));
  auto empty = MappedFile::open(path);
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->bytes().empty());
  ASSERT_TRUE(remove_file(path));
}

TEST(MappedFile, ATruncatedPartReadsAsZeros) {
  const std::string path = ::testing::TempDir() + "/sorrel-mapped-file-cut";
  ASSERT_TRUE(write_file_atomically(path, std::string(300'000, 'x')));
  const auto file = MappedFile::open(path, MappedFile::Missing::kReadsZeros);
  ASSERT_TRUE(file) << file.error().text;
  const std::string_view bytes = file->bytes();
  EXPECT_EQ(bytes[250'000], 'x');
  EXPECT_TRUE(file->check());
  ASSERT_EQ(truncate(path.c_str(), 100'000), 0);
  EXPECT_EQ(bytes[99'999], 'x');
  EXPECT_EQ(bytes[250'000], '\0');
  ASSERT_FALSE(file->check());
  EXPECT_EQ(file->check().error().text,
            "offset 100000: bytes that were there when the file was opened can't be read any more");
  EXPECT_EQ(bytes[299'999], '\0');
  EXPECT_EQ(bytes[0], 'x');
  ASSERT_TRUE(remove_file(path));
}

TEST(MappedFile, OnlyRegularFilesAreAccepted) {
  EXPECT_FALSE(MappedFile::open("/nowhere/at/all"));
  EXPECT_FALSE(MappedFile::open("/tmp"));
}

}  // namespace
}  // namespace sorrel::io
