// Round trips of every type in every encoding and version, for Redis and Valkey.

#include "rdb/value.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rdb/file_format.h"
#include "rdb/payload.h"
#include "rdb/value_fixture.h"

namespace sorrel::rdb {
namespace {

using namespace testing;

// Written and read in every way, the value is unchanged, and every truncation of its bytes is
// rejected.
void expect_round_trip(const Value& value) {
  for (const int version : {10, 11, 12}) {
    for (const bool compress : {false, true}) {
      const std::string body = written(value, {version, compress});
      const auto back = read(body);
      ASSERT_TRUE(back) << "version " << version;
      EXPECT_EQ(back->type(), value.type());
      Texts expected = texts_of(value);
      if (value.type() == Type::kStream && version < 11) {
        // The active time is not written; the seen time replaces it.
        for (std::string& line : expected) {
          const size_t at = line.find(" active -1");
          if (at != std::string::npos) line.replace(at, 10, " active 7");
        }
      }
      EXPECT_EQ(texts_of(*back), expected);
      if (value.type() != Type::kString) {
        EXPECT_EQ(back->collection().encoding, value.collection().encoding);
        EXPECT_EQ(collection_ops(value.type()).size(back->collection()),
                  collection_ops(value.type()).size(value.collection()));
      }
      const size_t step = std::max<size_t>(1, body.size() / 60);
      for (size_t size = 0; size < body.size(); size += step) {
        EXPECT_FALSE(read(std::string_view(body).substr(0, size))) << size;
      }
      EXPECT_FALSE(read(body + "x"));
    }
  }
}

Texts numbered(const std::string& word, size_t count) {
  Texts texts;
  for (size_t i = 0; i < count; i++) texts.push_back(word + std::to_string(i));
  return texts;
}

constexpr size_t kSizes[] = {0, 1, 11, 12, 20, 21, 63, 64, 127, 128, 255, 4095, 4096, 16384, 70000};

TEST(RdbValue, Strings) {
  for (const size_t size : kSizes) {
    expect_round_trip(Value(std::string(size, 'x')));
    expect_round_trip(Value(std::string(size, '1')));
  }
  for (const char* text : {"-9223372036854775808", "9223372036854775807", "2147483648", "-129"}) {
    expect_round_trip(Value(std::string(text)));
  }
}

TEST(RdbValue, Lists) {
  for (const size_t count : {1, 2, 100, 3000}) {
    expect_round_trip(list_of(numbered("element ", count)));
    expect_round_trip(list_of(numbered("", count)));
  }
  Texts texts;
  for (const size_t size : kSizes) texts.emplace_back(size, 'y');
  expect_round_trip(list_of(texts));
  EXPECT_EQ(list_of(texts).collection().encoding, Encoding::kQuicklist);
}

TEST(RdbValue, ListsWithHugeElements) {
  ListLimits small(-2);
  small.chunk.huge = 1000;
  Texts texts = numbered("e", 100);
  texts[50] = std::string(5000, 'h');
  texts[0] = std::string(1000, 'h');
  const Value list = list_of(texts, small);
  const auto back = read(written(list, {}));
  ASSERT_TRUE(back);
  EXPECT_EQ(texts_of(*back), texts);
}

TEST(RdbValue, Sets) {
  for (const size_t count : {1, 2, 128, 129, 512, 513}) {
    expect_round_trip(set_of(numbered("", count)));
    expect_round_trip(set_of(numbered("-7", count)));
    expect_round_trip(set_of(numbered("member ", count)));
  }
  expect_round_trip(set_of({"1", "40000", "-5000000000"}));
  expect_round_trip(set_of({"", "1", std::string(64, 'm')}));
  expect_round_trip(set_of({"", "1", std::string(65, 'm')}));
}

TEST(RdbValue, Hashes) {
  for (const size_t count : {2, 4, 256, 258, 2000}) expect_round_trip(hash_of(numbered("", count)));
  expect_round_trip(hash_of({"", ""}));
  expect_round_trip(hash_of({"f", std::string(64, 'v')}));
  expect_round_trip(hash_of({"f", std::string(65, 'v')}));
}

TEST(RdbValue, SortedSets) {
  const auto thirds = [](size_t i) { return static_cast<double>(i) / 3; };
  for (const size_t count : {1, 2, 128, 129, 2000}) {
    expect_round_trip(zset_of(numbered("", count), thirds));
    expect_round_trip(zset_of(numbered("m", count), [](size_t) { return 1; }));
  }
  constexpr double kScores[] = {0, -1.5, HUGE_VAL, -HUGE_VAL, 5e-324, 1.7976931348623157e308, 1e15};
  expect_round_trip(zset_of(numbered("m", 7), [&](size_t i) { return kScores[i]; }));
  expect_round_trip(zset_of({std::string(65, 'm')}, thirds));
}

// Entries with the same names and with others, deleted ones, groups with and without consumers.
Value sample_stream() {
  Value value(Type::kStream);
  Stream& stream = stream_of(value.collection());
  for (uint64_t i = 1; i <= 40; i++) {
    const std::string number = std::to_string(i);
    const std::string_view same[] = {"name", number};
    const std::string_view other[] = {number, "x", "more", number};
    stream.append({i, i % 3}, i % 4 == 0 ? stream_node::Pairs(other) : stream_node::Pairs(same),
                  {4096, 15});
  }
  stream.erase({3, 0});
  stream.erase({40, 1});
  stream.add_group("lonely", {5, 0}, StreamGroup::kUnknown);
  StreamGroup& group = *stream.add_group("busy", {30, 0}, 30);
  StreamConsumer& alice = stream.add_consumer(group, "alice", 7);
  StreamConsumer& bob = stream.add_consumer(group, "", 9);
  bob.active_ms = 9;
  for (uint64_t i = 1; i <= 20; i++) {
    stream.assign(group, {i, i % 3}, i % 2 == 0 ? alice : bob, 100 + static_cast<int64_t>(i))
        .deliveries = static_cast<int64_t>(i);
  }
  return value;
}

TEST(RdbValue, Streams) {
  expect_round_trip(sample_stream());
  expect_round_trip(Value(Type::kStream));
  Value emptied = sample_stream();
  stream_of(emptied.collection()).trim({.kind = StreamTrim::Kind::kMaxLength});
  expect_round_trip(emptied);
}

TEST(RdbValue, OldVersionsGetTypesTheyKnow) {
  const auto type_of = [](const Value& value, int version) {
    return static_cast<int>(written(value, {version, false})[0]);
  };
  EXPECT_EQ(type_of(set_of({"a"}), 10), 2);
  EXPECT_EQ(type_of(set_of({"a"}), 11), 20);
  EXPECT_EQ(type_of(set_of({"1"}), 10), 11);
  EXPECT_EQ(type_of(sample_stream(), 10), 19);
  EXPECT_EQ(type_of(sample_stream(), 11), 21);
  EXPECT_EQ(type_of(list_of({"a"}), 10), 18);
  EXPECT_EQ(type_of(hash_of({"a", "b"}), 10), 16);
  EXPECT_EQ(type_of(zset_of({"a"}, [](size_t) { return 1; }), 10), 17);
}

TEST(RdbValue, ValuesAboveTheLimitsGetTheLargerEncoding) {
  ValueLimits tight = limits();
  tight.list = ListLimits(4);
  tight.set = {4, 4, 64, &kHasher};
  tight.hash = {4, 64, &kHasher};
  tight.zset = {4, 64, &kHasher};
  for (const size_t count : {4, 5}) {
    const bool fits = count == 4;
    const auto encoding = [&](const Value& value) {
      return read(written(value, {12, true}), tight)->collection().encoding;
    };
    EXPECT_EQ(encoding(list_of(numbered("e", count))),
              fits ? Encoding::kListpack : Encoding::kQuicklist);
    EXPECT_EQ(encoding(set_of(numbered("", count))),
              fits ? Encoding::kIntset : Encoding::kHashtable);
    EXPECT_EQ(encoding(set_of(numbered("m", count))),
              fits ? Encoding::kListpack : Encoding::kHashtable);
    EXPECT_EQ(encoding(hash_of(numbered("f", 2 * count))),
              fits ? Encoding::kListpack : Encoding::kHashtable);
    EXPECT_EQ(encoding(zset_of(numbered("m", count), [](size_t i) { return i; })),
              fits ? Encoding::kListpack : Encoding::kSkiplist);
  }
}

// Valkey's object type shares its number with one of Redis's, so the version must distinguish them.
TEST(RdbPayload, ValkeysPayloadsAreRead) {
  std::string timed(1, '\x16');
  Writer to(timed, false);
  to.length(2);
  for (const std::string_view text : {"soon", "1"}) to.string(text);
  to.little_endian(int64_t{2'000'000'000'000});
  for (const std::string_view text : {"never", "2"}) to.string(text);
  to.little_endian(int64_t{-1});
  const std::string body = timed;
  seal_payload(timed, kValkeyVersion);
  ASSERT_EQ(opened_payload(timed, Checksum::kVerify), body);
  EXPECT_EQ(dialect_of(timed), Dialect::kValkey);
  const auto value = value_of_payload(body, limits(), Dialect::kValkey);
  ASSERT_TRUE(value);
  EXPECT_EQ(texts_of(*value), (Texts{"never=2", "soon=1@2000000000000"}));
  EXPECT_FALSE(value_of_payload(body, limits()));
  // Types common to both are equal; Redis's own are not accepted.
  const std::string shared = written(list_of({"a", "b"}), {.version = 11});
  EXPECT_TRUE(value_of_payload(shared, limits(), Dialect::kValkey));
  std::string redis(body);
  redis[0] = '\x18';
  EXPECT_FALSE(value_of_payload(redis, limits(), Dialect::kValkey));
}

TEST(RdbPayload, VersionAndChecksumAreVerified) {
  std::string payload;
  write_string("hello", {}, payload);
  const std::string body = payload;
  seal_payload(payload, 10);
  EXPECT_EQ(opened_payload(payload, Checksum::kVerify), body);
  for (size_t i = 0; i < payload.size(); i++) {
    std::string damaged = payload;
    damaged[i] ^= 1;
    EXPECT_FALSE(opened_payload(damaged, Checksum::kVerify)) << i;
  }
  std::string newer = body;
  seal_payload(newer, kNewestVersion);
  EXPECT_TRUE(opened_payload(newer, Checksum::kVerify));
  newer = body;
  seal_payload(newer, kNewestVersion + 1);
  EXPECT_FALSE(opened_payload(newer, Checksum::kVerify));
  EXPECT_FALSE(opened_payload(newer, Checksum::kIgnore));
  payload.back() ^= 1;
  EXPECT_TRUE(opened_payload(payload, Checksum::kIgnore));
  EXPECT_FALSE(opened_payload("", Checksum::kIgnore));
  for (const int between : {13, 79, 81, 65535}) {
    std::string foreign = body;
    seal_payload(foreign, between);
    EXPECT_FALSE(opened_payload(foreign, Checksum::kVerify)) << between;
  }
  EXPECT_FALSE(read(""));
}

TEST(PayloadTest, DamageTextNamesTheEncoding) {
  const auto damage = [](std::string_view payload) {
    const auto value = value_of_payload(payload, limits());
    return value ? "none" : value.error().text;
  };
  const std::string failed = " integrity check failed";
  // Nothing after the type.
  EXPECT_EQ(damage("\x09"), "Zipmap" + failed);
  EXPECT_EQ(damage("\x0a"), "Ziplist" + failed);
  EXPECT_EQ(damage("\x0c"), "Zset ziplist" + failed);
  EXPECT_EQ(damage("\x0f"), "Stream listpack" + failed);
  EXPECT_EQ(damage("\x15"), "Stream listpack" + failed);
  EXPECT_EQ(damage(std::string_view("\0", 1)), "Value" + failed);
  EXPECT_EQ(damage(""), "Value" + failed);
  EXPECT_EQ(damage("\xff"), "Value" + failed + ": there is no such type");
  EXPECT_EQ(damage(std::string_view("\0\x01xy", 4)),
            "Value" + failed + ": there is more behind it");
}

}  // namespace
}  // namespace sorrel::rdb
