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
TEST_F(AofWriterTest, IsWrittenWhenTheTurnIsAtItsEnd) {
  for (const SyncPolicy policy : {SyncPolicy::kEverySecond, SyncPolicy::kNever}) {
    disk.written.clear();
    start(policy);
    // The next sync is a second away then.
    append(0, "a");
    log.flush();
    ASSERT_TRUE(writer.flush().ok());
    for (int i = 0; i < 10; i++) {
      const size_t before = disk.contents().size();
      append(0, "b");
      log.flush();
      ASSERT_EQ(disk.contents().size(), before + logged({"b"}).size());
      ASSERT_EQ(writer.state().file_size, disk.contents().size());
    }
    // One after the other, all come.
    const size_t before = disk.contents().size();
    for (int i = 0; i < 200; i++) {
      append(0, "c");
      log.flush();
    }
    EXPECT_TRUE(
        comes_true([&] { return disk.contents().size() == before + 200 * logged({"c"}).size(); }));
    if (policy == SyncPolicy::kNever) {
      EXPECT_FALSE(stream.durability().covers(stream.last_sequence()));
    }
    ASSERT_TRUE(writer.stop().ok());
  }
}

TEST_F(AofWriterTest, ATurnDoesNotWaitForASync) {
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
  append(0, "b");
  log.flush();
  EXPECT_GT(writer.state().waiting_bytes, 0u);
  let_go = true;
  EXPECT_TRUE(comes_true([&] {
    return disk.contents() == logged({"SELECT", "0"}) + logged({"a"}) + logged({"b"});
  }));
  // What the disk does must not outlive what it does it with.
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
  log.flush();
  ASSERT_TRUE(comes_true([&] { return troubles == 1; }));
  EXPECT_TRUE(writer.state().failing);
  append(0, "c");
  log.flush();
  {
    const std::lock_guard lock(disk.mutex);
    disk.on_append = [](size_t) { return -1; };
  }
  ASSERT_TRUE(comes_true([&] { return troubles == 2; }));
  EXPECT_TRUE(
      comes_true([&] { return disk.contents() == before + logged({"b"}) + logged({"c"}); }));
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

// Much in every turn, turn after turn, goes to the disk from where it lies; and all of it does, in
// order, also when the file is another one in the midst of it and when the flood is over.
TEST_F(AofWriterTest, AFloodGoesPastTheCache) {
  FakeDisk next;
  start(SyncPolicy::kEverySecond);
  // Made before, since only what comes fast is a flood.
  std::vector<std::string> words;
  for (size_t i = 0; i < 7; i++) words.push_back(std::to_string(i) + std::string(40'000 + i, 'x'));
  size_t sent = 0;
  const auto flood = [&](FakeDisk& into) {
    const size_t before = into.past_cache;
    const auto passes = [&] {
      const std::lock_guard lock(into.mutex);
      return into.past_cache > before + 3;
    };
    // When the machine has stood still in between, it takes some turns until it is one again.
    for (int i = 0; i < 3000 && !passes(); i++) {
      for (int j = 0; j < 4; j++) {
        append(0, words[sent++ % words.size()]);
        log.flush_much();
      }
      log.flush();
    }
    return passes();
  };
  const auto logged_from = [&](size_t first) {
    std::string text = logged({"SELECT", "0"});
    for (size_t i = first; i < sent; i++) text += logged({words[i % words.size()]});
    return text;
  };
  EXPECT_TRUE(flood(disk));
  const std::string first = logged_from(0);
  const size_t switched = sent;
  writer.switch_here([&] { writer.replace_file(open_fake(next)); });
  EXPECT_TRUE(flood(next));
  append(0, "last");
  log.flush();
  const std::string second = logged_from(switched) + logged({"last"});
  EXPECT_TRUE(comes_true([&] { return next.contents().size() == second.size(); }));
  EXPECT_TRUE(disk.contents() == first);
  EXPECT_TRUE(next.contents() == second);
  ASSERT_TRUE(writer.stop().ok());
  EXPECT_TRUE(next.synced == second);
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
