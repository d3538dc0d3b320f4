#include <algorithm>
#include <utility>

#include "rdb/packed.h"
#include "rdb/read_parts.h"

namespace sorrel::rdb {
namespace {

// Sets the fields one by one, as commands would: duplicates are rejected, and the fields end up in
// the order of listpackex, whatever order they were stored in.
class TimedHashBuilder {
 public:
  TimedHashBuilder(ObjectType type, const HashLimits& limits, Reader& in)
      : type_(type), limits_(limits), in_(in), value_(Type::kHash) {}

  // `expiry` 0: the field does not expire.
  bool add(std::string_view field, std::string_view value, uint64_t expiry) {
    if (expiry > static_cast<uint64_t>(kMaxFieldExpiry)) return false;
    HashEdit hash(value_.collection(), limits_);
    if (!is_new(hash.set(field, value), type_, in_)) return false;
    if (expiry != 0) hash.set_expiry(field, static_cast<int64_t>(expiry));
    return true;
  }
  std::optional<Value> take() {
    if (Hash(value_.collection()).size() == 0) return nothing_in(in_);
    return std::move(value_);
  }

 private:
  const ObjectType type_;
  const HashLimits& limits_;
  Reader& in_;
  Value value_;
};

// Expire time, field, value. Expire times are relative: 1 means `earliest` itself, 0 none.
bool read_timed_fields(Reader& in, uint64_t earliest, TimedHashBuilder& hash) {
  constexpr uint64_t kTooLate = static_cast<uint64_t>(kMaxFieldExpiry) + 1;
  if (earliest > kTooLate) return false;
  std::string field_scratch;
  std::string value_scratch;
  const uint64_t fields = in.count(3);
  for (uint64_t i = 0; i < fields; i++) {
    const uint64_t distance = in.length();
    const std::string_view field = in.string(field_scratch);
    const std::string_view value = in.string(value_scratch);
    if (in.failed() || distance > kTooLate) return false;
    if (!hash.add(field, value, distance == 0 ? 0 : earliest + distance - 1)) return false;
  }
  return !in.failed();
}

// Field, value, expire time, in a listpack.
bool add_packed(std::string_view block, TimedHashBuilder& hash) {
  PackedElement three[3];
  size_t have = 0;
  const bool sound = walk_packed(Packed::kListpack, block, [&](const PackedElement& element) {
    three[have++] = element;
    if (have < 3) return true;
    have = 0;
    IntegerText field;
    IntegerText value;
    const PackedElement& expiry = three[2];
    return expiry.is_integer() && expiry.integer >= 0 &&
           hash.add(three[0].text(field), three[1].text(value),
                    static_cast<uint64_t>(expiry.integer));
  });
  return sound && have == 0;
}

}  // namespace

// Field, value, expire time in milliseconds; -1: none.
std::optional<Value> read_valkey_hash(Reader& in, const ValueLimits& limits) {
  TimedHashBuilder hash(ObjectType::kTimedHashAbsolute, limits.hash, in);
  std::string field_scratch;
  std::string value_scratch;
  const uint64_t fields = in.count(2 + sizeof(int64_t));
  for (uint64_t i = 0; i < fields; i++) {
    const std::string_view field = in.string(field_scratch);
    const std::string_view value = in.string(value_scratch);
    const auto expiry = in.little_endian<int64_t>();
    if (in.failed() || expiry < kNoExpiry) return std::nullopt;
    // An expire time of zero is long past; 1 is as well, and is not taken for none.
    const uint64_t deadline = expiry == kNoExpiry ? 0 : std::max<uint64_t>(1, expiry);
    if (!hash.add(field, value, deadline)) return std::nullopt;
  }
  if (in.failed()) return std::nullopt;
  return hash.take();
}

std::optional<Value> read_timed_hash(ObjectType type, Reader& in, const ValueLimits& limits) {
  TimedHashBuilder hash(type, limits.hash, in);
  const bool has_earliest =
      type == ObjectType::kTimedHash || type == ObjectType::kTimedHashListpack;
  // Other encodings have absolute expire times, which are relative to 1: 1 stays 1.
  const uint64_t earliest = has_earliest ? in.little_endian<uint64_t>() : 1;
  if (type == ObjectType::kTimedHash || type == ObjectType::kTimedHashAbsolute) {
    if (!read_timed_fields(in, earliest, hash)) return std::nullopt;
    return hash.take();
  }
  std::string scratch;
  const std::string_view block = in.string(scratch);
  if (in.failed() || !add_packed(block, hash)) return std::nullopt;
  return hash.take();
}

}  // namespace sorrel::rdb
