#include "dispatch/blocked_clients.h"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

BlockedClients::Handle waiter_for(std::vector<std::string> keys, int db = 0) {
  auto client = std::make_shared<BlockedClient>();
  client->args = std::move(keys);
  client->keys.assign(client->args.begin(), client->args.end());
  client->caller.db = db;
  return client;
}

TEST(BlockedClients, AreClaimedInTheOrderOfBlocking) {
  ChangeInterest interest;
  BlockedClients blocked{interest};
  EXPECT_FALSE(blocked.any());
  const auto first = waiter_for({"a", "b"});
  const auto second = waiter_for({"b", "b"});
  const auto elsewhere = waiter_for({"b"}, 1);
  for (const auto& client : {first, second, elsewhere}) blocked.add(client);
  EXPECT_EQ(blocked.count(), 3u);
  EXPECT_EQ(blocked.claim_next(0, "c", 0), nullptr);
  EXPECT_EQ(blocked.claim_next(0, "b", 0), first);
  EXPECT_EQ(blocked.claim_next(0, "b", first->ticket), second);
  EXPECT_EQ(blocked.claim_next(0, "b", second->ticket), nullptr);
  blocked.served(first);
  blocked.served(second);
  EXPECT_EQ(blocked.claim_next(0, "b", 0), nullptr);
  EXPECT_EQ(blocked.count(), 1u);
  EXPECT_EQ(blocked.keys(), (std::vector<std::pair<int, std::string>>{{1, "b"}}));
}

TEST(BlockedClients, CountTheirArgumentsAndEntries) {
  ChangeInterest interest;
  BlockedClients blocked{interest};
  const auto small = waiter_for({"a"});
  const auto large = waiter_for({std::string(100'000, 'x')});
  for (const auto& client : {small, large}) blocked.add(client);
  EXPECT_EQ(large->argument_bytes(), 100'000u);
  // The name stands in the request, and in the registry.
  EXPECT_EQ(large->memory_bytes() - small->memory_bytes(), 2u * 99'999);
}

TEST(BlockedClients, ClaimedClientsAreRunAgainAfterAChange) {
  ChangeInterest interest;
  BlockedClients blocked{interest};
  const auto client = waiter_for({"a", "b"});
  blocked.add(client);
  ASSERT_EQ(blocked.claim_next(0, "a", 0), client);
  EXPECT_FALSE(blocked.cancel(client)) << "a worker may be popping an element for it";
  EXPECT_EQ(blocked.claim_next(0, "b", 0), nullptr);
  EXPECT_FALSE(blocked.release(client)) << "b has changed since";
  ASSERT_EQ(blocked.claim_next(0, "b", 0), client);
  EXPECT_TRUE(blocked.release(client));
}

TEST(BlockedClients, CancelSucceedsOnce) {
  ChangeInterest interest;
  BlockedClients blocked{interest};
  const auto client = waiter_for({"a"});
  blocked.add(client);
  EXPECT_TRUE(blocked.cancel(client));
  EXPECT_FALSE(blocked.cancel(client));
  EXPECT_FALSE(blocked.any());
  EXPECT_EQ(blocked.claim_next(0, "a", 0), nullptr);
  EXPECT_TRUE(blocked.keys().empty());
}

TEST(BlockedClients, AbandonedClientsAreNotServed) {
  ChangeInterest interest;
  BlockedClients blocked{interest};
  const auto client = waiter_for({"a"});
  blocked.add(client);
  ASSERT_EQ(blocked.claim_next(0, "a", 0), client);
  blocked.abandon(client);  // while another worker runs its command
  EXPECT_TRUE(blocked.any());
  EXPECT_TRUE(blocked.release(client));
  EXPECT_FALSE(blocked.any());
  EXPECT_EQ(blocked.claim_next(0, "a", 0), nullptr);
  const auto other = waiter_for({"a"});
  blocked.add(other);
  blocked.abandon(other);
  EXPECT_FALSE(blocked.any());
}

TEST(BlockedClients, ClientsThatNeedKeysAreFoundAmongOthers) {
  ChangeInterest interest;
  BlockedClients blocked{interest};
  const auto idle = waiter_for({"a", "b"});
  const auto needy = waiter_for({"a", "a"});
  needy->needs_key = true;
  for (const auto& client : {idle, needy}) blocked.add(client);
  EXPECT_EQ(blocked.key_count().all, 2u);
  EXPECT_EQ(blocked.key_count().needed, 1u);
  EXPECT_EQ(blocked.claim_next(0, "b", 0, BlockedClients::Of::kNeedingKey), nullptr);
  ASSERT_EQ(blocked.claim_next(0, "a", 0, BlockedClients::Of::kNeedingKey), needy);
  blocked.served(needy);
  EXPECT_EQ(blocked.claim_next(0, "a", 0, BlockedClients::Of::kNeedingKey), nullptr);
  EXPECT_EQ(blocked.key_count().all, 2u);
  EXPECT_EQ(blocked.key_count().needed, 0u);
  EXPECT_TRUE(blocked.cancel(idle));
  EXPECT_EQ(blocked.key_count().all, 0u);
}

}  // namespace
}  // namespace sorrel
