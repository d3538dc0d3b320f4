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
  ~WatchesTest() override {
    watches_.clear(one_);
    watches_.clear(two_);
  }

  ChangeInterest interest_;
  Watches watches_{interest_};
  Watcher one_;
  Watcher two_;
};

TEST_F(WatchesTest, OnlyWhoWatchesTheKeyIsMarked) {
  EXPECT_EQ(interest_.who(), 0u);
  watches_.add(one_, 0, "a", true);
  watches_.add(two_, 0, "b", true);
  EXPECT_EQ(interest_.who(), ChangeInterest::kWatchers);
  watches_.touch(change_of("a", kSet, 1));
  watches_.touch(change_of("c"));
  EXPECT_FALSE(one_.dirty());
  watches_.touch(change_of("a"));
  EXPECT_TRUE(one_.dirty());
  EXPECT_FALSE(two_.dirty());
}

TEST_F(WatchesTest, ClearForgetsKeysAndMark) {
  watches_.add(one_, 0, "a", true);
  watches_.add(one_, 0, "a", false);  // stays as it was
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

TEST_F(WatchesTest, WhatWasAbsentDoesNotChangeByGoing) {
  watches_.add(one_, 0, "a", false);
  watches_.add(two_, 0, "a", true);
  watches_.touch(change_of("a", kExpiredEvent));
  EXPECT_FALSE(one_.dirty());
  EXPECT_TRUE(two_.dirty());
  watches_.flush(ChangeObserver::kEveryDatabase);
  EXPECT_FALSE(one_.dirty());
}

TEST_F(WatchesTest, FlushOfOneDatabase) {
  watches_.add(one_, 0, "a", true);
  watches_.add(two_, 3, "a", true);
  watches_.flush(3);
  EXPECT_FALSE(one_.dirty());
  EXPECT_TRUE(two_.dirty());
}

TEST_F(WatchesTest, SwapConcernsKeysThatGoOrCome) {
  Keyspace keyspace{KeyspaceOptions{}, nullptr};
  EffectStream stream;
  EffectLog effects(stream);
  Random random(1);
  Door door(keyspace, effects, random);
  door.begin(5, 1000, false);
  door.put_string(door.key("comes"), "x", kNoExpiry, kSet);
  watches_.add(one_, 0, "neither", false);
  watches_.swap(0, 5, door);
  EXPECT_FALSE(one_.dirty());
  watches_.add(one_, 0, "comes", false);
  watches_.swap(0, 5, door);
  EXPECT_TRUE(one_.dirty());
  watches_.add(two_, 0, "goes", true);
  watches_.swap(5, 0, door);
  EXPECT_TRUE(two_.dirty());
}

}  // namespace
}  // namespace sorrel
