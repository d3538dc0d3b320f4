#include "io/timer_queue.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "base/random.h"

namespace sorrel::io {
namespace {

TEST(TimerQueue, RunsInOrderOfDeadlineThenOfArrival) {
  TimerQueue queue;
  std::string ran;
  queue.add(20, [&] { ran += 'c'; });
  queue.add(10, [&] { ran += 'a'; });
  queue.add(20, [&] { ran += 'd'; });
  queue.add(15, [&] { ran += 'b'; });
  EXPECT_EQ(0, queue.run_due(9));
  EXPECT_EQ(2, queue.run_due(19));
  EXPECT_EQ("ab", ran);
  EXPECT_EQ(2, queue.run_due(20));
  EXPECT_EQ("abcd", ran);
  EXPECT_FALSE(queue.next_deadline_ns().has_value());
}

TEST(TimerQueue, CancelInsideACallbackAndOfElapsedIds) {
  TimerQueue queue;
  int ran = 0;
  TimerId victim = 0;
  TimerId self = 0;
  self = queue.add(1, [&] {
    ++ran;
    queue.cancel(victim);
    queue.cancel(self);
  });
  victim = queue.add(2, [&] { ran += 100; });
  EXPECT_EQ(1, queue.run_due(5));
  EXPECT_EQ(1, ran);
  const TimerId newer = queue.add(7, [&] { ran += 10; });
  queue.cancel(self);
  queue.cancel(victim);
  queue.cancel(0);
  queue.cancel(std::numeric_limits<TimerId>::max());
  EXPECT_EQ(1u, queue.size()) << "old ids must not hit a newer timer in the same slot";
  queue.cancel(newer);
  EXPECT_TRUE(queue.empty());
}

TEST(TimerQueue, NewcomersWaitForTheNextPass) {
  TimerQueue queue;
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    queue.add(0, again);
  };
  queue.add(0, again);
  EXPECT_EQ(1, queue.run_due(100));
  EXPECT_EQ(1, ran);
}

TEST(TimerQueue, AgreesWithASortedMapUnderRandomUse) {
  TimerQueue queue;
  Random random(42);
  std::map<std::pair<int64_t, uint64_t>, TimerId> expected;
  std::vector<uint64_t> ran;
  uint64_t next = 0;
  int64_t now = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t choice = random.below(10);
    if (choice < 6) {
      const int64_t deadline = now + static_cast<int64_t>(random.below(1000));
      const uint64_t name = next++;
      expected[{deadline, name}] = queue.add(deadline, [&ran, name] { ran.push_back(name); });
    } else if (choice < 9 && !expected.empty()) {
      auto victim = expected.begin();
      std::advance(victim, random.below(std::min<size_t>(expected.size(), 50)));
      queue.cancel(victim->second);
      expected.erase(victim);
    } else {
      now += static_cast<int64_t>(random.below(100));
      std::vector<uint64_t> want;
      while (!expected.empty() && expected.begin()->first.first <= now) {
        want.push_back(expected.begin()->first.second);
        expected.erase(expected.begin());
      }
      ran.clear();
      queue.run_due(now);
      ASSERT_EQ(want, ran);
    }
    ASSERT_EQ(expected.size(), queue.size());
  }
}

TEST(SleepMs, RoundsUpAndTakesTheSmaller) {
  constexpr int64_t kMs = 1'000'000;
  EXPECT_EQ(-1, sleep_ms(-1, std::nullopt, 0));
  EXPECT_EQ(7, sleep_ms(7, std::nullopt, 0));
  EXPECT_EQ(1, sleep_ms(-1, 1, 0));
  EXPECT_EQ(1, sleep_ms(-1, kMs, 0));
  EXPECT_EQ(2, sleep_ms(-1, kMs + 1, 0));
  EXPECT_EQ(5, sleep_ms(5, 9 * kMs, 0));
  EXPECT_EQ(0, sleep_ms(5, 9 * kMs, 9 * kMs));
  EXPECT_EQ(0, sleep_ms(0, 9 * kMs, 0));
  EXPECT_EQ(std::numeric_limits<int>::max(), sleep_ms(-1, deadline_after(0, INT64_MAX), 0));
  EXPECT_EQ(5, deadline_after(5, -3));
}

}  // namespace
}  // namespace sorrel::io
