// Random edits of a ScoreMap, which holds the tree, are compared with a std::set; the tree checks
// its own invariants after each phase.

#include "structs/score_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "structs/score_map.h"

namespace sorrel {
namespace {

using Model = std::set<std::pair<double, std::string>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::pair<double, std::string>> content(const ScoreTree& tree) {
  std::vector<std::pair<double, std::string>> all;
  for (auto place = tree.at(0); place; place.next()) {
    all.emplace_back(place.entry()->score(), place.entry()->member());
  }
  return all;
}

// A map and a model: each operation is applied to both.
class ScoreMapTest : public ::testing::Test {
 protected:
  void put(const std::string& member, double score) {
    const auto known = scores.find(member);
    if (known == scores.end()) {
      map.insert(member, score);
    } else {
      model.erase({known->second, member});
      map.set_score(map.find(member), score);
    }
    model.emplace(score, member);
    scores[member] = score;
  }
  void remove(const std::string& member) {
    map.erase(map.find(member));
    model.erase({scores[member], member});
    scores.erase(member);
  }
  void remove_ranks(uint64_t from, uint64_t count) {
    map.erase_ranks(from, count);
    auto first = std::next(model.begin(), static_cast<ptrdiff_t>(from));
    auto last = std::next(first, static_cast<ptrdiff_t>(count));
    for (auto it = first; it != last; ++it) scores.erase(it->second);
    model.erase(first, last);
  }
  void expect_same() {
    ASSERT_TRUE(map.tree().is_sound());
    ASSERT_EQ(map.size(), model.size());
    const std::vector<std::pair<double, std::string>> expected(model.begin(), model.end());
    ASSERT_EQ(content(map.tree()), expected);
    for (uint64_t rank = 0; rank < expected.size(); rank++) {
      const ScoreEntry* entry = map.find(expected[rank].second);
      ASSERT_NE(entry, nullptr);
      ASSERT_EQ(entry->score(), expected[rank].first);
      ASSERT_EQ(map.tree().rank_of(entry), rank);
      ASSERT_EQ(map.tree().at(rank).entry(), entry);
    }
    if (expected.empty()) return;
    auto back = map.tree().at(expected.size() - 1);
    for (uint64_t rank = expected.size(); rank-- > 0;) {
      ASSERT_EQ(back.rank, rank);
      ASSERT_EQ(back.entry()->member(), expected[rank].second);
      if (rank > 0) back.previous();
    }
  }

  KeyHasher hasher{1, 2};
  ScoreMap map{&hasher};
  Model model;
  std::map<std::string, double> scores;
};

std::string name_of(uint64_t number) {
  return "member" + std::to_string(number);
}

TEST_F(ScoreMapTest, IsEmptyAtFirst) {
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.find("a"), nullptr);
  EXPECT_FALSE(map.tree().at(0));
  EXPECT_FALSE(map.tree().first_at_or_after(-kInfinity));
  EXPECT_TRUE(map.tree().is_sound());
}

TEST_F(ScoreMapTest, OrdersByScoreThenByBytes) {
  put("b", 1);
  put("a", 1);
  put("z", -kInfinity);
  put("", 1);
  put(std::string("a\0", 2), 1);
  put("\xff", 1);
  put("m", kInfinity);
  put("c", -1.5);
  std::string order;
  for (auto place = map.tree().at(0); place; place.next()) {
    order += std::string(place.entry()->member()) + ",";
  }
  EXPECT_EQ(order, std::string("z,c,,a,a\0,b,\xff,m,", 16));
  expect_same();
}

TEST_F(ScoreMapTest, TakesNegativeZeroForZero) {
  put("b", 0.0);
  put("a", -0.0);
  EXPECT_EQ(map.tree().at(0).entry()->member(), "a");
  EXPECT_TRUE(std::signbit(map.tree().at(0).entry()->score()));
  EXPECT_EQ(map.tree().first_at_or_after(0.0).rank, 0u);
  EXPECT_EQ(map.tree().first_after(-0.0).rank, 2u);
}

TEST_F(ScoreMapTest, KeepsLongMembers) {
  for (size_t length : {511u, 512u, 5000u, 100000u}) put(std::string(length, 'x'), 1);
  expect_same();
  const size_t with = map.memory_bytes();
  remove(std::string(100000, 'x'));
  EXPECT_LT(map.memory_bytes() + 99000, with);
  expect_same();
}

TEST_F(ScoreMapTest, GrowsAndShrinksInOrder) {
  for (uint64_t i = 0; i < 6000; i++) put(name_of(i), static_cast<double>(i));
  expect_same();
  for (uint64_t i = 0; i < 5990; i++) remove(name_of(i));
  expect_same();
  for (uint64_t i = 6000; i-- > 5990;) remove(name_of(i));
  expect_same();
  EXPECT_EQ(map.tree().memory_bytes(), 0u);
}

TEST_F(ScoreMapTest, GrowsAndShrinksBackwards) {
  for (uint64_t i = 6000; i-- > 0;) put(name_of(i), static_cast<double>(i));
  expect_same();
  while (map.size() > 0) {
    remove_ranks(map.size() / 2, (map.size() + 1) / 2);
    ASSERT_TRUE(map.tree().is_sound());
  }
}

// Few scores, so that bytes decide; many, so that scores do.
TEST_F(ScoreMapTest, BehavesAsASetUnderRandomActs) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    Random random(seed);
    const uint64_t names = 40 + random.below(9000);
    const uint64_t steps = seed % 2 == 0 ? 3 : 100000;
    for (int act = 0; act < 20000; act++) {
      const std::string name = name_of(random.below(names));
      const bool known = scores.contains(name);
      const uint64_t kind = random.below(100);
      const uint64_t shrinking = (static_cast<uint64_t>(act) / 4000) % 2;  // grow, then shrink
      if (kind == 0 && !model.empty()) {
        const uint64_t from = random.below(model.size());
        remove_ranks(from, random.below(std::min<uint64_t>(model.size() - from, 60) + 1));
      } else if (known && kind < (shrinking == 0 ? 25 : 75)) {
        remove(name);
      } else {
        put(name, static_cast<double>(random.below(steps)) / 4 - 10);
      }
      if (act % 400 == 0) {
        ASSERT_TRUE(map.tree().is_sound());
      }
    }
    expect_same();
    for (int i = 0; i < 300; i++) {
      const double score = static_cast<double>(random.below(steps)) / 4 - 10;
      const auto at = std::distance(model.begin(), model.lower_bound({score, ""}));
      ASSERT_EQ(map.tree().first_at_or_after(score).rank, static_cast<uint64_t>(at));
      const auto after =
          std::distance(model.begin(), model.lower_bound({std::nextafter(score, kInfinity), ""}));
      ASSERT_EQ(map.tree().first_after(score).rank, static_cast<uint64_t>(after));
    }
    remove_ranks(0, map.size());
    expect_same();
  }
}

TEST_F(ScoreMapTest, FindsByBytesWhenScoresAreEqual) {
  for (uint64_t i = 0; i < 3000; i += 2) put(name_of(10000 + i), 7);
  for (uint64_t i = 0; i < 3000; i++) {
    const std::string name = name_of(10000 + i);
    ASSERT_EQ(map.tree().first_at_or_after(std::string_view(name)).rank, (i + 1) / 2);
    ASSERT_EQ(map.tree().first_after(std::string_view(name)).rank, i / 2 + 1);
  }
  EXPECT_FALSE(map.tree().first_after(std::string_view("z")));
}

TEST_F(ScoreMapTest, ScansEverything) {
  for (uint64_t i = 0; i < 5000; i++) put(name_of(i), static_cast<double>(i % 7));
  std::set<std::string> seen;
  uint64_t cursor = 0;
  do {
    cursor = map.scan(cursor, [&](const ScoreEntry* entry) { seen.emplace(entry->member()); });
  } while (cursor != 0);
  EXPECT_EQ(seen.size(), 5000u);
}

TEST(ScoreMapMemory, IsLittleMoreThanTheBlocks) {
  const KeyHasher hasher(1, 2);
  ScoreMap map(&hasher);
  Random random(5);
  constexpr uint64_t kMembers = 250000;
  char name[13];
  for (uint64_t i = 0; i < kMembers; i++) {
    std::snprintf(name, sizeof name, "%012llu", static_cast<unsigned long long>(i));
    map.insert(name, static_cast<double>(random.below(1u << 30)));
  }
  // 24 for the block, 10 to 13 for the table, the rest for the tree.
  EXPECT_LE(map.memory_bytes(), 48 * kMembers);
  EXPECT_TRUE(map.tree().is_sound());
}

}  // namespace
}  // namespace sorrel
