#include "persist/snapshot.h"

#include <gtest/gtest.h>

#include "keyspace/value_limits.h"
#include "persist/snapshot_fixture.h"
#include "rdb/file_fixture.h"

namespace sorrel::persist {
namespace {

TEST_P(SnapshotTest, AllKeysOfAllDatabasesComeBack) {
  const int64_t later = clock_.wall_ms() + 100'000;
  for (int i = 0; i < 1000; i++) {
    const std::string n = std::to_string(i);
    put(from_, i % 3, "key:" + n, i % 2 == 0 ? n : "text " + n, i % 5 == 0 ? later + i : kNoExpiry);
  }
  put(from_, 15, "far", std::string(100'000, 'x'));
  uint64_t told = 0;
  SnapshotOptions options;
  options.progress = [&](uint64_t keys) { told = keys; };
  const auto saved = save_snapshot(from_, options, file());
  ASSERT_TRUE(saved) << saved.error().text;
  EXPECT_EQ(told, 1001u);
  EXPECT_FALSE(io::file_exists(file().temporary));
  const auto loaded = load();
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_EQ(*loaded, *saved);
  EXPECT_EQ(progress_.keys, 1001u);
  EXPECT_EQ(strings_of(to_), strings_of(from_));
  EXPECT_EQ(to_.expiring_count(0), from_.expiring_count(0));
}

TEST_P(SnapshotTest, KeysWhoseTimeHasComeAreLeftOut) {
  put(from_, 0, "over", "1", clock_.wall_ms() - 1);
  put(from_, 0, "there", "2", clock_.wall_ms() + 1000);
  ASSERT_TRUE(save_snapshot(from_, {}, file()));
  ASSERT_TRUE(load());
  EXPECT_EQ(progress_.keys, 1u);
  EXPECT_EQ(progress_.expired_keys, 1u);
  EXPECT_EQ(to_.key_count(0), 1u);
}

TEST_P(SnapshotTest, InFrontOfALogTheyAreNot) {
  put(from_, 0, "over", "1", clock_.wall_ms() - 1);
  ASSERT_TRUE(save_snapshot(from_, {}, file()));
  ASSERT_TRUE(load({.drop_expired = false}));
  EXPECT_EQ(to_.key_count(0), 1u);
}

TEST_P(SnapshotTest, WhatTheFileSaysOfItsKeysIsBelievedAsFarAsItCanBeTrue) {
  const auto table_bytes_after = [&](uint64_t announced, size_t value_bytes) {
    rdb::testing::FileBuilder builder("REDIS0011");
    builder.database(3).opcode(rdb::Opcode::kSizes).length(announced).length(0);
    builder.raw(std::string(1, '\0')).text("key").text(std::string(value_bytes, 'x'));
    const std::string bytes = builder.end();
    Loader loader(to_, clock_, log_, progress_);
    LoadOptions options;
    options.replace = true;
    EXPECT_TRUE(loader.load(bytes, options, {}).ok());
    size_t sum = 0;
    for (unsigned p = 0; p < to_.partition_count(); p++) {
      const Database* database = to_.find_database(p, 3);
      if (database != nullptr) sum += database->table.memory_bytes();
    }
    return sum;
  };
  constexpr size_t kSmall = 64 * 1024;
  EXPECT_LT(table_bytes_after(uint64_t{1} << 60, 10), kSmall);
  EXPECT_LT(table_bytes_after(1'000'000, 10), kSmall);
  // So many could be in it. They were not, so their room is given back.
  to_.flush(3, false);
  EXPECT_LT(table_bytes_after(1'000'000, 9'000'000), kSmall);
  EXPECT_EQ(strings_of(to_).size(), 1u);
}

TEST_P(SnapshotTest, AKeyThatIsThereAlreadyIsAMistakeOrReplaced) {
  put(from_, 0, "key", "new");
  put(to_, 0, "key", "old");
  ASSERT_TRUE(save_snapshot(from_, {}, file()));
  const auto refused = load();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("duplicated key 'key' in DB 0"), std::string::npos);
  EXPECT_EQ(strings_of(to_)["0:key"], "old");
  ASSERT_TRUE(load({.replace = true}));
  EXPECT_EQ(strings_of(to_)["0:key"], "new");
}

TEST_P(SnapshotTest, TheVersionIsTheLeastThatHoldsEverything) {
  put_hash(from_, "hash", kNoExpiry);
  EXPECT_EQ(snapshot_version(from_, 10), 10);
  EXPECT_EQ(snapshot_version(from_, 11), 11);
  put_hash(from_, "timed", clock_.wall_ms() + 5000);
  EXPECT_EQ(snapshot_version(from_, 10), 12);
  ASSERT_TRUE(save_snapshot(from_, {}, file()));
  ASSERT_TRUE(load());
  EXPECT_EQ(to_.field_expiring_count(0), 1u);
  const auto bytes = io::read_file(file().path, 1 << 20);
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(bytes->starts_with("REDIS0012"));
}

TEST_P(SnapshotTest, AFailureLeavesTheOldFile) {
  put(from_, 0, "key", "value");
  ASSERT_TRUE(save_snapshot(from_, {}, file()));
  const auto before = io::read_file(file().path, 1 << 20);
  SnapshotFile elsewhere = file();
  elsewhere.temporary = folder_ + "/nowhere/temp.rdb";
  EXPECT_FALSE(save_snapshot(from_, {}, elsewhere));
  const auto after = io::read_file(file().path, 1 << 20);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(*before, *after);
}

TEST_P(SnapshotTest, FunctionsAndStepsGoThroughHooks) {
  const std::string code = "#!lua name=lib\n";
  for (int i = 0; i < 100; i++) put(from_, 0, "key" + std::to_string(i), std::string(100, 'a'));
  SnapshotOptions options;
  options.compress = false;
  options.functions.push_back(code);
  ASSERT_TRUE(save_snapshot(from_, options, file()));
  std::vector<std::string> heard;
  int steps = 0;
  LoadHooks hooks;
  hooks.function = [&](std::string_view text, bool) -> Status {
    heard.emplace_back(text);
    return {};
  };
  hooks.step = [&]() -> Status {
    steps++;
    return {};
  };
  ASSERT_TRUE(load({.step_bytes = 1024}, hooks));
  EXPECT_EQ(heard, std::vector<std::string>{code});
  EXPECT_GE(steps, 9);
  hooks.step = []() -> Status { return Error{"enough"}; };
  const auto ended = load({.replace = true, .step_bytes = 1024}, hooks);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().text, "enough");
}

TEST_P(SnapshotTest, HowKeysWereUsedIsTold) {
  from_.access_policy().kind = to_.access_policy().kind = AccessPolicy::Kind::kLfu;
  put(from_, 0, "key", "value");
  Database& database = from_.database(from_.partition_of("key"), 0);
  database.table.for_each([&](void* entry) {
    static_cast<Record*>(entry)->set_access(
        (access_at_birth(clock_.wall_ms(), from_.access_policy()) & ~0xffu) | 77);
  });
  SnapshotOptions options;
  options.now_ms = clock_.wall_ms();
  options.use = SnapshotOptions::Use::kFrequency;
  ASSERT_TRUE(save_snapshot(from_, options, file()));
  ASSERT_TRUE(load());
  to_.database(to_.partition_of("key"), 0).table.for_each([](void* entry) {
    EXPECT_EQ(static_cast<const Record*>(entry)->access() & 0xff, 77u);
  });
}

// A live one goes on for a while, and keys are used meanwhile.
TEST_P(SnapshotTest, WhatWasUsedSinceItBeganIsNotIdle) {
  for (const auto kind : {AccessPolicy::Kind::kLru, AccessPolicy::Kind::kLfu}) {
    AccessPolicy policy;
    policy.kind = kind;
    const bool lfu = policy.lfu();
    put(from_, 0, "key", "value");
    const int64_t now_ms = clock_.wall_ms();
    SnapshotOptions options;
    options.now_ms = now_ms;
    options.use = lfu ? SnapshotOptions::Use::kFrequency : SnapshotOptions::Use::kIdle;
    const auto use_at = [&](int64_t used_ms) {
      Database& database = from_.database(from_.partition_of("key"), 0);
      rdb::KeyUse use;
      database.table.for_each([&](void* entry) {
        auto* record = static_cast<Record*>(entry);
        record->set_access(access_at_birth(used_ms, policy));
        use = use_of(*record, options, policy);
      });
      return use;
    };
    const rdb::KeyUse since = use_at(now_ms + 120'000);
    const rdb::KeyUse before = use_at(now_ms - 120'000);
    if (lfu) {
      EXPECT_EQ(since.frequency, 5);
      EXPECT_EQ(before.frequency, 3);
    } else {
      EXPECT_EQ(since.idle_seconds, 0u);
      EXPECT_EQ(before.idle_seconds, 120u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Partitions, SnapshotTest, ::testing::Values(1u, 64u));

}  // namespace
}  // namespace sorrel::persist
