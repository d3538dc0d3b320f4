// ZADD, ZREM, ZSCORE, ZRANK and others: sorted sets by member.

#include "types/zset.h"

#include <cmath>
#include <span>
#include <vector>

#include "commands/families.h"
#include "commands/zset_parts.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {
namespace {

enum class Put : uint8_t { kAdded, kUpdated, kSame, kRefused, kNotANumber };

// `score` becomes the member's score after the change, unless that is refused.
Put put_member(Zset zset, std::string_view member, double& score, const ZaddOptions& options,
               const ZsetLimits& limits) {
  const ZsetView::Found found = zset.view().find(member);
  if (!found) {
    if (options.only_present) return Put::kRefused;
    zset.insert(member, score, limits);
    return Put::kAdded;
  }
  if (options.only_new) return Put::kRefused;
  if (options.increment) {
    score += found.score;
    if (std::isnan(score)) return Put::kNotANumber;
  }
  if (options.only_greater && score <= found.score) return Put::kRefused;
  if (options.only_less && score >= found.score) return Put::kRefused;
  if (score == found.score) {
    score = found.score;
    return Put::kSame;
  }
  zset.set_score(found, member, score);
  return Put::kUpdated;
}

}  // namespace

size_t parse_zadd_options(Call& call, bool may_compare, ZaddOptions& add) {
  OptionParser options(call.args, 2);
  for (;;) {
    if (options.word("NX")) {
      add.only_new = true;
    } else if (options.word("XX")) {
      add.only_present = true;
    } else if (options.word("CH")) {
      add.count_changed = true;
    } else if (may_compare && options.word("GT")) {
      add.only_greater = true;
    } else if (may_compare && options.word("LT")) {
      add.only_less = true;
    } else if (may_compare && options.word("INCR")) {
      add.increment = true;
    } else {
      return options.position();
    }
  }
}

void add_members(Call& call, const ZaddOptions& options, std::span<const std::string_view> words,
                 size_t width, std::span<double> scores) {
  constexpr Event kAdd{EventClass::kZset, "zadd"};
  constexpr Event kIncrement{EventClass::kZset, "zincr"};
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kZset)) return;
  int64_t added = 0;
  int64_t updated = 0;
  Put last = Put::kRefused;
  if (entry || !options.only_present) {
    const ZsetLimits limits = zset_limits(call);
    Zset zset(entry.edit(Type::kZset));
    for (size_t i = 0; i < scores.size(); i++) {
      last = put_member(zset, words[(i + 1) * width - 1], scores[i], options, limits);
      added += last == Put::kAdded ? 1 : 0;
      updated += last == Put::kUpdated ? 1 : 0;
    }
  }
  if (added + updated > 0) entry.changed(options.increment ? kIncrement : kAdd);
  if (!options.increment) {
    call.reply.integer(options.count_changed ? added + updated : added);
  } else if (last == Put::kNotANumber) {
    call.reply.error("ERR resulting score is not a number (NaN)");
  } else if (last == Put::kRefused) {
    call.reply.null();
  } else {
    call.reply.real(scores[0]);
  }
}

namespace {

// The scores of score, member, score, member ... False: an error has been answered.
bool parse_scores(Call& call, std::span<const std::string_view> pairs, std::span<double> scores) {
  for (size_t i = 0; i < scores.size(); i++) {
    const auto score = parse_double(pairs[i * 2]);
    if (!score) {
      call.reply.error("ERR value is not a valid float");
      return false;
    }
    scores[i] = *score;
  }
  return true;
}

void zadd(Call& call) {
  ZaddOptions options;
  const auto pairs = call.args.subspan(parse_zadd_options(call, true, options));
  if (pairs.empty() || pairs.size() % 2 != 0) return answer::syntax_error(call);
  if (options.only_new && options.only_present) {
    return call.reply.error("ERR XX and NX options at the same time are not compatible");
  }
  if (options.only_new + options.only_greater + options.only_less > 1) {
    return call.reply.error("ERR GT, LT, and/or NX options at the same time are not compatible");
  }
  if (options.increment && pairs.size() > 2) {
    return call.reply.error("ERR INCR option supports a single increment-element pair");
  }
  // Mostly there is one pair, which needs no allocation.
  double one = 0;
  std::vector<double> many;
  std::span<double> scores(&one, 1);
  if (pairs.size() > 2) {
    many.resize(pairs.size() / 2);
    scores = many;
  }
  if (parse_scores(call, pairs, scores)) add_members(call, options, pairs, 2, scores);
}

void zincrby(Call& call) {
  double score = 0;
  const auto pairs = call.args.subspan(2);
  const std::span<double> scores(&score, 1);
  if (!parse_scores(call, pairs, scores)) return;
  add_members(call, {.increment = true}, pairs, 2, scores);
}

void zrem(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kZset)) return;
  int64_t removed = 0;
  if (entry) {
    Zset zset(entry.edit(Type::kZset));
    for (const std::string_view member : call.args.subspan(2)) {
      const auto found = zset.view().find(member);
      if (!found) continue;
      zset.erase(found);
      removed++;
    }
  }
  if (removed > 0) entry.changed({EventClass::kZset, "zrem"});
  call.reply.integer(removed);
}

void zcard(Call& call) {
  std::optional<ZsetView> zset;
  if (!read_zset(call, call.key(1), zset)) return;
  call.reply.integer(zset ? static_cast<int64_t>(zset->size()) : 0);
}

void answer_score(Call& call, const std::optional<ZsetView>& zset, std::string_view member) {
  const auto found = zset ? zset->find(member) : ZsetView::Found{};
  if (!found) return call.reply.null();
  call.reply.real(found.score);
}

void zscore(Call& call) {
  std::optional<ZsetView> zset;
  if (!read_zset(call, call.key(1), zset)) return;
  answer_score(call, zset, call.arg(2));
}

void zmscore(Call& call) {
  std::optional<ZsetView> zset;
  if (!read_zset(call, call.key(1), zset)) return;
  call.reply.array(static_cast<int64_t>(call.argc() - 2));
  for (const std::string_view member : call.args.subspan(2)) answer_score(call, zset, member);
}

void answer_rank(Call& call, bool from_highest) {
  if (call.argc() > 4) return answer::wrong_arity(call);
  const bool with_score = call.argc() == 4;
  if (with_score && !iequals(call.arg(3), "WITHSCORE")) return answer::syntax_error(call);
  std::optional<ZsetView> zset;
  if (!read_zset(call, call.key(1), zset)) return;
  const auto found = zset ? zset->find(call.arg(2)) : ZsetView::Found{};
  if (!found) return with_score ? call.reply.null_array() : call.reply.null();
  const uint64_t rank = zset->rank_of(found);
  if (with_score) call.reply.array(2);
  call.reply.integer(static_cast<int64_t>(from_highest ? zset->size() - 1 - rank : rank));
  if (with_score) call.reply.real(found.score);
}

void zrank(Call& call) {
  answer_rank(call, false);
}

void zrevrank(Call& call) {
  answer_rank(call, true);
}

constexpr Binding kZsetBindings[] = {
    {"zadd", zadd},   {"zcard", zcard}, {"zincrby", zincrby},   {"zmscore", zmscore},
    {"zrank", zrank}, {"zrem", zrem},   {"zrevrank", zrevrank}, {"zscore", zscore},
};

}  // namespace

std::span<const Binding> zset_bindings() {
  return kZsetBindings;
}

}  // namespace sorrel::commands
