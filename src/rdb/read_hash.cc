#include <algorithm>
#include <utility>

#include "rdb/packed.h"
#include "rdb/read_parts.h"

namespace sorrel::rdb {
namespace {

// Fields are appended to a listpack as long as its limits allow; duplicates are checked once, for
// all of them. Further fields are set one by one, which makes the value a table.
class HashBuilder {
 public:
  // Redis's listpacks stay listpacks whatever the length of their values; other encodings do not.
  enum class Values : uint8_t { kOfAnyLength, kShort };

  HashBuilder(ObjectType type, const HashLimits& limits, Values values, Reader& in)
      : type_(type),
        limits_(limits),
        values_(values),
        in_(in),
        value_(Type::kHash, {Encoding::kListpack, listpack::make()}) {}

  bool add(std::string_view field, std::string_view value) {
    if (is_packed_ && suits(field, value)) {
      listpack::Block added = listpack::append(block(), field);
      value_.collection().data = listpack::append(added, value);
      count_++;
      return true;
    }
    if (is_packed_ && !leave_packed()) return false;
    count_++;
    return is_new(HashEdit(value_.collection(), limits_).set(field, value), type_, in_);
  }
  bool add_packed(Packed form, std::string_view bytes) {
    return walk_pairs(form, bytes, [&](const PackedElement& field, const PackedElement& value) {
      IntegerText field_text;
      IntegerText value_text;
      return add(field.text(field_text), value.text(value_text));
    });
  }

  std::optional<Value> take() {
    if (count_ == 0) return nothing_in(in_);
    if (is_packed_ && !leave_packed()) return std::nullopt;
    return std::move(value_);
  }

 private:
  listpack::Block block() { return static_cast<listpack::Block>(value_.collection().data); }
  bool suits(std::string_view field, std::string_view value) {
    if (count_ >= limits_.max_listpack_entries) return false;
    if (values_ == Values::kShort &&
        std::max(field.size(), value.size()) > limits_.max_listpack_value) {
      return false;
    }
    return listpack::fits(block(), field.size() + value.size(), 2);
  }
  bool leave_packed() {
    is_packed_ = false;
    return is_new(all_different(block(), 1, limits_.hasher), type_, in_);
  }

  const ObjectType type_;
  const HashLimits& limits_;
  Values values_;
  Reader& in_;
  Value value_;
  bool is_packed_ = true;
  size_t count_ = 0;
};

bool read_fields(Reader& in, HashBuilder& hash) {
  std::string field_scratch;
  std::string value_scratch;
  const uint64_t fields = in.count(2);
  for (uint64_t i = 0; i < fields; i++) {
    const std::string_view field = in.string(field_scratch);
    const std::string_view value = in.string(value_scratch);
    if (in.failed() || !hash.add(field, value)) return false;
  }
  return !in.failed();
}

Packed form_of(ObjectType type) {
  if (type == ObjectType::kHashZipmap) return Packed::kZipmap;
  return type == ObjectType::kHashZiplist ? Packed::kZiplist : Packed::kListpack;
}

}  // namespace

std::optional<Value> read_hash(ObjectType type, Reader& in, const ValueLimits& limits) {
  const bool any = type == ObjectType::kHashListpack || type == ObjectType::kHashZiplist;
  HashBuilder hash(type, limits.hash,
                   any ? HashBuilder::Values::kOfAnyLength : HashBuilder::Values::kShort, in);
  if (type == ObjectType::kHash) {
    if (!read_fields(in, hash)) return std::nullopt;
    return hash.take();
  }
  std::string scratch;
  const std::string_view block = in.string(scratch);
  if (in.failed() || !hash.add_packed(form_of(type), block)) return std::nullopt;
  return hash.take();
}

}  // namespace sorrel::rdb
