#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "keyspace/change.h"
#include "keyspace/keyspace.h"
#include "propagate/effect_log.h"
#include "types/collection.h"

namespace sorrel {

class Entry;
class KeyTracer;

// Facts about a key that were looked up before its command runs.
struct KeyHint {
  Table::Guess guess;       // where its record may be
  uint16_t slot = kNoSlot;  // computed when latches or cluster mode need it
};

// A key with its hash, computed once and carried.
struct Key {
  std::string_view text;
  uint64_t hash;
  const KeyHint* hint = &kNoHint;

  static constexpr KeyHint kNoHint{};
};

// The way into the keyspace for one command: it knows the database and the time, applies lazy
// expiry, counts, and collects what has to be told to others. One per worker, begun anew for each
// command. Precondition of every access: the latch of the key's partition is held.
class Door {
 public:
  Door(Keyspace& keyspace, EffectLog& effects, Random& random)
      : keyspace_(keyspace), effects_(effects), random_(random) {}

  // `actor` is who makes the changes; see Change.
  void begin(int db, int64_t now_ms, bool touch, uint64_t actor = 0) {
    db_ = db;
    actor_ = actor;
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
  [[gnu::always_inline]] const Record* read(const Key& key) {
    Record* record = guessed(key, db_);
    if (record == nullptr) return read_searching(key);
    keyspace_.partition(0).stats.hits++;
    mark_used(*record);
    return record;
  }
  const Record* inspect(const Key& key);
  const Record* peek(const Key& key) { return peek(key, db_); }
  const Record* peek(const Key& key, int db);
  // The same without deleting an expired key.
  enum class Presence : uint8_t { kAbsent, kLive, kExpired };
  Presence presence(const Key& key, int db) const;

  // For commands that may change it; see Entry.
  Entry open(const Key& key);
  Entry open(const Key& key, int db);
  // The same, and counts a hit or miss: for commands that also answer what was there.
  Entry open_counted(const Key& key);
  // Creates or overwrites without looking at what is there: Entry::set_string in one go.
  void put_string(const Key& key, std::string_view value, int64_t expiry, Event event);

  // How many guards ended with a change since begin().
  uint64_t changes() const { return changes_; }
  // Changes that go past guards, told before they are made. Under the gate.
  void note_flush(int db);
  void note_swap(int a, int b);
  // The same without telling anybody: those above when they are done, XACK and its like.
  void count_changes(uint64_t count) { changes_ += count; }

  // Who is to be told of changes, and whether anybody wants to be. `worker` is whose door this is.
  void set_observer(const ChangeInterest& interest, ChangeObserver* observer, unsigned worker) {
    interest_ = &interest;
    observer_ = observer;
    worker_ = worker;
  }

  // Null: none. See key_tracer.h.
  void set_tracer(KeyTracer* tracer) { tracer_ = tracer; }

  // While somebody waits, keys that change are noted: it may be for them.
  static constexpr int kAnyDatabase = -1;  // instead of one: any key may have changed
  struct Touched {
    int db;
    std::string key;
  };
  bool has_touched() const { return !touched_.empty(); }
  const std::vector<Touched>& touched() const { return touched_; }
  void touch(int db, std::string_view key) { touched_.push_back({db, std::string(key)}); }
  void clear_touched() { touched_.clear(); }

  // While writes are paused, or in the middle of another's script or load, keys whose time has come
  // are hidden from who reads but not deleted.
  void set_may_expire(bool may) { may_expire_ = may; }
  bool may_expire() const { return may_expire_; }

  // Deletes the record there because its time has come: counts, tells observers, leaves an effect.
  void expire(unsigned partition, Database& database, int db, Table::Position at);
  // The same because memory is short.
  void evict(unsigned partition, Database& database, int db, Table::Position at);
  // As Entry::expire_fields(), for commands that only read: after they have, as it changes the key.
  void expire_fields(const Key& key, std::span<const std::string_view> fields);

 private:
  friend class Entry;

  struct Found {
    unsigned partition;
    Database* database;
    Table::Position at;
    Record* record() const { return at ? static_cast<Record*>(at.entry()) : nullptr; }
  };
  // The usual case without a call: somebody has looked ahead, rightly, and nothing is odd about the
  // record. Null: find() has to see. A guess is only made when there is one partition.
  Record* guessed(const Key& key, int db) const;
  [[gnu::noinline]] const Record* read_searching(const Key& key);
  enum class Looks : uint8_t { kToRead, kToWrite };
  Found find(const Key& key, int db, Looks looks);
  Record* find_and_count(const Key& key);
  Found find_and_touch(const Key& key, int db);
  [[gnu::always_inline]] void mark_used(Record& record) {
    if (!touch_) return;
    // The clock of LRU stands still for a second at a time; most uses change nothing.
    if (keyspace_.access_policy().kind != AccessPolicy::Kind::kLru) [[unlikely]]
      return mark_read_specially(record);
    record.set_access(lru_now_);
  }
  // By a command that may change it.
  [[gnu::always_inline]] void mark_opened(Record& record) {
    if (!touch_) return;
    if (keyspace_.access_policy().lfu()) [[unlikely]]
      return mark_read_specially(record);
    record.set_access(lru_now_);
  }
  void mark_read_specially(Record& record);
  void remove_by_itself(unsigned partition, Database& database, int db, Table::Position at,
                        Freeing why);
  void note_field_gone(int db, std::string_view key, std::string_view field);
  // The next effect removes something by expiry or eviction: a reply that finds it gone must not
  // leave before that effect is durable.
  void require_durable(uint64_t hash) {
    if (effects_.tells_keys() && effects_.active()) [[unlikely]]
      effects_.changes_key(hash);
  }
  // Before every change of a record that is there.
  void keep(int db, Record& record) {
    if (keyspace_.keeper() != nullptr) [[unlikely]]
      keyspace_.keep(worker_, db, record);
  }
  static void adopt(Database& database, Table::Position at, const Record* before, Record* now);
  void note_change(int db, std::string_view key, Event event) {
    changes_++;
    if (interest_->who() != 0) [[unlikely]]
      note_for_all(db, key, event);
  }
  // To those who wait as well as to observers.
  void note_for_all(int db, std::string_view key, Event event);
  // A further event of a change that was noted, or one that is none.
  void tell(int db, std::string_view key, Event event) {
    if (interest_->who() != 0) [[unlikely]]
      tell_observer(db, key, event);
  }
  void tell_if_notified(int db, std::string_view key, Event event) {
    if ((interest_->who() & ChangeInterest::kNotifications) != 0) [[unlikely]]
      tell_observer(db, key, event);
  }
  void tell_observer(int db, std::string_view key, Event event);

  Keyspace& keyspace_;
  EffectLog& effects_;
  Random& random_;
  static const ChangeInterest kNobody;

  const ChangeInterest* interest_ = &kNobody;
  ChangeObserver* observer_ = nullptr;
  unsigned worker_ = 0;
  uint64_t actor_ = 0;
  std::vector<Touched> touched_;
  KeyTracer* tracer_ = nullptr;
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
    if (editing_) [[unlikely]]
      finish();
    if (!changed_) return;
    door_->note_change(db_, text_, event_);
    if (!counted_) [[unlikely]]
      door_->changes_--;
    if (also_.name != nullptr) [[unlikely]]
      door_->tell(db_, text_, also_);
    if (emptied_) [[unlikely]]
      door_->tell(db_, text_, kEmptiedEvent);
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
  void erase(Event event, Freeing why = Freeing::kOnTheWay);
  // Takes over `from`'s value and deadline, replacing what was here; `from` is erased (silently: it
  // names its own event through this call). Precondition: `from` exists and is another key.
  void move_from(Entry& from, Event here, Event there);
  // Copies value and deadline of `from`. Precondition: `from` exists and is another key.
  void copy_from(Entry& from, Event event);

  // Collections. Precondition of edit(): absent or of that type, and no edit of the same key is
  // going on through another entry (finish() it first). The collection is made, empty, when absent,
  // and may be changed until the entry ends or the next act. Nothing is counted or told before
  // changed() names the event.
  Collection& edit(Type type);
  void changed(Event event) { note(event); }
  // The same for the other half of a change that another entry counts already.
  void changed_along(Event event) {
    note(event);
    counted_ = false;
  }
  // The end of an edit: the record gets what has become of the collection, the bytes are accounted,
  // and a key without elements goes away, with a "del" behind the event.
  void finish();
  // Creates or overwrites, whatever was there. The entry owns `value` from now on; it is not empty.
  void set_collection(Type type, const Collection& value, int64_t expiry, Event event);

  // Removes those of `fields` of a hash whose time has come, which commands that name fields do
  // with them; the key goes with the last one. Counted, told ("hexpired", "del") and left as HDEL
  // effects here, apart from what the command does. Nothing happens to other types, and while the
  // door may not expire. Precondition: no edit is going on.
  void expire_fields(std::span<const std::string_view> fields) {
    if (has_due_fields()) [[unlikely]]
      expire_named_fields(fields);
  }
  // The same with all fields whose time has come; stops soon after `about` of them. Returns how
  // many.
  size_t expire_due_fields(size_t about = SIZE_MAX);
  // Fields that a command has deleted because it was given a deadline in the past.
  void count_expired_fields(uint64_t count) {
    door_->keyspace_.partition(partition_).stats.expired_fields += count;
  }

  void set_access(uint32_t word);

  // A second event of the same change, heard after the first: SET with a deadline is "set" and
  // "expire". Precondition: something was done.
  void also(Event event) { also_ = event; }

 private:
  friend class Door;
  Entry(Door& door, const Key& key, int db, const Door::Found& found)
      : door_(&door),
        text_(key.text),
        hash_(key.hash),
        db_(db),
        partition_(found.partition),
        database_(found.database),
        at_(found.at),
        record_(found.record()),
        version_(door.version_) {}

  // The beginning of every act. Another entry's may have moved slots since this one looked.
  void locate() {
    if (version_ != door_->version_) [[unlikely]]
      locate_again();
    if (record_ != nullptr) door_->keep(db_, *record_);
  }
  void locate_again();
  void adopt(Record* record);
  bool has_due_fields() const {
    if (record_ == nullptr) return false;
    const int64_t due = Database::field_due_of(*record_);
    return due != kNoExpiry && due <= door_->now_ms_ && door_->may_expire_;
  }
  void expire_named_fields(std::span<const std::string_view> fields);
  void tell_expired_fields(size_t count);
  void remove(Freeing why = Freeing::kOnTheWay);
  void put_new(Record* record);
  void note(Event event) {
    changed_ = true;
    event_ = event;
  }

  Door* door_;
  std::string_view text_;
  uint64_t hash_;
  int db_;
  unsigned partition_;
  Database* database_;  // null until something is stored there
  Table::Position at_;
  Record* record_;
  uint64_t version_;
  bool changed_ = false;
  bool counted_ = true;
  bool editing_ = false;
  bool emptied_ = false;
  Type edit_type_;            // when editing_
  Collection edited_;         // when editing_
  size_t bytes_before_;       // when editing_
  int64_t field_due_before_;  // when editing_
  Event event_;               // when changed_
  Event also_{};              // no name: none
};

[[gnu::always_inline]] inline Record* Door::guessed(const Key& key, int db) const {
  const Table::Guess& guess = key.hint->guess;
  if (guess.stamp == 0) return nullptr;
  const Database* database = keyspace_.find_database(0, db);
  if (database == nullptr) return nullptr;
  auto* record = static_cast<Record*>(database->table.guessed_entry(guess));
  if (record == nullptr || record->has_expiry() || key.text.size() > kShortBytes ||
      !same_short_bytes(record->key(), key.text)) {
    return nullptr;
  }
  return record;
}

}  // namespace sorrel
