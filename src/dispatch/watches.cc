#include "dispatch/watches.h"

#include <algorithm>

#include "keyspace/door.h"

namespace sorrel {

void Watches::add(Watcher& watcher, int db, std::string_view key, bool existed) {
  const bool known = std::ranges::any_of(watcher.keys_, [&](const Watcher::Key& watched) {
    return watched.db == db && watched.text == key;
  });
  if (known) return;
  const std::lock_guard lock(mutex_);
  if (watcher.keys_.empty()) watchers_++;
  watcher.keys_.push_back({db, std::string(key), existed});
  watched_[Place(db, key)].push_back({&watcher, existed});
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
  // A key whose time had come counted as absent when it was watched; that it goes changes nothing.
  const bool expired = change.event.kind == EventClass::kExpired;
  for (const Watch& watch : place->second) {
    if (watch.existed || !expired) watch.watcher->mark();
  }
}

void Watches::flush(int db) {
  const std::lock_guard lock(mutex_);
  for (const auto& [place, watches] : watched_) {
    if (db != ChangeObserver::kEveryDatabase && place.first != db) continue;
    for (const Watch& watch : watches) {
      if (watch.existed) watch.watcher->mark();
    }
  }
}

void Watches::swap(int a, int b, Door& door) {
  // Looking may expire a key, which comes back here; so nothing is held meanwhile. Under the gate
  // nobody else is here.
  std::vector<Place> places;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [place, watches] : watched_) {
      if (place.first == a || place.first == b) places.push_back(place);
    }
  }
  for (const Place& place : places) {
    const bool comes = door.peek(door.key(place.second), place.first == a ? b : a) != nullptr;
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(place);
    if (found == watched_.end()) continue;
    for (const Watch& watch : found->second) {
      if (watch.existed || comes) watch.watcher->mark();
    }
  }
}

Watches::Counts Watches::counts() const {
  const std::lock_guard lock(mutex_);
  return {watchers_, watched_.size()};
}

}  // namespace sorrel
