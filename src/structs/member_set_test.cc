#include "structs/member_set.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/numbers.h"
#include "base/random.h"

namespace sorrel {
namespace {

const KeyHasher kHasher(3, 4);

class MemberSetTest : public ::testing::Test {
 protected:
  static std::string text(const MemberSet::Member& member) {
    IntegerText scratch;
    return std::string(member.text(scratch));
  }
  static std::set<std::string> content(const MemberSet& set) {
    std::set<std::string> all;
    set.for_each([&](const auto& member) { EXPECT_TRUE(all.insert(text(member)).second); });
    return all;
  }
  // Integers of every size, their neighbours in spelling, and texts of every length.
  static std::string something(Random& random) {
    const uint64_t id = random.below(6'000);
    switch (id % 6) {
      case 0:
        return to_text(static_cast<int64_t>(id) - 3'000);
      case 1:
        return to_text(static_cast<int64_t>(mixed(id) >> (id % 64)));
      case 2:
        return "-" + to_text(static_cast<int64_t>(mixed(id) >> (1 + id % 63)));
      case 3:
        return "0" + to_text(static_cast<int64_t>(id));
      case 4:
        return std::string(id % 300, 'x') + to_text(static_cast<int64_t>(id));
      default:
        return "m" + to_text(static_cast<int64_t>(id));
    }
  }
  static uint64_t mixed(uint64_t id) { return (id + 1) * 0x9e3779b97f4a7c15ull; }

  MemberSet set{&kHasher};
};

TEST_F(MemberSetTest, BehavesAsASet) {
  Random random(11);
  std::set<std::string> expected;
  for (int i = 0; i < 60'000; i++) {
    const bool growing = i / 15'000 % 2 == 0;
    const std::string member = something(random);
    if (random.below(4) < (growing ? 3u : 1u)) {
      ASSERT_EQ(set.add(member), expected.insert(member).second) << member;
    } else {
      ASSERT_EQ(set.remove(member), expected.erase(member) == 1) << member;
    }
    ASSERT_EQ(set.contains(member), expected.count(member) == 1) << member;
    ASSERT_EQ(set.size(), expected.size());
  }
  EXPECT_EQ(content(set), expected);
  EXPECT_EQ(content(*set.clone()), expected);
}

TEST_F(MemberSetTest, IntegersAtTheLimitsOfASlot) {
  for (unsigned bits = 0; bits < 63; bits++) {
    for (int64_t off = -2; off <= 2; off++) {
      const int64_t one = (int64_t{1} << bits) + off;
      set.add(to_text(one));
      set.add(to_text(-one));
      ASSERT_TRUE(set.contains(to_text(one))) << one;
      ASSERT_TRUE(set.contains(to_text(-one))) << one;
      ASSERT_FALSE(set.add(to_text(one))) << one;
    }
  }
  for (const std::string& member : content(set)) ASSERT_TRUE(set.remove(member)) << member;
  EXPECT_EQ(set.size(), 0u);
}

TEST_F(MemberSetTest, OtherSpellingsOfANumberAreOtherMembers) {
  for (const char* member : {"7", "07", "+7", "-7", " 7", "7 ", "-0", "0", ""}) {
    EXPECT_TRUE(set.add(member)) << member;
  }
  EXPECT_EQ(set.size(), 9u);
}

TEST_F(MemberSetTest, IntegersNeedNoBlocks) {
  for (int64_t i = 0; i < 100'000; i++) set.add(to_text(i * 1'000'003));
  EXPECT_LT(set.memory_bytes(), 100'000u * 13);
}

TEST_F(MemberSetTest, TextsAreSmall) {
  for (int64_t i = 0; i < 300'000; i++) set.add("m" + to_text(10'000'000'000 + i));
  EXPECT_LT(set.memory_bytes(), 300'000u * 28);
}

TEST_F(MemberSetTest, RemovesAMemberByItsOwnBytes) {
  for (int64_t i = 0; i < 5'000; i++) set.add("m" + to_text(i));
  Random random(1);
  IntegerText scratch;
  while (set.size() > 0) ASSERT_TRUE(set.remove(set.random(random).text(scratch)));
}

TEST_F(MemberSetTest, ScanAndRandomGiveEveryMember) {
  std::set<std::string> expected;
  for (int64_t i = 0; i < 500; i++) {
    expected.insert(to_text(i));
    expected.insert("m" + to_text(i));
  }
  for (const std::string& member : expected) set.add(member);
  std::set<std::string> scanned;
  uint64_t cursor = 0;
  do {
    cursor = set.scan(cursor, [&](const auto& member) { scanned.insert(text(member)); });
  } while (cursor != 0);
  EXPECT_EQ(scanned, expected);
  Random random(2);
  std::set<std::string> drawn;
  for (int i = 0; i < 30'000; i++) drawn.insert(text(set.random(random)));
  EXPECT_EQ(drawn, expected);
}

}  // namespace
}  // namespace sorrel
