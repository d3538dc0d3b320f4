#include "dispatch/blocked_clients.h"

#include <algorithm>

namespace sorrel {

size_t BlockedClient::argument_bytes() const {
  size_t sum = 0;
  for (const std::string& arg : args) sum += arg.size();
  return sum;
}

// A key that several clients are blocked on is listed once; each client pays for it.
size_t BlockedClients::bytes_of(const BlockedClient& client) {
  constexpr size_t kTreeNode = 48;  // without its payload
  constexpr size_t kPlace = kTreeNode + sizeof(Place) + sizeof(KeyQueue);
  constexpr size_t kInLine = kTreeNode + sizeof(uint64_t) + sizeof(Handle);
  size_t bytes = sizeof(BlockedClient) + client.argument_bytes();
  bytes += client.args.size() * sizeof(std::string);
  for (const std::string_view key : client.keys) {
    bytes += sizeof(key) + kPlace + kInLine + key.size();
  }
  return bytes;
}

void BlockedClients::add(const Handle& client) {
  client->bytes = bytes_of(*client);
  const std::lock_guard lock(mutex_);
  client->ticket = ++last_ticket_;
  client->listed = true;
  for (const std::string_view key : client->keys) {
    KeyQueue& queue = waiting_[{client->caller.db, std::string(key)}];
    const bool added = queue.clients.emplace(client->ticket, client).second;
    if (added && client->needs_key) queue.needing_key++;
  }
  count_.fetch_add(1, std::memory_order_relaxed);
  interest_.add(ChangeInterest::kWaiters);
}

BlockedClients::Handle BlockedClients::claim_next(int db, std::string_view key, uint64_t ticket,
                                                  Of of) {
  const std::lock_guard lock(mutex_);
  const auto place = waiting_.find({db, std::string(key)});
  if (place == waiting_.end()) return nullptr;
  const KeyQueue& queue = place->second;
  if (of == Of::kNeedingKey && queue.needing_key == 0) return nullptr;
  for (auto at = queue.clients.upper_bound(ticket); at != queue.clients.end(); ++at) {
    const Handle& client = at->second;
    if (of == Of::kNeedingKey && !client->needs_key) continue;
    if (!client->claimed) {
      client->claimed = true;
      client->again = false;
      return client;
    }
    // The worker that runs it may have read the key before this change.
    client->again = true;
  }
  return nullptr;
}

void BlockedClients::served(const Handle& client) {
  const std::lock_guard lock(mutex_);
  remove(client);
}

bool BlockedClients::release(const Handle& client) {
  const std::lock_guard lock(mutex_);
  client->claimed = false;
  if (!client->abandoned) return !client->again;
  remove(client);
  return true;
}

bool BlockedClients::cancel(const Handle& client) {
  const std::lock_guard lock(mutex_);
  if (!client->listed || client->claimed) return false;
  remove(client);
  return true;
}

void BlockedClients::abandon(const Handle& client) {
  const std::lock_guard lock(mutex_);
  if (client->claimed) {
    client->abandoned = true;
  } else {
    remove(client);
  }
}

std::vector<std::pair<int, std::string>> BlockedClients::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<Place> places;
  for (const auto& [place, queue] : waiting_) places.push_back(place);
  return places;
}

BlockedClients::KeyCount BlockedClients::key_count() const {
  const std::lock_guard lock(mutex_);
  const auto needed = std::ranges::count_if(
      waiting_, [](const auto& placed) { return placed.second.needing_key != 0; });
  return {waiting_.size(), static_cast<size_t>(needed)};
}

// Precondition: mutex_ is held.
void BlockedClients::remove(const Handle& client) {
  if (!client->listed) return;
  client->listed = false;
  for (const std::string_view key : client->keys) {
    const auto place = waiting_.find({client->caller.db, std::string(key)});
    if (place == waiting_.end()) continue;
    KeyQueue& queue = place->second;
    const bool erased = queue.clients.erase(client->ticket) != 0;
    if (erased && client->needs_key) queue.needing_key--;
    if (queue.clients.empty()) waiting_.erase(place);
  }
  if (count_.fetch_sub(1, std::memory_order_relaxed) == 1) {
    interest_.remove(ChangeInterest::kWaiters);
  }
}

}  // namespace sorrel
