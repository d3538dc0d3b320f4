#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "base/clock.h"
#include "io/files.h"
#include "io/mapped_file.h"
#include "persist/loader.h"
#include "persist/snapshot.h"
#include "types/string.h"

namespace sorrel::persist {

// A keyspace, a file, and another keyspace to load the file into. The parameter is the number of
// partitions.
class SnapshotTest : public ::testing::TestWithParam<unsigned> {
 protected:
  SnapshotTest() : from_(shape(), nullptr), to_(shape(), nullptr) {
    char folder[] = "/tmp/sorrel-snapshot-test-XXXXXX";
    folder_ = mkdtemp(folder);
  }
  ~SnapshotTest() override {
    (void)io::remove_file(file().path).ok();
    (void)io::remove_file(file().temporary).ok();
    (void)rmdir(folder_.c_str());
  }

  static KeyspaceOptions shape() {
    KeyspaceOptions options;
    options.partitions = GetParam();
    return options;
  }
  SnapshotFile file() const { return {folder_ + "/dump.rdb", folder_ + "/temp-1.rdb"}; }

  static void put(Keyspace& keyspace, int db, std::string_view key, std::string_view text,
                  int64_t expiry = kNoExpiry) {
    Database& database = keyspace.database(keyspace.partition_of(key), db);
    Record* record = database.arena.make_string(key, text, expiry);
    const Table::Position at = database.table.insert(keyspace.hash(key), record);
    if (expiry != kNoExpiry) database.table.mark(at, expiry);
  }
  static void put_hash(Keyspace& keyspace, std::string_view key, int64_t field_expiry) {
    Database& database = keyspace.database(keyspace.partition_of(key), 0);
    Collection hash = collection_ops(Type::kHash).make();
    const HashLimits limits = keyspace.hash_limits();
    HashEdit edit(hash, limits);
    edit.set("field", "value");
    if (field_expiry != kNoExpiry) edit.set_expiry("field", field_expiry);
    Record* record = database.arena.assign_collection(nullptr, key, Type::kHash, hash, kNoExpiry);
    database.table.insert(keyspace.hash(key), record);
    database.enter_field_due(*record);
  }
  // "db:key" to "value" or "value@deadline".
  static std::map<std::string, std::string> strings_of(const Keyspace& keyspace) {
    std::map<std::string, std::string> all;
    for (int db = 0; db < keyspace.database_count(); db++) {
      for (unsigned p = 0; p < keyspace.partition_count(); p++) {
        const Database* database = keyspace.find_database(p, db);
        if (database == nullptr) continue;
        database->table.for_each([&](void* entry) {
          const auto& record = *static_cast<const Record*>(entry);
          IntegerText scratch;
          std::string value(record.type() == Type::kString ? string_bytes(record, scratch)
                                                           : std::string_view("(collection)"));
          if (record.has_expiry()) value += "@" + std::to_string(record.expiry());
          all[std::to_string(db) + ":" + std::string(record.key())] = value;
        });
      }
    }
    return all;
  }
  Result<uint64_t> load(const LoadOptions& options = {}, const LoadHooks& hooks = {}) {
    const auto bytes = io::MappedFile::open(file().path);
    if (!bytes) return bytes.error();
    Loader loader(to_, clock_, log_, progress_);
    return loader.load(bytes->bytes(), options, hooks);
  }

  std::string folder_;
  Keyspace from_;
  Keyspace to_;
  ManualClock clock_;
  NullLogger log_;
  LoadProgress progress_;
};

}  // namespace sorrel::persist
