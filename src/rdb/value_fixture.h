#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rdb/old_forms.h"
#include "rdb/payload.h"
#include "types/bloom.h"
#include "types/stream.h"

// Helpers shared by the tests of rdb.
namespace sorrel::rdb::testing {

inline const KeyHasher kHasher(1, 2);

inline ValueLimits limits() {
  return {.list = ListLimits(-2),
          .set = {512, 128, 64, &kHasher},
          .hash = {128, 64, &kHasher},
          .zset = {128, 64, &kHasher}};
}

inline std::string text_of(const listpack::Element& element) {
  IntegerText scratch;
  return std::string(element.text(scratch));
}

inline Texts list_texts(const Collection& value) {
  Texts texts;
  const ListReader list(value);
  for (ListCursor at = list.first(); at; at = list.next(at)) texts.push_back(text_of(list.get(at)));
  return texts;
}
inline Texts set_texts(const Collection& value) {
  Texts texts;
  Set(value).for_each([&](const SetMember& member) { texts.push_back(text_of(member)); });
  std::sort(texts.begin(), texts.end());
  return texts;
}
// "field=value", sorted.
inline Texts hash_texts(const Collection& value) {
  Texts texts;
  Hash(value).for_each([&](const HashItem& item) {
    texts.push_back(text_of(item.field) + "=" + text_of(item.value));
    if (item.expiry != kNoExpiry) texts.back() += "@" + std::to_string(item.expiry);
  });
  std::sort(texts.begin(), texts.end());
  return texts;
}
// "member=score", in the order of the set.
inline Texts zset_texts(const Collection& value) {
  Texts texts;
  ZsetView(value).for_each([&](std::string_view member, double score) {
    texts.push_back(std::string(member) + "=" + format_double(score));
  });
  return texts;
}
inline Texts stream_texts(const Collection& value) {
  Texts texts;
  const Stream& stream = *static_cast<const Stream*>(value.data);
  StreamWalk walk(stream, kMinStreamId, kMaxStreamId);
  StreamEntry entry;
  while (walk.next(entry)) {
    std::string line = entry.id.text();
    stream_node::Fields fields(entry);
    listpack::Element name;
    listpack::Element of;
    while (fields.next(name, of)) line += " " + text_of(name) + "=" + text_of(of);
    texts.push_back(line);
  }
  texts.push_back("length " + std::to_string(stream.length()) + " added " +
                  std::to_string(stream.entries_added()) + " first " + stream.first_id().text() +
                  " last " + stream.last_id().text() + " deleted " +
                  stream.max_deleted_id().text() + " nodes " + std::to_string(stream.node_count()));
  for (const auto& [name, group] : stream.groups()) {
    texts.push_back("group " + name + " at " + group.last_id.text() + " read " +
                    std::to_string(group.entries_read));
    for (const auto& [id, pending] : group.pending) {
      texts.push_back("pending " + id.text() + " with " + pending.consumer->name + " since " +
                      std::to_string(pending.delivered_ms) + " times " +
                      std::to_string(pending.deliveries));
    }
    for (const auto& [consumer_name, consumer] : group.consumers) {
      texts.push_back("consumer " + consumer_name + " seen " + std::to_string(consumer.seen_ms) +
                      " active " + std::to_string(consumer.active_ms) + " has " +
                      std::to_string(consumer.pending.size()));
    }
  }
  return texts;
}

inline std::string listpack_bytes(const Texts& texts) {
  listpack::Block block = listpack::make();
  for (const std::string& text : texts) block = listpack::append(block, text);
  std::string bytes(listpack::view(block));
  listpack::free(block);
  return bytes;
}

// The elements as texts, whatever the type.
inline Texts texts_of(const Value& value) {
  switch (value.type()) {
    case Type::kString:
      return {std::string(value.text())};
    case Type::kList:
      return list_texts(value.collection());
    case Type::kSet:
      return set_texts(value.collection());
    case Type::kHash:
      return hash_texts(value.collection());
    case Type::kZset:
      return zset_texts(value.collection());
    case Type::kBloom:
      return {bloom_of(value.collection()).header()};
    case Type::kStream:
      break;
  }
  return stream_texts(value.collection());
}

inline std::string written(const Value& value, const WriteOptions& options) {
  std::string body;
  if (value.type() == Type::kString) {
    write_string(value.text(), options, body);
  } else {
    write_collection(value.type(), value.collection(), options, body);
  }
  return body;
}

inline std::optional<Value> read(std::string_view body, const ValueLimits& with = limits()) {
  auto value = value_of_payload(body, with);
  return value ? std::optional<Value>(std::move(*value)) : std::nullopt;
}

inline Value list_of(const Texts& texts, const ListLimits& with = ListLimits(-2)) {
  Value value(Type::kList);
  List list(value.collection(), with);
  for (const std::string& text : texts) {
    list.grow(text.size(), 1);
    list.push(ListEnd::kTail, text);
  }
  return value;
}
inline Value set_of(const Texts& texts) {
  static const SetLimits kLimits = limits().set;
  Value value(Type::kSet);
  SetEdit set(value.collection(), kLimits);
  for (const std::string& text : texts) set.add(std::string_view(text));
  return value;
}
inline Value hash_of(const Texts& texts) {
  static const HashLimits kLimits = limits().hash;
  Value value(Type::kHash);
  HashEdit hash(value.collection(), kLimits);
  for (size_t i = 0; i + 1 < texts.size(); i += 2) hash.set(texts[i], texts[i + 1]);
  return value;
}
inline Value zset_of(const Texts& members, const std::function<double(size_t)>& score) {
  Value value(Type::kZset);
  Zset zset(value.collection());
  for (size_t i = 0; i < members.size(); i++) zset.insert(members[i], score(i), limits().zset);
  return value;
}

}  // namespace sorrel::rdb::testing
