// Limits and byte layout of the listpack, then random edits of both encodings against a model.

#include "types/zset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace sorrel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const KeyHasher kZsetHasher(1, 2);

using Pairs = std::vector<std::pair<std::string, double>>;

struct Value {
  Collection collection = zset_ops().make();
  Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() { zset_ops().free(collection); }
};

Pairs content(const Collection& collection, bool backwards = false) {
  const ZsetView view(collection);
  Pairs all;
  view.for_each({0, view.size()}, backwards,
                [&](std::string_view member, double score) { all.emplace_back(member, score); });
  return all;
}

TEST(Zset, StaysPackedUpToTheLimits) {
  const ZsetLimits limits{3, 4, &kZsetHasher};
  Value value;
  Zset zset(value.collection);
  zset.insert("b", 2, limits);
  zset.insert("12", 2, limits);
  zset.insert("abcd", -kInfinity, limits);
  EXPECT_EQ(value.collection.encoding, Encoding::kListpack);
  zset.insert("d", 1.5, limits);
  EXPECT_EQ(value.collection.encoding, Encoding::kSkiplist);
  const Pairs expected{{"abcd", -kInfinity}, {"d", 1.5}, {"12", 2}, {"b", 2}};
  EXPECT_EQ(content(value.collection), expected);

  Value other;
  Zset(other.collection).insert("abcde", 1, limits);
  EXPECT_EQ(other.collection.encoding, Encoding::kSkiplist);
}

// The bytes that Redis writes: members and scores in turn, whole scores as integers.
TEST(Zset, PacksAsRedisDoes) {
  const ZsetLimits limits{128, 64, &kZsetHasher};
  Value value;
  Zset zset(value.collection);
  zset.insert("b", 0.5, limits);
  zset.insert("a", -0.0, limits);
  const auto bytes = listpack::view(static_cast<listpack::ConstBlock>(value.collection.data));
  const std::string expected(
      "\x14\x00\x00\x00\x04\x00"
      "\x81"
      "a\x02\x00\x01"
      "\x81"
      "b\x02\x83"
      "0.5\x04\xff",
      20);
  EXPECT_EQ(bytes.size(), expected.size());
  EXPECT_EQ(bytes, expected);
}

TEST(Zset, MakesTheEncodingThatTheLimitsAskFor) {
  for (int64_t entries : {2, 3}) {
    auto* map = new ScoreMap(&kZsetHasher);
    map->insert("c", 1);
    map->insert("b", 2.25);
    map->insert("a", 3);
    Value value;
    zset_ops().free(value.collection);
    value.collection = make_zset(map, {entries, 64, &kZsetHasher});
    EXPECT_EQ(value.collection.encoding, entries == 3 ? Encoding::kListpack : Encoding::kSkiplist);
    const Pairs expected{{"c", 1}, {"b", 2.25}, {"a", 3}};
    EXPECT_EQ(content(value.collection), expected);
  }
}

TEST(Zset, EmptyRangesOfAnEmptySet) {
  Value value;
  const ZsetView view(value.collection);
  EXPECT_EQ(view.size(), 0u);
  EXPECT_FALSE(view.find("a"));
  EXPECT_EQ(view.ranks_of(ScoreRange{{-kInfinity}, {kInfinity}}).count, 0u);
  EXPECT_EQ(zset_ops().size(value.collection), 0u);
}

// Both encodings against a model.
class ZsetModel {
 public:
  explicit ZsetModel(int64_t entries) : limits_{entries, 64, &kZsetHasher} {}

  void put(const std::string& member, double score) {
    Zset zset(value_.collection);
    const auto found = zset.view().find(member);
    ASSERT_EQ(bool(found), scores_.contains(member));
    if (found) {
      ASSERT_EQ(found.score, scores_[member]);
      order_.erase({scores_[member], member});
      zset.set_score(found, member, score);
    } else {
      zset.insert(member, score, limits_);
    }
    scores_[member] = score;
    order_.emplace(score, member);
  }
  void remove(const std::string& member) {
    Zset zset(value_.collection);
    const auto found = zset.view().find(member);
    if (!found) return;
    zset.erase(found);
    order_.erase({scores_[member], member});
    scores_.erase(member);
  }
  void remove_ranks(uint64_t from, uint64_t count) {
    Zset(value_.collection).erase(RankRange{from, count});
    auto first = std::next(order_.begin(), static_cast<ptrdiff_t>(from));
    for (; count > 0; count--) {
      scores_.erase(first->second);
      first = order_.erase(first);
    }
  }
  void check() {
    Pairs expected;
    for (const auto& [score, member] : order_) expected.emplace_back(member, score);
    ASSERT_EQ(content(value_.collection), expected);
    std::reverse(expected.begin(), expected.end());
    ASSERT_EQ(content(value_.collection, true), expected);
    const ZsetView view(value_.collection);
    uint64_t rank = 0;
    for (const auto& [score, member] : order_) {
      ASSERT_EQ(view.rank_of(view.find(member)), rank);
      rank++;
    }
    Collection copy = zset_ops().clone(value_.collection);
    ASSERT_EQ(content(copy), content(value_.collection));
    zset_ops().free(copy);
  }
  void check_range(const ScoreRange& range) {
    uint64_t before = 0;
    uint64_t inside = 0;
    for (const auto& [score, member] : order_) {
      const bool begun = range.min.exclusive ? score > range.min.score : score >= range.min.score;
      const bool ended = range.max.exclusive ? score >= range.max.score : score > range.max.score;
      before += !begun;
      inside += begun && !ended;
    }
    const RankRange ranks = ZsetView(value_.collection).ranks_of(range);
    ASSERT_EQ(ranks.count, inside);
    if (inside > 0) {
      ASSERT_EQ(ranks.from, before);
    }
  }
  uint64_t size() const { return order_.size(); }

 private:
  ZsetLimits limits_;
  Value value_;
  std::map<std::string, double> scores_;
  std::set<std::pair<double, std::string>> order_;
};

TEST(Zset, BehavesTheSameInBothEncodings) {
  for (int64_t entries : {0, 40, 1000}) {
    Random random(static_cast<uint64_t>(entries) + 1);
    ZsetModel model(entries);
    for (int act = 0; act < 3000; act++) {
      const std::string member = std::to_string(random.below(80));
      const double score = static_cast<double>(random.below(30)) / 4 - 3;
      switch (random.below(8)) {
        case 0:
        case 1:
          model.remove(member);
          break;
        case 2:
          if (random.below(20) == 0 && model.size() > 0) {
            const uint64_t from = random.below(model.size());
            model.remove_ranks(from, random.below(model.size() - from + 1));
          }
          break;
        default:
          model.put(member, score);
      }
      if (act % 50 == 0) model.check();
      const double other = static_cast<double>(random.below(30)) / 4 - 3;
      model.check_range({{score, random.below(2) == 0}, {other, random.below(2) == 0}});
      if (::testing::Test::HasFatalFailure()) return;
    }
    model.check();
  }
}

}  // namespace
}  // namespace sorrel
