#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyspace/change.h"

namespace sorrel {

// The watched keys of one caller. Belongs to its caller; other workers only set the mark.
class Watcher {
 public:
  // Has one of the keys changed since it was watched?
  bool dirty() const { return dirty_.load(std::memory_order_acquire); }
  void mark() { dirty_.store(true, std::memory_order_release); }

  struct Key {
    int db;
    std::string text;
  };
  const std::vector<Key>& keys() const { return keys_; }

 private:
  friend class Watches;
  std::atomic<bool> dirty_{false};
  std::vector<Key> keys_;
};

// All watchers by key. Thread-safe; its mutex is a leaf.
//
// A key is listed while its latch is held, and changes are reported here under the same latch; so
// no change is missed, and dirty() is reliable while the latches of all its keys are held.
class Watches {
 public:
  explicit Watches(ChangeInterest& interest) : interest_(interest) {}

  // Precondition: the key's latch is held. A key that is watched already stays as it is. `expired`:
  // the record is still there, but past its expire time, so that its deletion is no change.
  void add(Watcher& watcher, int db, std::string_view key, bool expired);
  // Forgets all keys of the watcher, and the mark.
  void clear(Watcher& watcher);

  // Precondition: the key's latch is held.
  void touch(const Change& change);
  // In the exclusive section, before it happens. A key that does not exist does not change by being
  // flushed; one that was loaded since it was watched is flushed with the others.
  void flush(int db, Door& door);
  void swap(int a, int b, Door& door);
  // For EXEC: has one of the watcher's keys been modified, or has it expired since? Precondition:
  // the latches of all its keys are held.
  bool has_changed(const Watcher& watcher, Door& door);

  struct Counts {
    size_t watchers;
    size_t keys;
  };
  Counts counts() const;

 private:
  using Place = std::pair<int, std::string>;
  struct Watch {
    Watcher* watcher;
    bool expired;  // when it was watched, and not deleted since
  };
  struct Less {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      if (a.first != b.first) return a.first < b.first;
      return std::string_view(a.second) < std::string_view(b.second);
    }
  };

  ChangeInterest& interest_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Place, std::vector<Watch>, Less> watched_;
  size_t watchers_ = 0;
};

}  // namespace sorrel
