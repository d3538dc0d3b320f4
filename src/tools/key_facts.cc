#include "tools/key_facts.h"

#include <algorithm>

#include "base/numbers.h"
#include "types/bloom.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/type_names.h"
#include "types/zset.h"

namespace sorrel::tools {
namespace {

uint64_t length_of(const CollectionText& element) {
  IntegerText scratch;
  return element.text(scratch).size();
}

uint64_t largest_in_list(const Collection& value) {
  uint64_t largest = 0;
  const ListReader list(value);
  for (ListCursor at = list.first(); at; at = list.next(at)) {
    largest = std::max(largest, length_of(list.get(at)));
  }
  return largest;
}

uint64_t largest_in_hash(const Collection& value) {
  uint64_t largest = 0;
  Hash(value).for_each([&](const HashItem& item) {
    largest = std::max({largest, length_of(item.field), length_of(item.value)});
  });
  return largest;
}

uint64_t largest_in(Type type, const Collection& value) {
  uint64_t largest = 0;
  switch (type) {
    case Type::kList:
      return largest_in_list(value);
    case Type::kHash:
      return largest_in_hash(value);
    case Type::kSet:
      Set(value).for_each(
          [&](const SetMember& member) { largest = std::max(largest, length_of(member)); });
      return largest;
    case Type::kZset:
      ZsetView(value).for_each([&](std::string_view member, double) {
        largest = std::max<uint64_t>(largest, member.size());
      });
      return largest;
    case Type::kString:
    case Type::kStream:
    case Type::kBloom:
      break;
  }
  return 0;
}

}  // namespace

KeyFacts KeyMeasure::measure(const rdb::FileKey& key, std::string_view text) {
  KeyFacts facts = take(key, arena_.make_string(key.name, text, key.expiry));
  facts.largest_element = text.size();
  return facts;
}

KeyFacts KeyMeasure::measure(const rdb::FileKey& key, rdb::Value& value) {
  const Type type = value.type();
  const uint64_t elements = collection_ops(type).size(value.collection());
  const uint64_t largest = largest_in(type, value.collection());
  Record* record = arena_.assign_collection(nullptr, key.name, type, value.release(), key.expiry);
  KeyFacts facts = take(key, record);
  facts.elements = elements;
  facts.largest_element = largest;
  return facts;
}

KeyFacts KeyMeasure::take(const rdb::FileKey& key, Record* record) {
  KeyFacts facts{.db = key.db,
                 .name = std::string(key.name),
                 .type = record->type(),
                 .encoding = encoding_name(*record),
                 .memory = RecordArena::memory_of(record),
                 .file_bytes = key.end - key.begin,
                 .expiry = key.expiry,
                 .idle_seconds = key.idle_seconds,
                 .frequency = key.frequency};
  arena_.free(record);
  return facts;
}

}  // namespace sorrel::tools
