#include "io/mapped_file.h"

#include <gtest/gtest.h>

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
    EXPECT_EQ(file->bytes(), bytes);  // they come back when they are asked for
  }
  ASSERT_TRUE(write_file_atomically(path, ""));
  auto empty = MappedFile::open(path);
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->bytes().empty());
  ASSERT_TRUE(remove_file(path));
}

TEST(MappedFile, WhatIsNoFileIsRefused) {
  EXPECT_FALSE(MappedFile::open("/nowhere/at/all"));
  EXPECT_FALSE(MappedFile::open("/tmp"));
}

}  // namespace
}  // namespace sorrel::io
