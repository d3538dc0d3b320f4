#include "persist/append_only.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "persist/fake_disk.h"
#include "persist/fake_host.h"

namespace sorrel::persist {
namespace {

using testing::FakeDisk;
using testing::FakeHost;
using testing::FakeJob;

// The AOF on a fake host: its files and its thread are real, everything else waits for the test.
class AppendOnlyTest : public ::testing::Test {
 protected:
  ~AppendOnlyTest() override { aof.stop(); }

  // As a server with appendonly yes starts in an empty folder.
  void start() {
    host.settings.append_only = true;
    ASSERT_FALSE(aof.has_data());
    ASSERT_TRUE(aof.open_at_start());
  }
  // The writer's thread has done what it was told, and the main worker hears of it.
  void settle() {
    ASSERT_TRUE(aof.aof().writer().flush());
    host.run_posted();
  }
  void finish(const ChildEnd& end) {
    aof.rewrite().finish(end);
    settle();
  }
  Manifest manifest() { return aof.aof().files().manifest(); }
  bool has_part(const std::string& name) const { return host.has_file("appendonlydir/" + name); }
  const RewriteFacts& facts() const { return aof.rewrite().facts(); }
  // The next increment cannot be opened: a folder has its name.
  void block_increment(int sequence) {
    std::filesystem::create_directories(
        host.path("appendonlydir/appendonly.aof." + std::to_string(sequence) + ".incr.aof/x"));
  }

  FakeHost host;
  FakeJob job{host};
  SnapshotSaver saver{host, job};
  DatasetLoad load{host, job};
  AppendOnly aof{host, job, saver, load};
};

TEST_F(AppendOnlyTest, StartsWithABaseAndAnIncrement) {
  start();
  EXPECT_EQ(aof.state(), AofState::kOn);
  EXPECT_TRUE(has_part("appendonly.aof.1.base.rdb"));
  host.set("a", "1");
  settle();
  EXPECT_GT(aof.aof().size(), facts().rewritten_size);
}

TEST_F(AppendOnlyTest, ARewriteReplacesBaseAndIncrements) {
  start();
  host.set("a", "1");
  EXPECT_EQ(aof.rewrite().ask(false), AofRewrite::Asked::kStarted);
  EXPECT_EQ(aof.rewrite().ask(false), AofRewrite::Asked::kRunning);
  host.set("b", "2");
  settle();
  EXPECT_TRUE(has_part("appendonly.aof.2.incr.aof"));
  finish(job.finish());
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_TRUE(facts().last_ok);
  EXPECT_EQ(manifest().base->name, "appendonly.aof.2.base.rdb");
  ASSERT_EQ(manifest().increments.size(), 1u);
  EXPECT_EQ(manifest().increments[0].name, "appendonly.aof.2.incr.aof");
  EXPECT_FALSE(has_part("appendonly.aof.1.base.rdb"));
  EXPECT_TRUE(host.lines.has("Background AOF rewrite finished successfully"));
}

// The base is whole before the main worker has heard of the increment.
TEST_F(AppendOnlyTest, ABaseWaitsForItsIncrement) {
  start();
  ASSERT_TRUE(aof.rewrite().start());
  ASSERT_TRUE(aof.aof().writer().flush());
  aof.rewrite().finish(job.finish());
  EXPECT_TRUE(aof.rewrite().active());
  EXPECT_EQ(manifest().base->name, "appendonly.aof.1.base.rdb");
  settle();  // of the increment
  settle();  // of the base
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_EQ(manifest().base->name, "appendonly.aof.2.base.rdb");
}

TEST_F(AppendOnlyTest, ABaseThatFailsLeavesTheOldFiles) {
  start();
  ASSERT_TRUE(aof.rewrite().start());
  settle();
  finish(job.fail("No space left on device"));
  EXPECT_FALSE(facts().last_ok);
  EXPECT_EQ(facts().failures_in_a_row, 1u);
  EXPECT_EQ(manifest().base->name, "appendonly.aof.1.base.rdb");
  EXPECT_EQ(manifest().increments.size(), 2u);  // a second one is no harm
  ASSERT_TRUE(aof.rewrite().start());
  settle();
  finish(job.finish());
  EXPECT_TRUE(facts().last_ok);
  EXPECT_EQ(facts().failures_in_a_row, 0u);
  EXPECT_EQ(manifest().increments.size(), 1u);
}

TEST_F(AppendOnlyTest, WithoutAnIncrementTheBaseIsRemoved) {
  start();
  block_increment(2);
  ASSERT_TRUE(aof.rewrite().start());
  settle();
  EXPECT_TRUE(host.lines.has("Can't begin a new append only file"));
  finish(job.finish());
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_FALSE(facts().last_ok);
  EXPECT_TRUE(host.lines.has("there is no increment to go with it"));
  EXPECT_EQ(manifest().base->name, "appendonly.aof.1.base.rdb");
  for (const auto& file : std::filesystem::directory_iterator(host.path("appendonlydir"))) {
    EXPECT_EQ(file.path().filename().string().find("temp"), std::string::npos) << file.path();
  }
}

TEST_F(AppendOnlyTest, AForkThatFailsIsAFailure) {
  start();
  job.fails_to_start = true;
  EXPECT_EQ(aof.rewrite().ask(false), AofRewrite::Asked::kFailed);
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_EQ(facts().failures_in_a_row, 1u);
  settle();
  EXPECT_FALSE(aof.rewrite().active());
}

TEST_F(AppendOnlyTest, FailuresDelayWhatIsDue) {
  host.settings.auto_rewrite_min_bytes = 0;
  host.settings.auto_rewrite_percentage = 1;
  start();
  for (int i = 0; i < 3; i++) {
    host.set("key" + std::to_string(i), std::string(1000, 'x'));
    settle();
    aof.cron();
    ASSERT_TRUE(aof.rewrite().active()) << i;
    settle();
    finish(job.fail("Input/output error"));
  }
  aof.cron();
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_TRUE(host.lines.has("will retry in 1 minutes"));
  host.time.advance_ms(59'000);
  aof.cron();
  EXPECT_FALSE(aof.rewrite().active());
  host.time.advance_ms(1000);
  aof.cron();
  EXPECT_TRUE(aof.rewrite().active());
}

TEST_F(AppendOnlyTest, WaitsForAnotherJob) {
  start();
  ASSERT_TRUE(saver.start_background());
  EXPECT_EQ(aof.rewrite().ask(false), AofRewrite::Asked::kScheduled);
  aof.cron();
  EXPECT_FALSE(aof.rewrite().active());
  saver.finish(job.finish());
  aof.cron();
  EXPECT_TRUE(aof.rewrite().active());
  EXPECT_FALSE(aof.rewrite().scheduled());
}

TEST_F(AppendOnlyTest, BeginsAgainWhenDatabasesWereSwapped) {
  start();
  ASSERT_TRUE(aof.rewrite().start());
  settle();
  finish(job.begin_again());
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_TRUE(aof.rewrite().scheduled());
  EXPECT_TRUE(facts().last_ok);
}

TEST_F(AppendOnlyTest, AFirstAofCountsFromItsBaseOn) {
  host.set("a", "1");
  ASSERT_TRUE(aof.check_files());
  ASSERT_TRUE(aof.set_enabled(true, false));
  EXPECT_EQ(aof.state(), AofState::kWaiting);
  host.set("b", "2");
  settle();
  EXPECT_FALSE(host.effects().durability().covers(1));
  finish(job.finish());
  EXPECT_EQ(aof.state(), AofState::kOn);
  settle();
  settle();  // Durability hears of the first flush before the second begins
  EXPECT_TRUE(host.effects().durability().covers(1));
  EXPECT_TRUE(has_part("appendonly.aof.1.base.rdb"));
  EXPECT_TRUE(has_part("appendonly.aof.1.incr.aof"));
}

TEST_F(AppendOnlyTest, AFirstAofThatFailsBeginsAgain) {
  ASSERT_TRUE(aof.set_enabled(true, false));
  settle();
  aof.rewrite().finish(job.fail("No space left on device"));
  EXPECT_EQ(aof.state(), AofState::kWaiting);
  EXPECT_FALSE(aof.aof().writer().running());
  EXPECT_FALSE(has_part("temp-appendonly.aof.incr"));
  EXPECT_TRUE(aof.rewrite().scheduled());
  aof.cron();
  EXPECT_TRUE(aof.rewrite().active());
  finish(job.finish());
  EXPECT_EQ(aof.state(), AofState::kOn);
}

TEST_F(AppendOnlyTest, InATransactionItIsTurnedOnAfterwards) {
  ASSERT_TRUE(aof.set_enabled(true, true));
  EXPECT_EQ(aof.state(), AofState::kWaiting);
  EXPECT_FALSE(job.active());
  aof.cron();
  EXPECT_TRUE(aof.rewrite().active());
}

TEST_F(AppendOnlyTest, CannotBeTurnedOnWithoutAFolder) {
  host.settings.dir = host.path("missing");
  EXPECT_FALSE(aof.set_enabled(true, false));
  EXPECT_EQ(aof.state(), AofState::kOff);
  EXPECT_FALSE(aof.rewrite().scheduled());
}

TEST_F(AppendOnlyTest, TurnedOffWhileItIsRewritten) {
  start();
  ASSERT_TRUE(aof.rewrite().start());
  ASSERT_TRUE(aof.set_enabled(false, false));
  EXPECT_EQ(aof.state(), AofState::kOff);
  EXPECT_FALSE(job.active());
  EXPECT_FALSE(aof.rewrite().active());
  host.run_posted();
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_EQ(manifest().base->name, "appendonly.aof.1.base.rdb");
}

// Messages of the first rewrite come while the second is active.
TEST_F(AppendOnlyTest, TurnedOffAndOnWhileABaseIsOnItsWay) {
  start();
  ASSERT_TRUE(aof.rewrite().start());
  settle();
  aof.rewrite().finish(job.finish());
  ASSERT_TRUE(aof.set_enabled(false, false));
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_EQ(manifest().base->name, "appendonly.aof.2.base.rdb");  // put before the writer stopped
  ASSERT_TRUE(aof.set_enabled(true, false));
  EXPECT_GT(host.run_posted(), 0u);
  EXPECT_TRUE(aof.rewrite().active());
  EXPECT_EQ(aof.state(), AofState::kWaiting);
  settle();
  finish(job.finish());
  EXPECT_EQ(aof.state(), AofState::kOn);
  EXPECT_EQ(manifest().base->name, "appendonly.aof.3.base.rdb");
}

TEST_F(AppendOnlyTest, AShutdownEndsARewrite) {
  start();
  ASSERT_TRUE(aof.rewrite().start());
  settle();
  EXPECT_TRUE(aof.prepare_shutdown(false));
  EXPECT_FALSE(job.active());
  EXPECT_FALSE(aof.rewrite().active());
  aof.stop();
  EXPECT_FALSE(aof.aof().writer().running());
}

TEST_F(AppendOnlyTest, AShutdownWaitsForAFirstAofUnlessForced) {
  ASSERT_TRUE(aof.set_enabled(true, false));
  EXPECT_FALSE(aof.prepare_shutdown(false));
  EXPECT_TRUE(aof.rewrite().active());
  EXPECT_TRUE(aof.prepare_shutdown(true));
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_FALSE(has_part("temp-appendonly.aof.incr"));
}

TEST_F(AppendOnlyTest, WithAppendonlyNoARewriteOnlyMakesFiles) {
  host.set("a", "1");
  ASSERT_TRUE(aof.rewrite().start());
  aof.rewrite().finish(job.finish());
  EXPECT_FALSE(aof.rewrite().active());
  EXPECT_EQ(aof.state(), AofState::kOff);
  EXPECT_TRUE(has_part("appendonly.aof.1.base.rdb"));
  EXPECT_TRUE(facts().last_ok);
}

TEST_F(AppendOnlyTest, ARewriteMovesTheAofToAnotherFolder) {
  start();
  host.set("a", "1");
  const std::string there = host.path("there");
  std::filesystem::create_directory(there);
  host.settings.dir = there;
  ASSERT_TRUE(aof.rewrite().start());
  settle();
  finish(job.finish());
  EXPECT_TRUE(facts().last_ok);
  EXPECT_EQ(aof.aof().files().place().dir, there);
  EXPECT_TRUE(has_part("appendonly.aof.1.base.rdb"));  // the old place stays as it is
}

TEST_F(AppendOnlyTest, ABaseOfCommands) {
  host.settings.use_rdb_preamble = false;
  start();
  EXPECT_TRUE(has_part("appendonly.aof.1.base.aof"));
  host.set("a", "1");
  ASSERT_TRUE(aof.rewrite().start());
  settle();
  finish(job.finish());
  EXPECT_EQ(manifest().base->name, "appendonly.aof.2.base.aof");
}

TEST_F(AppendOnlyTest, ADiskThatFailsRefusesWrites) {
  FakeDisk disk;
  bool is_full = true;
  disk.on_append = [&](size_t) { return is_full ? 0 : -1; };
  aof.aof().reset_files();
  aof.aof().start(testing::open_fake(disk));
  host.set("a", "1");
  EXPECT_FALSE(aof.aof().writer().flush());
  EXPECT_TRUE(host.await_posted());
  EXPECT_NE(host.state.reasons & NodeState::kLogFailed, 0u);
  EXPECT_EQ(host.state.log_problem, "No space left on device");
  {
    const std::lock_guard lock(disk.mutex);
    is_full = false;
  }
  host.time.advance_ms(2000);
  EXPECT_TRUE(aof.aof().writer().flush());
  EXPECT_TRUE(host.await_posted());
  EXPECT_EQ(host.state.reasons & NodeState::kLogFailed, 0u);
  EXPECT_TRUE(host.lines.has("AOF write error looks solved"));
  aof.stop();
}

TEST_F(AppendOnlyTest, WithNoAppendfsyncOnRewriteTheDiskIsSpared) {
  host.settings.no_fsync_on_rewrite = true;
  host.settings.append_fsync = SyncPolicy::kAlways;
  start();
  EXPECT_EQ(aof.aof().writer().options().policy, SyncPolicy::kAlways);
  ASSERT_TRUE(saver.start_background());
  aof.cron();
  EXPECT_EQ(aof.aof().writer().options().policy, SyncPolicy::kNever);
  saver.finish(job.finish());
  aof.cron();
  EXPECT_EQ(aof.aof().writer().options().policy, SyncPolicy::kAlways);
}

TEST_F(AppendOnlyTest, ADamagedManifestIsReported) {
  start();
  aof.stop();
  std::filesystem::resize_file(host.path("appendonlydir/appendonly.aof.manifest"), 10);
  EXPECT_TRUE(aof.has_data());
  EXPECT_FALSE(aof.load_at_start());
  EXPECT_TRUE(host.lines.has("Fatal error in the AOF manifest"));
}

TEST_F(AppendOnlyTest, LoadsItsBase) {
  host.set("a", "1");
  host.libraries = {"#!lua name=x"};
  start();
  aof.stop();
  load.empty_dataset();
  ASSERT_EQ(host.keys(), 0u);
  ASSERT_TRUE(aof.has_data());
  ASSERT_TRUE(aof.load_at_start());
  EXPECT_EQ(host.keys(), 1u);
  EXPECT_EQ(host.libraries.size(), 1u);
  EXPECT_EQ(host.loads, 1);
  EXPECT_EQ(job.rearrangements, 1);
  EXPECT_EQ(host.state.reasons & NodeState::kLoading, 0u);
}

TEST(RewriteBackoff, DoublesUpToAnHour) {
  RewriteBackoff backoff;
  int64_t now_ms = 1000;
  EXPECT_FALSE(backoff.check(2, now_ms).must_wait);
  for (const int64_t minutes : {1, 2, 4, 8, 16, 32, 60, 60}) {
    const auto begun = backoff.check(3, now_ms);
    EXPECT_TRUE(begun.must_wait);
    EXPECT_EQ(begun.begun_minutes, minutes);
    now_ms += minutes * 60'000 - 1;
    EXPECT_TRUE(backoff.check(3, now_ms).must_wait);
    EXPECT_EQ(backoff.check(3, now_ms).begun_minutes, 0);
    now_ms++;
    EXPECT_FALSE(backoff.check(3, now_ms).must_wait);
  }
  EXPECT_FALSE(backoff.check(0, now_ms).must_wait);
  EXPECT_EQ(backoff.check(3, now_ms).begun_minutes, 1);
}

}  // namespace
}  // namespace sorrel::persist
