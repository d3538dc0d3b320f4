#include "persist/command_base.h"

#include <vector>

#include "base/numbers.h"
#include "io/child_process.h"
#include "io/files.h"
#include "rdb/payload.h"
#include "resp/output_buffer.h"
#include "resp/reply_writer.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/string.h"
#include "types/zset.h"

namespace sorrel::persist {
namespace {

// Elements in one command, as in Redis: long ones would hold up whoever loads them.
constexpr size_t kElements = 64;
constexpr size_t kFlushBytes = 64 * 1024;

class CommandWriter {
 public:
  CommandWriter(rdb::ByteSink& sink, const SnapshotOptions& options)
      : sink_(sink), options_(options) {}

  void note_time(int64_t seconds) {
    if (seconds != 0) out_.append("#TS:" + std::to_string(seconds) + "\r\n");
  }
  void command(std::initializer_list<std::string_view> args) {
    resp::append_array_header(out_, args.size());
    for (const std::string_view arg : args) resp::append_bulk(out_, arg);
    flush_if_full();
  }

  void key(const Record& record) {
    write_value(record);
    if (record.has_expiry() && !restored_) {
      command({"PEXPIREAT", record.key(), std::to_string(record.expiry())});
    }
    keys_++;
    if (options_.key_delay_us > 0) io::sleep_us(options_.key_delay_us);
    if (options_.progress) options_.progress(keys_);
  }

  Status end() {
    flush();
    return status_;
  }
  bool failed() const { return !status_.ok(); }

 private:
  void write_value(const Record& record) {
    restored_ = false;
    switch (record.type()) {
      case Type::kString: {
        IntegerText scratch;
        return command({"SET", record.key(), string_bytes(record, scratch)});
      }
      case Type::kList:
        return write_list(record);
      case Type::kSet:
        begin("SADD", record.key());
        Set(collection_of(record)).for_each([&](const SetMember& member) { add(member); });
        return finish();
      case Type::kZset:
        begin("ZADD", record.key());
        ZsetView(collection_of(record)).for_each([&](std::string_view member, double score) {
          add(format_double(score));
          add(member);
        });
        return finish();
      case Type::kHash:
        if (next_field_expiry(collection_of(record)) != kNoExpiry) return restore(record);
        begin("HMSET", record.key());
        Hash(collection_of(record)).for_each([&](const HashItem& item) {
          add(item.field);
          add(item.value);
        });
        return finish();
      case Type::kStream:
      case Type::kBloom:
        return restore(record);
    }
  }

  void write_list(const Record& record) {
    const Collection value = collection_of(record);
    const ListReader list(value);
    begin("RPUSH", record.key());
    for (ListCursor at = list.first(); at; at = list.next(at)) add(list.get(at));
    finish();
  }

  void restore(const Record& record) {
    restored_ = true;
    const Collection value = collection_of(record);
    const rdb::WriteOptions form{
        .version = rdb::version_for(record.type(), value, options_.version),
        .compress = options_.compress};
    std::string payload;
    rdb::write_collection(record.type(), value, form, payload);
    rdb::seal_payload(payload, form.version);
    command({"RESTORE", record.key(), record.has_expiry() ? std::to_string(record.expiry()) : "0",
             payload, "ABSTTL"});
  }

  // A command with many elements, cut into several where it gets long.
  void begin(std::string_view name, std::string_view key) {
    name_ = name;
    key_ = key;
    texts_.clear();
  }
  void add(const CollectionText& text) {
    IntegerText scratch;
    add(text.text(scratch));
  }
  void add(std::string_view text) {
    texts_.emplace_back(text);
    if (texts_.size() == 2 * kElements) finish();
  }
  void finish() {
    if (texts_.empty()) return;
    resp::append_array_header(out_, texts_.size() + 2);
    resp::append_bulk(out_, name_);
    resp::append_bulk(out_, key_);
    for (const std::string& text : texts_) resp::append_bulk(out_, text);
    texts_.clear();
    flush_if_full();
  }

  void flush_if_full() {
    if (out_.size() >= kFlushBytes) flush();
  }
  void flush() {
    if (status_) status_ = sink_.write(out_.view());
    out_.clear(2 * kFlushBytes);
  }

  rdb::ByteSink& sink_;
  const SnapshotOptions& options_;
  resp::OutputBuffer out_;
  Status status_;
  std::string_view name_;
  std::string_view key_;
  std::vector<std::string> texts_;
  bool restored_ = false;
  uint64_t keys_ = 0;
};

}  // namespace

Status write_commands(const Keyspace& keyspace, const SnapshotOptions& options, int64_t timestamp,
                      rdb::ByteSink& sink) {
  CommandWriter out(sink, options);
  out.note_time(timestamp);
  for (const std::string_view code : options.functions) out.command({"FUNCTION", "LOAD", code});
  for (int db = 0; db < keyspace.database_count(); db++) {
    if (keyspace.key_count(db) == 0) continue;
    out.command({"SELECT", std::to_string(db)});
    for (unsigned p = 0; p < keyspace.partition_count() && !out.failed(); p++) {
      const Database* database = keyspace.find_database(p, db);
      if (database == nullptr) continue;
      database->table.for_each([&](void* entry) { out.key(*static_cast<const Record*>(entry)); });
    }
  }
  return out.end();
}

Result<uint64_t> save_commands(const Keyspace& keyspace, const SnapshotOptions& options,
                               int64_t timestamp, const SnapshotFile& file) {
  return save_file(file, options.incremental_sync, [&](rdb::ByteSink& sink) {
    return write_commands(keyspace, options, timestamp, sink);
  });
}

}  // namespace sorrel::persist
