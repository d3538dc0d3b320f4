#include "keyspace/keeping.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "keyspace/door.h"
#include "types/string.h"

namespace sorrel {
namespace {

constexpr Event kKeepEvent{EventClass::kGeneric, "test"};
constexpr int64_t kKeepNow = 1'000'000;
constexpr int kDatabases = 4;

using Contents = std::map<std::string, std::string>;  // "db:key" -> value

std::string value_of(const Record& record) {
  IntegerText scratch;
  return std::string(string_bytes(record, scratch));
}

class Recorder final : public RecordKeeper {
 public:
  Contents seen;
  size_t twice = 0;

  void keep(unsigned, int db, const Record& record) override {
    const std::string name = std::to_string(db) + ":" + std::string(record.key());
    if (!seen.emplace(name, value_of(record)).second) twice++;
  }
};

class Keeping : public ::testing::TestWithParam<unsigned> {
 protected:
  Keeping() : keyspace_({.databases = kDatabases, .partitions = GetParam()}, &reclaimer_) {}

  void set(int db, const std::string& key, const std::string& value) {
    door_.begin(db, kKeepNow, true);
    door_.open(door_.key(key)).set_string(value, kNoExpiry, kKeepEvent);
  }
  void erase(int db, const std::string& key) {
    door_.begin(db, kKeepNow, true);
    if (Entry entry = door_.open(door_.key(key))) entry.erase(kKeepEvent);
  }
  Contents contents() const {
    Contents all;
    for (int db = 0; db < kDatabases; db++) {
      for (unsigned p = 0; p < keyspace_.partition_count(); p++) {
        const Database* database = keyspace_.find_database(p, db);
        if (database == nullptr) continue;
        database->table.for_each([&](void* entry) {
          const auto& record = *static_cast<const Record*>(entry);
          all[std::to_string(db) + ":" + std::string(record.key())] = value_of(record);
        });
      }
    }
    return all;
  }
  bool step(unsigned partition) { return keyspace_.keep_segment(0, partition); }
  void walk_to_the_end() {
    for (unsigned p = 0; p < keyspace_.partition_count(); p++) {
      while (step(p)) {
      }
    }
  }

  Reclaimer reclaimer_;
  Keyspace keyspace_;
  EffectStream stream_;
  EffectLog effects_{stream_};
  Random random_{23};
  Door door_{keyspace_, effects_, random_};
};

TEST_P(Keeping, WhatIsShownIsTheMomentWhateverHappens) {
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 1500; i++) {
      const auto db = static_cast<int>(random_.below(kDatabases));
      set(db, "key:" + std::to_string(random_.below(1000)), std::to_string(round * 10'000 + i));
    }
    const Contents before = contents();
    Recorder recorder;
    keyspace_.begin_keeping(recorder);
    bool more = true;
    while (more) {
      more = false;
      for (unsigned p = 0; p < keyspace_.partition_count(); p++) {
        if (random_.below(3) != 0)
          more = step(p) || more;
        else
          more = more || !keyspace_.partition(p).to_keep.empty();
      }
      const auto db = static_cast<int>(random_.below(kDatabases));
      const std::string key = "key:" + std::to_string(random_.below(1200));
      switch (random_.below(8)) {
        case 0:
          keyspace_.flush(db, random_.below(2) == 0);
          break;
        case 1:
          for (int each = 0; round % 4 == 0 && each < kDatabases; each++) {
            keyspace_.flush(each, true);
          }
          break;
        case 2:
        case 3:
          keyspace_.swap(db, static_cast<int>(random_.below(kDatabases)));
          break;
        case 4:
          erase(db, key);
          break;
        default:
          for (int n = 0; n < 20; n++) set(db, "key:" + std::to_string(random_.below(1200)), "new");
      }
    }
    keyspace_.end_keeping();
    EXPECT_EQ(recorder.twice, 0u);
    ASSERT_EQ(recorder.seen, before) << "round " << round;
    EXPECT_EQ(keyspace_.gone_bytes(), 0u);
  }
}

TEST_P(Keeping, AnEmptiedDatabaseIsFreedWhenItWasSeen) {
  for (int i = 0; i < 3000; i++) set(1, "key:" + std::to_string(i), "value");
  const size_t full = keyspace_.memory_bytes();
  Recorder recorder;
  keyspace_.begin_keeping(recorder);
  step(0);
  EXPECT_EQ(keyspace_.flush(1, false), 3000u);
  EXPECT_EQ(keyspace_.key_count(1), 0u);
  EXPECT_GT(keyspace_.gone_bytes(), 0u);
  EXPECT_LE(keyspace_.gone_bytes(), full);
  EXPECT_EQ(keyspace_.most_gone_bytes(), keyspace_.gone_bytes());
  // Filled and emptied again it costs nothing more: that is not of the moment.
  set(1, "later", "value");
  const size_t held = keyspace_.gone_bytes();
  keyspace_.flush(1, false);
  EXPECT_EQ(keyspace_.gone_bytes(), held);
  walk_to_the_end();
  EXPECT_EQ(keyspace_.gone_bytes(), 0u);
  keyspace_.end_keeping();
  EXPECT_EQ(recorder.seen.size(), 3000u);
}

// After it is given up nothing is held, neither what is emptied then.
TEST_P(Keeping, NothingIsHeldForWhoWantsNoMore) {
  for (int db = 0; db < 2; db++) {
    for (int i = 0; i < 2000; i++) set(db, "key:" + std::to_string(i), "value");
  }
  Recorder recorder;
  keyspace_.begin_keeping(recorder);
  keyspace_.flush(0, true);
  EXPECT_GT(keyspace_.gone_bytes(), 0u);
  keyspace_.stop_showing();
  EXPECT_EQ(keyspace_.gone_bytes(), 0u);
  keyspace_.flush(1, true);
  EXPECT_EQ(keyspace_.gone_bytes(), 0u);
  walk_to_the_end();
  keyspace_.end_keeping();
  // Ended in the middle, as in a process of its own.
  set(2, "key", "value");
  keyspace_.begin_keeping(recorder);
  keyspace_.flush(2, false);
  keyspace_.end_keeping();
  EXPECT_EQ(keyspace_.gone_bytes(), 0u);
  EXPECT_EQ(keyspace_.keeper(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Partitions, Keeping, ::testing::Values(1u, 16u));

}  // namespace
}  // namespace sorrel
