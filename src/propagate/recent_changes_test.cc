#include "propagate/recent_changes.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "base/random.h"

namespace sorrel {
namespace {

TEST(RecentChangesTest, KnowsTheLastChangeOfAKey) {
  RecentChanges changes;
  EXPECT_EQ(changes.last_of(0), 0u);
  EXPECT_EQ(changes.last_of(77), 0u);
  changes.note(77, 5, 0);
  changes.note(0, 6, 0);
  EXPECT_EQ(changes.last_of(77), 5u);
  EXPECT_EQ(changes.last_of(0), 6u);
  changes.note(77, 9, 0);
  changes.note(77, 8, 0);  // arrives later, though it was drawn sooner
  EXPECT_EQ(changes.last_of(77), 9u);
  changes.note(78, RecentChanges::kMostNumber, 0);
  EXPECT_EQ(changes.last_of(78), RecentChanges::kMostNumber);
}

TEST(RecentChangesTest, NothingIsForgottenBeforeItIsDurable) {
  RecentChanges changes;
  Random random(1);
  std::map<uint64_t, uint64_t> last;  // by hash
  uint64_t durable = 0;
  for (uint64_t number = 1; number <= 200'000; number++) {
    // Few rows and tags, so that collisions of every kind occur.
    const uint64_t hash = random.below(4) | random.below(12) << 48;
    changes.note(hash, number, durable);
    last[hash] = number;
    if (random.below(20) == 0) durable += random.below(number - durable + 1);
    const uint64_t asked = random.below(4) | random.below(12) << 48;
    const auto known = last.find(asked);
    if (known == last.end() || known->second <= durable) continue;
    ASSERT_GE(changes.last_of(asked), known->second);
  }
}

TEST(RecentChangesTest, OtherKeysAreRarelyTakenForChangedOnes) {
  RecentChanges changes;
  Random random(2);
  uint64_t number = 0;
  uint64_t durable = 0;
  uint64_t wrong = 0;
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 3200; i++) changes.note(random.next(), ++number, durable);
    for (int i = 0; i < 3200; i++) wrong += changes.last_of(random.next()) > durable;
    durable = number;
  }
  EXPECT_LT(wrong, 50u * 3200 / 2000);
}

TEST(RecentChangesTest, ThreadsDoNotLoseEachOthersChanges) {
  RecentChanges changes;
  changes.expect_several_threads();
  constexpr uint64_t kEach = 100'000;
  std::atomic<uint64_t> drawn{0};
  std::atomic<uint64_t> lost{0};
  std::vector<std::thread> threads;
  for (uint64_t mine = 0; mine < 4; mine++) {
    threads.emplace_back([&, mine] {
      for (uint64_t i = 0; i < kEach; i++) {
        // Each thread has a key of its own, in a row that they share.
        const uint64_t hash = i % 2 | (4 * (i % 5) + mine) << 48;
        const uint64_t number = drawn.fetch_add(1) + 1;
        changes.note(hash, number, number > 20 ? number - 20 : 0);
        // Another thread may replace the number only after it became durable.
        if (changes.last_of(hash) < number && drawn.load() < number + 20) lost++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost.load(), 0u);
}

}  // namespace
}  // namespace sorrel
