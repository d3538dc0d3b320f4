#include "persist/snapshot.h"

#include <algorithm>
#include <array>

#include "io/child_process.h"
#include "keyspace/access_clock.h"

namespace sorrel::persist {
namespace {

// Walks the keys and writes them, some steps behind the walk: each record is asked for before it is
// its turn, so that the memory has time to bring it.
class KeyStream {
 public:
  KeyStream(rdb::FileWriter& file, const Keyspace& keyspace, const SnapshotOptions& options)
      : file_(file), policy_(keyspace.access_policy()), options_(options) {}

  void push(const Record* record) {
    __builtin_prefetch(record);
    std::swap(ring_[at_], record);
    at_ = (at_ + 1) % kAhead;
    if (record != nullptr) write(*record);
  }
  void drain() {
    for (size_t i = 0; i < kAhead; i++) {
      if (const Record* record = std::exchange(ring_[(at_ + i) % kAhead], nullptr)) write(*record);
    }
  }

 private:
  static constexpr size_t kAhead = 16;

  void write(const Record& record) {
    if (file_.failed()) [[unlikely]]
      return;
    file_.key(record, use_of(record, options_, policy_));
    keys_++;
    if (options_.key_delay_us != 0) delay(options_.key_delay_us);
    if (options_.progress) options_.progress(keys_);
  }
  // A negative one means a moment now and then.
  void delay(int64_t us) const {
    if (us > 0) return io::sleep_us(us);
    if (keys_ % static_cast<uint64_t>(-us) == 0) io::sleep_us(1);
  }

  rdb::FileWriter& file_;
  const AccessPolicy& policy_;
  const SnapshotOptions& options_;
  std::array<const Record*, kAhead> ring_{};
  size_t at_ = 0;
  uint64_t keys_ = 0;
};

void write_database(const Keyspace& keyspace, int db, rdb::FileWriter& file, KeyStream& keys) {
  const size_t count = keyspace.key_count(db);
  if (count == 0) return;
  file.database(db, count, keyspace.expiring_count(db));
  for (unsigned p = 0; p < keyspace.partition_count() && !file.failed(); p++) {
    const Database* database = keyspace.find_database(p, db);
    if (database == nullptr) continue;
    database->table.for_each([&](void* entry) { keys.push(static_cast<const Record*>(entry)); });
  }
  keys.drain();
}

}  // namespace

uint64_t keys_in(const Keyspace& keyspace) {
  uint64_t keys = 0;
  for (int db = 0; db < keyspace.database_count(); db++) keys += keyspace.key_count(db);
  return keys;
}

int snapshot_version(const Keyspace& keyspace, int wanted) {
  for (int db = 0; db < keyspace.database_count(); db++) {
    if (keyspace.field_expiring_count(db) > 0) return std::max(wanted, rdb::kVersionOfTimedHash);
  }
  return wanted;
}

void write_head(const SnapshotOptions& options, rdb::FileWriter& file) {
  file.begin();
  for (const auto& [name, value] : options.aux) file.aux(name, value);
  for (const std::string_view code : options.functions) file.function(code);
}

rdb::KeyUse use_of(const Record& record, const SnapshotOptions& options,
                   const AccessPolicy& policy) {
  rdb::KeyUse use;
  if (options.use == SnapshotOptions::Use::kNone) return use;
  // While a live one goes on, keys are used on.
  const bool since = used_since(record.access(), options.now_ms, policy);
  if (options.use == SnapshotOptions::Use::kIdle) {
    use.idle_seconds = since ? 0 : idle_seconds(record, options.now_ms);
  } else {
    use.frequency = since ? static_cast<uint8_t>(record.access() & 0xff)
                          : lfu_decayed(record.access(), options.now_ms, policy);
  }
  return use;
}

Status write_snapshot(const Keyspace& keyspace, const SnapshotOptions& options,
                      rdb::ByteSink& sink) {
  const rdb::WriteOptions form{.version = snapshot_version(keyspace, options.version),
                               .compress = options.compress};
  rdb::FileWriter file(sink, form, options.checksum);
  write_head(options, file);
  KeyStream keys(file, keyspace, options);
  for (int db = 0; db < keyspace.database_count() && !file.failed(); db++) {
    write_database(keyspace, db, file, keys);
  }
  return file.end();
}

Result<uint64_t> save_file(const SnapshotFile& file, bool incremental_sync,
                           const std::function<Status(rdb::ByteSink& sink)>& write) {
  FileSink sink(file, incremental_sync);
  Status done = sink.begin();
  if (done) done = write(sink);
  if (done) done = sink.finish();
  if (done) return sink.size();
  sink.abandon();
  return done.error();
}

Result<uint64_t> save_snapshot(const Keyspace& keyspace, const SnapshotOptions& options,
                               const SnapshotFile& file) {
  return save_file(file, options.incremental_sync,
                   [&](rdb::ByteSink& sink) { return write_snapshot(keyspace, options, sink); });
}

}  // namespace sorrel::persist
