#include "persist/loader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/clock.h"
#include "rdb/file_fixture.h"

namespace sorrel::persist {
namespace {

using rdb::testing::FileBuilder;
using rdb::testing::text_value;

class Lines final : public Logger {
 public:
  void write(LogLevel, std::string_view message) override { all.emplace_back(message); }
  void write_raw(std::string_view message) override { all.emplace_back(message); }
  bool have(std::string_view line) const {
    return std::find(all.begin(), all.end(), line) != all.end();
  }

  std::vector<std::string> all;
};

class LoaderTest : public ::testing::Test {
 protected:
  Status load(const std::string& bytes) {
    Loader loader(keyspace_, clock_, lines_, progress_);
    const auto loaded = loader.load(bytes, {.stands_alone = true}, {});
    return loaded ? Status() : Status(loaded.error());
  }

  ManualClock clock_;  // 1'700'000'000 seconds after 1970
  Lines lines_;
  LoadProgress progress_;
  Keyspace keyspace_{KeyspaceOptions{}, nullptr};
};

TEST_F(LoaderTest, TellsTheAgeOfAFileWhateverItSays) {
  const std::pair<const char*, const char*> cases[] = {
      {"1699999990", "RDB age 10 seconds"},
      {"1700000099", "RDB age 0 seconds"},
      {"9223372036854775807", "RDB age 0 seconds"},
      {"-1", "RDB age 1700000000 seconds"},
      {"-9223372036854775808", "RDB age 1700000000 seconds"},
  };
  for (const auto& [moment, line] : cases) {
    lines_.all.clear();
    ASSERT_TRUE(load(FileBuilder("REDIS0011").aux("ctime", moment).end()).ok());
    EXPECT_TRUE(lines_.have(line)) << moment;
  }
}

// A file can say so much of itself that the disk of the log would be full of it.
TEST_F(LoaderTest, DoesNotRepeatAllThatAFileSaysOfItself) {
  FileBuilder file("REDIS0011");
  for (int i = 0; i < 10'000; i++) file.aux(i % 2 == 0 ? "redis-ver" : "%note", "x");
  file.aux("used-mem", "17").database(0).key("k", text_value("v"));
  ASSERT_TRUE(load(file.end()).ok());
  EXPECT_LT(lines_.all.size(), 100u);
  EXPECT_EQ(progress_.used_memory, 17u);
  EXPECT_EQ(progress_.keys, 1u);
}

}  // namespace
}  // namespace sorrel::persist
