// Random operations on records are compared with a model; then phases, compaction and lazy freeing.

#include "types/record.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "types/string.h"

namespace sorrel {
namespace {

std::string text_of(const Record* record) {
  IntegerText scratch;
  return std::string(string_bytes(*record, scratch));
}

// The size of one record among many; the first few are outside of pages, and rounded by the
// allocator.
size_t bytes_of_one(std::string_view value, int64_t expiry) {
  RecordArena arena;
  std::vector<Record*> records;
  for (int i = 0; i < 10'000; i++) {
    records.push_back(arena.make_string(std::string(16, 'k'), value, expiry));
  }
  const size_t bytes = RecordArena::memory_of(records.back());
  for (Record* record : records) arena.free(record);
  EXPECT_EQ(arena.memory_bytes(), 0u);
  return bytes;
}

TEST(RecordTest, SixteenByteKeyWithThirtyTwoByteValueTakesFiftySix) {
  EXPECT_EQ(bytes_of_one(std::string(32, 'v'), kNoExpiry), 56u);
  EXPECT_EQ(bytes_of_one(std::string(32, 'v'), 1), 64u);
  EXPECT_EQ(bytes_of_one("123456789", kNoExpiry), 32u);
}

TEST(RecordTest, EncodingNamesFollowRedis) {
  RecordArena arena;
  const auto name = [&](std::string_view value) {
    Record* record = arena.make_string("k", value, kNoExpiry);
    const std::string encoding(string_encoding_name(*record));
    arena.free(record);
    return encoding;
  };
  EXPECT_EQ(name("12"), "int");
  EXPECT_EQ(name("-9223372036854775808"), "int");
  EXPECT_EQ(name("9223372036854775808"), "embstr");
  EXPECT_EQ(name("012"), "embstr");
  EXPECT_EQ(name(""), "embstr");
  EXPECT_EQ(name(std::string(44, 'x')), "embstr");
  EXPECT_EQ(name(std::string(45, 'x')), "raw");
  Record* grown = arena.resize_string(arena.make_string("k", "12", kNoExpiry), 3).record;
  EXPECT_EQ(string_encoding_name(*grown), "raw");
  arena.free(grown);
}

// Every operation in random order on keys and values of every size, against a model.
TEST(RecordTest, RandomOperationsKeepKeyValueAndExpireTime) {
  struct Expected {
    Record* record;
    std::string key, value;
    int64_t expiry;
  };
  RecordArena arena;
  RecordArena other;
  Random random(5);
  const auto random_text = [&](size_t most) {
    std::string text(random.below(random.below(8) == 0 ? most * 8 + 1 : most + 1), 'x');
    for (char& c : text) c = static_cast<char>('a' + random.below(26));
    if (random.below(4) == 0) text = to_text(static_cast<int64_t>(random.next()));
    return text;
  };
  const auto random_expiry = [&] {
    return random.below(2) == 0 ? kNoExpiry : static_cast<int64_t>(random.below(1u << 30));
  };
  for (int round = 0; round < 2'000; round++) {
    Expected m{nullptr, random_text(300), random_text(300), random_expiry()};
    m.record = arena.make_string(m.key, m.value, m.expiry);
    m.record->set_access(0xabcdef);
    for (int step = 0; step < 12; step++) {
      switch (random.below(6)) {
        case 0:
          m.value = random_text(200);
          m.expiry = random_expiry();
          m.record = arena.assign_string(m.record, m.value, m.expiry);
          break;
        case 1:
          m.expiry = random_expiry();
          m.record = arena.assign_expiry(m.record, m.expiry);
          break;
        case 2: {
          const size_t size = m.value.size() + random.below(400);
          auto grown = arena.resize_string(m.record, size);
          m.record = grown.record;
          m.value.resize(size, '\0');
          if (size > 0) grown.data[size - 1] = m.value[size - 1] = 'Z';
          break;
        }
        case 3:
          m.key = random_text(300);
          m.record = arena.take_over(arena, m.record, m.key);
          break;
        case 4:
          m.record = arena.take_over(other, other.take_over(arena, m.record, m.key), m.key);
          break;
        case 5: {
          Record* copy = arena.clone(m.record, "copy");
          ASSERT_EQ(text_of(copy), m.value);
          ASSERT_EQ(copy->expiry(), m.expiry);
          ASSERT_EQ(string_encoding_name(*copy), string_encoding_name(*m.record));
          arena.free(copy);
          break;
        }
      }
      ASSERT_EQ(m.record->key(), m.key);
      ASSERT_EQ(text_of(m.record), m.value);
      ASSERT_EQ(m.record->expiry(), m.expiry);
      ASSERT_EQ(m.record->access(), 0xabcdefu);
    }
    arena.free(m.record);
    ASSERT_EQ(arena.memory_bytes(), 0u);
    ASSERT_EQ(other.memory_bytes(), 0u);
  }
}

// Big values are freed lazily where a directive says so; the biggest always.
TEST(RecordArenaTest, WrittenRecordsHaveThePhaseOfTheArena) {
  RecordArena arena;
  Record* old = arena.make_string("old", "1", kNoExpiry);
  Record* other = arena.make_string("other", std::string(300, 'x'), 5);
  EXPECT_FALSE(old->phase());
  arena.set_phase(true);
  EXPECT_FALSE(old->phase());
  Record* fresh = arena.make_string("new", "2", kNoExpiry);
  EXPECT_TRUE(fresh->phase());
  old = arena.assign_string(old, "3", kNoExpiry);
  EXPECT_TRUE(old->phase());
  old->set_phase(false);
  old = arena.assign_expiry(old, 7);
  EXPECT_TRUE(old->phase());
  other->set_phase(true);
  EXPECT_EQ(other->expiry(), 5);
  EXPECT_EQ(text_of(other), std::string(300, 'x'));
  arena.set_phase(false);
  other = arena.assign_integer(other, 4, kNoExpiry);
  EXPECT_FALSE(other->phase());
  for (Record* record : {old, other, fresh}) arena.free(record);
}

TEST(RecordArenaTest, CompactMovesRecordsWhole) {
  RecordArena arena;
  std::vector<Record*> records;
  const auto key_of = [](size_t i) { return "key:" + std::to_string(100'000 + i); };
  const auto value_of = [](size_t i) { return std::string(i / 8 % 30, 'v'); };
  for (size_t i = 0; i < 60'000; i++) {
    records.push_back(arena.make_string(key_of(i), value_of(i), kNoExpiry));
    records.back()->set_access(static_cast<uint32_t>(i));
  }
  for (size_t i = 0; i < records.size(); i++) {
    if (i % 8 == 0) continue;
    arena.free(records[i]);
    records[i] = nullptr;
  }
  const size_t before = arena.memory_bytes();
  while (arena.is_sparse() && arena.compact([&](const void* from, Record* to) {
    const size_t i = std::stoul(std::string(to->key().substr(4))) - 100'000;
    ASSERT_EQ(records[i], from);
    records[i] = to;
  })) {
  }
  EXPECT_LT(arena.memory_bytes(), before / 2);
  for (size_t i = 0; i < records.size(); i += 8) {
    ASSERT_EQ(records[i]->key(), key_of(i));
    ASSERT_EQ(text_of(records[i]), value_of(i));
    ASSERT_EQ(records[i]->access(), i);
    arena.free(records[i]);
  }
  EXPECT_EQ(arena.memory_bytes(), 0u);
}

TEST(RecordArenaTest, LargeValuesAreCounted) {
  constexpr size_t kLarge = RecordArena::kLargeValue;
  RecordArena arena;
  RecordArena elsewhere;
  Record* record = arena.make_string("a", std::string(1000, 'x'), kNoExpiry);
  EXPECT_EQ(arena.large_values(), 0u);
  record = arena.resize_string(record, kLarge + 1).record;
  EXPECT_EQ(arena.large_values(), 1u);
  record = elsewhere.take_over(arena, record, "b");
  EXPECT_EQ(arena.large_values(), 0u);
  EXPECT_EQ(elsewhere.large_values(), 1u);
  record = elsewhere.assign_string(record, "short", kNoExpiry);
  EXPECT_EQ(elsewhere.large_values(), 0u);
  record = elsewhere.assign_string(record, std::string(kLarge, 'y'), kNoExpiry);
  Record* copy = elsewhere.clone(record, "c");
  EXPECT_EQ(elsewhere.large_values(), 2u);
  elsewhere.free(record);
  elsewhere.free(copy);
  EXPECT_EQ(elsewhere.large_values(), 0u);
}

TEST(RecordArenaTest, BigValuesAreFreedLazily) {
  RecordArena arena;
  size_t deferred = 0;
  FreeingSet when = bit_of(Freeing::kUnlinked);
  arena.set_free_later(
      [](void* context, const RecordArena::Garbage& garbage) {
        ++*static_cast<size_t*>(context);
        RecordArena::free_garbage(garbage);
      },
      &deferred, &when);
  const std::string two_megabytes(size_t{2} << 20, 'x');
  const std::string five_megabytes(size_t{5} << 20, 'x');
  arena.free(arena.make_string("key", two_megabytes, kNoExpiry), Freeing::kDeleted);
  EXPECT_EQ(deferred, 0u);
  arena.free(arena.make_string("key", two_megabytes, kNoExpiry), Freeing::kUnlinked);
  EXPECT_EQ(deferred, 1u);
  arena.free(arena.make_string("key", five_megabytes, kNoExpiry), Freeing::kDeleted);
  EXPECT_EQ(deferred, 2u);
  EXPECT_EQ(arena.memory_bytes(), 0u);
}

}  // namespace
}  // namespace sorrel
