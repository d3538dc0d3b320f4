// The parts of DEBUG that look at keys, or make some.

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "commands/dump_payload.h"
#include "keyspace/access_clock.h"
#include "server/debug_command.h"
#include "server/digest.h"
#include "structs/listpack.h"
#include "types/collection.h"
#include "types/string.h"
#include "types/type_names.h"

namespace sorrel::server {
namespace {

// Also a key whose time has come: who debugs wants to see what is there.
const Record* find_record(Call& call, std::string_view name) {
  const Keyspace& keyspace = call.keys.keyspace();
  const Key key = call.keys.key(name);
  const Database* database = keyspace.find_database(keyspace.partition_of(name), call.keys.db());
  if (database == nullptr) return nullptr;
  const Table::Position at = database->table.find(
      key.hash, [&](void* entry) { return static_cast<const Record*>(entry)->key() == name; });
  return at ? static_cast<const Record*>(at.entry()) : nullptr;
}

const Record* find_or_answer(Call& call) {
  const Record* record = find_record(call, call.arg(2));
  if (record == nullptr) call.reply.error("ERR no such key");
  return record;
}

// How many bytes the value takes in a file.
size_t serialized_length(const Record& record, const Keyspace& keyspace) {
  constexpr size_t kAround = 1 + 2 + 8;  // type, version, checksum
  return commands::dump_payload(record, keyspace).size() - kAround;
}

// Null after an error was answered.
std::optional<int64_t> positive_argument(Call& call, size_t at) {
  const std::optional<int64_t> value = parse_int64(call.arg(at));
  if (value && *value >= 0) return value;
  call.reply.error("ERR value is out of range, must be positive");
  return std::nullopt;
}

std::string table_text(const Keyspace& keyspace, int db, size_t (Table::*count)() const) {
  size_t entries = 0;
  size_t bytes = 0;
  for (unsigned p = 0; p < keyspace.partition_count(); p++) {
    const Database* database = keyspace.find_database(p, db);
    if (database == nullptr) continue;
    entries += (database->table.*count)();
    bytes += database->table.memory_bytes();
  }
  if (entries == 0) return "No stats available for empty dictionaries\n";
  constexpr size_t kSlotBytes = 8;
  return fmt::format(
      "Hash table 0 stats (main hash table):\n table size: {}\n number of elements: {}\n",
      bytes / kSlotBytes, entries);
}

}  // namespace

void debug_object(Call& call) {
  const Record* record = find_or_answer(call);
  if (record == nullptr) return;
  call.reply.simple(fmt::format(
      "Value at:{} refcount:1 encoding:{} serializedlength:{} lru:{} lru_seconds_idle:{}",
      fmt::ptr(record), encoding_name(*record), serialized_length(*record, call.keys.keyspace()),
      record->access(), idle_seconds(*record, call.now_ms())));
}

void debug_sdslen(Call& call) {
  const Record* record = find_or_answer(call);
  if (record == nullptr) return;
  if (record->type() != Type::kString || record->encoding() == Encoding::kInt) {
    return call.reply.error("ERR Not an sds encoded string.");
  }
  // A record is one block, so there is no spare room and no allocation to tell apart.
  const size_t key = record->key().size();
  const size_t value = string_length(*record);
  call.reply.simple(fmt::format(
      "key_sds_len:{}, key_sds_avail:0, key_zmalloc: {}, val_sds_len:{}, val_sds_avail:0, "
      "val_zmalloc: {}",
      key, key, value, RecordArena::memory_of(record)));
}

void debug_digest(Call& call) {
  call.reply.simple(dataset_digest(call.keys.keyspace()).text());
}

void debug_digest_value(Call& call) {
  call.reply.array(static_cast<int64_t>(call.argc() - 2));
  for (std::string_view name : call.args.subspan(2)) {
    const Record* record = find_record(call, name);
    call.reply.simple((record == nullptr ? Digest() : value_digest(*record)).text());
  }
}

// These keys are for this server alone: replicas and the log are not told.
void debug_populate(Call& call) {
  const std::optional<int64_t> count = positive_argument(call, 2);
  if (!count) return;
  const std::string_view prefix = call.argc() > 3 ? call.arg(3) : "key";
  std::optional<int64_t> size = 0;
  if (call.argc() > 4) size = positive_argument(call, 4);
  if (!size) return;
  constexpr int64_t kMostBytes = int64_t{512} << 20;
  if (*size > kMostBytes) return call.reply.error("ERR value is out of range");
  call.rewrite.nothing();
  for (int64_t i = 0; i < *count; i++) {
    const std::string name = fmt::format("{}:{}", prefix, i);
    Entry entry = call.keys.open(call.keys.key(name));
    if (entry) continue;
    std::string value = fmt::format("value:{}", i);
    if (*size != 0) value.resize(static_cast<size_t>(*size), '\0');
    entry.set_string(value, kNoExpiry, {EventClass::kString, "set"});
  }
  call.reply.ok();
}

void debug_htstats(Call& call) {
  const std::optional<int64_t> db = parse_int64(call.arg(2));
  if (!db) return answer::not_an_integer(call);
  const Keyspace& keyspace = call.keys.keyspace();
  if (*db < 0 || *db >= keyspace.database_count()) {
    return call.reply.error("ERR Out of range database");
  }
  const int index = static_cast<int>(*db);
  call.reply.verbatim("txt", "[Dictionary HT]\n" + table_text(keyspace, index, &Table::size) +
                                 "[Expires HT]\n" + table_text(keyspace, index, &Table::marked));
}

void debug_htstats_key(Call& call) {
  if (find_or_answer(call) == nullptr) return;
  call.reply.error(
      "ERR The value stored at the specified key is not represented using an hash table");
}

// Redis prints to its standard output, where nobody looks; here it is the answer.
void debug_listpack(Call& call) {
  const Record* record = find_or_answer(call);
  if (record == nullptr) return;
  if (record->encoding() != Encoding::kListpack && record->encoding() != Encoding::kListpackEx) {
    return call.reply.error("ERR Not a listpack encoded object.");
  }
  const auto* block = static_cast<listpack::ConstBlock>(collection_of(*record).data);
  std::string text =
      fmt::format("{} bytes, {} elements\n", listpack::bytes(block), listpack::size(block));
  for (auto at = listpack::first(block); at != listpack::kNone; at = listpack::next(block, at)) {
    const listpack::Element element = listpack::get(block, at);
    IntegerText scratch;
    text += fmt::format("{} {} {}\n", at, element.is_integer() ? "integer" : "text",
                        element.text(scratch));
  }
  call.reply.verbatim("txt", text);
}

void debug_quicklist(Call& call) {
  const Record* record = find_or_answer(call);
  if (record == nullptr) return;
  if (encoding_name(*record) != "quicklist") {
    return call.reply.error("ERR Not a quicklist encoded object.");
  }
  call.reply.error("ERR Sorrel does not print its quicklists");
}

}  // namespace sorrel::server
