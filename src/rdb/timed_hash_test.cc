#include <gtest/gtest.h>

#include "rdb/value_fixture.h"
#include "rdb/writer.h"

// Hashes whose fields expire.

namespace sorrel::rdb {
namespace {

using namespace testing;

constexpr int64_t kSoon = 1'700'000'000'000;

// Every second field expires, the first ones latest.
Value timed_hash(size_t count) {
  static const HashLimits kLimits = limits().hash;
  Value value(Type::kHash);
  HashEdit hash(value.collection(), kLimits);
  for (size_t i = 0; i < count; i++) {
    const std::string field = i % 3 == 0 ? std::to_string(i) : "f" + std::to_string(i);
    hash.set(field, "v" + std::to_string(i));
    if (i % 2 == 0) hash.set_expiry(field, kSoon + static_cast<int64_t>(1000 * (count - i)));
  }
  return value;
}

Texts timed_texts_in(const std::string& body) {
  const auto value = read(body);
  return value ? texts_of(*value) : Texts{"(refused)"};
}
const Texts kTimedRefused = {"(refused)"};

TEST(RdbTimedHash, RoundTrip) {
  for (const size_t count : {1, 2, 128, 129, 3000}) {
    const Value value = timed_hash(count);
    const std::string body = written(value, {12, false});
    EXPECT_EQ(body[0], count <= 128 ? 25 : 24);
    EXPECT_EQ(version_for(Type::kHash, value.collection(), 10), 12);
    const auto back = read(body);
    ASSERT_TRUE(back);
    EXPECT_EQ(texts_of(*back), texts_of(value));
    EXPECT_EQ(back->collection().encoding, value.collection().encoding);
    EXPECT_EQ(next_field_expiry(back->collection()), next_field_expiry(value.collection()));
    const size_t step = std::max<size_t>(1, body.size() / 60);
    for (size_t size = 0; size < body.size(); size += step) {
      EXPECT_FALSE(read(std::string_view(body).substr(0, size))) << size;
    }
    EXPECT_FALSE(read(body + "x"));
  }
}

TEST(RdbTimedHash, WithoutExpireTimesOldVersionsCanReadIt) {
  static const HashLimits kLimits = limits().hash;
  Value value(Type::kHash);
  HashEdit hash(value.collection(), kLimits);
  hash.set("a", "1");
  hash.set_expiry("a", kSoon);
  hash.set_expiry("a", kNoExpiry);
  EXPECT_EQ(value.collection().encoding, Encoding::kListpackEx);
  EXPECT_EQ(version_for(Type::kHash, value.collection(), 10), 10);
  EXPECT_EQ(timed_texts_in(written(value, {10, false})), (Texts{"a=1"}));
}

struct Timed {
  std::string field;
  std::string value;
  uint64_t distance;
};
std::string table_of(uint8_t type, std::optional<uint64_t> earliest,
                     const std::vector<Timed>& fields) {
  std::string body;
  Writer out(body, false);
  out.byte(type);
  if (earliest) out.little_endian(*earliest);
  out.length(fields.size());
  for (const Timed& field : fields) {
    out.length(field.distance);
    out.string(field.field);
    out.string(field.value);
  }
  return body;
}

TEST(RdbTimedHash, ExpireTimesOfATable) {
  const std::vector<Timed> fields = {{"a", "1", 1}, {"b", "2", 0}, {"c", "3", 501}};
  EXPECT_EQ(timed_texts_in(table_of(24, 1000, fields)), (Texts{"a=1@1000", "b=2", "c=3@1500"}));
  EXPECT_EQ(timed_texts_in(table_of(22, std::nullopt, fields)), (Texts{"a=1@1", "b=2", "c=3@501"}));
  const auto latest = static_cast<uint64_t>(kMaxFieldExpiry);
  EXPECT_EQ(timed_texts_in(table_of(24, latest, {{"a", "1", 1}})),
            (Texts{"a=1@" + std::to_string(latest)}));
  EXPECT_EQ(timed_texts_in(table_of(24, latest, {{"a", "1", 2}})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(table_of(24, UINT64_MAX, {{"a", "1", 2}})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(table_of(24, 1000, {{"a", "1", UINT64_MAX}})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(table_of(24, 1000, {{"a", "1", 1}, {"a", "2", 0}})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(table_of(24, 1000, {})), kTimedRefused);
}

std::string packed_of(uint8_t type, bool with_earliest, const Texts& elements) {
  listpack::Block block = listpack::make();
  for (const std::string& element : elements) block = listpack::append(block, element);
  std::string body;
  Writer out(body, false);
  out.byte(type);
  if (with_earliest) out.little_endian(uint64_t{7});
  out.string(listpack::view(block));
  listpack::free(block);
  return body;
}

TEST(RdbTimedHash, ExpireTimesOfAListpack) {
  // Whatever order they are stored in, the result is sorted by expire time.
  const Texts elements = {"b", "2", "0", "c", "3", "900", "a", "1", "500"};
  for (const bool bare : {false, true}) {
    const auto value = read(packed_of(bare ? 23 : 25, !bare, elements));
    ASSERT_TRUE(value);
    EXPECT_EQ(texts_of(*value), (Texts{"a=1@500", "b=2", "c=3@900"}));
    EXPECT_EQ(next_field_expiry(value->collection()), 500);
  }
  EXPECT_EQ(timed_texts_in(packed_of(25, true, {"a", "1", "0"})), (Texts{"a=1"}));
  EXPECT_EQ(timed_texts_in(packed_of(25, true, {"a", "1"})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(packed_of(25, true, {"a", "1", "0", "b"})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(packed_of(25, true, {"a", "1", "-1"})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(packed_of(25, true, {"a", "1", "soon"})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(packed_of(25, true, {"a", "1", "281474976710655"})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(packed_of(25, true, {"a", "1", "5", "a", "2", "6"})), kTimedRefused);
  EXPECT_EQ(timed_texts_in(packed_of(25, true, {})), kTimedRefused);
}

}  // namespace
}  // namespace sorrel::rdb
