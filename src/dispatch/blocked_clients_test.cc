#include "dispatch/blocked_clients.h"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

BlockedClients::Handle waiter_for(std::vector<std::string> keys, int db = 0) {
  auto waiter = std::make_shared<BlockedClient>();
  waiter->args = std::move(keys);
  waiter->keys.assign(waiter->args.begin(), waiter->args.end());
  waiter->caller.db = db;
  return waiter;
}

TEST(BlockedClients, AreClaimedInTheOrderOfComing) {
  ChangeInterest interest;
  BlockedClients waiters{interest};
  EXPECT_FALSE(waiters.any());
  const auto first = waiter_for({"a", "b"});
  const auto second = waiter_for({"b", "b"});
  const auto elsewhere = waiter_for({"b"}, 1);
  for (const auto& waiter : {first, second, elsewhere}) waiters.add(waiter);
  EXPECT_EQ(waiters.count(), 3u);
  EXPECT_EQ(waiters.claim_next(0, "c", 0), nullptr);
  EXPECT_EQ(waiters.claim_next(0, "b", 0), first);
  EXPECT_EQ(waiters.claim_next(0, "b", first->ticket), second);
  EXPECT_EQ(waiters.claim_next(0, "b", second->ticket), nullptr);
  waiters.served(first);
  waiters.served(second);
  EXPECT_EQ(waiters.claim_next(0, "b", 0), nullptr);
  EXPECT_EQ(waiters.count(), 1u);
  EXPECT_EQ(waiters.keys(), (std::vector<std::pair<int, std::string>>{{1, "b"}}));
}

TEST(BlockedClients, TakeTheirArgumentsAndPlaces) {
  ChangeInterest interest;
  BlockedClients waiters{interest};
  const auto small = waiter_for({"a"});
  const auto large = waiter_for({std::string(100'000, 'x')});
  for (const auto& waiter : {small, large}) waiters.add(waiter);
  EXPECT_EQ(large->argument_bytes(), 100'000u);
  // The name stands in the request, and in the registry.
  EXPECT_EQ(large->memory_bytes() - small->memory_bytes(), 2u * 99'999);
}

TEST(BlockedClients, WhoIsBeingRunIsLookedAtAgain) {
  ChangeInterest interest;
  BlockedClients waiters{interest};
  const auto waiter = waiter_for({"a", "b"});
  waiters.add(waiter);
  ASSERT_EQ(waiters.claim_next(0, "a", 0), waiter);
  EXPECT_FALSE(waiters.cancel(waiter)) << "somebody may be taking an element out for it";
  EXPECT_EQ(waiters.claim_next(0, "b", 0), nullptr);
  EXPECT_FALSE(waiters.release(waiter)) << "b has changed since";
  ASSERT_EQ(waiters.claim_next(0, "b", 0), waiter);
  EXPECT_TRUE(waiters.release(waiter));
}

TEST(BlockedClients, CancelIsHeardOnce) {
  ChangeInterest interest;
  BlockedClients waiters{interest};
  const auto waiter = waiter_for({"a"});
  waiters.add(waiter);
  EXPECT_TRUE(waiters.cancel(waiter));
  EXPECT_FALSE(waiters.cancel(waiter));
  EXPECT_FALSE(waiters.any());
  EXPECT_EQ(waiters.claim_next(0, "a", 0), nullptr);
  EXPECT_TRUE(waiters.keys().empty());
}

TEST(BlockedClients, WhoHasGoneIsServedNoMore) {
  ChangeInterest interest;
  BlockedClients waiters{interest};
  const auto waiter = waiter_for({"a"});
  waiters.add(waiter);
  ASSERT_EQ(waiters.claim_next(0, "a", 0), waiter);
  waiters.abandon(waiter);  // while another worker looks whether there is anything for it
  EXPECT_TRUE(waiters.any());
  EXPECT_TRUE(waiters.release(waiter));
  EXPECT_FALSE(waiters.any());
  EXPECT_EQ(waiters.claim_next(0, "a", 0), nullptr);
  const auto other = waiter_for({"a"});
  waiters.add(other);
  waiters.abandon(other);
  EXPECT_FALSE(waiters.any());
}

TEST(BlockedClients, WhoNeedKeysAreFoundAmongTheOthers) {
  ChangeInterest interest;
  BlockedClients waiters{interest};
  const auto idle = waiter_for({"a", "b"});
  const auto needy = waiter_for({"a", "a"});
  needy->needs_key = true;
  for (const auto& waiter : {idle, needy}) waiters.add(waiter);
  EXPECT_EQ(waiters.key_count().all, 2u);
  EXPECT_EQ(waiters.key_count().needed, 1u);
  EXPECT_EQ(waiters.claim_next(0, "b", 0, BlockedClients::Of::kNeedingKey), nullptr);
  ASSERT_EQ(waiters.claim_next(0, "a", 0, BlockedClients::Of::kNeedingKey), needy);
  waiters.served(needy);
  EXPECT_EQ(waiters.claim_next(0, "a", 0, BlockedClients::Of::kNeedingKey), nullptr);
  EXPECT_EQ(waiters.key_count().all, 2u);
  EXPECT_EQ(waiters.key_count().needed, 0u);
  EXPECT_TRUE(waiters.cancel(idle));
  EXPECT_EQ(waiters.key_count().all, 0u);
}

}  // namespace
}  // namespace sorrel
