#include "dispatch/blocked_clients.h"

#include <algorithm>

namespace sorrel {

size_t BlockedClient::argument_bytes() const {
  size_t sum = 0;
  for (const std::string& arg : args) sum += arg.size();
  return sum;
}

// A key that several clients are blocked on is listed once; each client pays for it.
size_t BlockedClients::bytes_of(const BlockedClient& waiter) {
  constexpr size_t kTreeNode = 48;  // besides its payload
  constexpr size_t kPlace = kTreeNode + sizeof(Place) + sizeof(Line);
  constexpr size_t kInLine = kTreeNode + sizeof(uint64_t) + sizeof(Handle);
  size_t bytes = sizeof(BlockedClient) + waiter.argument_bytes();
  bytes += waiter.args.size() * sizeof(std::string);
  for (const std::string_view key : waiter.keys) {
    bytes += sizeof(key) + kPlace + kInLine + key.size();
  }
  return bytes;
}

void BlockedClients::add(const Handle& waiter) {
  waiter->bytes = bytes_of(*waiter);
  const std::lock_guard lock(mutex_);
  waiter->ticket = ++last_ticket_;
  waiter->listed = true;
  for (const std::string_view key : waiter->keys) {
    Line& line = waiting_[{waiter->caller.db, std::string(key)}];
    const bool added = line.waiters.emplace(waiter->ticket, waiter).second;
    if (added && waiter->needs_key) line.who_need_key++;
  }
  count_.fetch_add(1, std::memory_order_relaxed);
  interest_.add(ChangeInterest::kWaiters);
}

BlockedClients::Handle BlockedClients::claim_next(int db, std::string_view key, uint64_t ticket,
                                                  Of of) {
  const std::lock_guard lock(mutex_);
  const auto place = waiting_.find({db, std::string(key)});
  if (place == waiting_.end()) return nullptr;
  const Line& line = place->second;
  if (of == Of::kNeedingKey && line.who_need_key == 0) return nullptr;
  for (auto at = line.waiters.upper_bound(ticket); at != line.waiters.end(); ++at) {
    const Handle& waiter = at->second;
    if (of == Of::kNeedingKey && !waiter->needs_key) continue;
    if (!waiter->claimed) {
      waiter->claimed = true;
      waiter->again = false;
      return waiter;
    }
    // The worker that runs it may have read the key before this change.
    waiter->again = true;
  }
  return nullptr;
}

void BlockedClients::served(const Handle& waiter) {
  const std::lock_guard lock(mutex_);
  remove(waiter);
}

bool BlockedClients::release(const Handle& waiter) {
  const std::lock_guard lock(mutex_);
  waiter->claimed = false;
  if (!waiter->abandoned) return !waiter->again;
  remove(waiter);
  return true;
}

bool BlockedClients::cancel(const Handle& waiter) {
  const std::lock_guard lock(mutex_);
  if (!waiter->listed || waiter->claimed) return false;
  remove(waiter);
  return true;
}

void BlockedClients::abandon(const Handle& waiter) {
  const std::lock_guard lock(mutex_);
  if (waiter->claimed) {
    waiter->abandoned = true;
  } else {
    remove(waiter);
  }
}

std::vector<std::pair<int, std::string>> BlockedClients::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<Place> places;
  for (const auto& [place, line] : waiting_) places.push_back(place);
  return places;
}

BlockedClients::KeyCount BlockedClients::key_count() const {
  const std::lock_guard lock(mutex_);
  const auto needed = std::ranges::count_if(
      waiting_, [](const auto& placed) { return placed.second.who_need_key != 0; });
  return {waiting_.size(), static_cast<size_t>(needed)};
}

// Precondition: mutex_ is held.
void BlockedClients::remove(const Handle& waiter) {
  if (!waiter->listed) return;
  waiter->listed = false;
  for (const std::string_view key : waiter->keys) {
    const auto place = waiting_.find({waiter->caller.db, std::string(key)});
    if (place == waiting_.end()) continue;
    Line& line = place->second;
    const bool erased = line.waiters.erase(waiter->ticket) != 0;
    if (erased && waiter->needs_key) line.who_need_key--;
    if (line.waiters.empty()) waiting_.erase(place);
  }
  if (count_.fetch_sub(1, std::memory_order_relaxed) == 1) {
    interest_.remove(ChangeInterest::kWaiters);
  }
}

}  // namespace sorrel
