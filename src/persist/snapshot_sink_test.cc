#include "persist/snapshot_sink.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "base/random.h"
#include "persist/live_snapshot.h"
#include "persist/snapshot_fixture.h"
#include "rdb/source_fixture.h"

// Snapshots that go elsewhere than into a file, and come from elsewhere.

namespace sorrel::persist {
namespace {

// What has happened to a sink, which is gone with its snapshot.
struct SinkFacts {
  std::mutex mutex;
  std::condition_variable changed;
  std::string bytes;
  uint64_t room = UINT64_MAX;      // write() waits when so many bytes came
  uint64_t fails_at = UINT64_MAX;  // or fails
  bool fails_to_begin = false;
  bool fails_to_finish = false;
  bool cancelled = false;
  bool finished = false;
  bool abandoned = false;
  std::atomic<bool> waits{false};

  void give_room(uint64_t more) {
    const std::lock_guard lock(mutex);
    room = more;
    changed.notify_all();
  }
};

class TestSink final : public SnapshotSink {
 public:
  explicit TestSink(SinkFacts& facts) : facts_(facts) {}

  Status begin() override {
    return facts_.fails_to_begin ? Status(Error{"can't begin"}) : Status();
  }
  Status write(std::string_view bytes) override {
    std::unique_lock lock(facts_.mutex);
    facts_.waits = facts_.bytes.size() >= facts_.room;
    facts_.changed.wait(lock,
                        [&] { return facts_.bytes.size() < facts_.room || facts_.cancelled; });
    facts_.waits = false;
    if (facts_.cancelled) return Error{"cancelled"};
    if (facts_.bytes.size() + bytes.size() > facts_.fails_at) return Error{"connection reset"};
    facts_.bytes += bytes;
    return {};
  }
  Status finish() override {
    const std::lock_guard lock(facts_.mutex);
    if (facts_.cancelled) return Error{"cancelled"};
    if (facts_.fails_to_finish) return Error{"can't finish"};
    facts_.finished = true;
    return {};
  }
  void abandon() override {
    const std::lock_guard lock(facts_.mutex);
    facts_.abandoned = true;
  }
  void cancel() override {
    const std::lock_guard lock(facts_.mutex);
    facts_.cancelled = true;
    facts_.changed.notify_all();
  }
  bool is_behind() const override { return facts_.waits; }

 private:
  SinkFacts& facts_;
};

class SnapshotSinkTest : public SnapshotTest {
 protected:
  SnapshotSinkTest() {
    // What hardly becomes shorter by compressing.
    Random random(1);
    for (int i = 0; i < 4000; i++) {
      std::string value;
      for (int n = 0; n < 25; n++) value += std::to_string(random.next());
      put(from_, i % 3, "key:" + std::to_string(i), value);
    }
  }

  void begin() { live_.begin(ChildKind::kSnapshot, {}, std::make_unique<TestSink>(facts_), 1); }
  LiveSnapshot::Walked walk() {
    return live_.walk(0, [] { return true; });
  }
  // As far as it takes until the sink is behind.
  void walk_until_behind() {
    wait_until([&] {
      if (facts_.waits) return true;
      if (live_.progress().cow_bytes == 0) (void)live_.walk(0, [] { return false; });
      return facts_.waits.load();
    });
  }
  template <class Condition>
  void wait_until(Condition&& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::yield();
    }
  }
  ChildEnd wait_for_end() {
    std::optional<ChildEnd> ended;
    wait_until([&] {
      (void)walk();
      ended = live_.poll();
      return ended.has_value();
    });
    return ended.value_or(ChildEnd{});
  }
  Result<uint64_t> load_pieces(std::string_view bytes, size_t piece, bool tells_size) {
    rdb::testing::PieceSource source(bytes, {.piece = piece, .tells_size = tells_size});
    Loader loader(to_, clock_, log_, progress_);
    return loader.load(source, {.stands_alone = true}, {});
  }

  SinkFacts facts_;
  LiveSnapshot live_{from_, clock_};
};

TEST_P(SnapshotSinkTest, ALiveOneStreamsAndIsLoadedFromPieces) {
  const auto before = strings_of(from_);
  begin();
  EXPECT_TRUE(wait_for_end().ok);
  EXPECT_TRUE(facts_.finished);
  EXPECT_FALSE(facts_.abandoned);
  for (const size_t piece : {5, 100, 1 << 16}) {
    for (int db = 0; db < to_.database_count(); db++) to_.flush(db, false);
    const auto loaded = load_pieces(facts_.bytes, piece, piece == 100);
    ASSERT_TRUE(loaded) << loaded.error().text;
    EXPECT_EQ(*loaded, facts_.bytes.size());
    EXPECT_EQ(strings_of(to_), before);
  }
}

// A process writes the same into a pipe.
TEST_P(SnapshotSinkTest, AForkedOneStreams) {
  TestSink sink(facts_);
  ASSERT_TRUE(write_snapshot(from_, {}, sink).ok());
  ASSERT_TRUE(load_pieces(facts_.bytes, 1000, false));
  EXPECT_EQ(strings_of(to_), strings_of(from_));
  SinkFacts failing;
  failing.fails_at = 200'000;
  TestSink broken(failing);
  const Status done = write_snapshot(from_, {}, broken);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().text, "connection reset");
}

TEST_P(SnapshotSinkTest, ASinkThatIsSlowHoldsUpTheWalkOnly) {
  facts_.room = 0;
  begin();
  walk_until_behind();
  EXPECT_EQ(walk(), LiveSnapshot::Walked::kMustWait);
  EXPECT_FALSE(live_.poll());
  // Keys that change are kept meanwhile.
  Record* changed = nullptr;
  from_.database(from_.partition_of("key:3999"), 3999 % 3).table.for_each([&](void* entry) {
    auto* record = static_cast<Record*>(entry);
    if (record->key() == "key:3999") changed = record;
  });
  ASSERT_NE(changed, nullptr);
  from_.keep(0, 3999 % 3, *changed);
  EXPECT_FALSE(facts_.finished);
  facts_.give_room(UINT64_MAX);
  EXPECT_TRUE(wait_for_end().ok);
  ASSERT_TRUE(load_pieces(facts_.bytes, 4096, true));
  EXPECT_EQ(strings_of(to_), strings_of(from_));
}

TEST_P(SnapshotSinkTest, OneThatIsGivenUpDoesNotWaitForItsSink) {
  facts_.room = 0;
  begin();
  walk_until_behind();
  from_.flush(0, true);
  EXPECT_GT(from_.gone_bytes(), 0u);
  EXPECT_TRUE(live_.cancel_and_wait().killed);
  EXPECT_EQ(from_.gone_bytes(), 0u);
  EXPECT_FALSE(facts_.finished);
  EXPECT_TRUE(facts_.abandoned);
}

TEST_P(SnapshotSinkTest, ASinkThatFailsMidwayIsTold) {
  for (const uint64_t fails_at : {uint64_t{0}, uint64_t{150'000}, uint64_t{700'000}}) {
    facts_.bytes.clear();
    facts_.abandoned = false;
    facts_.fails_at = fails_at;
    begin();
    const ChildEnd ended = wait_for_end();
    EXPECT_FALSE(ended.ok);
    EXPECT_FALSE(ended.killed);
    EXPECT_EQ(ended.problem, "connection reset");
    EXPECT_TRUE(facts_.abandoned);
    EXPECT_FALSE(facts_.finished);
    wait_until([&] {
      (void)walk();
      (void)live_.poll();
      return live_.ready();
    });
    facts_.cancelled = false;
  }
  facts_.fails_at = UINT64_MAX;
  facts_.fails_to_begin = true;
  begin();
  EXPECT_EQ(wait_for_end().problem, "can't begin");
  wait_until([&] {
    (void)walk();
    (void)live_.poll();
    return live_.ready();
  });
  facts_.cancelled = facts_.fails_to_begin = false;
  facts_.fails_to_finish = true;
  begin();
  EXPECT_EQ(wait_for_end().problem, "can't finish");
}

// Cut or damaged, a stream leaves what came before, and tells where.
TEST_P(SnapshotSinkTest, AStreamThatEndsTooEarlyIsRefused) {
  TestSink sink(facts_);
  ASSERT_TRUE(write_snapshot(from_, {}, sink).ok());
  for (const size_t size : {size_t{0}, size_t{8}, size_t{5000}, facts_.bytes.size() - 1}) {
    for (int db = 0; db < to_.database_count(); db++) to_.flush(db, false);
    const auto loaded = load_pieces(std::string_view(facts_.bytes).substr(0, size), 64, false);
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().text.find("at byte " + std::to_string(size)), std::string::npos)
        << loaded.error().text;
  }
}

INSTANTIATE_TEST_SUITE_P(Partitions, SnapshotSinkTest, ::testing::Values(1u, 16u));

}  // namespace
}  // namespace sorrel::persist
