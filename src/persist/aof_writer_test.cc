#include "persist/aof_writer.h"

#include <gtest/gtest.h>

#include <atomic>

#include "io/system_clock.h"
#include "persist/fake_disk.h"

namespace sorrel::persist {
namespace {

using testing::FakeDisk;
using testing::open_fake;

std::string logged(std::initializer_list<std::string_view> args) {
  std::string text = "*" + std::to_string(args.size()) + "\r\n";
  for (const std::string_view arg : args) {
    text += "$" + std::to_string(arg.size()) + "\r\n" + std::string(arg) + "\r\n";
  }
  return text;
}

class AofWriterTest : public ::testing::Test {
 protected:
  void append(int db, std::string_view word, Audience to = Audience::kAll) {
    const std::string_view args[] = {word};
    log.append(db, args, to);
  }
  // Bounded, so that a writer that forgets its work fails the test instead of hanging it.
  template <class Condition>
  bool comes_true(Condition&& condition) {
    for (int i = 0; i < 5000; i++) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  void start(SyncPolicy policy) {
    writer.set_options({.policy = policy});
    writer.start(open_fake(disk), true);
  }

  io::SystemClock clock;
  EffectStream stream;
  EffectLog log{stream};
  FakeDisk disk;
  std::atomic<int> troubles{0};
  AofWriter writer{clock, stream, [this] { troubles++; }};
};

TEST_F(AofWriterTest, SelectsWithinATransaction) {
  start(SyncPolicy::kEverySecond);
  log.begin_unit();
  append(5, "a");
  append(5, "b");
  log.end_unit();
  log.flush();
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_EQ(disk.contents(), logged({"MULTI"}) + logged({"SELECT", "5"}) + logged({"a"}) +
                                 logged({"b"}) + logged({"EXEC"}));
  ASSERT_TRUE(writer.stop().ok());
}

TEST_F(AofWriterTest, SelectsWhenTheDatabaseChanges) {
  start(SyncPolicy::kEverySecond);
  append(0, "a");
  append(0, "b");
  append(3, "c");
  append(0, "message", Audience::kReplicas);
  append(3, "d");
  log.flush();
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_EQ(disk.contents(), logged({"SELECT", "0"}) + logged({"a"}) + logged({"b"}) +
                                 logged({"SELECT", "3"}) + logged({"c"}) + logged({"d"}));
  EXPECT_EQ(writer.state().file_size, disk.contents().size());
  EXPECT_EQ(writer.state().waiting_bytes, 0u);
}

TEST_F(AofWriterTest, ItsBlocksAreCounted) {
  EXPECT_EQ(writer.state().memory_bytes, 0u);
  start(SyncPolicy::kEverySecond);
  const std::string large(300'000, 'x');
  for (int i = 0; i < 20; i++) {
    append(0, large);
    log.flush();
    EXPECT_GE(writer.state().memory_bytes, large.size());
  }
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_GT(writer.state().memory_bytes, 0u);  // kept for the next ones
  ASSERT_TRUE(writer.stop().ok());
  EXPECT_EQ(writer.state().memory_bytes, 0u);
}

TEST_F(AofWriterTest, NotesTheTime) {
  writer.set_options({.timestamps = true});
  writer.start(open_fake(disk), true);
  append(0, "a");
  append(0, "b");
  log.flush();
  ASSERT_TRUE(writer.stop().ok());
  EXPECT_TRUE(disk.written.starts_with("#TS:"));
  EXPECT_EQ(disk.written.find("#TS:", 4), std::string::npos);
}

// A process that is killed after it has answered loses nothing.
TEST_F(AofWriterTest, IsWrittenBeforeRepliesLeave) {
  for (const SyncPolicy policy : {SyncPolicy::kEverySecond, SyncPolicy::kNever}) {
    disk.written.clear();
    start(policy);
    std::string wanted = logged({"SELECT", "0"});
    const std::string large(300'000, 'x');
    for (int i = 0; i < 200; i++) {
      const std::string_view word = i % 20 == 0 ? std::string_view(large) : "a";
      append(0, word);
      EXPECT_TRUE(log.flush());
      wanted += logged({word});
      ASSERT_TRUE(disk.contents() == wanted);
      ASSERT_EQ(writer.state().file_size, wanted.size());
    }
    if (policy == SyncPolicy::kNever) {
      EXPECT_FALSE(stream.durability().covers(stream.last_sequence()));
    }
    ASSERT_TRUE(writer.stop().ok());
  }
}

// Nor does one worker's reply precede the write of another worker's effects that come before its
// own; an fsync that takes long holds up none of them.
TEST_F(AofWriterTest, WritesGoOnBesideAnFsync) {
  std::atomic<bool> syncing{false};
  std::atomic<bool> let_go{false};
  disk.on_sync = [&] {
    syncing = true;
    return comes_true([&] { return let_go.load(); });
  };
  start(SyncPolicy::kEverySecond);
  append(0, "a");
  log.flush();
  ASSERT_TRUE(comes_true([&] { return syncing.load(); }));
  EffectLog other(stream);
  const std::string_view word[] = {"b"};
  other.append(0, word);
  append(0, "c");
  EXPECT_TRUE(log.flush());
  const std::string wanted =
      logged({"SELECT", "0"}) + logged({"a"}) + logged({"b"}) + logged({"c"});
  EXPECT_EQ(disk.contents(), wanted);
  EXPECT_GT(writer.state().waiting_bytes, 0u);
  let_go = true;
  const uint64_t last = stream.last_sequence();
  EXPECT_TRUE(comes_true([&] { return stream.durability().durable() >= last; }));
  const std::lock_guard lock(disk.mutex);
  EXPECT_EQ(disk.synced, wanted);
}

// A switch closes one file and begins another, which takes as long as the disk does. No worker
// waits for it; replies to writers are held until their effects are durable.
TEST_F(AofWriterTest, RepliesAreHeldDuringASwitch) {
  FakeDisk next;
  std::atomic<bool> switching{false};
  std::atomic<bool> let_go{false};
  start(SyncPolicy::kEverySecond);
  append(0, "a");
  EXPECT_TRUE(log.flush());
  writer.switch_here([&] {
    switching = true;
    EXPECT_TRUE(comes_true([&] { return let_go.load(); }));
    writer.replace_file(open_fake(next));
  });
  ASSERT_TRUE(comes_true([&] { return switching.load(); }));
  append(0, "b");
  EXPECT_FALSE(log.flush());
  const uint64_t held = stream.last_sequence();
  EXPECT_LT(stream.durability().durable(), held);
  let_go = true;
  EXPECT_TRUE(comes_true([&] { return stream.durability().durable() >= held; }));
  append(0, "c");
  EXPECT_TRUE(log.flush());
  EXPECT_EQ(next.contents(), logged({"SELECT", "0"}) + logged({"b"}) + logged({"c"}));
  ASSERT_TRUE(writer.stop().ok());
}

TEST_F(AofWriterTest, AWriteThatFailsInATurnIsToldAndRepeated) {
  start(SyncPolicy::kEverySecond);
  append(0, "a");
  log.flush();
  ASSERT_TRUE(writer.flush().ok());
  const std::string before = disk.contents();
  {
    const std::lock_guard lock(disk.mutex);
    disk.on_append = [](size_t) { return 2; };
  }
  append(0, "b");
  EXPECT_FALSE(log.flush());
  ASSERT_TRUE(comes_true([&] { return troubles == 1; }));
  EXPECT_TRUE(writer.state().failing);
  append(0, "c");
  EXPECT_FALSE(log.flush());
  const uint64_t held = stream.last_sequence();
  {
    const std::lock_guard lock(disk.mutex);
    disk.on_append = [](size_t) { return -1; };
  }
  ASSERT_TRUE(comes_true([&] { return troubles == 2; }));
  EXPECT_TRUE(
      comes_true([&] { return disk.contents() == before + logged({"b"}) + logged({"c"}); }));
  EXPECT_TRUE(comes_true([&] { return stream.durability().durable() >= held; }));
}

TEST_F(AofWriterTest, AlwaysHoldsAndTellsWhoWaits) {
  std::atomic<int> woken{0};
  Durability& durability = stream.durability();
  durability.set_workers(2, [&](unsigned worker) { woken += worker == 1 ? 1 : 100; });
  EXPECT_FALSE(durability.holds());
  start(SyncPolicy::kAlways);
  EXPECT_TRUE(durability.holds());
  append(0, "a");
  const uint64_t last = stream.last_sequence();
  EXPECT_FALSE(durability.covers(last));
  ASSERT_FALSE(durability.await(1, last));
  log.flush();
  EXPECT_TRUE(comes_true([&] { return woken == 1; }));
  EXPECT_GE(durability.durable(), last);
  EXPECT_TRUE(durability.await(1, last));
  ASSERT_TRUE(writer.stop().ok());
  EXPECT_FALSE(durability.holds());
}

TEST_F(AofWriterTest, ALogThatDoesNotCountYetMakesNothingDurable) {
  writer.set_options({.policy = SyncPolicy::kAlways});
  writer.start(open_fake(disk), false);
  append(0, "a");
  log.flush();
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_FALSE(stream.durability().holds());
  EXPECT_FALSE(stream.durability().covers(stream.last_sequence()));
  writer.begin_to_count();
  EXPECT_TRUE(stream.durability().holds());
  EXPECT_TRUE(comes_true([&] { return stream.durability().covers(stream.last_sequence()); }));
}

TEST_F(AofWriterTest, TroubleIsToldAndOvercome) {
  start(SyncPolicy::kAlways);
  {
    const std::lock_guard lock(disk.mutex);
    disk.on_append = [](size_t) { return 1; };
  }
  append(0, "a");
  log.flush();
  ASSERT_TRUE(comes_true([&] { return troubles == 1; }));
  EXPECT_TRUE(writer.state().failing);
  EXPECT_EQ(writer.state().problem, "write fake: No space left on device");
  EXPECT_LT(stream.durability().durable(), stream.last_sequence());
  {
    const std::lock_guard lock(disk.mutex);
    disk.on_append = [](size_t) { return -1; };
  }
  ASSERT_TRUE(comes_true([&] { return troubles == 2; }));
  EXPECT_FALSE(writer.state().failing);
  EXPECT_EQ(disk.contents(), logged({"SELECT", "0"}) + logged({"a"}));
  EXPECT_TRUE(comes_true([&] { return stream.durability().durable() == stream.last_sequence(); }));
}

TEST_F(AofWriterTest, StopSaysWhatCouldNotBeWritten) {
  start(SyncPolicy::kEverySecond);
  {
    const std::lock_guard lock(disk.mutex);
    disk.on_sync = [] { return false; };
  }
  append(0, "a");
  log.flush();
  EXPECT_FALSE(writer.stop().ok());
}

TEST_F(AofWriterTest, StopSyncsWhatWasLeftToTheSystemAndSaysWhenItCannot) {
  for (const bool works : {true, false}) {
    start(SyncPolicy::kNever);
    append(0, "a");
    log.flush();
    ASSERT_TRUE(comes_true([&] { return !disk.contents().empty(); }));
    {
      const std::lock_guard lock(disk.mutex);
      disk.on_sync = [works] { return works; };
    }
    EXPECT_EQ(writer.stop().ok(), works);
    EXPECT_EQ(disk.synced == disk.written, works);
  }
}

// Replies that wait for a sync were promised one: what is still on its way when the policy changes
// is synced, and nothing behind it.
TEST_F(AofWriterTest, WhatWasChangedWhileThereWereSyncsIsSynced) {
  for (const SyncPolicy before : {SyncPolicy::kAlways, SyncPolicy::kEverySecond}) {
    start(before);
    append(0, "a");
    const uint64_t promised = stream.last_sequence();
    writer.set_options({.policy = SyncPolicy::kNever});
    EXPECT_FALSE(stream.durability().covers(promised));
    log.flush();
    EXPECT_TRUE(comes_true([&] { return stream.durability().covers(promised); }));
    const std::string synced = [&] {
      const std::lock_guard lock(disk.mutex);
      return disk.synced;
    }();
    append(0, "b");
    log.flush();
    EXPECT_TRUE(comes_true([&] { return disk.contents() != synced; }));
    EXPECT_FALSE(stream.durability().covers(stream.last_sequence()));
    ASSERT_TRUE(writer.stop().ok());
  }
}

// A test and a loader of the log read the file once this has returned.
TEST_F(AofWriterTest, FlushSyncsWhateverThePolicy) {
  start(SyncPolicy::kNever);
  append(0, "a");
  log.flush();
  ASSERT_TRUE(comes_true([&] { return !disk.contents().empty(); }));
  EXPECT_FALSE(stream.durability().covers(stream.last_sequence()));
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_TRUE(stream.durability().covers(stream.last_sequence()));
  const std::lock_guard lock(disk.mutex);
  EXPECT_FALSE(disk.synced.empty());
}

TEST_F(AofWriterTest, SwitchesExactlyAtTheNumber) {
  FakeDisk next;
  start(SyncPolicy::kEverySecond);
  EffectLog late(stream);
  const std::string_view early_word[] = {"early"};
  late.append(0, early_word);  // drawn before the switch, handed over after it
  append(0, "a");
  log.flush();
  writer.switch_here([&] { writer.replace_file(open_fake(next)); });
  append(0, "b");
  log.flush();
  late.flush();
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_EQ(disk.contents(), logged({"SELECT", "0"}) + logged({"early"}) + logged({"a"}));
  EXPECT_EQ(next.contents(), logged({"SELECT", "0"}) + logged({"b"}));
}

TEST_F(AofWriterTest, SwitchesAlsoWhenNothingComes) {
  FakeDisk next;
  std::atomic<bool> switched{false};
  start(SyncPolicy::kEverySecond);
  writer.switch_here([&] {
    writer.replace_file(open_fake(next));
    switched = true;
  });
  EXPECT_TRUE(comes_true([&] { return switched.load(); }));
}

TEST_F(AofWriterTest, ReadsTheStreamOnlyWhileItRuns) {
  start(SyncPolicy::kEverySecond);
  append(0, "a");
  log.flush();
  ASSERT_TRUE(writer.stop().ok());
  EXPECT_FALSE(stream.active());
  FakeDisk second;
  writer.start(open_fake(second), true);
  append(0, "b");
  log.flush();
  ASSERT_TRUE(writer.stop().ok());
  EXPECT_EQ(disk.written, logged({"SELECT", "0"}) + logged({"a"}));
  EXPECT_EQ(second.written, logged({"SELECT", "0"}) + logged({"b"}));
}

// Four workers, every change in order, whatever the batches.
TEST_F(AofWriterTest, KeepsTheOrderOfTheStream) {
  start(SyncPolicy::kAlways);
  std::vector<std::thread> workers;
  std::atomic<int> last{0};
  for (int w = 0; w < 4; w++) {
    workers.emplace_back([&, w] {
      EffectLog mine(stream);
      for (int i = 0; i < 2000; i++) {
        const std::string number = std::to_string(w) + ":" + std::to_string(i);
        const std::string_view args[] = {number};
        mine.append(0, args);
        if (i % 5 == 0) mine.flush();
      }
      mine.flush();
      last++;
    });
  }
  for (auto& worker : workers) worker.join();
  ASSERT_TRUE(writer.stop().ok());
  int next[4] = {};
  size_t at = disk.synced.find("*1");
  size_t count = 0;
  while (at != std::string::npos) {
    const size_t begin = disk.synced.find("\r\n", at + 4) + 2;
    const std::string word = disk.synced.substr(begin, disk.synced.find("\r\n", begin) - begin);
    const int worker = word[0] - '0';
    ASSERT_EQ(word.substr(2), std::to_string(next[worker]++));
    count++;
    at = disk.synced.find("*1\r\n", begin);
  }
  EXPECT_EQ(count, 8000u);
}

}  // namespace
}  // namespace sorrel::persist
