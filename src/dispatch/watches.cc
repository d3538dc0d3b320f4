#include "dispatch/watches.h"

#include <algorithm>
#include <utility>

#include "keyspace/door.h"

namespace sorrel {

void Watches::add(Watcher& watcher, int db, std::string_view key, bool expired) {
  const bool known = std::ranges::any_of(watcher.keys_, [&](const Watcher::Key& watched) {
    return watched.db == db && watched.text == key;
  });
  if (known) return;
  const std::lock_guard lock(mutex_);
  if (watcher.keys_.empty()) watchers_++;
  watcher.keys_.push_back({db, std::string(key)});
  watched_[Place(db, key)].push_back({&watcher, expired});
  interest_.add(ChangeInterest::kWatchers);
}

void Watches::clear(Watcher& watcher) {
  if (!watcher.keys_.empty()) {
    const std::lock_guard lock(mutex_);
    for (const Watcher::Key& key : watcher.keys_) {
      const auto place = watched_.find(std::pair(key.db, std::string_view(key.text)));
      if (place == watched_.end()) continue;
      std::erase_if(place->second, [&](const Watch& watch) { return watch.watcher == &watcher; });
      if (place->second.empty()) watched_.erase(place);
    }
    watchers_--;
    if (watched_.empty()) interest_.remove(ChangeInterest::kWatchers);
    watcher.keys_.clear();
  }
  watcher.dirty_.store(false, std::memory_order_relaxed);
}

void Watches::touch(const Change& change) {
  const std::lock_guard lock(mutex_);
  const auto place = watched_.find(std::pair(change.db, change.key));
  if (place == watched_.end()) return;
  const bool deleted = change.event.kind == EventClass::kExpired;
  for (Watch& watch : place->second) {
    // An expired key counted as absent when it was watched; that it is deleted changes nothing.
    const bool was_expired = std::exchange(watch.expired, false);
    if (!was_expired || !deleted) watch.watcher->mark();
  }
}

void Watches::flush(int db, Door& door) {
  using Presence = Door::Presence;
  const std::lock_guard lock(mutex_);
  for (auto& [place, watches] : watched_) {
    if (db != ChangeObserver::kEveryDatabase && place.first != db) continue;
    if (door.presence(door.key(place.second), place.first) == Presence::kAbsent) continue;
    for (Watch& watch : watches) {
      if (!std::exchange(watch.expired, false)) watch.watcher->mark();
    }
  }
}

void Watches::swap(int a, int b, Door& door) {
  using Presence = Door::Presence;
  if (a == b) return;
  const std::lock_guard lock(mutex_);
  for (auto& [place, watches] : watched_) {
    if (place.first != a && place.first != b) continue;
    const Key key = door.key(place.second);
    const bool goes = door.presence(key, place.first) != Presence::kAbsent;
    const Presence comes = door.presence(key, place.first == a ? b : a);
    if (!goes && comes == Presence::kAbsent) continue;
    for (Watch& watch : watches) {
      // To clients an expired key is absent: swapping it in or out, or for another expired one,
      // changes nothing.
      const bool was_absent = watch.expired || !goes;
      if (was_absent && comes != Presence::kLive) {
        watch.expired = comes == Presence::kExpired;
      } else {
        watch.watcher->mark();
      }
    }
  }
}

bool Watches::has_changed(const Watcher& watcher, Door& door) {
  for (const Watcher::Key& key : watcher.keys()) {
    if (watcher.dirty()) return true;
    if (door.presence(door.key(key.text), key.db) != Door::Presence::kExpired) continue;
    const std::lock_guard lock(mutex_);
    const auto place = watched_.find(std::pair(key.db, std::string_view(key.text)));
    if (place == watched_.end()) continue;
    for (const Watch& watch : place->second) {
      if (watch.watcher == &watcher && !watch.expired) return true;
    }
  }
  return watcher.dirty();
}

Watches::Counts Watches::counts() const {
  const std::lock_guard lock(mutex_);
  return {watchers_, watched_.size()};
}

}  // namespace sorrel
