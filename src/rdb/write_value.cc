// Each type has several encodings, and a reader of an older version knows only some: the version
// requested chooses.

#include <algorithm>

#include "base/numbers.h"
#include "rdb/bloom.h"
#include "rdb/value.h"
#include "rdb/writer.h"
#include "structs/intset.h"
#include "types/bloom.h"
#include "types/stream.h"

namespace sorrel::rdb {
namespace {

// Writes one value. In files the key is between the type and the value.
class ValueWriter : public Writer {
 public:
  ValueWriter(std::string& out, const WriteOptions& options)
      : Writer(out, options.compress, options.spill, options.plain), key_(options.key) {}

  void type(ObjectType type) {
    byte(static_cast<uint8_t>(type));
    if (key_ != nullptr) string(*key_);
  }

 private:
  const std::string_view* key_;
};

void write_element(const listpack::Element& element, Writer& out) {
  if (element.is_integer()) {
    out.integer_string(element.integer);
  } else {
    out.string({element.data, element.size});
  }
}

std::string_view block_view(const Collection& value) {
  return listpack::view(static_cast<listpack::ConstBlock>(value.data));
}

void write_packed(ObjectType type, const Collection& value, ValueWriter& out) {
  out.type(type);
  out.string(block_view(value));
}

void write_list(const Collection& value, ValueWriter& out) {
  out.type(ObjectType::kListQuicklist2);
  if (value.encoding == Encoding::kListpack) {
    out.length(1);
    out.length(kPackedNode);
    out.string(block_view(value));
    return;
  }
  const auto& chunks = *static_cast<const ChunkedList*>(value.data);
  out.length(chunks.chunks());
  chunks.for_each_chunk([&](const ChunkedList::ChunkView& chunk) {
    out.length(chunk.is_huge ? kPlainNode : kPackedNode);
    if (chunk.is_compressed()) {
      out.compressed_string(chunk.bytes, chunk.expanded_bytes);
    } else {
      out.string(chunk.bytes);
    }
  });
}

void write_set(const Collection& value, int version, ValueWriter& out) {
  const Set set(value);
  if (value.encoding == Encoding::kIntset) {
    out.type(ObjectType::kSetIntset);
    out.string(Intset(static_cast<char*>(value.data)).bytes());
    return;
  }
  if (value.encoding == Encoding::kListpack && version >= kVersionOfSetListpack) {
    return write_packed(ObjectType::kSetListpack, value, out);
  }
  out.type(ObjectType::kSet);
  out.length(set.size());
  set.for_each([&](const SetMember& member) { write_element(member, out); });
}

// Precondition: some field has an expire time.
void write_timed_hash(const Collection& value, ValueWriter& out) {
  const Hash hash(value);
  int64_t earliest = kMaxFieldExpiry;
  hash.for_each([&](const HashItem& item) {
    if (item.expiry != kNoExpiry) earliest = std::min(earliest, item.expiry);
  });
  const bool packed = value.encoding == Encoding::kListpackEx;
  out.type(packed ? ObjectType::kTimedHashListpack : ObjectType::kTimedHash);
  out.little_endian(static_cast<uint64_t>(earliest));
  if (packed) return out.string(block_view(value));
  out.length(hash.size());
  hash.for_each([&](const HashItem& item) {
    out.length(item.expiry == kNoExpiry ? 0 : static_cast<uint64_t>(item.expiry - earliest + 1));
    write_element(item.field, out);
    write_element(item.value, out);
  });
}

// Without expire times the hash is written in the encoding that every server reads.
void write_hash(const Collection& value, ValueWriter& out) {
  if (value.encoding == Encoding::kListpack) {
    return write_packed(ObjectType::kHashListpack, value, out);
  }
  if (next_field_expiry(value) != kNoExpiry) return write_timed_hash(value, out);
  const Hash hash(value);
  out.type(ObjectType::kHash);
  out.length(hash.size());
  hash.for_each([&](const HashItem& item) {
    write_element(item.field, out);
    write_element(item.value, out);
  });
}

void write_zset(const Collection& value, ValueWriter& out) {
  if (value.encoding == Encoding::kListpack) {
    return write_packed(ObjectType::kZsetListpack, value, out);
  }
  const ZsetView zset(value);
  out.type(ObjectType::kZset);
  out.length(zset.size());
  // From the highest score on: Redis loads that order faster.
  zset.for_each({0, zset.size()}, true, [&](std::string_view member, double score) {
    out.string(member);
    out.little_endian(score);
  });
}

void write_id(const StreamId& id, Writer& out) {
  out.length(id.ms);
  out.length(id.seq);
}

void write_raw_id(const StreamId& id, Writer& out) {
  out.big_endian(id.ms);
  out.big_endian(id.seq);
}

void write_group(const std::string& name, const StreamGroup& group, bool has_activity,
                 Writer& out) {
  out.string(name);
  write_id(group.last_id, out);
  out.length(static_cast<uint64_t>(group.entries_read));
  out.length(group.pending.size());
  for (const auto& [id, pending] : group.pending) {
    write_raw_id(id, out);
    out.little_endian(pending.delivered_ms);
    out.length(static_cast<uint64_t>(pending.deliveries));
  }
  out.length(group.consumers.size());
  for (const auto& [consumer_name, consumer] : group.consumers) {
    out.string(consumer_name);
    out.little_endian(consumer.seen_ms);
    if (has_activity) out.little_endian(consumer.active_ms);
    out.length(consumer.pending.size());
    for (const auto& [id, pending] : consumer.pending) write_raw_id(id, out);
  }
}

void write_stream(const Stream& stream, int version, ValueWriter& out) {
  const bool has_activity = version >= kVersionOfSetListpack;
  out.type(has_activity ? ObjectType::kStream3 : ObjectType::kStream2);
  out.length(stream.node_count());
  for (const auto& [id, node] : stream.nodes()) {
    out.length(2 * sizeof(uint64_t));
    write_raw_id(id, out);
    out.string(listpack::view(node));
  }
  out.length(stream.length());
  write_id(stream.last_id(), out);
  write_id(stream.first_id(), out);
  write_id(stream.max_deleted_id(), out);
  out.length(stream.entries_added());
  out.length(stream.groups().size());
  for (const auto& [name, group] : stream.groups()) write_group(name, group, has_activity, out);
}

}  // namespace

void write_string(std::string_view text, const WriteOptions& options, std::string& out) {
  ValueWriter writer(out, options);
  writer.type(ObjectType::kString);
  writer.string(text);
}

int version_for(Type type, const Collection& value, int wanted) {
  const bool timed = type == Type::kHash && next_field_expiry(value) != kNoExpiry;
  return timed ? std::max(wanted, kVersionOfTimedHash) : wanted;
}

void write_collection(Type type, const Collection& value, const WriteOptions& options,
                      std::string& out) {
  ValueWriter writer(out, options);
  switch (type) {
    case Type::kList:
      return write_list(value, writer);
    case Type::kSet:
      return write_set(value, options.version, writer);
    case Type::kHash:
      return write_hash(value, writer);
    case Type::kZset:
      return write_zset(value, writer);
    case Type::kStream:
      return write_stream(*static_cast<const Stream*>(value.data), options.version, writer);
    case Type::kBloom:
      writer.type(ObjectType::kModule2);
      return write_bloom(bloom_of(value), writer);
    case Type::kString:
      break;
  }
}

}  // namespace sorrel::rdb
