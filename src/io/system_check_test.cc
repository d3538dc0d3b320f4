#include "io/system_check.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace sorrel::io {
namespace {

using Verdict = SystemFinding::Verdict;

// A folder in the place of /, with the files of the test.
class SystemCheckTest : public ::testing::Test {
 protected:
  SystemCheckTest() {
    char folder[] = "/tmp/sorrel-system-check-XXXXXX";
    root_ = mkdtemp(folder);
  }
  ~SystemCheckTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }

  std::string root_;
};

TEST_F(SystemCheckTest, UnreadableSettingsAreSkipped) {
  EXPECT_EQ(check_slow_clocksource(root_).verdict, Verdict::kSkipped);
  EXPECT_EQ(check_xen_clocksource(root_).verdict, Verdict::kSkipped);
  EXPECT_EQ(check_overcommit(root_).verdict, Verdict::kSkipped);
  EXPECT_EQ(check_huge_pages(root_).verdict, Verdict::kSkipped);
  EXPECT_EQ(longest_backlog(root_), 0);
}

TEST_F(SystemCheckTest, OvercommitMustBeOne) {
  const std::string path = "/proc/sys/vm/overcommit_memory";
  write(path, "1\n");
  EXPECT_EQ(check_overcommit(root_).verdict, Verdict::kGood);
  for (const char* mode : {"0\n", "2\n"}) {
    write(path, mode);
    const SystemFinding found = check_overcommit(root_);
    EXPECT_EQ(found.verdict, Verdict::kWarning);
    EXPECT_NE(found.advice.find("vm.overcommit_memory = 1"), std::string::npos);
  }
  write(path, "x");
  EXPECT_EQ(check_overcommit(root_).verdict, Verdict::kSkipped);
}

TEST_F(SystemCheckTest, HugePagesMustBeAskedFor) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  write(path, "always [madvise] never\n");
  EXPECT_EQ(check_huge_pages(root_).verdict, Verdict::kGood);
  write(path, "always madvise [never]\n");
  EXPECT_EQ(check_huge_pages(root_).verdict, Verdict::kGood);
  write(path, "[always] madvise never\n");
  EXPECT_EQ(check_huge_pages(root_).verdict, Verdict::kWarning);
}

TEST_F(SystemCheckTest, Clocksources) {
  const std::string path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  write(path, "tsc\n");
  EXPECT_EQ(check_xen_clocksource(root_).verdict, Verdict::kGood);
  write(path, "xen\n");
  EXPECT_EQ(check_xen_clocksource(root_).verdict, Verdict::kWarning);
  // With any clock source the measurement finishes.
  EXPECT_NE(check_slow_clocksource(root_).verdict, Verdict::kSkipped);
}

TEST_F(SystemCheckTest, BacklogLimitIsRead) {
  write("/proc/sys/net/core/somaxconn", "128\n");
  EXPECT_EQ(longest_backlog(root_), 128);
}

TEST_F(SystemCheckTest, ThisKernelKeepsPagesWrittenToAfterMadviseFree) {
  EXPECT_EQ(check_madvise_free().verdict, Verdict::kGood);
}

TEST_F(SystemCheckTest, ChecksHaveTheNamesThatProgramsLookFor) {
  std::set<std::string_view> names;
  for (const SystemCheck& check : system_checks()) names.insert(check.name);
  for (const char* name : {"slow-clocksource", "xen-clocksource", "overcommit", "THP"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace sorrel::io
