// Random operations against a map, poor hashes, and the guarantees of SCAN, sampling, walks and
// sweeps while the table changes.

#include "structs/table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/random.h"

namespace sorrel {
namespace {

struct Entry {
  uint64_t id;
};

uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

uint64_t hash_entry(const void* entry, const void*) {
  return mix(static_cast<const Entry*>(entry)->id + 1);
}

// All entries fall into few buckets and few segments: the worst case of a broken hash.
uint64_t poor_hash(const void* entry, const void*) {
  return static_cast<const Entry*>(entry)->id % 3 * 7;
}

class TableTest : public ::testing::Test {
 protected:
  Table::Position find(uint64_t id) {
    return table.find(hash_of(id), [&](void* e) { return static_cast<Entry*>(e)->id == id; });
  }
  uint64_t hash_of(uint64_t id) {
    Entry entry{id};
    return hash(&entry, nullptr);
  }
  void add(uint64_t id) {
    auto& slot = entries[id];
    slot = std::make_unique<Entry>(Entry{id});
    table.insert(hash_of(id), slot.get());
  }
  void remove(uint64_t id) {
    table.erase(find(id));
    entries.erase(id);
  }

  Table::HashOf hash = hash_entry;
  TableStamps stamps;
  Table table{hash_entry, nullptr, stamps};
  std::map<uint64_t, std::unique_ptr<Entry>> entries;
};

TEST_F(TableTest, FindsWhatWasInsertedAndNothingElse) {
  for (uint64_t id = 0; id < 50'000; id++) add(id);
  EXPECT_EQ(table.size(), 50'000u);
  for (uint64_t id = 0; id < 50'000; id++) {
    ASSERT_TRUE(find(id)) << id;
    ASSERT_EQ(find(id).entry(), entries[id].get());
  }
  for (uint64_t id = 50'000; id < 60'000; id++) ASSERT_FALSE(find(id));
}

TEST_F(TableTest, AnEntryThatMovedIsFoundWhereItIs) {
  for (uint64_t id = 0; id < 1000; id++) add(id);
  table.mark(find(7), 100);
  for (uint64_t id = 0; id < 1000; id += 7) {
    auto moved = std::make_unique<Entry>(Entry{id});
    table.move_entry(entries[id].get(), moved.get());
    entries[id] = std::move(moved);
  }
  EXPECT_EQ(table.size(), 1000u);
  for (uint64_t id = 0; id < 1000; id++) ASSERT_EQ(find(id).entry(), entries[id].get());
  EXPECT_TRUE(table.is_marked(find(7)));
}

TEST_F(TableTest, MemoryPerEntryStaysEvenAtEverySize) {
  for (uint64_t id = 0; id < 400'000; id++) {
    add(id);
    if (id > 20'000 && id % 1'000 == 0) {
      ASSERT_LT(static_cast<double>(table.memory_bytes()) / static_cast<double>(table.size()), 13.0)
          << table.size();
    }
  }
}

TEST_F(TableTest, ReservedSpaceIsFilledWithoutGrowing) {
  for (const uint64_t count : {100u, 1'024u, 5'000u, 123'456u, 400'000u}) {
    table.clear();
    entries.clear();
    table.reserve(count);
    const size_t before = table.memory_bytes();
    for (uint64_t id = 0; id < count; id++) add(id);
    for (uint64_t id = 0; id < count; id += 7) ASSERT_TRUE(find(id)) << id;
    const auto bytes = static_cast<double>(table.memory_bytes());
    if (count > 1'024) {
      EXPECT_LT(bytes, 1.03 * static_cast<double>(before)) << count;
    }
    if (count > 1'024) {
      EXPECT_LT(bytes / static_cast<double>(count), 14.0) << count;
    }
    size_t seen = 0;
    uint64_t cursor = 0;
    do {
      cursor = table.scan(cursor, [&](void*) { seen++; });
    } while (cursor != 0);
    EXPECT_EQ(seen, count);
  }
}

TEST_F(TableTest, ReleasesUnusedReservedSpace) {
  for (const uint64_t come : {0u, 1u, 300u, 20'000u}) {
    table.clear();
    entries.clear();
    table.reserve(400'000);
    for (uint64_t id = 0; id < come; id++) add(id);
    if (come > 0) table.mark(find(come / 2), 77);
    table.release_spare();
    EXPECT_LT(table.memory_bytes(), 1'000 + 40 * come) << come;
    for (uint64_t id = 0; id < come; id++) ASSERT_TRUE(find(id)) << id;
    EXPECT_EQ(table.marked(), come > 0 ? 1u : 0u);
    EXPECT_EQ(table.earliest_due(), come > 0 ? 77 : Table::kGone);
    while (!entries.empty()) remove(entries.begin()->first);
    EXPECT_LT(table.memory_bytes(), 1'000u);
  }
}

TEST_F(TableTest, ATableWithEntriesReservesNothing) {
  add(1);
  const size_t before = table.memory_bytes();
  table.reserve(100'000);
  EXPECT_EQ(table.memory_bytes(), before);
  EXPECT_TRUE(find(1));
}

TEST_F(TableTest, ShrinksToNothingWhenEmptied) {
  for (uint64_t id = 0; id < 100'000; id++) add(id);
  for (uint64_t id = 0; id < 100'000; id++) remove(id);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_LT(table.memory_bytes(), 1'000u);
}

TEST_F(TableTest, AGuessIsGoodForOneTableInOneStateOnly) {
  add(1);
  Table other(hash_entry, nullptr, stamps);
  Entry two{2};
  other.insert(hash_of(2), &two);
  const uint64_t wanted = hash_of(1);
  Table::Guess guess = table.prefetch_bucket(wanted);
  Table::prefetch_entry(guess, wanted);
  const auto any = [](const void*) { return true; };
  EXPECT_TRUE(table.find(wanted, guess, any));
  EXPECT_FALSE(other.find(wanted, guess, any)) << "looked into another table";
  table.clear();
  EXPECT_FALSE(table.find(wanted, guess, any)) << "the bucket is gone";
}

// An empty slot looks like an entry whose stored hash bits are zero.
TEST_F(TableTest, PrefetchingAnAbsentEntryFindsNothing) {
  const uint64_t absent = 0x1234'0000;
  Table::Guess guess = table.prefetch_bucket(absent);
  Table::prefetch_entry(guess, absent);
  EXPECT_EQ(table.guessed_entry(guess), nullptr);
}

TEST_F(TableTest, PrefetchingFindsNearlyAllEntries) {
  for (uint64_t id = 0; id < 100'000; id++) add(id);
  uint64_t guessed = 0;
  for (uint64_t id = 0; id < 100'000; id++) {
    Table::Guess guess = table.prefetch_bucket(hash_of(id));
    Table::prefetch_entry(guess, hash_of(id));
    const auto mine = [&](void* e) { return static_cast<Entry*>(e)->id == id; };
    ASSERT_EQ(table.find(hash_of(id), guess, mine).entry(), entries[id].get());
    const void* entry = table.guessed_entry(guess);
    guessed += entry == entries[id].get() ? 1 : 0;
  }
  EXPECT_GT(guessed, 97'000u);
}

TEST_F(TableTest, SurvivesAPoorHash) {
  table = Table(poor_hash, nullptr, stamps);
  hash = poor_hash;
  for (uint64_t id = 0; id < 3'000; id++) add(id);
  for (uint64_t id = 0; id < 3'000; id++) ASSERT_TRUE(find(id)) << id;
  std::unordered_set<uint64_t> seen;
  uint64_t cursor = 0;
  do {
    cursor = table.scan(cursor, [&](void* e) { seen.insert(static_cast<Entry*>(e)->id); });
  } while (cursor != 0);
  EXPECT_EQ(seen.size(), 3'000u);
  for (uint64_t id = 0; id < 3'000; id++) remove(id);
  EXPECT_EQ(table.size(), 0u);
}

// The home bucket depends on the low bits: 1 for odd ids, 0 for even ones, while there are two.
uint64_t two_homes(const void* entry, const void*) {
  return static_cast<const Entry*>(entry)->id % 2 == 0 ? 0x1000 : 0xf000;
}

TEST_F(TableTest, ASearchEndsWhenEveryBucketWasPassed) {
  table = Table(two_homes, nullptr, stamps);
  hash = two_homes;
  for (uint64_t id = 0; id < 18; id += 2) add(id);  // the ninth goes to the second bucket
  for (uint64_t id = 0; id < 4; id += 2) remove(id);
  for (uint64_t id = 1; id < 15; id += 2) add(id);
  EXPECT_EQ(table.size(), 14u);
  add(15);  // in the current shape
  for (uint64_t id = 4; id < 18; id += 2) ASSERT_TRUE(find(id)) << id;
  for (uint64_t id = 1; id < 17; id += 2) ASSERT_TRUE(find(id)) << id;
  EXPECT_FALSE(find(100));
  EXPECT_FALSE(find(101));
}

TEST_F(TableTest, EntriesOutsideTheirHomeAreFoundDuringChurn) {
  table = Table(two_homes, nullptr, stamps);
  hash = two_homes;
  Random random(5);
  for (int step = 0; step < 20'000; step++) {
    const uint64_t id = random.below(40);
    if (entries.count(id) != 0) {
      remove(id);
    } else {
      add(id);
    }
    for (uint64_t other = 0; other < 40; other++) {
      ASSERT_EQ(static_cast<bool>(find(other)), entries.count(other) != 0) << other;
    }
  }
}

TEST_F(TableTest, ChurnAtConstantSizeDoesNotGrow) {
  for (uint64_t id = 0; id < 20'000; id++) add(id);
  const size_t before = table.memory_bytes();
  for (uint64_t id = 20'000; id < 400'000; id++) {
    remove(id - 20'000);
    add(id);
  }
  EXPECT_LT(static_cast<double>(table.memory_bytes()), 1.2 * static_cast<double>(before));
}

TEST_F(TableTest, RandomOperationsAgreeWithAMap) {
  Random random(7);
  for (int step = 0; step < 300'000; step++) {
    // Phases of mostly growing and mostly shrinking.
    const bool grow = (step / 50'000) % 2 == 0;
    const uint64_t id = random.below(30'000);
    if (random.below(10) < (grow ? 8u : 2u)) {
      if (!entries.count(id)) add(id);
    } else if (entries.count(id)) {
      remove(id);
    }
    ASSERT_EQ(table.size(), entries.size());
  }
  for (uint64_t id = 0; id < 30'000; id++) ASSERT_EQ(bool(find(id)), entries.count(id) == 1) << id;
}

// The guarantee of SCAN: entries present all the time are visited, whatever changes meanwhile.
TEST_F(TableTest, ScanVisitsEveryEntryThatStays) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    Random random(seed);
    table.clear();
    entries.clear();
    const uint64_t stable = 1 + random.below(4'000);
    for (uint64_t id = 0; id < stable; id++) add(id);
    const uint64_t extra = random.below(20'000);
    uint64_t next = 1'000'000;
    for (uint64_t i = 0; i < extra; i++) add(next++);
    std::unordered_set<uint64_t> seen;
    uint64_t cursor = 0;
    uint64_t low = 1'000'000;
    const bool growing = seed % 2 == 0;
    int calls = 0;
    do {
      cursor = table.scan(cursor, [&](void* e) { seen.insert(static_cast<Entry*>(e)->id); });
      ASSERT_LT(cursor, uint64_t{1} << 43);
      for (uint64_t i = random.below(40); i > 0; i--) {
        if (growing && next < 1'060'000) {
          add(next++);
        } else if (!growing && low < next) {
          remove(low++);
        }
      }
      ASSERT_LT(++calls, 100'000);
    } while (cursor != 0);
    for (uint64_t id = 0; id < stable; id++) ASSERT_TRUE(seen.count(id)) << id << " seed " << seed;
  }
}

TEST_F(TableTest, ScanTakesAnyNumberAsCursor) {
  for (uint64_t id = 0; id < 5'000; id++) add(id);
  Random random(3);
  for (int i = 0; i < 10'000; i++) table.scan(random.next(), [](void*) {});
}

TEST_F(TableTest, RandomEntryIsUniform) {
  for (uint64_t id = 0; id < 1'000; id++) add(id);
  for (uint64_t id = 500; id < 1'000; id++) remove(id);
  Random random(11);
  std::map<uint64_t, int> hits;
  for (int i = 0; i < 100'000; i++) hits[static_cast<Entry*>(table.random_entry(random))->id]++;
  EXPECT_EQ(hits.size(), 500u);
  double chi_squared = 0;
  for (const auto& [id, count] : hits) chi_squared += (count - 200.0) * (count - 200.0) / 200.0;
  EXPECT_LT(chi_squared, 640);  // 499 degrees of freedom: 1 in 100,000
}

TEST_F(TableTest, SamplesAreDifferentEntriesAndAllOfThemWhenFew) {
  Random random(3);
  std::vector<void*> found;
  table.sample(random, 5, Table::Which::kAll, found);
  EXPECT_TRUE(found.empty());
  for (uint64_t id = 0; id < 1000; id++) add(id);
  for (uint64_t id = 0; id < 1000; id += 100) table.mark(find(id), 7);
  for (int round = 0; round < 100; round++) {
    found.clear();
    table.sample(random, 20, Table::Which::kAll, found);
    EXPECT_EQ(std::set<void*>(found.begin(), found.end()).size(), 20u);
    found.clear();
    table.sample(random, 5, Table::Which::kMarked, found);
    EXPECT_EQ(std::set<void*>(found.begin(), found.end()).size(), 5u);
    for (const void* entry : found) EXPECT_EQ(static_cast<const Entry*>(entry)->id % 100, 0u);
  }
  found.clear();
  table.sample(random, 50, Table::Which::kMarked, found);
  EXPECT_EQ(found.size(), 10u);
  found.clear();
  table.sample(random, 5000, Table::Which::kAll, found);
  EXPECT_EQ(found.size(), 1000u);
}

TEST_F(TableTest, EverySlotIsSampledAboutAsOften) {
  constexpr uint64_t kEntries = 2000;
  constexpr int kRounds = 20'000;
  for (uint64_t id = 0; id < kEntries; id++) add(id);
  Random random(3);
  std::vector<int> seen(kEntries);
  std::vector<void*> found;
  for (int round = 0; round < kRounds; round++) {
    found.clear();
    table.sample(random, 5, Table::Which::kAll, found);
    for (const void* entry : found) seen[static_cast<const Entry*>(entry)->id]++;
  }
  // Fifty times each on average; entries after gaps more often, but none almost never.
  for (const int times : seen) {
    EXPECT_GT(times, 10);
    EXPECT_LT(times, 250);
  }
}

TEST_F(TableTest, AWalkInStepsVisitsEveryEntryThatStays) {
  constexpr uint64_t kStay = 5'000;
  for (uint64_t id = 0; id < 2 * kStay; id++) add(id);
  std::map<uint64_t, int> seen;
  uint64_t position = 0;
  uint64_t next = 2 * kStay;
  uint64_t gone = kStay;
  do {
    table.visit_segment(position, [&](void* e) { seen[static_cast<Entry*>(e)->id]++; });
    // Segments split before and after the position, and later merge.
    if (next < 6 * kStay) {
      for (int i = 0; i < 1'000; i++) add(next++);
    } else {
      for (int i = 0; i < 500 && gone < next; i++) remove(gone++);
    }
  } while (position != 0);
  for (uint64_t id = 0; id < kStay; id++) ASSERT_GE(seen[id], 1) << id;
  Table empty(hash_entry, nullptr, stamps);
  size_t visited = 0;
  empty.visit_segment(position, [&](void*) { visited++; });
  EXPECT_EQ(visited, 0u);
  EXPECT_EQ(position, 0u);
}

TEST_F(TableTest, SweepVisitsDueSegmentsOnly) {
  for (uint64_t id = 0; id < 10'000; id++) add(id);
  for (uint64_t id = 0; id < 10'000; id += 100) table.mark(find(id), 1'000 + int64_t(id));
  EXPECT_EQ(table.marked(), 100u);
  size_t visited = 0;
  uint64_t position = 0;
  const auto deadline = [&](void* e) { return 1'000 + int64_t(static_cast<Entry*>(e)->id); };
  do {
    visited += table.sweep_segment(position, 999, deadline);
  } while (position != 0);
  EXPECT_EQ(visited, 0u);
  std::set<uint64_t> due;
  do {
    table.sweep_segment(position, 5'000, [&](void* e) {
      if (deadline(e) <= 5'000) due.insert(static_cast<Entry*>(e)->id);
      return deadline(e);
    });
  } while (position != 0);
  EXPECT_EQ(due.size(), 41u);
  for (uint64_t id : due) remove(id);
  EXPECT_EQ(table.marked(), 59u);
  for (uint64_t id = 4'100; id < 10'000; id += 100) table.unmark(find(id));
  EXPECT_EQ(table.marked(), 0u);
}

}  // namespace
}  // namespace sorrel
