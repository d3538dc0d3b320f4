#include "persist/commit_group.h"

#include <gtest/gtest.h>

namespace sorrel::persist {
namespace {

constexpr int64_t kMs = 1'000'000;

// A disk whose syncs take four milliseconds, and writers who have one effect each under way.
class CommitGroupTest : public ::testing::Test {
 protected:
  // A sync of all that came; `meanwhile` come while it lasts.
  void sync(uint64_t meanwhile) {
    group.begin_sync(seen, now_ns);
    now_ns += 4 * kMs;
    seen += meanwhile;
    group.end_sync(seen, now_ns);
  }
  bool waits() const { return group.wait_until(seen) > now_ns; }

  CommitGroup group;
  uint64_t seen = 0;
  int64_t now_ns = 1'000 * kMs;
};

TEST_F(CommitGroupTest, WaitsForThoseWhoWereAnswered) {
  seen = 20;
  sync(30);
  EXPECT_TRUE(waits());
  EXPECT_FALSE(group.just_complete(seen));
  seen += 20;
  EXPECT_FALSE(waits());
  EXPECT_TRUE(group.just_complete(seen));
  EXPECT_FALSE(group.just_complete(seen));  // said once
  sync(0);
  EXPECT_TRUE(waits());  // for all fifty
  seen += 40;
  EXPECT_TRUE(waits());
  seen += 10;
  EXPECT_FALSE(waits());
}

TEST_F(CommitGroupTest, WaitsNoLongerThanHalfASync) {
  for (int i = 0; i < 100; i++) {
    seen += 50;
    sync(0);
    seen += 50;  // in time
    group.begin_sync(seen, now_ns);
    now_ns += 4 * kMs;
    group.end_sync(seen, now_ns);
  }
  EXPECT_TRUE(waits());
  now_ns += 2 * kMs;
  EXPECT_FALSE(waits());
}

TEST_F(CommitGroupTest, DoesNotWaitForAFew) {
  seen = CommitGroup::kCrowd - 1;
  sync(0);
  EXPECT_FALSE(waits());
  seen += 1;
  sync(0);
  EXPECT_FALSE(waits());
}

TEST_F(CommitGroupTest, IsTriedMoreRarelyWhenNobodyComesBack) {
  int waited = 0;
  for (int i = 0; i < 4000; i++) {
    sync(50);  // others come, while it lasts
    if (!waits()) continue;
    waited++;
    now_ns += 2 * kMs;  // in vain
  }
  EXPECT_GE(waited, 5);
  EXPECT_LE(waited, 16);
  // As soon as they do, it is tried each time again.
  while (!waits()) sync(50);
  seen += 50;
  for (int i = 0; i < 10; i++) {
    sync(0);
    EXPECT_TRUE(waits());
    seen += 100;  // those who were answered, and the others
  }
}

}  // namespace
}  // namespace sorrel::persist
