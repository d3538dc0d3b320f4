#include "io/cpu_mask.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <thread>
#include <vector>

namespace sorrel::io {
namespace {

CpuMask parsed(std::string_view text) {
  const Result<CpuMask> mask = CpuMask::parse(text);
  EXPECT_TRUE(mask) << text << ": " << mask.error().text;
  return mask ? *mask : CpuMask{};
}

TEST(CpuMask, ReadsNumbersRangesAndSteps) {
  EXPECT_TRUE(parsed("").empty());
  EXPECT_FALSE(parsed("0").empty());
  EXPECT_EQ(parsed("0-3"), parsed("3,2,1,0"));
  EXPECT_EQ(parsed("0-7:2"), parsed("0,2,4,6"));
  EXPECT_EQ(parsed("1,10-11"), parsed("1,10,11"));
  EXPECT_EQ(parsed("5-5:100000000"), parsed("5"));
  EXPECT_EQ(parsed("8191"), parsed("8191-8191"));
  EXPECT_NE(parsed("64"), parsed("0"));
}

TEST(CpuMask, RefusesWhatIsNoList) {
  for (const char* text :
       {" ", "a", "0-x", "0-", "-1", "3-1", "0,", ",0", "0,,1", "0-3:", "0-3:0", "0-3:x", "1:2",
        "0 1", "+1", "8192", "0-99999999999", "99999999999999999999", "0-18446744073709551615"}) {
    EXPECT_FALSE(CpuMask::parse(text)) << text;
  }
}

TEST(CpuMask, AppliesToTheCallingThreadOnly) {
  const CpuMask before = CpuMask::of_this_thread();
  ASSERT_FALSE(before.empty());
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) first++;
  std::thread([&] {
    const CpuMask one = parsed(std::to_string(first));
    EXPECT_TRUE(one.apply());
    EXPECT_EQ(CpuMask::of_this_thread(), one);
    EXPECT_TRUE(CpuMask{}.apply());
    EXPECT_EQ(CpuMask::of_this_thread(), one) << "no opinion changes nothing";
    EXPECT_TRUE(before.apply());
    EXPECT_EQ(CpuMask::of_this_thread(), before);
  }).join();
  EXPECT_EQ(CpuMask::of_this_thread(), before);
}

TEST(CpuMask, AProcessorThatIsNotThereIsAnErrorAndChangesNothing) {
  const CpuMask before = CpuMask::of_this_thread();
  const Status applied = parsed("8191").apply();
  ASSERT_FALSE(applied);
  EXPECT_NE(applied.error().text.find("sched_setaffinity"), std::string::npos);
  EXPECT_EQ(CpuMask::of_this_thread(), before);
}

}  // namespace
}  // namespace sorrel::io
