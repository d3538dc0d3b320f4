#include <utility>

#include "rdb/bloom.h"
#include "rdb/read_parts.h"
#include "rdb/value.h"
#include "structs/member_set.h"

namespace sorrel::rdb {
namespace {

// Valkey's own object types share their numbers with those of Redis from 7.4 on.
constexpr uint8_t kLastSharedType = 21;
constexpr uint8_t kValkeyHash = 22;

std::optional<Value> read_string(Reader& in) {
  std::string scratch;
  const std::string_view text = in.string(scratch);
  if (in.failed()) return std::nullopt;
  if (text.data() == scratch.data()) return Value(std::move(scratch));
  return Value(text);
}

}  // namespace

Value::Value(Type type) : Value(type, collection_ops(type).make()) {}

Value::Value(Type type, const Collection& collection) : type_(type), collection_(collection) {}

Value::Value(Value&& other) noexcept
    : type_(other.type_),
      text_(other.text_),
      owned_(std::move(other.owned_)),
      collection_(std::exchange(other.collection_, {})) {}

Value::~Value() {
  if (collection_.data != nullptr) collection_ops(type_).free(collection_);
}

Collection Value::release() {
  return std::exchange(collection_, {});
}

bool all_different(listpack::ConstBlock block, size_t skip, const KeyHasher* hasher) {
  constexpr size_t kFew = 32;
  const bool few = listpack::size(block) / (skip + 1) <= kFew;
  MemberSet seen(hasher);
  IntegerText scratch;
  for (auto at = listpack::first(block); at != listpack::kNone;) {
    const std::string_view text = listpack::get(block, at).text(scratch);
    for (size_t i = 0; i <= skip && at != listpack::kNone; i++) at = listpack::next(block, at);
    const bool again =
        few ? listpack::find(block, at, text, skip) != listpack::kNone : !seen.add(text);
    if (again) return false;
  }
  return true;
}

std::optional<Value> read_value(uint8_t object_type, Reader& in, const ValueLimits& limits,
                                Dialect dialect) {
  if (dialect == Dialect::kValkey && object_type > kLastSharedType) {
    if (object_type == kValkeyHash) return read_valkey_hash(in, limits);
    in.fail();
    return std::nullopt;
  }
  const auto type = static_cast<ObjectType>(object_type);
  switch (type) {
    case ObjectType::kString:
      return read_string(in);
    case ObjectType::kList:
    case ObjectType::kListZiplist:
    case ObjectType::kListQuicklist:
    case ObjectType::kListQuicklist2:
      return read_list(type, in, limits);
    case ObjectType::kSet:
    case ObjectType::kSetIntset:
    case ObjectType::kSetListpack:
      return read_set(type, in, limits);
    case ObjectType::kZsetText:
    case ObjectType::kZset:
    case ObjectType::kZsetZiplist:
    case ObjectType::kZsetListpack:
      return read_zset(type, in, limits);
    case ObjectType::kHash:
    case ObjectType::kHashZipmap:
    case ObjectType::kHashZiplist:
    case ObjectType::kHashListpack:
      return read_hash(type, in, limits);
    case ObjectType::kTimedHashAbsolute:
    case ObjectType::kTimedHashListpackBare:
    case ObjectType::kTimedHash:
    case ObjectType::kTimedHashListpack:
      return read_timed_hash(type, in, limits);
    case ObjectType::kStream1:
    case ObjectType::kStream2:
    case ObjectType::kStream3:
      return read_stream(type, in);
    case ObjectType::kModule2:
      return read_bloom(in);
  }
  // Any other type number is damage.
  in.note_flaw("there is no such type");
  in.fail();
  return std::nullopt;
}

}  // namespace sorrel::rdb
