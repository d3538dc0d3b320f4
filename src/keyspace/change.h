#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "keyspace/event.h"

namespace sorrel {

class Door;

// Who wants to hear of changes at all: one bit each, so that a door asks with one load and, in the
// common case, finds nobody.
//
// Thread rule: a bit is set while the latches of the keys concerned are held (or under the gate),
// and who changes a key reads the word under the same latch; so no change is missed.
class ChangeInterest {
 public:
  enum Who : uint32_t {
    kWaiters = 1 << 0,        // blocked readers
    kWatchers = 1 << 1,       // WATCH
    kNotifications = 1 << 2,  // keyspace notifications
    kTracking = 1 << 3,       // client-side caching
  };

  uint32_t who() const { return word_.load(std::memory_order_relaxed); }
  void add(Who who) { word_.fetch_or(who, std::memory_order_relaxed); }
  void remove(Who who) { word_.fetch_and(~uint32_t{who}, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> word_{0};
};

// One thing that happened to one key.
struct Change {
  int db;
  std::string_view key;
  Event event;
  uint64_t actor;   // the caller's id; 0: nobody's command (expiry)
  unsigned worker;  // on which it happens
};

// Hears of changes while somebody is interested. Shared by all workers.
class ChangeObserver {
 public:
  static constexpr int kEveryDatabase = -1;

  virtual ~ChangeObserver() = default;
  // Under the key's latch; must not look into the keyspace.
  virtual void on_change(const Change& change) = 0;
  // Under the gate, before it happens: a database, or every one, is emptied; two are exchanged. May
  // look into the keyspace through `door`.
  virtual void on_flush(int db, Door& door) = 0;
  virtual void on_swap(int a, int b, Door& door) = 0;
};

}  // namespace sorrel
