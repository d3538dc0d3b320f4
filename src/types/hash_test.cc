// Random edits in every encoding are compared with a map, with and without expire times.

#include "types/hash.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/numbers.h"
#include "base/random.h"

namespace sorrel {
namespace {

using Model = std::map<std::string, std::string>;

const KeyHasher kHasher(1, 2);

std::string text_of(const HashText& text) {
  IntegerText scratch;
  return std::string(text.text(scratch));
}

Model content(const Hash& hash) {
  Model all;
  hash.for_each([&](const HashItem& item) {
    EXPECT_TRUE(all.emplace(text_of(item.field), text_of(item.value)).second);
  });
  return all;
}

class HashTest : public ::testing::TestWithParam<HashLimits> {
 protected:
  ~HashTest() override { hash_ops().free(home); }
  std::string some_text(uint64_t below) {
    const auto id = static_cast<int64_t>(random.below(below));
    if (id % 3 == 0) return to_text(id * id);
    return "t" + to_text(id) + std::string(static_cast<size_t>(id) % 50, 'x');
  }
  Random random{9};
  Collection home = hash_ops().make();
  HashLimits limits = GetParam();
  HashEdit hash{home, limits};
};

constexpr HashLimits kUsual{512, 64, &kHasher};

INSTANTIATE_TEST_SUITE_P(Limits, HashTest,
                         ::testing::Values(HashLimits{100'000, 1'000, &kHasher}, kUsual,
                                           HashLimits{0, 64, &kHasher}));

TEST_P(HashTest, BehavesAsAMap) {
  Model expected;
  for (int i = 0; i < 8'000; i++) {
    const std::string field = some_text(700);
    if (random.below(3) < 2) {
      const std::string value = some_text(10'000);
      ASSERT_EQ(hash.set(field, value), expected.insert_or_assign(field, value).second);
    } else {
      ASSERT_EQ(hash.remove(field), expected.erase(field) == 1);
    }
    ASSERT_EQ(hash.size(), expected.size());
    const auto value = hash.get(field);
    ASSERT_EQ(value.has_value(), expected.contains(field));
    if (value) {
      ASSERT_EQ(text_of(*value), expected[field]);
    }
    if (i % 2'000 == 0) {
      ASSERT_EQ(content(hash), expected);
    }
  }
  const Collection copy = hash_ops().clone(home);
  EXPECT_EQ(content(Hash(copy)), expected);
  EXPECT_GE(hash_ops().memory(copy), expected.size() * 4);
  hash_ops().free(copy);

  Model met;
  uint64_t cursor = 0;
  do {
    cursor = hash.scan(cursor, [&](const HashItem& item) {
      met.emplace(text_of(item.field), text_of(item.value));
    });
  } while (cursor != 0);
  EXPECT_EQ(met, expected);
}

TEST_P(HashTest, SamplesDifferentFieldsFairly) {
  for (int i = 0; i < 40; i++) hash.set("f" + to_text(i), "v" + to_text(i));
  for (const size_t count : {size_t{3}, size_t{20}, size_t{40}}) {
    Model once;
    std::map<std::string, size_t> drawn;
    for (int round = 0; round < 2'000; round++) {
      once.clear();
      hash.sample(count, random, [&](const HashItem& item) {
        const std::string field = text_of(item.field);
        ASSERT_EQ(text_of(item.value), "v" + field.substr(1));
        ASSERT_TRUE(once.emplace(field, "").second);
        drawn[field]++;
      });
      ASSERT_EQ(once.size(), count);
    }
    ASSERT_EQ(drawn.size(), 40u);
    for (const auto& [field, times] : drawn) {
      EXPECT_GT(times, count * 50 * 6 / 10) << field;
      EXPECT_LT(times, count * 50 * 15 / 10) << field;
    }
  }
  EXPECT_TRUE(hash.contains(text_of(hash.random(random).field)));
}

TEST(HashEncoding, FollowsTheLimits) {
  Collection home = hash_ops().make();
  HashEdit hash(home, kUsual);
  for (int i = 0; i < 512; i++) hash.set(to_text(i), "v");
  EXPECT_FALSE(hash.set("0", std::string(64, 'v')));
  EXPECT_EQ(hash.encoding(), Encoding::kListpack);
  EXPECT_TRUE(hash.set("512", "v"));
  EXPECT_EQ(hash.encoding(), Encoding::kHashtable);
  EXPECT_EQ(home.encoding, Encoding::kHashtable);
  EXPECT_EQ(hash.size(), 513u);
  EXPECT_EQ(text_of(*hash.get("0")), std::string(64, 'v'));
  hash_ops().free(home);
}

TEST(HashEncoding, LongTextsMakeATable) {
  const std::string long_text(65, 'x');
  for (const bool as_field : {true, false}) {
    Collection home = hash_ops().make();
    HashEdit hash(home, kUsual);
    hash.set("a", "1");
    hash.set(as_field ? long_text : "b", as_field ? "2" : long_text);
    EXPECT_EQ(hash.encoding(), Encoding::kHashtable);
    EXPECT_EQ(text_of(*hash.get("a")), "1");
    EXPECT_EQ(hash.size(), 2u);
    hash_ops().free(home);
  }
}

TEST(HashEncoding, IsChosenByTheExpectedSize) {
  const auto encoding_for = [](const std::vector<std::string_view>& pairs) {
    Collection home = hash_ops().make();
    HashEdit hash(home, kUsual);
    hash.expect(pairs);
    const Encoding encoding = hash.encoding();
    hash_ops().free(home);
    return encoding;
  };
  const std::string long_text(65, 'x');
  EXPECT_EQ(encoding_for({"a", "b"}), Encoding::kListpack);
  EXPECT_EQ(encoding_for({"a", long_text}), Encoding::kHashtable);
  EXPECT_EQ(encoding_for(std::vector<std::string_view>(1'024, "f")), Encoding::kListpack);
  EXPECT_EQ(encoding_for(std::vector<std::string_view>(1'026, "f")), Encoding::kHashtable);
}

// Fields with expire times against a model, in every encoding, as time passes.
TEST_P(HashTest, FieldsExpire) {
  struct Field {
    std::string value;
    int64_t expiry;
    bool operator==(const Field&) const = default;
  };
  std::map<std::string, Field> expected;
  int64_t now = 1'000'000;
  for (int i = 0; i < 8'000; i++) {
    HashEdit edit(home, limits);
    const std::string field = some_text(700);
    const bool there = expected.contains(field);
    const auto later = now + 1 + static_cast<int64_t>(random.below(2'000));
    switch (random.below(5)) {
      case 0:
      case 1: {
        const bool stays = random.below(2) == 0;
        const std::string value = some_text(10'000);
        ASSERT_EQ(
            edit.set(field, value, stays ? HashEdit::Deadline::kStays : HashEdit::Deadline::kGoes),
            !there);
        expected[field] = {value, there && stays ? expected[field].expiry : kNoExpiry};
        break;
      }
      case 2:
      case 3:
        if (!there) break;
        expected[field].expiry = random.below(4) == 0 ? kNoExpiry : later;
        edit.set_expiry(field, expected[field].expiry);
        break;
      default:
        ASSERT_EQ(edit.remove(field), expected.erase(field) == 1);
    }
    if (i % 100 != 0) continue;
    now += 100;
    ASSERT_EQ(Hash(home).size(), expected.size());
    std::map<std::string, Field> due;
    for (const auto& [name, item] : expected) {
      if (item.expiry != kNoExpiry && item.expiry <= now) due[name] = item;
    }
    const Hash before(home, now);
    ASSERT_EQ(before.live_size(), expected.size() - due.size());
    if (!due.empty()) {
      ASSERT_TRUE(before.has_due());
      ASSERT_FALSE(before.get(due.begin()->first));
      ASSERT_FALSE(before.find(due.begin()->first));
    }
    HashEdit late(home, limits, now);
    size_t removed = 0;
    while (const size_t step = late.remove_due(7, [&](std::string_view name) {
      EXPECT_TRUE(due.contains(std::string(name)));
      expected.erase(std::string(name));
    })) {
      removed += step;
    }
    ASSERT_EQ(removed, due.size());
    std::map<std::string, Field> all;
    Hash(home, now).for_each([&](const HashItem& item) {
      all[text_of(item.field)] = {text_of(item.value), item.expiry};
    });
    ASSERT_EQ(all, expected);
    ASSERT_FALSE(Hash(home, now).has_due());
  }
}

TEST(TimedHash, ListpackHasTheEarliestFirst) {
  Collection home = hash_ops().make();
  HashEdit hash(home, kUsual);
  for (const char* field : {"a", "b", "c", "d"}) hash.set(field, "1");
  EXPECT_EQ(next_field_expiry(home), kNoExpiry);
  hash.set_expiry("c", 300);
  EXPECT_EQ(home.encoding, Encoding::kListpackEx);
  hash.set_expiry("a", 500);
  hash.set_expiry("d", 100);
  EXPECT_EQ(next_field_expiry(home), 100);
  const auto order = [&] {
    std::string text;
    Hash(home).for_each([&](const HashItem& item) {
      text += text_of(item.field) + "@" + to_text(item.expiry) + " ";
    });
    return text;
  };
  EXPECT_EQ(order(), "d@100 c@300 a@500 b@-1 ");
  hash.set("d", "2", HashEdit::Deadline::kStays);
  EXPECT_EQ(order(), "d@100 c@300 a@500 b@-1 ");
  hash.set("d", "3");
  EXPECT_EQ(order(), "c@300 a@500 b@-1 d@-1 ");
  const Collection copy = hash_ops().clone(home);
  EXPECT_EQ(next_field_expiry(copy), 300);
  hash_ops().free(copy);
  // Through the table and back.
  hash.set("long", std::string(65, 'x'));
  EXPECT_EQ(home.encoding, Encoding::kHashtable);
  EXPECT_EQ(Hash(home).find("c")->expiry, 300);
  EXPECT_EQ(next_field_expiry(home), 300);
  hash_ops().free(home);
}

}  // namespace
}  // namespace sorrel
