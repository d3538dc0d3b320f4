#include "persist/live_snapshot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/random.h"
#include "keyspace/door.h"
#include "persist/snapshot_fixture.h"

namespace sorrel::persist {
namespace {

constexpr Event kChange{EventClass::kGeneric, "test"};

// Two workers when there are many partitions. Nothing here runs at the same time but the thread
// that writes the file; tests of the whole server see to that.
class LiveSnapshotTest : public SnapshotTest {
 protected:
  LiveSnapshotTest() { door_.begin(0, clock_.wall_ms(), true); }

  unsigned workers() const { return GetParam() == 1 ? 1 : 2; }
  void set(int i, const std::string& value) {
    const std::string name = "key:" + std::to_string(i);
    door_.open(door_.key(name)).set_string(value, kNoExpiry, kChange);
  }
  void erase(int i) {
    const std::string name = "key:" + std::to_string(i);
    if (Entry entry = door_.open(door_.key(name))) entry.erase(kChange);
  }
  void add_field(int i, const std::string& field) {
    const std::string name = "hash:" + std::to_string(i);
    Entry entry = door_.open(door_.key(name));
    const HashLimits limits = from_.hash_limits();
    HashEdit(entry.edit(Type::kHash), limits).set(field, "value of some length " + field);
    entry.changed(kChange);
  }
  void begin() { live_.begin(ChildKind::kSnapshot, {}, file(), workers()); }
  // One step of each worker's walk; false: they have come to their ends.
  bool step() {
    bool more = false;
    for (unsigned worker = 0; worker < workers(); worker++) {
      const auto walked = live_.walk(worker, [] { return false; });
      more = more || walked != LiveSnapshot::Walked::kAll;
    }
    return more;
  }
  ChildEnd wait_for_end() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (;;) {
      if (const auto ended = live_.poll()) return *ended;
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "the snapshot does not end";
        return live_.cancel_and_wait();
      }
      std::this_thread::yield();
    }
  }
  // Until another can begin.
  bool settle() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!live_.ready() && std::chrono::steady_clock::now() < deadline) {
      step();
      (void)live_.poll();
    }
    return live_.ready();
  }

  EffectStream stream_;
  EffectLog effects_{stream_};
  Random random_{11};
  Door door_{from_, effects_, random_};
  LiveSnapshot live_{from_, clock_};
};

TEST_P(LiveSnapshotTest, TheFileHoldsTheKeysAsTheyWereWhenItWasBegun) {
  Random random(5);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4000; i++) set(i, "value " + std::to_string(i * round));
    for (int i = 0; i < 50; i++) {
      for (int f = 0; f < 20 * (i % 3) + 1; f++) add_field(i, "f" + std::to_string(f));
    }
    put(from_, 9, "elsewhere", "x", clock_.wall_ms() + 1000);
    const auto before = strings_of(from_);
    const uint64_t keys = keys_in(from_);
    begin();
    EXPECT_EQ(live_.keys_total(), keys);
    int steps = 0;
    while (step()) {
      steps++;
      // Changed, gone, new, and so many new ones that tables grow.
      for (int n = 0; n < 40; n++) {
        set(static_cast<int>(random.below(4000)), "changed while it was saved");
        erase(static_cast<int>(random.below(4000)));
        set(100'000 + static_cast<int>(random.below(20'000)), "new");
        add_field(static_cast<int>(random.below(50)), "late");
      }
    }
    EXPECT_GT(steps, 5);
    const ChildEnd ended = wait_for_end();
    EXPECT_TRUE(ended.ok) << ended.problem;
    EXPECT_EQ(ended.kind, ChildKind::kSnapshot);
    EXPECT_EQ(ended.pid, 0);
    EXPECT_TRUE(live_.ready());
    for (int db = 0; db < to_.database_count(); db++) to_.flush(db, false);
    ASSERT_TRUE(load());
    EXPECT_EQ(strings_of(to_), before) << "round " << round;
    EXPECT_EQ(to_.expiring_count(9), 1u);
    for (int db = 0; db < from_.database_count(); db++) from_.flush(db, false);
  }
}

TEST_P(LiveSnapshotTest, FieldsOfHashesAreThoseOfTheMoment) {
  for (int f = 0; f < 1000; f++) add_field(0, std::to_string(f));
  add_field(1, "one");
  begin();
  add_field(0, "late");
  add_field(1, "late");
  while (step()) {
  }
  ASSERT_TRUE(wait_for_end().ok);
  ASSERT_TRUE(load());
  const auto fields_of = [this](std::string_view name) {
    const Database* database = to_.find_database(to_.partition_of(name), 0);
    size_t fields = 0;
    database->table.for_each([&](void* entry) {
      const auto& record = *static_cast<const Record*>(entry);
      if (record.key() == name) fields = Hash(collection_of(record)).size();
    });
    return fields;
  };
  EXPECT_EQ(fields_of("hash:0"), 1000u);
  EXPECT_EQ(fields_of("hash:1"), 1u);
}

TEST_P(LiveSnapshotTest, WhatExpiresMeanwhileIsStillInTheFile) {
  door_.open(door_.key("short")).set_string("v", clock_.wall_ms() + 10, kChange);
  begin();
  clock_.advance_ms(20);
  door_.begin(0, clock_.wall_ms(), true);
  EXPECT_EQ(door_.peek(door_.key("short")), nullptr);
  EXPECT_EQ(from_.key_count(0), 0u);
  while (step()) {
  }
  ASSERT_TRUE(wait_for_end().ok);
  ASSERT_TRUE(load());
  EXPECT_EQ(progress_.expired_keys, 1u);
}

TEST_P(LiveSnapshotTest, OneThatIsGivenUpLeavesTheOldFileAndTheNextIsWhole) {
  for (int i = 0; i < 3000; i++) set(i, "first");
  begin();
  while (step()) {
  }
  ASSERT_TRUE(wait_for_end().ok);

  for (int i = 0; i < 3000; i++) set(i, "second");
  begin();
  step();
  for (int i = 0; i < 1000; i++) set(i, "third");
  const ChildEnd given_up = live_.cancel();
  EXPECT_TRUE(given_up.killed);
  EXPECT_FALSE(given_up.ok);
  EXPECT_FALSE(live_.active());
  EXPECT_FALSE(live_.ready());
  // Its walk waits while a process shares the memory.
  live_.rest(true);
  EXPECT_EQ(live_.walk(0, [] { return true; }), LiveSnapshot::Walked::kMustWait);
  live_.rest(false);
  ASSERT_TRUE(settle());
  ASSERT_TRUE(load());
  EXPECT_EQ(strings_of(to_).at("0:key:0"), "first");
  EXPECT_FALSE(io::file_exists(file().temporary));

  const auto before = strings_of(from_);
  begin();
  while (step()) {
  }
  ASSERT_TRUE(wait_for_end().ok);
  to_.flush(0, false);
  ASSERT_TRUE(load());
  EXPECT_EQ(strings_of(to_), before);
}

TEST_P(LiveSnapshotTest, DatabasesMayBeEmptiedAndSwapped) {
  Random random(9);
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < 4000; i++) {
      set(i, "value " + std::to_string(round));
      put(from_, 1, "other:" + std::to_string(i + round), "value");
    }
    const auto before = strings_of(from_);
    begin();
    for (int i = 0; i < 3; i++) step();
    if (round == 0) {
      for (int db = 0; db < from_.database_count(); db++) from_.flush(db, true);
    }
    while (step()) {
      const auto first = static_cast<int>(random.below(4));
      if (random.below(4) == 0) from_.swap(first, static_cast<int>(random.below(4)));
      if (random.below(8) == 0) from_.flush(first, random.below(2) == 0);
      for (int n = 0; n < 20; n++) set(static_cast<int>(random.below(5000)), "late");
    }
    const ChildEnd ended = wait_for_end();
    ASSERT_TRUE(ended.ok) << ended.problem;
    EXPECT_FALSE(ended.begin_again);
    EXPECT_GT(ended.cow_bytes, 0u);
    EXPECT_EQ(from_.gone_bytes(), 0u);
    for (int db = 0; db < to_.database_count(); db++) to_.flush(db, false);
    ASSERT_TRUE(load());
    ASSERT_EQ(strings_of(to_), before) << "round " << round;
    for (int db = 0; db < from_.database_count(); db++) from_.flush(db, false);
  }
}

// A load replaces keys without showing them.
TEST_P(LiveSnapshotTest, ALoadMakesItBeginAgain) {
  for (int i = 0; i < 6000; i++) set(i, "value");
  begin();
  step();
  live_.on_rearrangement();
  const ChildEnd ended = wait_for_end();
  EXPECT_TRUE(ended.begin_again);
  EXPECT_FALSE(ended.ok);
  // In the middle of the walk that writes nothing.
  step();
  from_.swap(0, 1);
  from_.flush(1, true);
  put(from_, 1, "late", "value");
  ASSERT_TRUE(settle());
  EXPECT_FALSE(io::file_exists(file().path));
  begin();
  while (step()) {
  }
  ASSERT_TRUE(wait_for_end().ok);
  ASSERT_TRUE(load());
  EXPECT_EQ(strings_of(to_), strings_of(from_));
}

TEST_P(LiveSnapshotTest, AFileThatCannotBeWrittenIsTold) {
  for (int i = 0; i < 3000; i++) set(i, "value");
  const SnapshotFile nowhere{folder_ + "/none/dump.rdb", folder_ + "/none/temp.rdb"};
  live_.begin(ChildKind::kRewrite, {}, nowhere, workers());
  const ChildEnd ended = wait_for_end();
  EXPECT_EQ(ended.kind, ChildKind::kRewrite);
  EXPECT_FALSE(ended.ok);
  EXPECT_FALSE(ended.killed);
  EXPECT_FALSE(ended.problem.empty());
  ASSERT_TRUE(settle());
  begin();
  while (step()) {
  }
  EXPECT_TRUE(wait_for_end().ok);
}

TEST_P(LiveSnapshotTest, LongStringsAreCompressedAndFunctionsComeFirst) {
  set(0, std::string(1 << 20, 'x'));
  SnapshotOptions options;
  options.functions = {"#!lua name=l\nredis.register_function('f', function() end)"};
  live_.begin(ChildKind::kSnapshot, options, file(), workers());
  set(0, "short");
  while (step()) {
  }
  ASSERT_TRUE(wait_for_end().ok);
  std::vector<std::string> functions;
  LoadHooks hooks;
  hooks.function = [&](std::string_view code, bool) -> Status {
    functions.emplace_back(code);
    return {};
  };
  const auto loaded = load({}, hooks);
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_LT(*loaded, 20'000u);
  EXPECT_EQ(strings_of(to_).at("0:key:0"), std::string(1 << 20, 'x'));
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0], options.functions[0]);
}

INSTANTIATE_TEST_SUITE_P(Partitions, LiveSnapshotTest, ::testing::Values(1u, 16u));

}  // namespace
}  // namespace sorrel::persist
