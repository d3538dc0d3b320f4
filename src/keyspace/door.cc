#include "keyspace/door.h"

#include <string>

#include "base/bytes.h"
#include "keyspace/key_tracer.h"

namespace sorrel {
namespace {

inline Table::Position find_in(const Table& table, const Key& key) {
  return table.find(key.hash, key.hint->guess, [text = key.text](void* entry) {
    return same_bytes(static_cast<const Record*>(entry)->key(), text);
  });
}

}  // namespace

// Finds a live record. One whose time has come is deleted on the way; where keys rest it is only
// hidden, but not from who may put another in its place.
[[gnu::always_inline]] inline Door::Found Door::find(const Key& key, int db, Looks looks) {
#if defined(SORREL_TRACE_KEYS)
  if (tracer_ != nullptr) {
    const bool writes = looks == Looks::kToWrite;
    tracer_->on_look(db, key.text, writes ? KeyTracer::For::kWriting : KeyTracer::For::kReading);
  }
#endif
  Found found{keyspace_.partition_of(key.text, key.hint->slot), nullptr, {}};
  found.database = keyspace_.find_database(found.partition, db);
  if (found.database == nullptr) return found;
  found.at = find_in(found.database->table, key);
  const Record* record = found.record();
  if (record != nullptr && record->has_expiry() && record->expiry() <= now_ms_) {
    if (may_expire_ || looks == Looks::kToWrite) {
      expire(found.partition, *found.database, db, found.at);
    }
    found.at = {};
  }
  return found;
}

constinit const ChangeInterest Door::kNobody;

void Door::note_for_all(int db, std::string_view key, Event event) {
  if ((interest_->who() & ChangeInterest::kWaiters) != 0) touch(db, key);
  tell_observer(db, key, event);
}

void Door::tell_observer(int db, std::string_view key, Event event) {
  if (observer_ != nullptr) observer_->on_change({db, key, event, actor_, worker_});
}

void Door::note_flush(int db) {
  const uint32_t who = interest_->who();
  if ((who & ChangeInterest::kWaiters) != 0) touch(kAnyDatabase, "");
  if (who != 0 && observer_ != nullptr) observer_->on_flush(db, *this);
}

void Door::note_swap(int a, int b) {
  const uint32_t who = interest_->who();
  if ((who & ChangeInterest::kWaiters) != 0) touch(kAnyDatabase, "");
  if (who != 0 && observer_ != nullptr) observer_->on_swap(a, b, *this);
}

void Door::mark_read_specially(Record& record) {
  // Where changes count and not uses, a look is none.
  if (!keyspace_.access_policy().lfu()) return;
  record.set_access(access_after_use(record.access(), now_ms_, keyspace_.access_policy(), random_));
}

void Door::expire(unsigned partition, Database& database, int db, Table::Position at) {
  remove_by_itself(partition, database, db, at, Freeing::kExpired);
}

void Door::evict(unsigned partition, Database& database, int db, Table::Position at) {
  remove_by_itself(partition, database, db, at, Freeing::kEvicted);
}

void Door::remove_by_itself(unsigned partition, Database& database, int db, Table::Position at,
                            Freeing why) {
  auto* record = static_cast<Record*>(at.entry());
  keep(db, *record);
  const std::string key(record->key());
  database.leave_field_due(*record);
  database.table.erase(at);
  database.arena.free(record, why);
  version_++;
  PartitionStats& stats = keyspace_.partition(partition).stats;
  const bool evicted = why == Freeing::kEvicted;
  (evicted ? stats.evicted : stats.expired)++;
  // Some who wait need the key to be there.
  if (interest_->who() != 0) [[unlikely]]
    note_for_all(db, key, evicted ? kEvictedEvent : kExpiredEvent);
  const std::string_view effect[] = {keyspace_.deletion_command(why), key};
  require_durable(keyspace_.hash(key));
  effects_.append(db, effect);
}

// One effect for each field, as Redis has it.
void Door::note_field_gone(int db, std::string_view key, std::string_view field) {
  const std::string_view effect[] = {"HDEL", key, field};
  require_durable(keyspace_.hash(key));
  effects_.append(db, effect);
}

inline Record* Door::find_and_count(const Key& key) {
  const Found found = find(key, db_, Looks::kToRead);
  PartitionStats& stats = keyspace_.partition(found.partition).stats;
  Record* record = found.record();
  (record == nullptr ? stats.misses : stats.hits)++;
  if (record == nullptr) tell_if_notified(db_, key.text, kMissEvent);
  return record;
}

const Record* Door::inspect(const Key& key) {
  return find_and_count(key);
}

const Record* Door::read_searching(const Key& key) {
  Record* record = find_and_count(key);
  if (record != nullptr) mark_used(*record);
  return record;
}

const Record* Door::peek(const Key& key, int db) {
  return find(key, db, Looks::kToRead).record();
}

Door::Presence Door::presence(const Key& key, int db) const {
  const Database* database =
      keyspace_.find_database(keyspace_.partition_of(key.text, key.hint->slot), db);
  if (database == nullptr) return Presence::kAbsent;
  const Table::Position at = find_in(database->table, key);
  if (!at) return Presence::kAbsent;
  const auto* record = static_cast<const Record*>(at.entry());
  return record->has_expiry() && record->expiry() <= now_ms_ ? Presence::kExpired : Presence::kLive;
}

inline Door::Found Door::find_and_touch(const Key& key, int db) {
  const Found found = find(key, db, Looks::kToWrite);
  Record* record = found.record();
  if (record != nullptr) mark_opened(*record);
  return found;
}

void Door::put_string(const Key& key, std::string_view value, int64_t expiry, Event event) {
  const Found found = find(key, db_, Looks::kToWrite);
  if (!found.at) return open(key, db_).set_string(value, expiry, event);
  Record* record = found.record();
  keep(db_, *record);
  mark_opened(*record);
  found.database->leave_field_due(*record);
  Record* now = found.database->arena.assign_string(record, value, expiry);
  adopt(*found.database, found.at, record, now);
  note_change(db_, key.text, event);
}

Entry Door::open(const Key& key) {
  return open(key, db_);
}

Entry Door::open(const Key& key, int db) {
  return Entry(*this, key, db, find_and_touch(key, db));
}

Entry Door::open_counted(const Key& key) {
  const Found found = find_and_touch(key, db_);
  PartitionStats& stats = keyspace_.partition(found.partition).stats;
  (found.at ? stats.hits : stats.misses)++;
  if (!found.at) tell_if_notified(db_, key.text, kMissEvent);
  return Entry(*this, key, db_, found);
}

void Entry::locate_again() {
  version_ = door_->version_;
  database_ = door_->keyspace_.find_database(partition_, db_);
  at_ = database_ == nullptr ? Table::Position{} : find_in(database_->table, {text_, hash_});
  record_ = at_ ? static_cast<Record*>(at_.entry()) : nullptr;
}

// `now` takes the place where `before` stood.
inline void Door::adopt(Database& database, Table::Position at, const Record* before, Record* now) {
  if (now != before) database.table.replace(at, now);
  if (now->has_expiry()) {
    database.table.mark(at, now->expiry());
  } else {
    database.table.unmark(at);
  }
}

void Entry::adopt(Record* record) {
  Door::adopt(*database_, at_, record_, record);
  record_ = record;
}

void Entry::put_new(Record* record) {
  record->set_access(access_at_birth(door_->now_ms_, door_->keyspace_.access_policy()));
  at_ = database_->table.insert(hash_, record);
  record_ = record;
  if (record->has_expiry()) database_->table.mark(at_, record->expiry());
  database_->enter_field_due(*record);
  version_ = ++door_->version_;
  door_->tell_if_notified(db_, text_, kNewEvent);
}

void Entry::set_string(std::string_view value, int64_t expiry, Event event) {
  locate();
  if (record_ != nullptr) {
    database_->leave_field_due(*record_);
    adopt(database_->arena.assign_string(record_, value, expiry));
  } else {
    database_ = &door_->keyspace_.database(partition_, db_);
    put_new(database_->arena.make_string(text_, value, expiry));
  }
  note(event);
}

void Entry::set_integer(int64_t value, int64_t expiry, Event event) {
  locate();
  if (record_ != nullptr) {
    database_->leave_field_due(*record_);
    adopt(database_->arena.assign_integer(record_, value, expiry));
  } else {
    database_ = &door_->keyspace_.database(partition_, db_);
    put_new(database_->arena.make_integer(text_, value, expiry));
  }
  note(event);
}

void Entry::set_text(std::string_view value, int64_t expiry, Event event) {
  locate();
  if (record_ != nullptr) {
    database_->leave_field_due(*record_);
    adopt(database_->arena.assign_text(record_, text_, value, expiry));
  } else {
    database_ = &door_->keyspace_.database(partition_, db_);
    put_new(database_->arena.assign_text(nullptr, text_, value, expiry));
  }
  note(event);
}

char* Entry::grow_string(size_t size, Event event) {
  locate();
  if (record_ == nullptr) {
    database_ = &door_->keyspace_.database(partition_, db_);
    put_new(database_->arena.make_string(text_, "", kNoExpiry));
  }
  const RecordArena::Mutable grown = database_->arena.resize_string(record_, size);
  adopt(grown.record);
  note(event);
  return grown.data;
}

void Entry::mark_string_modified() {
  locate();
  if (record_ != nullptr && !record_->was_modified()) {
    adopt(database_->arena.resize_string(record_, 0).record);
  }
}

void Entry::set_expiry(int64_t at_ms, Event event) {
  locate();
  adopt(database_->arena.assign_expiry(record_, at_ms));
  note(event);
}

Collection& Entry::edit(Type type) {
  locate();
  if (editing_) return edited_;
  editing_ = true;
  edit_type_ = type;
  edited_ = record_ != nullptr ? collection_of(*record_) : collection_ops(type).make();
  bytes_before_ = record_ != nullptr ? collection_ops(type).memory(edited_) : 0;
  field_due_before_ = record_ != nullptr ? Database::field_due_of(*record_) : kNoExpiry;
  return edited_;
}

void Entry::finish() {
  if (!editing_) return;
  editing_ = false;
  locate();
  const CollectionOps& ops = collection_ops(edit_type_);
  const bool empty = ops.size(edited_) == 0;
  if (record_ != nullptr) {
    database_->arena.update_collection(record_, edited_, bytes_before_);
    database_->move_field_due(*record_, field_due_before_, Database::field_due_of(*record_));
    if (!empty) return;
    remove();
    emptied_ = true;
  } else if (empty) {
    ops.free(edited_);
    // It was there for a moment, if somebody has heard of it.
    emptied_ = changed_;
  } else {
    database_ = &door_->keyspace_.database(partition_, db_);
    put_new(database_->arena.assign_collection(nullptr, text_, edit_type_, edited_, kNoExpiry));
  }
}

void Entry::set_collection(Type type, const Collection& value, int64_t expiry, Event event) {
  finish();
  locate();
  if (record_ != nullptr) {
    database_->leave_field_due(*record_);
    adopt(database_->arena.assign_collection(record_, text_, type, value, expiry));
    database_->enter_field_due(*record_);
  } else {
    database_ = &door_->keyspace_.database(partition_, db_);
    put_new(database_->arena.assign_collection(nullptr, text_, type, value, expiry));
  }
  note(event);
}

// Precondition: located and present.
void Entry::remove(Freeing why) {
  database_->leave_field_due(*record_);
  database_->table.erase(at_);
  database_->arena.free(record_, why);
  record_ = nullptr;
  at_ = {};
  version_ = ++door_->version_;
}

void Entry::erase(Event event, Freeing why) {
  finish();
  locate();
  if (record_ != nullptr) remove(why);
  note(event);
}

void Entry::move_from(Entry& from, Event here, Event there) {
  locate();
  if (record_ != nullptr) erase(here);
  from.locate();
  Record* record = from.record_;
  from.database_->leave_field_due(*record);
  from.database_->table.erase(from.at_);
  from.record_ = nullptr;
  from.at_ = {};
  database_ = &door_->keyspace_.database(partition_, db_);
  const uint32_t access = record->access();
  put_new(database_->arena.take_over(from.database_->arena, record, text_));
  record_->set_access(access);
  note(here);
  from.note(there);
}

void Entry::copy_from(Entry& from, Event event) {
  locate();
  if (record_ != nullptr) erase(event);
  database_ = &door_->keyspace_.database(partition_, db_);
  from.locate();
  put_new(database_->arena.clone(from.record_, text_));
  note(event);
}

void Door::expire_fields(const Key& key, std::span<const std::string_view> fields) {
  Entry(*this, key, db_, find(key, db_, Looks::kToRead)).expire_fields(fields);
}

void Entry::expire_named_fields(std::span<const std::string_view> fields) {
  const HashLimits limits = door_->keyspace_.hash_limits();
  HashEdit hash(edit(Type::kHash), limits, door_->now_ms_);
  size_t count = 0;
  for (std::string_view field : fields) {
    if (!hash.remove_if_due(field)) continue;
    door_->note_field_gone(db_, text_, field);
    count++;
  }
  tell_expired_fields(count);
}

size_t Entry::expire_due_fields(size_t about) {
  if (!has_due_fields()) return 0;
  const HashLimits limits = door_->keyspace_.hash_limits();
  HashEdit hash(edit(Type::kHash), limits, door_->now_ms_);
  const size_t count = hash.remove_due(
      about, [&](std::string_view field) { door_->note_field_gone(db_, text_, field); });
  tell_expired_fields(count);
  return count;
}

// The end of their removal.
void Entry::tell_expired_fields(size_t count) {
  finish();
  if (count == 0) return;
  count_expired_fields(count);
  door_->tell(db_, text_, kFieldsExpiredEvent);
  if (emptied_) door_->tell(db_, text_, kEmptiedEvent);
  emptied_ = false;
}

void Entry::set_access(uint32_t word) {
  locate();
  if (record_ != nullptr) record_->set_access(word);
}

}  // namespace sorrel
