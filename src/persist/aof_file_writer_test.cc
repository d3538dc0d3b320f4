#include "persist/aof_file_writer.h"

#include <gtest/gtest.h>

#include "persist/fake_disk.h"

namespace sorrel::persist {
namespace {

using testing::FakeDisk;
using testing::open_fake;

constexpr int64_t kSecond = 1'000'000'000;

LogBlockPtr block(uint64_t sequence, std::string_view bytes) {
  auto made = std::make_unique<LogBlock>();
  made->append(bytes);
  made->last_sequence = sequence;
  return made;
}

TEST(AofFileWriterTest, AlwaysSyncsEachTime) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, "one"));
  writer.add(block(2, "two"));
  EXPECT_EQ(writer.work(0, SyncPolicy::kAlways), AofFileWriter::kNever);
  EXPECT_EQ(disk.synced, "onetwo");
  EXPECT_EQ(disk.syncs, 1u);  // they share it
  EXPECT_EQ(writer.durable(), 2u);
  EXPECT_EQ(writer.take_free().size(), 2u);
  EXPECT_TRUE(writer.idle());
}

TEST(AofFileWriterTest, EverySecondSyncsOnceASecond) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  int64_t now = 10 * kSecond;
  writer.add(block(1, "one"));
  writer.work(now, SyncPolicy::kEverySecond);
  EXPECT_EQ(writer.durable(), 1u);
  now += kSecond / 2;
  writer.add(block(2, "two"));
  EXPECT_EQ(writer.work(now, SyncPolicy::kEverySecond), 11 * kSecond);
  EXPECT_EQ(disk.written, "onetwo");
  EXPECT_EQ(writer.durable(), 1u);
  EXPECT_EQ(writer.waiting_bytes(), 3u);
  EXPECT_EQ(writer.work(11 * kSecond, SyncPolicy::kEverySecond), AofFileWriter::kNever);
  EXPECT_EQ(disk.synced, "onetwo");
  EXPECT_EQ(writer.durable(), 2u);
}

TEST(AofFileWriterTest, WritesWithoutSyncingAndSaysWhenThatIsDue) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, "one"));
  writer.work(10 * kSecond, SyncPolicy::kEverySecond);
  writer.add(block(2, "two"));
  EXPECT_EQ(writer.write(13 * kSecond, SyncPolicy::kEverySecond), 11 * kSecond);
  EXPECT_EQ(disk.written, "onetwo");
  EXPECT_EQ(disk.synced, "one");
  EXPECT_EQ(writer.durable(), 1u);
  EXPECT_EQ(writer.write(13 * kSecond, SyncPolicy::kAlways), 0);
  EXPECT_EQ(writer.durable(), 1u);
  EXPECT_EQ(writer.write(13 * kSecond, SyncPolicy::kNever), AofFileWriter::kNever);
  EXPECT_EQ(writer.durable(), 1u);
}

TEST(AofFileWriterTest, ManySmallBlocksTakeTheMemoryOfAFew) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, "x"));
  writer.work(kSecond, SyncPolicy::kEverySecond);
  writer.take_free();
  std::string all = "x";
  for (uint64_t i = 2; i < 2000; i++) {
    writer.add(block(i, "abcdefgh"));
    all += "abcdefgh";
    writer.write(kSecond + 1, SyncPolicy::kEverySecond);
  }
  EXPECT_GT(writer.take_free().size(), 1990u);
  // All of it is still there to be written again.
  disk.on_sync = [] { return false; };
  disk.drops_on_failed_sync = true;
  writer.work(2 * kSecond, SyncPolicy::kEverySecond);
  EXPECT_TRUE(writer.failing());
  disk.on_sync = [] { return true; };
  writer.work(4 * kSecond, SyncPolicy::kEverySecond);
  EXPECT_EQ(disk.synced, all);
  EXPECT_EQ(writer.durable(), 1999u);
}

TEST(AofFileWriterTest, NeverSyncsWhenToldSo) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, "one"));
  EXPECT_EQ(writer.work(0, SyncPolicy::kNever), AofFileWriter::kNever);
  EXPECT_EQ(disk.syncs, 0u);
  EXPECT_EQ(disk.written, "one");
  EXPECT_TRUE(writer.idle());
  // What is not for the log makes what is no safer.
  writer.add(block(2, ""));
  EXPECT_EQ(writer.work(0, SyncPolicy::kNever), AofFileWriter::kNever);
  EXPECT_EQ(writer.durable(), 0u);
  EXPECT_TRUE(writer.finish(0));
  EXPECT_EQ(writer.durable(), 2u);
}

TEST(AofFileWriterTest, MuchIsSyncedEarly) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, "x"));
  writer.work(kSecond, SyncPolicy::kEverySecond);
  writer.add(block(2, std::string(AofFileWriter::kMostUnsynced + 1, 'x')));
  writer.work(kSecond + 1, SyncPolicy::kEverySecond);
  EXPECT_EQ(writer.durable(), 2u);
}

TEST(AofFileWriterTest, WhatSaysNothingIsDurableWithWhatCameBefore) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, ""));
  writer.work(kSecond, SyncPolicy::kEverySecond);
  EXPECT_EQ(writer.durable(), 1u);
  EXPECT_EQ(disk.syncs, 0u);
  writer.add(block(2, "x"));
  writer.add(block(3, ""));
  writer.work(kSecond, SyncPolicy::kAlways);
  EXPECT_EQ(writer.durable(), 3u);
}

TEST(AofFileWriterTest, AFailedWriteIsCutBackAndRepeated) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, "one"));
  writer.work(kSecond, SyncPolicy::kAlways);
  disk.on_append = [](size_t) { return 2; };
  writer.add(block(2, "second"));
  writer.add(block(3, "third"));
  EXPECT_EQ(writer.work(kSecond, SyncPolicy::kAlways), 2 * kSecond);
  EXPECT_TRUE(writer.failing());
  EXPECT_EQ(writer.problem(), "write fake: No space left on device");
  EXPECT_EQ(disk.written, "one");
  EXPECT_EQ(writer.durable(), 1u);
  // A server that is ended now leaves whole commands. Not before its time; then in vain once more,
  // without leaving anything behind.
  writer.work(kSecond + 1, SyncPolicy::kAlways);
  EXPECT_EQ(disk.written, "one");
  writer.work(2 * kSecond, SyncPolicy::kAlways);
  EXPECT_EQ(disk.written, "one");
  disk.on_append = [](size_t) { return -1; };
  EXPECT_EQ(writer.work(3 * kSecond, SyncPolicy::kAlways), AofFileWriter::kNever);
  EXPECT_FALSE(writer.failing());
  EXPECT_EQ(disk.synced, "onesecondthird");
  EXPECT_EQ(writer.durable(), 3u);
}

TEST(AofFileWriterTest, NothingIsWrittenBehindATornPiece) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  disk.on_append = [](size_t) { return 2; };
  disk.on_truncate = [] { return false; };
  writer.add(block(1, "one"));
  writer.work(kSecond, SyncPolicy::kAlways);
  disk.on_append = [](size_t) { return -1; };
  writer.work(2 * kSecond, SyncPolicy::kAlways);
  EXPECT_EQ(disk.written, "on");
  disk.on_truncate = [] { return true; };
  writer.work(3 * kSecond, SyncPolicy::kAlways);
  EXPECT_EQ(disk.synced, "one");
}

TEST(AofFileWriterTest, AfterAFailedSyncAllThatWasNotSyncedIsWrittenAgain) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, "one"));
  writer.work(kSecond, SyncPolicy::kEverySecond);
  writer.add(block(2, "two"));
  writer.work(kSecond + 1, SyncPolicy::kEverySecond);
  writer.add(block(3, "three"));
  disk.on_sync = [] { return false; };
  disk.drops_on_failed_sync = true;
  writer.work(2 * kSecond, SyncPolicy::kEverySecond);
  EXPECT_TRUE(writer.failing());
  EXPECT_EQ(writer.durable(), 1u);
  disk.on_sync = [] { return true; };
  writer.work(3 * kSecond, SyncPolicy::kEverySecond);
  EXPECT_FALSE(writer.failing());
  EXPECT_EQ(disk.synced, "onetwothree");
  EXPECT_EQ(writer.durable(), 3u);
}

TEST(AofFileWriterTest, WhatComesBeforeASwitchIsSyncedFirst) {
  for (const SyncPolicy policy :
       {SyncPolicy::kEverySecond, SyncPolicy::kAlways, SyncPolicy::kNever}) {
    FakeDisk old_disk;
    FakeDisk new_disk;
    AofFileWriter writer(open_fake(old_disk), 0);
    writer.add(block(1, "one"));
    auto second = block(2, "two");
    std::string synced_then;
    second->before = [&] {
      synced_then = old_disk.synced;
      writer.replace_file(open_fake(new_disk));
    };
    writer.add(std::move(second));
    writer.work(kSecond, policy);
    EXPECT_EQ(synced_then, "one");
    EXPECT_EQ(old_disk.written, "one");
    EXPECT_EQ(new_disk.written, "two");
    EXPECT_EQ(writer.size(), 3u);
    EXPECT_TRUE(writer.finish(kSecond));
    EXPECT_EQ(writer.durable(), 2u);
  }
}

// While a child writes nothing is synced (no-appendfsync-on-rewrite); then everything has to be.
TEST(AofFileWriterTest, WhatWasLeftToTheSystemIsSyncedWhenThePolicySaysSo) {
  for (const SyncPolicy policy : {SyncPolicy::kEverySecond, SyncPolicy::kAlways}) {
    FakeDisk disk;
    AofFileWriter writer(open_fake(disk), 0);
    writer.add(block(1, "one"));
    EXPECT_EQ(writer.work(kSecond, SyncPolicy::kNever), AofFileWriter::kNever);
    EXPECT_EQ(disk.synced, "");
    EXPECT_EQ(writer.work(2 * kSecond, policy), AofFileWriter::kNever);
    EXPECT_EQ(disk.synced, "one");
    writer.work(3 * kSecond, policy);
    EXPECT_EQ(disk.syncs, 1u);
  }
}

// Another file begins behind one whose end is not on disk: a power cut would leave a hole.
TEST(AofFileWriterTest, ASwitchSyncsWhatWasLeftToTheSystemBefore) {
  for (const bool finishes : {false, true}) {
    FakeDisk old_disk;
    FakeDisk new_disk;
    AofFileWriter writer(open_fake(old_disk), 0);
    writer.add(block(1, "one"));
    writer.work(kSecond, SyncPolicy::kNever);
    auto second = block(2, "two");
    second->before = [&] { writer.replace_file(open_fake(new_disk)); };
    writer.add(std::move(second));
    if (finishes) {
      EXPECT_TRUE(writer.finish(kSecond + 1));
    } else {
      writer.work(kSecond + 1, SyncPolicy::kEverySecond);
    }
    EXPECT_EQ(old_disk.synced, "one");
    EXPECT_EQ(new_disk.written, "two");
  }
}

TEST(AofFileWriterTest, TheEndIsSyncedWhateverThePolicy) {
  FakeDisk disk;
  AofFileWriter writer(open_fake(disk), 0);
  writer.add(block(1, "one"));
  writer.work(kSecond, SyncPolicy::kNever);
  disk.on_sync = [] { return false; };
  EXPECT_FALSE(writer.finish(2 * kSecond));
  EXPECT_TRUE(writer.failing());
  disk.on_sync = [] { return true; };
  EXPECT_TRUE(writer.finish(3 * kSecond));
  EXPECT_FALSE(writer.failing());
  EXPECT_EQ(disk.synced, "one");
}

// Of whoever wrote before us: what was read from there is told to clients as if it were safe.
TEST(AofFileWriterTest, AFileThatIsTakenOverIsSyncedOnce) {
  FakeDisk disk;
  disk.written = "before";
  AofFileWriter writer(open_fake(disk), 0);
  writer.work(kSecond, SyncPolicy::kNever);
  EXPECT_EQ(disk.syncs, 0u);
  writer.work(kSecond, SyncPolicy::kAlways);
  EXPECT_EQ(disk.synced, "before");
  writer.work(3 * kSecond, SyncPolicy::kAlways);
  EXPECT_EQ(disk.syncs, 1u);
}

TEST(AofFileWriterTest, ASwitchWaitsForADiskThatFails) {
  FakeDisk old_disk;
  FakeDisk new_disk;
  AofFileWriter writer(open_fake(old_disk), 0);
  old_disk.on_sync = [] { return false; };
  writer.add(block(1, "one"));
  auto second = block(2, "two");
  second->before = [&] { writer.replace_file(open_fake(new_disk)); };
  writer.add(std::move(second));
  writer.work(kSecond, SyncPolicy::kEverySecond);
  EXPECT_EQ(new_disk.written, "");
  old_disk.on_sync = [] { return true; };
  writer.work(2 * kSecond, SyncPolicy::kEverySecond);
  EXPECT_EQ(old_disk.synced, "one");
  EXPECT_EQ(new_disk.written, "two");
}

// Whatever goes wrong and whenever the machine stops: the file begins with everything that was
// called durable, and holds nothing but what was written, in order, up to where it breaks off.
TEST(AofFileWriterTest, NothingDurableIsEverLost) {
  for (uint64_t seed = 1; seed <= 400; seed++) {
    Random random(seed);
    FakeDisk disk;
    disk.drops_on_failed_sync = seed % 2 == 0;
    disk.on_append = [&](size_t bytes) {
      return random.below(4) == 0 ? static_cast<int64_t>(random.below(bytes + 1)) : -1;
    };
    disk.on_sync = [&] { return random.below(4) != 0; };
    disk.on_truncate = [&] { return random.below(4) != 0; };
    AofFileWriter writer(open_fake(disk), 0);
    const SyncPolicy policy = seed % 3 == 0 ? SyncPolicy::kAlways : SyncPolicy::kEverySecond;
    std::string all;
    std::vector<size_t> ends = {0};  // by sequence
    int64_t now = 0;
    for (uint64_t i = 1; i <= 60; i++) {
      const std::string bytes = std::to_string(i) + ",";
      all += bytes;
      ends.push_back(all.size());
      writer.add(block(i, bytes));
      if (random.below(3) == 0) continue;
      now += static_cast<int64_t>(random.below(2 * kSecond));
      writer.work(now, policy);
      const std::string safe = all.substr(0, ends[writer.durable()]);
      ASSERT_TRUE(disk.synced.starts_with(safe)) << "seed " << seed;
      std::string left = disk.after_power_cut(random);
      left.resize(left.find_last_not_of('\0') + 1);  // room that was never written
      ASSERT_TRUE(left.starts_with(safe)) << "seed " << seed;
      ASSERT_TRUE(all.starts_with(left)) << "seed " << seed << ": " << left;
    }
    disk.on_append = [](size_t) { return -1; };
    disk.on_sync = disk.on_truncate = [] { return true; };
    ASSERT_TRUE(writer.finish(now + 10 * kSecond));
    ASSERT_EQ(disk.synced, all);
  }
}

}  // namespace
}  // namespace sorrel::persist
