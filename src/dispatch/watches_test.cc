// WATCH: the changes that mark a watcher, with expired keys, flushes and SWAPDB.

#include "dispatch/watches.h"

#include <gtest/gtest.h>

#include "keyspace/door.h"

namespace sorrel {
namespace {

constexpr Event kSet{EventClass::kString, "set"};

Change change_of(std::string_view key, Event event = kSet, int db = 0) {
  return {db, key, event, 1, 0};
}

class WatchesTest : public ::testing::Test {
 protected:
  WatchesTest() { begin(0); }
  ~WatchesTest() override {
    watches_.clear(one_);
    watches_.clear(two_);
  }

  void begin(int db, int64_t now_ms = 1000) { door_.begin(db, now_ms, false); }
  void put(int db, std::string_view key, int64_t expiry = kNoExpiry) {
    begin(db);
    door_.put_string(door_.key(key), "x", expiry, kSet);
    begin(0);
  }

  ChangeInterest interest_;
  Watches watches_{interest_};
  Watcher one_;
  Watcher two_;
  Keyspace keyspace_{KeyspaceOptions{}, nullptr};
  EffectStream stream_;
  EffectLog effects_{stream_};
  Random random_{1};
  Door door_{keyspace_, effects_, random_};
};

TEST_F(WatchesTest, OnlyWatchersOfTheKeyAreMarked) {
  EXPECT_EQ(interest_.who(), 0u);
  watches_.add(one_, 0, "a", false);
  watches_.add(two_, 0, "b", false);
  EXPECT_EQ(interest_.who(), ChangeInterest::kWatchers);
  watches_.touch(change_of("a", kSet, 1));
  watches_.touch(change_of("c"));
  EXPECT_FALSE(one_.dirty());
  watches_.touch(change_of("a"));
  EXPECT_TRUE(one_.dirty());
  EXPECT_FALSE(two_.dirty());
}

TEST_F(WatchesTest, ClearForgetsKeysAndMark) {
  watches_.add(one_, 0, "a", false);
  watches_.add(one_, 0, "a", true);  // stays as it was
  EXPECT_EQ(one_.keys().size(), 1u);
  watches_.touch(change_of("a"));
  watches_.clear(one_);
  EXPECT_FALSE(one_.dirty());
  EXPECT_EQ(watches_.counts().keys, 0u);
  EXPECT_EQ(watches_.counts().watchers, 0u);
  EXPECT_EQ(interest_.who(), 0u);
  watches_.touch(change_of("a"));
  EXPECT_FALSE(one_.dirty());
}

TEST_F(WatchesTest, AnExpiredKeyDoesNotChangeByItsDeletion) {
  watches_.add(one_, 0, "a", true);
  watches_.add(two_, 0, "a", false);
  watches_.touch(change_of("a", kExpiredEvent));
  EXPECT_FALSE(one_.dirty());
  EXPECT_TRUE(two_.dirty());
  // From then on it is a key like any other.
  watches_.touch(change_of("a", kExpiredEvent));
  EXPECT_TRUE(one_.dirty());
}

TEST_F(WatchesTest, AKeyThatHasExpiredSinceHasChanged) {
  put(0, "a", 2000);
  watches_.add(one_, 0, "a", false);
  EXPECT_FALSE(watches_.has_changed(one_, door_));
  begin(0, 3000);
  EXPECT_TRUE(watches_.has_changed(one_, door_));
  watches_.add(two_, 0, "a", true);
  EXPECT_FALSE(watches_.has_changed(two_, door_));
  watches_.touch(change_of("a"));
  EXPECT_TRUE(watches_.has_changed(two_, door_));
}

TEST_F(WatchesTest, FlushMarksWatchersOfExistingKeys) {
  watches_.add(one_, 0, "absent", false);
  watches_.add(two_, 0, "loaded later", false);
  put(0, "loaded later");
  watches_.flush(ChangeObserver::kEveryDatabase, door_);
  EXPECT_FALSE(one_.dirty());
  EXPECT_TRUE(two_.dirty());
}

TEST_F(WatchesTest, FlushOfAnExpiredKeyIsNoChange) {
  put(0, "a", 500);
  watches_.add(one_, 0, "a", true);
  watches_.add(two_, 0, "a", false);  // it has expired since
  watches_.flush(0, door_);
  EXPECT_FALSE(one_.dirty());
  EXPECT_TRUE(two_.dirty());
}

TEST_F(WatchesTest, FlushOfOneDatabase) {
  put(0, "a");
  put(3, "a");
  watches_.add(one_, 0, "a", false);
  watches_.add(two_, 3, "a", false);
  watches_.flush(3, door_);
  EXPECT_FALSE(one_.dirty());
  EXPECT_TRUE(two_.dirty());
}

TEST_F(WatchesTest, SwapMarksWatchersOfReplacedKeys) {
  put(5, "comes");
  watches_.add(one_, 0, "neither", false);
  watches_.swap(0, 5, door_);
  EXPECT_FALSE(one_.dirty());
  watches_.add(one_, 0, "comes", false);
  watches_.swap(0, 0, door_);
  watches_.swap(1, 5, door_);
  EXPECT_FALSE(one_.dirty());
  watches_.swap(0, 5, door_);
  EXPECT_TRUE(one_.dirty());
  watches_.add(two_, 0, "goes", false);
  put(0, "goes");  // by a load, which notifies no watcher
  watches_.swap(5, 0, door_);
  EXPECT_TRUE(two_.dirty());
}

TEST_F(WatchesTest, SwapOfExpiredKeys) {
  put(0, "goes", 500);
  put(5, "comes", 500);
  put(5, "goes", 500);
  watches_.add(one_, 0, "goes", true);
  watches_.add(one_, 0, "comes", false);
  watches_.swap(0, 5, door_);
  EXPECT_FALSE(one_.dirty());
  // The key that was swapped in is expired, too: its deletion changes nothing, and a live key does.
  watches_.touch(change_of("comes", kExpiredEvent));
  EXPECT_FALSE(one_.dirty());
  put(7, "goes");
  watches_.swap(0, 7, door_);
  EXPECT_TRUE(one_.dirty());
}

}  // namespace
}  // namespace sorrel
