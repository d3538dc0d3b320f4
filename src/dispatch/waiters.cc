#include "dispatch/waiters.h"

namespace sorrel {

void Waiters::add(const Handle& waiter) {
  const std::lock_guard lock(mutex_);
  waiter->ticket = ++last_ticket_;
  waiter->listed = true;
  for (const std::string& key : waiter->keys) {
    waiting_[{waiter->caller.db, key}].emplace(waiter->ticket, waiter);
  }
  count_.fetch_add(1, std::memory_order_relaxed);
}

Waiters::Handle Waiters::claim_next(int db, std::string_view key, uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto place = waiting_.find({db, std::string(key)});
  if (place == waiting_.end()) return nullptr;
  for (auto at = place->second.upper_bound(ticket); at != place->second.end(); ++at) {
    const Handle& waiter = at->second;
    if (!waiter->claimed) {
      waiter->claimed = true;
      waiter->again = false;
      return waiter;
    }
    // Who runs it may have looked before this change.
    waiter->again = true;
  }
  return nullptr;
}

void Waiters::served(const Handle& waiter) {
  const std::lock_guard lock(mutex_);
  remove(waiter);
}

bool Waiters::release(const Handle& waiter) {
  const std::lock_guard lock(mutex_);
  waiter->claimed = false;
  return !waiter->again;
}

bool Waiters::cancel(const Handle& waiter) {
  const std::lock_guard lock(mutex_);
  if (!waiter->listed || waiter->claimed) return false;
  remove(waiter);
  return true;
}

std::vector<std::pair<int, std::string>> Waiters::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<Place> places;
  for (const auto& [place, waiters] : waiting_) places.push_back(place);
  return places;
}

// Precondition: mutex_ is held.
void Waiters::remove(const Handle& waiter) {
  if (!waiter->listed) return;
  waiter->listed = false;
  for (const std::string& key : waiter->keys) {
    const auto place = waiting_.find({waiter->caller.db, key});
    if (place == waiting_.end()) continue;
    place->second.erase(waiter->ticket);
    if (place->second.empty()) waiting_.erase(place);
  }
  count_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace sorrel
