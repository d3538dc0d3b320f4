#pragma once

#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "keyspace/event.h"
#include "keyspace/keyspace.h"
#include "propagate/effect_log.h"

namespace sorrel {

class Entry;

// A key with its hash, computed once and carried.
struct Key {
  std::string_view text;
  uint64_t hash;
  Table::Guess guess = {};  // where its record may be, when somebody has looked ahead
};

// Who wants to know of every change: WATCH, notifications, client-side caching, blocked readers.
// Called under the key's latch.
class ChangeObserver {
 public:
  virtual ~ChangeObserver() = default;
  virtual void on_change(int db, std::string_view key, Event event) = 0;
};

// The way into the keyspace for one command: it knows the database and the time, applies lazy
// expiry, counts, and collects what has to be told to others. One per worker, begun anew for each
// command. Precondition of every access: the latch of the key's partition is held.
class Door {
 public:
  Door(Keyspace& keyspace, EffectLog& effects, Random& random)
      : keyspace_(keyspace), effects_(effects), random_(random) {}

  void begin(int db, int64_t now_ms, bool touch) {
    db_ = db;
    if (now_ms != now_ms_) lru_now_ = lru_now(now_ms);
    now_ms_ = now_ms;
    touch_ = touch;
    changes_ = 0;
  }

  int db() const { return db_; }
  int64_t now_ms() const { return now_ms_; }
  Keyspace& keyspace() { return keyspace_; }
  Random& random() { return random_; }
  EffectLog& effects() { return effects_; }

  Key key(std::string_view text) const { return {text, keyspace_.hash(text)}; }

  // For commands that only look. Null when the key is absent or its time has come. The pointer is
  // valid until the next change of the database. `read` counts a hit or miss and marks the use;
  // `inspect` (TTL, TYPE, OBJECT, EXISTS) counts only; `peek` does neither.
  const Record* read(const Key& key);
  const Record* inspect(const Key& key);
  const Record* peek(const Key& key) { return peek(key, db_); }
  const Record* peek(const Key& key, int db);

  // For commands that may change it; see Entry.
  Entry open(const Key& key);
  Entry open(const Key& key, int db);
  // The same, and counts a hit or miss: for commands that also answer what was there.
  Entry open_counted(const Key& key);

  // How many guards ended with a change since begin().
  uint64_t changes() const { return changes_; }
  // A change that went past guards: FLUSHALL, SWAPDB.
  void note_bulk_change(uint64_t count) { changes_ += count; }

  // While writes are paused, keys whose time has come are hidden but not deleted.
  void set_may_expire(bool may) { may_expire_ = may; }
  bool may_expire() const { return may_expire_; }
  void set_observer(ChangeObserver* observer) { observer_ = observer; }

  // Deletes `record` because its time has come: counts, tells observers, leaves a DEL effect.
  void expire(unsigned partition, Database& database, int db, Table::Position at);

 private:
  friend class Entry;

  struct Found {
    unsigned partition;
    Database* database;
    Table::Position at;
    Record* record() const { return at ? static_cast<Record*>(at.entry()) : nullptr; }
  };
  Found find(const Key& key, int db);
  Record* find_and_count(const Key& key);
  Found find_and_touch(const Key& key, int db);
  void mark_used(Record& record);
  void note_change(int db, std::string_view key, Event event);
  void tell(int db, std::string_view key, Event event);

  Keyspace& keyspace_;
  EffectLog& effects_;
  Random& random_;
  ChangeObserver* observer_ = nullptr;
  int db_ = 0;
  int64_t now_ms_ = 0;
  uint32_t lru_now_ = 0;
  uint64_t changes_ = 0;
  uint64_t version_ = 0;  // moves with every change that may move slots
  bool touch_ = true;
  bool may_expire_ = true;
};

// The guard over one key. Acts through it do the bookkeeping once, when it ends: the dirty count,
// watchers, notifications, blocked readers, tracking. An act names the event it is.
//
// Several may be open at once (RENAME); each finds its place again when another has moved things.
class Entry {
 public:
  ~Entry() {
    if (!changed_) return;
    door_->note_change(db_, key_.text, event_);
    if (!also_.name.empty()) door_->tell(db_, key_.text, also_);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  explicit operator bool() const { return record_ != nullptr; }
  // Null when absent. Valid until the next act on this or another entry.
  const Record* record() const { return record_; }
  int64_t expiry() const { return record_ == nullptr ? kNoExpiry : record_->expiry(); }

  // Creates or overwrites, whatever type was there. `expiry` kNoExpiry: none.
  void set_string(std::string_view value, int64_t expiry, Event event);
  void set_integer(int64_t value, int64_t expiry, Event event);
  // As set_string, but never stored as an integer.
  void set_text(std::string_view value, int64_t expiry, Event event);
  // Makes the string (created if absent) at least `size` bytes long, zero-filled, and lets the
  // caller write into it until the next act. The deadline stays. Precondition: absent or a string.
  char* grow_string(size_t size, Event event);
  // What SETBIT and BITFIELD do to a string even when they change no bit: it reports itself as one
  // that was changed in place. Not a change. Precondition: absent or a string.
  void mark_string_modified();
  // Precondition: exists. kNoExpiry: for ever.
  void set_expiry(int64_t at_ms, Event event);
  // Precondition: exists.
  void erase(Event event);
  // Takes over `from`'s value and deadline, replacing what was here; `from` is erased (silently: it
  // names its own event through this call). Precondition: `from` exists and is another key.
  void move_from(Entry& from, Event here, Event there);
  // Copies value and deadline of `from`. Precondition: `from` exists and is another key.
  void copy_from(Entry& from, Event event);

  void set_access(uint32_t word);

  // A second event of the same change, heard after the first: SET with a deadline is "set" and
  // "expire". Precondition: something was done.
  void also(Event event) { also_ = event; }

 private:
  friend class Door;
  Entry(Door& door, const Key& key, int db, const Door::Found& found)
      : door_(&door),
        key_(key),
        db_(db),
        partition_(found.partition),
        database_(found.database),
        at_(found.at),
        record_(found.record()),
        version_(door.version_) {}

  void locate();
  void adopt(Record* record);
  void put_new(Record* record);
  void note(Event event) {
    changed_ = true;
    event_ = event;
  }

  Door* door_;
  Key key_;
  int db_;
  unsigned partition_;
  Database* database_;  // null until something is stored there
  Table::Position at_;
  Record* record_;
  uint64_t version_;
  bool changed_ = false;
  Event event_{};
  Event also_{};  // no name: none
};

}  // namespace sorrel
