#include "persist/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/excerpt.h"
#include "base/numbers.h"
#include "io/child_process.h"
#include "keyspace/access_clock.h"
#include "keyspace/value_limits.h"

namespace sorrel::persist {
namespace {

constexpr size_t kLongestKey = size_t{512} << 20;
constexpr uint64_t kEmptyKeysLogged = 10;
// Of what a file says about itself; more than any that a server has written.
constexpr uint64_t kNotesLogged = 64;

uint32_t access_of(const rdb::FileKey& key, int64_t now_ms, const AccessPolicy& policy) {
  const uint32_t newborn = access_at_birth(now_ms, policy);
  if (policy.lfu()) {
    return key.frequency ? (newborn & ~uint32_t{0xff}) | *key.frequency : newborn;
  }
  if (!key.idle_seconds) return newborn;
  const auto idle = static_cast<uint32_t>(std::min<uint64_t>(*key.idle_seconds, kAccessMask));
  return (newborn - idle) & kAccessMask;
}

}  // namespace

Result<uint64_t> Loader::load(std::string_view bytes, const LoadOptions& options,
                              const LoadHooks& hooks) {
  begin(options, hooks);
  bytes_ = bytes;
  const rdb::FileReadOptions form = reading();
  rdb::FileReader reader(bytes, form, *this);
  return read(reader);
}

Result<uint64_t> Loader::load(rdb::ByteSource& source, const LoadOptions& options,
                              const LoadHooks& hooks) {
  begin(options, hooks);
  const rdb::FileReadOptions form = reading();
  rdb::FileReader reader(source, form, *this);
  return read(reader);
}

void Loader::begin(const LoadOptions& options, const LoadHooks& hooks) {
  options_ = &options;
  hooks_ = &hooks;
  now_ms_ = clock_.wall_ms();
  stepped_ = 0;
  db_ = reserved_ = 0;
  bytes_ = {};
}

rdb::FileReadOptions Loader::reading() const {
  const KeyspaceLimits& limits = keyspace_.limits();
  return {
      .limits = {list_limits_of(limits), set_limits_of(limits), keyspace_.hash_limits(),
                 zset_limits_of(limits)},
      .verify_checksum = options_->verify_checksum,
      .stands_alone = options_->stands_alone,
  };
}

Result<uint64_t> Loader::read(rdb::FileReader& reader) {
  Status done = reader.read();
  // What was read rightly is there, whatever came behind it.
  const Status placed = put_all_coming();
  for (Coming& coming : coming_) coming.database = nullptr;
  release_spare();
  if (done) done = placed;
  if (!done) return done.error();
  progress_.position = reader.position();
  return reader.position();
}

Status Loader::on_version(int version) {
  log_.verbose(fmt::format("The RDB file is of version {}", version));
  return {};
}

Status Loader::on_aux(std::string_view name, std::string_view value) {
  const auto number = parse_int64(value);
  value = excerpt(value);
  if (name == "used-mem" && number) {
    progress_.used_memory = static_cast<uint64_t>(std::max<int64_t>(0, *number));
  }
  if (noted_++ >= kNotesLogged) return {};
  if (name.starts_with('%')) {
    log_.notice(fmt::format("RDB '{}': {}", excerpt(name), value));
  } else if (name == "redis-ver") {
    log_.notice(fmt::format("Loading RDB produced by version {}", value));
  } else if (name == "ctime" && number) {
    // No server wrote it before 1970.
    const int64_t age = std::max<int64_t>(0, now_ms_ / 1000 - std::max<int64_t>(0, *number));
    log_.notice(fmt::format("RDB age {} seconds", age));
  } else if (name == "used-mem" && number) {
    log_.notice(fmt::format("RDB memory usage when created {:.2f} Mb",
                            static_cast<double>(progress_.used_memory) / (1 << 20)));
  } else if (name == "aof-base" && number && *number != 0) {
    log_.notice("RDB is base AOF");
  }
  return {};
}

Status Loader::on_function(std::string_view code) {
  if (!hooks_->function) return {};
  const Status loaded = hooks_->function(code, options_->replace);
  if (loaded) return {};
  return Error{"Failed loading library, " + loaded.error().text};
}

Status Loader::on_module_aux(std::string_view module) {
  if (noted_++ >= kNotesLogged) return {};
  log_.warning(fmt::format(
      "The RDB file has data of module '{}', which is not there: it is left out.", module));
  return {};
}

Status Loader::on_database(uint64_t db) {
  db_ = db;
  if (db < static_cast<uint64_t>(keyspace_.database_count())) return {};
  return Error{fmt::format("The file has keys in database {}, and there are only {} databases", db,
                           keyspace_.database_count())};
}

// What a file says is believed as far as so many keys could be in it; one that is still to come is
// not believed at all.
Status Loader::on_sizes(uint64_t keys, uint64_t /*expiring*/) {
  constexpr uint64_t kLeastBytesPerKey = 8;
  const uint64_t most = bytes_.size() / kLeastBytesPerKey;
  if (keys > most || reserved_ > most - keys) return {};
  reserved_ += keys;
  const unsigned partitions = keyspace_.partition_count();
  for (unsigned i = 0; i < partitions; i++) {
    keyspace_.database(i, static_cast<int>(db_)).table.reserve(keys / partitions);
  }
  return {};
}

// Keys that were announced and did not come, or whose time was over.
void Loader::release_spare() {
  uint64_t there = 0;
  std::vector<Table*> tables;
  for (unsigned partition = 0; partition < keyspace_.partition_count(); partition++) {
    for (int db = 0; db < keyspace_.database_count(); db++) {
      Database* database = keyspace_.find_database(partition, db);
      if (database == nullptr) continue;
      there += database->table.size();
      tables.push_back(&database->table);
    }
  }
  if (there >= reserved_ / 2) return;
  for (Table* table : tables) table->release_spare();
}

bool Loader::is_over(const rdb::FileKey& key) {
  if (!options_->drop_expired || key.expiry == kNoExpiry || key.expiry >= now_ms_) return false;
  progress_.expired_keys++;
  return true;
}

Status Loader::make_room(const rdb::FileKey& key, Database& database, uint64_t hash) {
  const Table::Position at = database.table.find(hash, [&](void* entry) {
    return same_bytes(static_cast<const Record*>(entry)->key(), key.name);
  });
  if (!at) return {};
  if (!options_->replace) {
    return Error{fmt::format("offset {}: RDB has duplicated key '{}' in DB {}", key.offset,
                             excerpt(key.name), key.db)};
  }
  auto* record = static_cast<Record*>(at.entry());
  database.leave_field_due(*record);
  database.table.erase(at);
  database.arena.free(record);
  return {};
}

template <class Make>
Status Loader::place(const rdb::FileKey& key, Database& database, uint64_t hash, Make&& make) {
  if (Status room = make_room(key, database, hash); !room) return room;
  Record* record = make(database.arena);
  record->set_access(access_of(key, now_ms_, keyspace_.access_policy()));
  const Table::Position at = database.table.insert(hash, record);
  if (record->has_expiry()) database.table.mark(at, record->expiry());
  database.enter_field_due(*record);
  progress_.keys++;
  return {};
}

std::string_view Loader::kept(std::string_view text, std::string& own) const {
  const std::less_equal<const char*> is_before;
  if (is_before(bytes_.data(), text.data()) &&
      is_before(text.data() + text.size(), bytes_.data() + bytes_.size())) {
    return text;
  }
  own = text;
  return own;
}

Status Loader::put_coming(Coming& coming) {
  if (coming.database == nullptr) return {};
  Database& database = *std::exchange(coming.database, nullptr);
  return place(coming.key, database, coming.hash, [&](RecordArena& arena) {
    return arena.make_string(coming.key.name, coming.text, coming.key.expiry);
  });
}

Status Loader::put_all_coming() {
  Status done;
  for (size_t i = 0; i < kAhead && done; i++) {
    done = put_coming(coming_[(next_coming_ + i) % kAhead]);
  }
  return done;
}

Status Loader::check_name(const rdb::FileKey& key) {
  if (key.name.size() <= kLongestKey) return {};
  return Error{
      fmt::format("offset {}: a key of {} bytes is too long", key.offset, key.name.size())};
}

Status Loader::put_large(const rdb::FileKey& key, std::string_view text) {
  if (Status placed = put_all_coming(); !placed) return placed;
  Database& database =
      keyspace_.database(keyspace_.partition_of(key.name), static_cast<int>(key.db));
  return place(key, database, keyspace_.hash(key.name),
               [&](RecordArena& arena) { return arena.make_string(key.name, text, key.expiry); });
}

Status Loader::on_string(const rdb::FileKey& key, std::string_view text) {
  if (!is_over(key)) {
    if (Status fine = check_name(key); !fine) return fine;
    if (key.name.size() + text.size() > kLargestAhead) {
      if (Status placed = put_large(key, text); !placed) return placed;
      return step(key);
    }
    Coming& coming = coming_[next_coming_];
    next_coming_ = (next_coming_ + 1) % kAhead;
    if (Status placed = put_coming(coming); !placed) return placed;
    coming.key = key;
    coming.key.name = kept(key.name, coming.own_name);
    coming.text = kept(text, coming.own_text);
    coming.hash = keyspace_.hash(key.name);
    coming.database =
        &keyspace_.database(keyspace_.partition_of(key.name), static_cast<int>(key.db));
    coming.database->table.prefetch_directory(coming.hash);
    // It was next_coming_ - 1 that came now.
    const Coming& earlier = coming_[(next_coming_ - 1 - kBucketAfter) % kAhead];
    if (earlier.database != nullptr) {
      __builtin_prefetch(earlier.database->table.prefetch_bucket(earlier.hash).segment);
    }
  }
  return step(key);
}

Status Loader::on_collection(const rdb::FileKey& key, rdb::Value& value) {
  if (!is_over(key)) {
    if (Status fine = check_name(key); !fine) return fine;
    // In the order of the file, so that the second of two equal keys is the one that is wrong.
    if (Status placed = put_all_coming(); !placed) return placed;
    Database& database =
        keyspace_.database(keyspace_.partition_of(key.name), static_cast<int>(key.db));
    Status placed = place(key, database, keyspace_.hash(key.name), [&](RecordArena& arena) {
      return arena.assign_collection(nullptr, key.name, value.type(), value.release(), key.expiry);
    });
    if (!placed) return placed;
  }
  return step(key);
}

Status Loader::on_empty(const rdb::FileKey& key) {
  progress_.empty_keys++;
  if (logged_empty_++ < kEmptyKeysLogged) {
    log_.notice(fmt::format("Loading RDB, skipping empty key: {}", excerpt(key.name)));
  }
  return step(key);
}

Status Loader::step(const rdb::FileKey& key) {
  if (options_->delays()) io::sleep_us(*options_->key_delay_us);
  if (key.end - stepped_ < static_cast<uint64_t>(options_->step_bytes)) [[likely]]
    return {};
  stepped_ = key.end;
  progress_.position = key.end;
  if (Status placed = put_all_coming(); !placed) return placed;
  if (!hooks_->step) return {};
  now_ms_ = clock_.wall_ms();
  return hooks_->step();
}

}  // namespace sorrel::persist
