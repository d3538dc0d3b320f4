#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "structs/listpack.h"
#include "structs/score_map.h"
#include "types/collection.h"

namespace sorrel {

// Members with scores, in the order of scores and then of bytes. Small sorted sets are a listpack
// of member, score, member, score ... in that order; the others a ScoreMap, reported as `skiplist`.
// Scores are never NaN.

// The limits up to which a sorted set is a listpack.
struct ZsetLimits {
  int64_t max_entries;
  int64_t max_value;
  const KeyHasher* hasher;
};

// One end of a range of scores.
struct ScoreBorder {
  double score;
  bool exclusive = false;
};
struct ScoreRange {
  ScoreBorder min;
  ScoreBorder max;
};

// One end of a range of members: before all of them, after all, or at `text`.
struct LexBorder {
  enum class Kind : uint8_t { kFirst, kText, kLast } kind;
  std::string_view text = {};
  bool exclusive = false;
};
struct LexRange {
  LexBorder min;
  LexBorder max;
};

// Consecutive entries by rank: `count` of them from `from` on.
struct RankRange {
  uint64_t from = 0;
  uint64_t count = 0;
};

// Reads a sorted set.
class ZsetView {
 public:
  // The position of a member, if present. Valid until the next change.
  struct Found {
    bool present = false;
    double score = 0;
    const ScoreEntry* entry = nullptr;  // skiplist
    listpack::Position at = listpack::kNone;
    explicit operator bool() const { return present; }
  };

  explicit ZsetView(const Collection& value) : value_(value) {}

  uint64_t size() const;
  Found find(std::string_view member) const;
  // Counted from the lowest score. Precondition: `found` is present.
  uint64_t rank_of(const Found& found) const;

  RankRange ranks_of(const ScoreRange& range) const;
  // Only useful when all scores are equal, because the order of members is used.
  RankRange ranks_of(const LexRange& range) const;

  // Calls visit(member, score) for the given ranks, which must exist, from the lowest or the
  // highest on. Views of members are valid until the visitor returns.
  template <class Visit>
  void for_each(const RankRange& ranks, bool backwards, Visit&& visit) const {
    for_each_while(ranks, backwards, [&](std::string_view member, double score) {
      visit(member, score);
      return true;
    });
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for_each({0, size()}, false, visit);
  }
  // Stops when `visit` returns false.
  template <class Visit>
  void for_each_while(const RankRange& ranks, bool backwards, Visit&& visit) const;

  // As Table::scan; a listpack is visited at once.
  uint64_t scan(uint64_t cursor, const std::function<void(std::string_view, double)>& visit) const;
  // A score as ZSCAN writes it: a listpack has whole numbers as integers.
  std::string scanned_score(double score) const;

 protected:
  bool is_listpack() const { return value_.encoding == Encoding::kListpack; }
  listpack::ConstBlock block() const { return static_cast<listpack::ConstBlock>(value_.data); }
  const ScoreMap& map() const { return *static_cast<const ScoreMap*>(value_.data); }

  // `at`: the position of the member.
  double score_at(listpack::Position at) const;

 private:
  template <class Begun, class Ended>
  RankRange ranks_between(Begun&& begun, Ended&& ended) const;

  Collection value_;
};

// Changes a sorted set; `value` may get another encoding.
class Zset {
 public:
  explicit Zset(Collection& value) : value_(value) {}

  ZsetView view() const { return ZsetView(value_); }

  // Precondition: absent.
  void insert(std::string_view member, double score, const ZsetLimits& limits);
  // Precondition: `found` is that of `member`, present. Invalidates `found`.
  void set_score(const ZsetView::Found& found, std::string_view member, double score);
  void erase(const ZsetView::Found& found);
  // Precondition: these ranks exist.
  void erase(const RankRange& ranks);

 private:
  listpack::Block block() const { return static_cast<listpack::Block>(value_.data); }
  ScoreMap& map() const { return *static_cast<ScoreMap*>(value_.data); }
  bool is_listpack() const { return value_.encoding == Encoding::kListpack; }
  void insert_packed(std::string_view member, double score);
  void append_packed(std::string_view member, double score);
  void convert(const KeyHasher* hasher);

  Collection& value_;
};

const CollectionOps& zset_ops();
// The members of `map`, which is consumed, in the encoding that the limits require.
Collection make_zset(ScoreMap* map, const ZsetLimits& limits);

template <class Visit>
void ZsetView::for_each_while(const RankRange& ranks, bool backwards, Visit&& visit) const {
  if (ranks.count == 0) return;
  const uint64_t begin = backwards ? ranks.from + ranks.count - 1 : ranks.from;
  if (!is_listpack()) {
    auto place = map().tree().at(begin);
    for (uint64_t left = ranks.count;;) {
      if (!visit(place.entry()->member(), place.entry()->score())) return;
      if (--left == 0) return;
      backwards ? place.previous() : place.next();
    }
  }
  listpack::Position at = listpack::at(block(), static_cast<int64_t>(begin * 2));
  IntegerText scratch;
  for (uint64_t left = ranks.count;;) {
    if (!visit(listpack::get(block(), at).text(scratch), score_at(at))) return;
    if (--left == 0) return;
    if (backwards) {
      at = listpack::prev(block(), listpack::prev(block(), at));
    } else {
      at = listpack::next(block(), listpack::next(block(), at));
    }
  }
}

}  // namespace sorrel
