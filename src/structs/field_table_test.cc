// Random edits are compared with a map, with and without expire times.

#include "structs/field_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/numbers.h"
#include "base/random.h"

namespace sorrel {
namespace {

using Model = std::map<std::string, std::string>;

const KeyHasher kHasher(3, 4);

// Lengths on both sides of every step of the header, and some long ones.
std::string some_bytes(Random& random, size_t distinct) {
  static constexpr size_t kLengths[] = {0, 1, 5, 12, 13, 62, 63, 64, 65, 127, 128, 300, 8191, 8200};
  const uint64_t id = random.below(distinct);
  std::string text = to_text(static_cast<int64_t>(id));
  text.resize(std::max(text.size(), kLengths[id % std::size(kLengths)]), static_cast<char>(id));
  return id == 0 ? std::string() : text;
}

Model content(const FieldTable& table) {
  Model all;
  table.for_each([&](const FieldTable::Item& item) {
    EXPECT_TRUE(all.emplace(std::string(item.field), std::string(item.value)).second);
  });
  return all;
}

class FieldTableTest : public ::testing::Test {
 protected:
  FieldTable table{&kHasher};
};

TEST_F(FieldTableTest, BehavesAsAMap) {
  Random random(11);
  Model expected;
  for (int i = 0; i < 60'000; i++) {
    // Grows beyond the size at which a slab is used, then shrinks, and again.
    const bool growing = i / 15'000 % 2 == 0;
    const std::string member = some_bytes(random, 6'000);
    if (random.below(4) < (growing ? 3u : 1u)) {
      const std::string text = some_bytes(random, 100'000);
      if (random.below(2) == 0) {
        ASSERT_EQ(table.add(member, text), expected.emplace(member, text).second);
      } else {
        ASSERT_EQ(table.set(member, text), expected.insert_or_assign(member, text).second);
      }
    } else {
      ASSERT_EQ(table.remove(member), expected.erase(member) == 1);
    }
    ASSERT_EQ(table.size(), expected.size());
    const auto found = table.find(member);
    ASSERT_EQ(found.has_value(), expected.contains(member));
    if (found) {
      ASSERT_EQ(found->field, member);
      ASSERT_EQ(found->value, expected[member]);
    }
    if (i % 5'000 == 0) {
      ASSERT_EQ(content(table), expected);
    }
  }
  EXPECT_EQ(content(*table.clone()), expected);
  while (!expected.empty()) {
    ASSERT_TRUE(table.remove(expected.begin()->first));
    expected.erase(expected.begin());
  }
  EXPECT_EQ(table.size(), 0u);
}

TEST_F(FieldTableTest, ScanVisitsEveryFieldThatStays) {
  for (int i = 0; i < 500; i++) table.add("stays" + to_text(i), "v");
  std::set<std::string> met;
  uint64_t cursor = 0;
  int round = 0;
  do {
    cursor = table.scan(cursor, [&](const auto& item) { met.emplace(item.field); });
    for (int i = 0; i < 50; i++) table.add("goes" + to_text(round * 50 + i), "v");
    if (round % 3 == 2) {
      for (int i = 0; i < 150; i++) table.remove("goes" + to_text((round - 2) * 50 + i));
    }
    ASSERT_LT(++round, 10'000);
  } while (cursor != 0);
  for (int i = 0; i < 500; i++) EXPECT_TRUE(met.contains("stays" + to_text(i))) << i;
}

TEST_F(FieldTableTest, RemovesAFieldByItsOwnBytes) {
  for (int i = 0; i < 5'000; i++) table.add(to_text(i), "v");
  Random random(1);
  while (table.size() > 0) ASSERT_TRUE(table.remove(table.random(random).field));
}

TEST_F(FieldTableTest, RandomFieldsAreFair) {
  for (int i = 0; i < 100; i++) table.add(to_text(i), "v");
  Random random(5);
  std::map<std::string, int> seen;
  for (int i = 0; i < 100'000; i++) seen[std::string(table.random(random).field)]++;
  ASSERT_EQ(seen.size(), 100u);
  for (const auto& [member, times] : seen) {
    EXPECT_GT(times, 800) << member;
    EXPECT_LT(times, 1'200) << member;
  }
}

TEST_F(FieldTableTest, IsSmall) {
  for (int i = 0; i < 300'000; i++) {
    const std::string field = "m" + to_text(10'000'000'000 + i);
    ASSERT_EQ(field.size(), 12u);
    table.add(field, "sixteen bytes 16");
  }
  EXPECT_LT(table.memory_bytes(), 300'000u * 45);
}

// The same model with expire times, some of which pass now and then.
class TimedFields : public ::testing::Test {
 protected:
  struct Field {
    std::string value;
    int64_t expiry;
    bool operator==(const Field&) const = default;
  };
  using Fields = std::map<std::string, Field>;

  static Fields all_of(const FieldTable& from) {
    Fields all;
    from.for_each([&](const FieldTable::Item& item) {
      all[std::string(item.field)] = {std::string(item.value), item.expiry};
    });
    return all;
  }

  void change_one(size_t distinct) {
    const std::string member = some_bytes(random, distinct);
    const std::string value = some_bytes(random, 100'000);
    const int64_t later = now + 1 + static_cast<int64_t>(random.below(5'000));
    const int64_t expiry = random.below(3) == 0 ? FieldTable::kForever : later;
    const bool present = expected.contains(member);
    switch (random.below(4)) {
      case 0:
        ASSERT_EQ(table.set(member, value, expiry), !present);
        expected[member] = {value, expiry};
        break;
      case 1:
        ASSERT_EQ(table.set(member, value, FieldTable::kAsBefore), !present);
        expected[member] = {value, present ? expected[member].expiry : FieldTable::kForever};
        break;
      case 2:
        ASSERT_EQ(table.set_expiry(member, expiry), present);
        if (present) expected[member].expiry = expiry;
        break;
      default:
        ASSERT_EQ(table.remove(member), expected.erase(member) == 1);
    }
    const auto found = table.find(member);
    ASSERT_EQ(found.has_value(), expected.contains(member));
    if (found) {
      ASSERT_EQ((Field{std::string(found->value), found->expiry}), expected[member]);
    }
  }

  // In steps, as a time limit would allow.
  size_t remove_due() {
    size_t removed = 0;
    for (size_t step = 1; step > 0; removed += step) {
      size_t shown = 0;
      step = table.remove_due(now, 100, [&](const auto& item) {
        EXPECT_LE(item.expiry, now);
        shown++;
      });
      EXPECT_EQ(shown, step);
    }
    return removed;
  }

  void let_time_pass() {
    now += 1'000;
    size_t timed = 0;
    int64_t earliest = FieldTable::kLatest;
    const size_t due = std::erase_if(expected, [&](const auto& field) {
      const int64_t expiry = field.second.expiry;
      if (expiry == FieldTable::kForever) return false;
      if (expiry <= now) return true;
      timed++;
      earliest = std::min(earliest, expiry);
      return false;
    });
    ASSERT_EQ(remove_due(), due);
    ASSERT_EQ(table.expiring(), timed);
    ASSERT_EQ(table.next_due() == FieldTable::kForever, timed == 0);
    if (timed > 0) {
      ASSERT_GT(table.next_due(), now);
      ASSERT_LE(table.next_due(), earliest);
    }
    ASSERT_EQ(all_of(table), expected);
    ASSERT_EQ(all_of(*table.clone()), expected);
    ASSERT_EQ(table.clone()->expiring(), timed);
  }

  Random random{12};
  FieldTable table{&kHasher};
  Fields expected;
  int64_t now = FieldTable::kLatest - 100'000;
};

TEST_F(TimedFields, ExpireTimesBelongToTheirFields) {
  for (int i = 0; i < 20'000; i++) {
    ASSERT_NO_FATAL_FAILURE(change_one(i < 10'000 ? 6'000 : 300));
    if (i % 1'000 == 0) {
      ASSERT_NO_FATAL_FAILURE(let_time_pass());
    }
  }
}

}  // namespace
}  // namespace sorrel
