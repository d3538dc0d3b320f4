#include "commands/zset_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace sorrel::commands {
namespace {

// More lenient than a score of ZADD: an empty text is 0, leading blanks are skipped, and a number
// out of range is infinite.
std::optional<ScoreBorder> parse_score_border(std::string_view text) {
  const bool exclusive = !text.empty() && text[0] == '(';
  if (exclusive) text.remove_prefix(1);
  if (const auto score = parse_double(text)) return ScoreBorder{*score, exclusive};
  // Longer than any sensible number; not worth a copy.
  constexpr size_t kLongest = 4096;
  if (text.size() > kLongest) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  const double score = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || std::isnan(score)) return std::nullopt;
  return ScoreBorder{score, exclusive};
}

std::optional<LexBorder> parse_lex_border(std::string_view text) {
  if (text == "-") return LexBorder{LexBorder::Kind::kFirst};
  if (text == "+") return LexBorder{LexBorder::Kind::kLast};
  if (text.empty() || (text[0] != '(' && text[0] != '[')) return std::nullopt;
  return LexBorder{LexBorder::Kind::kText, text.substr(1), text[0] == '('};
}

}  // namespace

bool read_zset(Call& call, const Key& key, std::optional<ZsetView>& view) {
  const Record* record = call.keys.read(key);
  if (!check_type(call, record, Type::kZset)) return false;
  if (record != nullptr) view.emplace(collection_of(*record));
  return true;
}

MembersAnswer::MembersAnswer(Call& call, uint64_t count, bool with_scores)
    : reply_(call.reply), with_scores_(with_scores) {
  const bool flat = with_scores && reply_.protocol() == 2;
  reply_.array(static_cast<int64_t>(flat ? count * 2 : count));
}

void MembersAnswer::add(std::string_view member, double score) {
  if (with_scores_ && reply_.protocol() > 2) reply_.array(2);
  reply_.bulk(member);
  if (with_scores_) reply_.real(score);
}

void answer_members(Call& call, const ZsetView& view, const RankRange& ranks, bool backwards,
                    bool with_scores) {
  MembersAnswer answer(call, ranks.count, with_scores);
  view.for_each(ranks, backwards,
                [&](std::string_view member, double score) { answer.add(member, score); });
}

void store_zset(Call& call, const Key& key, const Collection& value, Event event) {
  const uint64_t size = ZsetView(value).size();
  Entry entry = call.keys.open(key);
  if (size > 0) {
    entry.set_collection(Type::kZset, value, kNoExpiry, event);
  } else {
    zset_ops().free(value);
    if (entry) entry.erase(kEmptiedEvent);
  }
  call.reply.integer(static_cast<int64_t>(size));
}

std::optional<ScoreRange> parse_score_range(std::string_view min, std::string_view max) {
  const auto from = parse_score_border(min);
  const auto to = parse_score_border(max);
  if (!from || !to) return std::nullopt;
  return ScoreRange{*from, *to};
}

std::optional<LexRange> parse_lex_range(std::string_view min, std::string_view max) {
  const auto from = parse_lex_border(min);
  const auto to = parse_lex_border(max);
  if (!from || !to) return std::nullopt;
  return LexRange{*from, *to};
}

RankRange ranks_at(uint64_t size, int64_t start, int64_t stop) {
  const auto length = static_cast<int64_t>(size);
  if (start < 0) start = std::max<int64_t>(start + length, 0);
  if (stop < 0) stop += length;
  stop = std::min(stop, length - 1);
  if (start > stop) return {};
  return {static_cast<uint64_t>(start), static_cast<uint64_t>(stop - start + 1)};
}

}  // namespace sorrel::commands
