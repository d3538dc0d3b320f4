#include "persist/snapshot_saver.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "persist/fake_host.h"

namespace sorrel::persist {
namespace {

using testing::FakeHost;
using testing::FakeJob;

class SnapshotSaverTest : public ::testing::Test {
 protected:
  bool refuses_writes() const { return (host.state.reasons & NodeState::kSnapshotFailed) != 0; }
  // What Persistence::cron() does.
  void cron() {
    if (!job.active()) saver.start_due();
  }

  FakeHost host;
  FakeJob job{host};
  SnapshotSaver saver{host, job};
};

TEST_F(SnapshotSaverTest, SavesNow) {
  host.set("a", "1");
  host.time.advance_ms(5000);
  ASSERT_TRUE(saver.save_for_client());
  EXPECT_TRUE(host.has_file("dump.rdb"));
  EXPECT_EQ(saver.changes_since_save(), 0u);
  EXPECT_EQ(saver.facts().saves, 1u);
  EXPECT_EQ(saver.facts().last_save_s, host.time.wall_ms() / 1000);
}

TEST_F(SnapshotSaverTest, AFolderThatIsGoneIsAnError) {
  host.settings.dir = host.path("missing");
  EXPECT_FALSE(saver.save());
  EXPECT_TRUE(host.lines.has("Write error while saving DB to the disk"));
  EXPECT_EQ(saver.facts().last_save_s, host.time.wall_ms() / 1000);  // as at the start
}

TEST_F(SnapshotSaverTest, ChangesDuringABackgroundSaveAreNotSaved) {
  host.set("a", "1");
  ASSERT_TRUE(saver.start_background());
  EXPECT_TRUE(saver.in_background());
  host.set("b", "2");
  host.set("c", "3");
  saver.finish(job.finish());
  EXPECT_FALSE(saver.in_background());
  EXPECT_TRUE(saver.facts().last_background_ok);
  EXPECT_EQ(saver.changes_since_save(), 2u);
  EXPECT_TRUE(host.lines.has("Background saving terminated with success"));
}

TEST_F(SnapshotSaverTest, AFailureRefusesWritesUntilASnapshotSucceeds) {
  ASSERT_TRUE(saver.start_background());
  saver.finish(job.fail("No space left on device"));
  EXPECT_FALSE(saver.facts().last_background_ok);
  EXPECT_TRUE(refuses_writes());
  EXPECT_TRUE(host.lines.has("Write error while saving DB to the disk: No space left on device"));
  ASSERT_TRUE(saver.save());
  EXPECT_FALSE(refuses_writes());
}

TEST_F(SnapshotSaverTest, WritesGoOnWhenNoSavePointIsSet) {
  host.settings.save.clear();
  ASSERT_TRUE(saver.start_background());
  saver.finish(job.fail("No space left on device"));
  EXPECT_FALSE(refuses_writes());
  host.settings.save = {{60, 1}};
  saver.update_write_verdict();
  EXPECT_TRUE(refuses_writes());
  host.settings.stop_writes_on_bgsave_error = false;
  saver.update_write_verdict();
  EXPECT_FALSE(refuses_writes());
}

TEST_F(SnapshotSaverTest, AForkThatFailsIsAFailure) {
  job.fails_to_start = true;
  EXPECT_FALSE(saver.start_background());
  EXPECT_FALSE(job.active());
  EXPECT_TRUE(refuses_writes());
  EXPECT_TRUE(host.lines.has("Can't save in background: fork: Cannot allocate memory"));
}

TEST_F(SnapshotSaverTest, ASavePointNeedsChangesAndTime) {
  host.settings.save = {{60, 2}};
  host.set("a", "1");
  host.time.advance_ms(61'000);
  cron();
  EXPECT_FALSE(job.active());
  host.set("b", "2");
  cron();
  EXPECT_TRUE(job.active());
  saver.finish(job.finish());
  host.set("c", "3");
  host.set("d", "4");
  host.time.advance_ms(60'000);
  cron();
  EXPECT_FALSE(job.active());
  host.time.advance_ms(1000);
  cron();
  EXPECT_TRUE(job.active());
}

TEST_F(SnapshotSaverTest, AFailureDelaysTheNextTry) {
  host.settings.save = {{1, 1}};
  host.set("a", "1");
  host.time.advance_ms(2000);
  cron();
  saver.finish(job.fail("Input/output error"));
  host.time.advance_ms(5000);
  cron();
  EXPECT_FALSE(job.active());
  host.time.advance_ms(1000);
  cron();
  EXPECT_TRUE(job.active());
}

TEST_F(SnapshotSaverTest, AScheduledSaveBeginsWhenNoJobRuns) {
  ASSERT_TRUE(job.start({.kind = ChildKind::kRewrite}));
  saver.schedule();
  cron();
  EXPECT_FALSE(saver.in_background());
  (void)job.fail("");
  cron();
  EXPECT_TRUE(saver.in_background());
  EXPECT_FALSE(saver.facts().scheduled);
}

TEST_F(SnapshotSaverTest, OneThatBeginsAgainIsCountedOnce) {
  ASSERT_TRUE(saver.start_background());
  saver.finish(job.begin_again());
  EXPECT_TRUE(saver.facts().scheduled);
  cron();
  EXPECT_TRUE(saver.in_background());
  EXPECT_EQ(saver.facts().saves, 1u);
  EXPECT_TRUE(saver.facts().last_background_ok);
}

TEST_F(SnapshotSaverTest, Cancels) {
  using Cancelled = SnapshotSaver::Cancelled;
  EXPECT_EQ(saver.cancel_background(), Cancelled::kNothing);
  saver.schedule();
  EXPECT_EQ(saver.cancel_background(), Cancelled::kScheduled);
  ASSERT_TRUE(saver.start_background());
  EXPECT_EQ(saver.cancel_background(), Cancelled::kRunning);
  EXPECT_FALSE(job.active());
  EXPECT_TRUE(saver.facts().last_background_ok);  // on purpose
  EXPECT_FALSE(host.has_file("dump.rdb"));
}

TEST_F(SnapshotSaverTest, AFlushEndsASnapshotAndSavesAgain) {
  ASSERT_TRUE(saver.start_background());
  saver.after_flush_all(3);
  EXPECT_FALSE(job.active());
  EXPECT_TRUE(host.has_file("dump.rdb"));
  host.change_count += 3;
  EXPECT_EQ(saver.changes_since_save(), 0u);
}

TEST_F(SnapshotSaverTest, AFlushWithoutSavePointsOnlyEndsASnapshot) {
  host.settings.save.clear();
  ASSERT_TRUE(saver.start_background());
  saver.after_flush_all(3);
  EXPECT_FALSE(job.active());
  EXPECT_FALSE(host.has_file("dump.rdb"));
}

TEST_F(SnapshotSaverTest, SavesAtShutdownAsAskedAndConfigured) {
  EXPECT_TRUE(saver.saves_at_shutdown({}));
  EXPECT_FALSE(saver.saves_at_shutdown({.nosave = true}));
  host.settings.save.clear();
  EXPECT_FALSE(saver.saves_at_shutdown({}));
  EXPECT_TRUE(saver.save_at_shutdown({}));
  EXPECT_FALSE(host.has_file("dump.rdb"));
  EXPECT_TRUE(saver.save_at_shutdown({.save = true}));
  EXPECT_TRUE(host.has_file("dump.rdb"));
}

TEST_F(SnapshotSaverTest, AFailureAtShutdownKeepsTheProcessUnlessForced) {
  host.settings.dir = host.path("missing");
  EXPECT_FALSE(saver.save_at_shutdown({.save = true}));
  EXPECT_TRUE(saver.save_at_shutdown({.save = true, .force = true}));
  EXPECT_TRUE(host.lines.has("Exit anyway."));
}

}  // namespace
}  // namespace sorrel::persist
