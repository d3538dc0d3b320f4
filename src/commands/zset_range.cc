// ZRANGE, ZRANGESTORE, ZCOUNT, ZREMRANGEBY* and older forms: ranges by rank, score or bytes.

#include <optional>

#include "commands/families.h"
#include "commands/zset_parts.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {
namespace {

enum class By : uint8_t { kRank, kScore, kLex };

struct RangeRequest {
  By by = By::kRank;
  bool backwards = false;
  bool with_scores = false;
  int64_t offset = 0;
  int64_t limit = -1;  // negative: none
  int64_t start = 0;   // kRank
  int64_t stop = 0;
  ScoreRange scores{};
  LexRange lex{};
};

// The properties that follow from the name of a command.
struct RangeGrammar {
  size_t key = 1;        // position of the source; its bounds follow
  std::optional<By> by;  // nullopt: BYSCORE and BYLEX are options
  bool backwards = false;
  bool may_reverse = false;  // REV is an option
  bool may_have_scores = true;
};

constexpr std::string_view kNotAFloat = "ERR min or max is not a float";
constexpr std::string_view kNotALexItem = "ERR min or max not valid string range item";

// False: an error has been answered.
bool parse_borders(Call& call, std::string_view min, std::string_view max, RangeRequest& range) {
  if (range.by == By::kRank) {
    const auto start = parse_int64(min);
    const auto stop = parse_int64(max);
    if (!start || !stop) {
      answer::not_an_integer(call);
      return false;
    }
    range.start = *start;
    range.stop = *stop;
    return true;
  }
  if (range.backwards) std::swap(min, max);
  if (range.by == By::kScore) {
    const auto scores = parse_score_range(min, max);
    if (scores) range.scores = *scores;
    if (!scores) call.reply.error(kNotAFloat);
    return scores.has_value();
  }
  const auto lex = parse_lex_range(min, max);
  if (lex) range.lex = *lex;
  if (!lex) call.reply.error(kNotALexItem);
  return lex.has_value();
}

bool parse_range(Call& call, const RangeGrammar& grammar, RangeRequest& range) {
  range.by = grammar.by.value_or(By::kRank);
  range.backwards = grammar.backwards;
  OptionParser options(call.args, grammar.key + 3);
  while (options.more()) {
    if (grammar.may_have_scores && options.word("WITHSCORES")) {
      range.with_scores = true;
    } else if (options.word("LIMIT", 2)) {
      range.offset = options.integer();
      range.limit = options.integer();
    } else if (grammar.may_reverse && options.word("REV")) {
      range.backwards = true;
    } else if (!grammar.by && options.word("BYLEX")) {
      range.by = By::kLex;
    } else if (!grammar.by && options.word("BYSCORE")) {
      range.by = By::kScore;
    } else {
      options.fail_syntax();
    }
  }
  // A limit of -1 means none, and is allowed with every range.
  if (range.limit != -1 && range.by == By::kRank) {
    options.fail(
        "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
  }
  if (range.with_scores && range.by == By::kLex) {
    options.fail("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed() &&
         parse_borders(call, call.arg(grammar.key + 1), call.arg(grammar.key + 2), range);
}

// The ranks that remain after skipping `offset`, in the direction of reading, and limited to
// `limit`.
RankRange limited(RankRange ranks, const RangeRequest& range) {
  if (range.offset < 0 || static_cast<uint64_t>(range.offset) >= ranks.count) return {};
  const auto offset = static_cast<uint64_t>(range.offset);
  ranks.count -= offset;
  if (!range.backwards) ranks.from += offset;
  if (range.limit < 0 || static_cast<uint64_t>(range.limit) >= ranks.count) return ranks;
  const auto limit = static_cast<uint64_t>(range.limit);
  if (range.backwards) ranks.from += ranks.count - limit;
  ranks.count = limit;
  return ranks;
}

RankRange select(const ZsetView& zset, const RangeRequest& range) {
  if (range.by == By::kScore) return limited(zset.ranks_of(range.scores), range);
  if (range.by == By::kLex) return limited(zset.ranks_of(range.lex), range);
  const uint64_t size = zset.size();
  RankRange ranks = ranks_at(size, range.start, range.stop);
  if (range.backwards && ranks.count > 0) ranks.from = size - ranks.from - ranks.count;
  return ranks;
}

void answer_range(Call& call, const RangeGrammar& grammar) {
  RangeRequest range;
  if (!parse_range(call, grammar, range)) return;
  std::optional<ZsetView> zset;
  if (!read_zset(call, call.key(grammar.key), zset)) return;
  if (!zset) return call.reply.array(0);
  answer_members(call, *zset, select(*zset, range), range.backwards, range.with_scores);
}

void zrange(Call& call) {
  answer_range(call, {.may_reverse = true});
}
void zrevrange(Call& call) {
  answer_range(call, {.by = By::kRank, .backwards = true});
}
void zrangebyscore(Call& call) {
  answer_range(call, {.by = By::kScore});
}
void zrevrangebyscore(Call& call) {
  answer_range(call, {.by = By::kScore, .backwards = true});
}
void zrangebylex(Call& call) {
  answer_range(call, {.by = By::kLex});
}
void zrevrangebylex(Call& call) {
  answer_range(call, {.by = By::kLex, .backwards = true});
}

void zrangestore(Call& call) {
  RangeRequest range;
  const RangeGrammar grammar{.key = 2, .may_reverse = true, .may_have_scores = false};
  if (!parse_range(call, grammar, range)) return;
  std::optional<ZsetView> source;
  if (!read_zset(call, call.key(2), source)) return;
  Collection result = zset_ops().make();
  if (source) {
    const ZsetLimits limits = zset_limits(call);
    source->for_each(select(*source, range), false, [&](std::string_view member, double score) {
      Zset(result).insert(member, score, limits);
    });
  }
  store_zset(call, call.key(1), result, {EventClass::kZset, "zrangestore"});
}

void answer_count(Call& call, const RangeRequest& range) {
  std::optional<ZsetView> zset;
  if (!read_zset(call, call.key(1), zset)) return;
  call.reply.integer(zset ? static_cast<int64_t>(select(*zset, range).count) : 0);
}

void zcount(Call& call) {
  RangeRequest range{.by = By::kScore};
  if (parse_borders(call, call.arg(2), call.arg(3), range)) answer_count(call, range);
}
void zlexcount(Call& call) {
  RangeRequest range{.by = By::kLex};
  if (parse_borders(call, call.arg(2), call.arg(3), range)) answer_count(call, range);
}

void remove_range(Call& call, By by, Event event) {
  RangeRequest range{.by = by};
  if (!parse_borders(call, call.arg(2), call.arg(3), range)) return;
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kZset)) return;
  if (!entry) return call.reply.integer(0);
  Zset zset(entry.edit(Type::kZset));
  const RankRange ranks = select(zset.view(), range);
  zset.erase(ranks);
  if (ranks.count > 0) entry.changed(event);
  call.reply.integer(static_cast<int64_t>(ranks.count));
}

void zremrangebyrank(Call& call) {
  remove_range(call, By::kRank, {EventClass::kZset, "zremrangebyrank"});
}
void zremrangebyscore(Call& call) {
  remove_range(call, By::kScore, {EventClass::kZset, "zremrangebyscore"});
}
void zremrangebylex(Call& call) {
  remove_range(call, By::kLex, {EventClass::kZset, "zremrangebylex"});
}

constexpr Binding kZsetRangeBindings[] = {
    {"zcount", zcount},
    {"zlexcount", zlexcount},
    {"zrange", zrange},
    {"zrangebylex", zrangebylex},
    {"zrangebyscore", zrangebyscore},
    {"zrangestore", zrangestore},
    {"zremrangebylex", zremrangebylex},
    {"zremrangebyrank", zremrangebyrank},
    {"zremrangebyscore", zremrangebyscore},
    {"zrevrange", zrevrange},
    {"zrevrangebylex", zrevrangebylex},
    {"zrevrangebyscore", zrevrangebyscore},
};

}  // namespace

std::span<const Binding> zset_range_bindings() {
  return kZsetRangeBindings;
}

}  // namespace sorrel::commands
