// A sorted set has two encodings that must order and print scores alike, and change at the same
// points as in Redis.

#include "types/zset.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"

namespace sorrel {
namespace {

bool is_at_or_after(double score, const ScoreBorder& min) {
  return min.exclusive ? score > min.score : score >= min.score;
}
bool is_after(double score, const ScoreBorder& max) {
  return max.exclusive ? score >= max.score : score > max.score;
}

bool is_at_or_after(std::string_view member, const LexBorder& min) {
  if (min.kind != LexBorder::Kind::kText) return min.kind == LexBorder::Kind::kFirst;
  return min.exclusive ? member > min.text : member >= min.text;
}
bool is_after(std::string_view member, const LexBorder& max) {
  if (max.kind != LexBorder::Kind::kText) return max.kind == LexBorder::Kind::kFirst;
  return max.exclusive ? member >= max.text : member > max.text;
}

// Whole scores are integers in listpacks. nullopt: not whole.
std::optional<int64_t> whole(double score) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(score >= -kLimit && score < kLimit)) return std::nullopt;
  const auto integer = static_cast<int64_t>(score);
  if (static_cast<double>(integer) != score) return std::nullopt;
  return integer;
}

double score_of(const listpack::Element& element) {
  if (element.is_integer()) return static_cast<double>(element.integer);
  return parse_double({element.data, element.size}).value_or(0);
}

Collection make() {
  return {Encoding::kListpack, listpack::make()};
}

size_t size(const Collection& value) {
  return ZsetView(value).size();
}

size_t memory(const Collection& value) {
  if (value.encoding == Encoding::kListpack) {
    return listpack::memory_bytes(static_cast<listpack::ConstBlock>(value.data));
  }
  return static_cast<const ScoreMap*>(value.data)->memory_bytes();
}

void free_value(Collection value) {
  if (value.encoding == Encoding::kListpack) {
    listpack::free(static_cast<listpack::Block>(value.data));
  } else {
    delete static_cast<ScoreMap*>(value.data);
  }
}

Collection clone(const Collection& value) {
  if (value.encoding == Encoding::kListpack) {
    return {value.encoding, listpack::clone(static_cast<listpack::ConstBlock>(value.data))};
  }
  const auto* map = static_cast<const ScoreMap*>(value.data);
  auto* copy = new ScoreMap(map->hasher());
  for (auto place = map->tree().at(0); place; place.next()) {
    copy->insert(place.entry()->member(), place.entry()->score());
  }
  return {value.encoding, copy};
}

}  // namespace

const CollectionOps& zset_ops() {
  static constexpr CollectionOps kOps{make, size, memory, free_value, clone};
  return kOps;
}

Collection make_zset(ScoreMap* map, const ZsetLimits& limits) {
  const ScoreTree& tree = map->tree();
  size_t longest = 0;
  size_t total = 0;
  const bool few = tree.size() <= static_cast<uint64_t>(std::max<int64_t>(limits.max_entries, 0));
  for (auto place = tree.at(0); few && place; place.next()) {
    longest = std::max(longest, place.entry()->member().size());
    total += place.entry()->member().size();
  }
  Collection packed = make();
  // A score's text takes 32 bytes at most.
  if (!few || longest > static_cast<size_t>(std::max<int64_t>(limits.max_value, 0)) ||
      !listpack::fits(static_cast<listpack::ConstBlock>(packed.data), total + tree.size() * 32,
                      tree.size() * 2)) {
    free_value(packed);
    return {Encoding::kSkiplist, map};
  }
  const ZsetLimits no_limits{std::numeric_limits<int64_t>::max(),
                             std::numeric_limits<int64_t>::max(), limits.hasher};
  for (auto place = tree.at(0); place; place.next()) {
    Zset(packed).insert(place.entry()->member(), place.entry()->score(), no_limits);
  }
  delete map;
  return packed;
}

double ZsetView::score_at(listpack::Position at) const {
  return score_of(listpack::get(block(), listpack::next(block(), at)));
}

uint64_t ZsetView::size() const {
  return is_listpack() ? listpack::size(block()) / 2 : map().size();
}

ZsetView::Found ZsetView::find(std::string_view member) const {
  if (!is_listpack()) {
    const ScoreEntry* entry = map().find(member);
    if (entry == nullptr) return {};
    return {.present = true, .score = entry->score(), .entry = entry};
  }
  const auto at = listpack::find(block(), listpack::first(block()), member, 1);
  if (at == listpack::kNone) return {};
  return {.present = true, .score = score_at(at), .at = at};
}

uint64_t ZsetView::rank_of(const Found& found) const {
  if (!is_listpack()) return map().tree().rank_of(found.entry);
  uint64_t before = 0;
  for (auto at = listpack::first(block()); at != found.at; before++) {
    at = listpack::next(block(), listpack::next(block(), at));
  }
  return before;
}

// `begun(score, member)` holds from the first entry of the range on, `ended` from the first after
// the range on.
template <class Begun, class Ended>
RankRange ZsetView::ranks_between(Begun&& begun, Ended&& ended) const {
  if (!is_listpack()) {
    const uint64_t from = map().tree().first(begun).rank;
    const uint64_t to = map().tree().first(ended).rank;
    return {from, to > from ? to - from : 0};
  }
  RankRange range;
  IntegerText scratch;
  listpack::Position at = listpack::first(block());
  const auto skip_until = [&](auto& holds) {
    uint64_t passed = 0;
    for (; at != listpack::kNone; passed++) {
      const auto score = listpack::next(block(), at);
      if (holds(score_of(listpack::get(block(), score)),
                listpack::get(block(), at).text(scratch))) {
        break;
      }
      at = listpack::next(block(), score);
    }
    return passed;
  };
  range.from = skip_until(begun);
  range.count = skip_until(ended);
  return range;
}

RankRange ZsetView::ranks_of(const ScoreRange& range) const {
  return ranks_between([&](double score, const auto&) { return is_at_or_after(score, range.min); },
                       [&](double score, const auto&) { return is_after(score, range.max); });
}

namespace {
std::string_view text_of(const ScoreEntry* entry) {
  return entry->member();
}
std::string_view text_of(std::string_view member) {
  return member;
}
}  // namespace

RankRange ZsetView::ranks_of(const LexRange& range) const {
  return ranks_between(
      [&](double, const auto& member) { return is_at_or_after(text_of(member), range.min); },
      [&](double, const auto& member) { return is_after(text_of(member), range.max); });
}

uint64_t ZsetView::scan(uint64_t cursor,
                        const std::function<void(std::string_view, double)>& visit) const {
  if (is_listpack()) {
    for_each(visit);
    return 0;
  }
  return map().scan(cursor,
                    [&](const ScoreEntry* entry) { visit(entry->member(), entry->score()); });
}

std::string ZsetView::scanned_score(double score) const {
  const auto integer = is_listpack() ? whole(score) : std::nullopt;
  return integer ? to_text(*integer) : format_double(score);
}

void Zset::insert(std::string_view member, double score, const ZsetLimits& limits) {
  if (is_listpack()) {
    const auto entries = static_cast<int64_t>(listpack::size(block()) / 2);
    if (entries < limits.max_entries && static_cast<int64_t>(member.size()) <= limits.max_value &&
        listpack::fits(block(), member.size() + 32, 2)) {
      return insert_packed(member, score);
    }
    convert(limits.hasher);
  }
  map().insert(member, score);
}

void Zset::append_packed(std::string_view member, double score) {
  listpack::Block block = listpack::append(this->block(), member);
  if (const auto integer = whole(score)) {
    value_.data = listpack::append(block, *integer);
  } else {
    value_.data = listpack::append(block, format_double(score));
  }
}

void Zset::insert_packed(std::string_view member, double score) {
  // Members mostly arrive in order: those need no search.
  listpack::Position at = listpack::last(block());
  if (at == listpack::kNone) return append_packed(member, score);
  IntegerText scratch;
  const auto is_before = [&](listpack::Position score_position, listpack::Position position) {
    const double other = score_of(listpack::get(block(), score_position));
    return ordered_before(score, member, other, listpack::get(block(), position).text(scratch));
  };
  if (!is_before(at, listpack::prev(block(), at))) return append_packed(member, score);
  at = listpack::first(block());
  while (!is_before(listpack::next(block(), at), at)) {
    at = listpack::next(block(), listpack::next(block(), at));
  }
  const listpack::Block block = listpack::insert_before(this->block(), at, member);
  if (const auto integer = whole(score)) {
    value_.data = listpack::insert_after(block, at, *integer);
  } else {
    value_.data = listpack::insert_after(block, at, format_double(score));
  }
}

void Zset::convert(const KeyHasher* hasher) {
  auto* map = new ScoreMap(hasher);
  view().for_each([&](std::string_view member, double score) { map->insert(member, score); });
  listpack::free(block());
  value_ = {Encoding::kSkiplist, map};
}

void Zset::set_score(const ZsetView::Found& found, std::string_view member, double score) {
  if (!is_listpack()) return map().set_score(found.entry, score);
  value_.data = listpack::erase_range(block(), found.at, 2);
  insert_packed(member, score);
}

void Zset::erase(const ZsetView::Found& found) {
  if (!is_listpack()) return map().erase(found.entry);
  value_.data = listpack::erase_range(block(), found.at, 2);
}

void Zset::erase(const RankRange& ranks) {
  if (ranks.count == 0) return;
  if (!is_listpack()) return map().erase_ranks(ranks.from, ranks.count);
  const auto at = listpack::at(block(), static_cast<int64_t>(ranks.from * 2));
  value_.data = listpack::erase_range(block(), at, ranks.count * 2);
}

}  // namespace sorrel
