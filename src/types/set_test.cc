// The limits of the encodings, then random edits in each encoding against a std::set.

#include "types/set.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/numbers.h"
#include "base/random.h"

namespace sorrel {
namespace {

using Model = std::set<std::string>;

const KeyHasher kHasher(1, 2);
constexpr SetLimits kLimits{512, 128, 64, &kHasher};

Model content(const Set& set) {
  Model all;
  set.for_each([&](const SetMember& member) {
    IntegerText scratch;
    EXPECT_TRUE(all.emplace(member.text(scratch)).second);
  });
  return all;
}

TEST(SetEncoding, FollowsTheLimits) {
  NewSet set(kLimits);
  for (int i = 0; i < 512; i++) EXPECT_TRUE(set.edit().add(to_text(i)));
  EXPECT_EQ(set.edit().encoding(), Encoding::kIntset);
  EXPECT_FALSE(set.edit().add("511"));
  EXPECT_EQ(set.edit().encoding(), Encoding::kIntset);
  EXPECT_TRUE(set.edit().add("512"));
  EXPECT_EQ(set.edit().encoding(), Encoding::kHashtable);
  EXPECT_EQ(set.edit().size(), 513u);
}

TEST(SetEncoding, ATextAmongFewIntegersMakesAListpack) {
  NewSet set(kLimits);
  for (int i = 0; i < 127; i++) set.edit().add(to_text(i));
  EXPECT_TRUE(set.edit().add("text"));
  EXPECT_EQ(set.edit().encoding(), Encoding::kListpack);
  EXPECT_TRUE(set.edit().contains("126"));
  EXPECT_FALSE(set.edit().add("126"));
  EXPECT_TRUE(set.edit().add("more"));
  EXPECT_EQ(set.edit().encoding(), Encoding::kHashtable);
  EXPECT_EQ(set.edit().size(), 129u);
}

TEST(SetEncoding, ATextAmongManyIntegersMakesATable) {
  NewSet set(kLimits);
  for (int i = 0; i < 128; i++) set.edit().add(to_text(i));
  EXPECT_TRUE(set.edit().add("text"));
  EXPECT_EQ(set.edit().encoding(), Encoding::kHashtable);
}

TEST(SetEncoding, IsChosenByTheExpectedSize) {
  const auto encoding_for = [](std::string_view first, size_t count) {
    NewSet set(kLimits);
    set.edit().expect(first, count);
    return set.edit().encoding();
  };
  EXPECT_EQ(encoding_for("1", 512), Encoding::kIntset);
  EXPECT_EQ(encoding_for("1", 513), Encoding::kHashtable);
  EXPECT_EQ(encoding_for("a", 128), Encoding::kListpack);
  EXPECT_EQ(encoding_for("a", 129), Encoding::kHashtable);
}

// In each encoding, with members of both kinds.
struct Shape {
  const char* name;
  SetLimits limits;
  bool texts;
};
class SetModel : public ::testing::TestWithParam<Shape> {
 protected:
  std::string some_member(uint64_t below) {
    const auto id = static_cast<int64_t>(random.below(below)) - 20;
    return GetParam().texts && id % 2 == 0 ? "m" + to_text(id) : to_text(id * id * id);
  }
  Random random{3};
  NewSet made{GetParam().limits};
  SetEdit& set = made.edit();
};

TEST_P(SetModel, BehavesAsASet) {
  Model expected;
  for (int i = 0; i < 20'000; i++) {
    const std::string member = some_member(300);
    switch (random.below(4)) {
      case 0:
      case 1:
        ASSERT_EQ(set.add(member), expected.insert(member).second);
        break;
      case 2:
        ASSERT_EQ(set.remove(member), expected.erase(member) == 1);
        break;
      default:
        ASSERT_EQ(set.contains(member), expected.contains(member));
    }
    ASSERT_EQ(set.size(), expected.size());
    if (i % 1'000 == 0) {
      ASSERT_EQ(content(set), expected);
    }
  }
  const Collection original = made.release();
  const Collection copy = set_ops().clone(original);
  set_ops().free(original);
  EXPECT_EQ(content(Set(copy)), expected);
  EXPECT_GT(set_ops().memory(copy), 0u);
  set_ops().free(copy);
}

TEST_P(SetModel, SamplesAndPopsDifferentMembersFairly) {
  std::map<std::string, int> sampled;
  for (int i = 0; i < 60; i++) set.add(some_member(1'000));
  const Model all = content(set);
  const size_t half = all.size() / 2;
  for (const size_t count : {size_t{1}, size_t{5}, half, all.size()}) {
    sampled.clear();
    for (int round = 0; round < 2'000; round++) {
      Model once;
      set.sample(count, random, [&](const SetMember& member) {
        IntegerText scratch;
        const std::string text(member.text(scratch));
        sampled[text]++;
        ASSERT_TRUE(once.insert(text).second);
      });
      ASSERT_EQ(once.size(), count);
    }
    const double expected = 2'000.0 * static_cast<double>(count) / static_cast<double>(all.size());
    for (const std::string& member : all) {
      EXPECT_GT(sampled[member], expected * 0.25) << member;
      EXPECT_LT(sampled[member], expected * 2.5) << member;
    }
  }
  Model left = all;
  for (const std::string& member : set.pop(half, random)) EXPECT_EQ(left.erase(member), 1u);
  EXPECT_EQ(content(set), left);
  for (const std::string& member : set.pop(1, random)) EXPECT_EQ(left.erase(member), 1u);
  EXPECT_EQ(content(set), left);
}

TEST_P(SetModel, ScanVisitsAllAndWalkingCanStop) {
  for (int i = 0; i < 100; i++) set.add(some_member(10'000));
  Model met;
  uint64_t cursor = 0;
  do {
    cursor = set.scan(cursor, [&](const SetMember& member) {
      IntegerText scratch;
      met.emplace(member.text(scratch));
    });
  } while (cursor != 0);
  EXPECT_EQ(met, content(set));
  size_t seen = 0;
  set.for_each_while([&](const SetMember&) { return ++seen < 7; });
  EXPECT_EQ(seen, 7u);
}

INSTANTIATE_TEST_SUITE_P(Encodings, SetModel,
                         ::testing::Values(Shape{"Intset", {10'000, 10'000, 64, &kHasher}, false},
                                           Shape{"Listpack", {10'000, 10'000, 64, &kHasher}, true},
                                           Shape{"Table", {0, 0, 64, &kHasher}, true},
                                           Shape{"Growing", {512, 128, 64, &kHasher}, true}),
                         [](const auto& shape) { return shape.param.name; });

}  // namespace
}  // namespace sorrel
