// ZPOPMIN, ZPOPMAX, ZMPOP, ZRANDMEMBER, ZSCAN: sorted sets by ends, at random, and by cursor.

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/glob.h"
#include "commands/collection_scan.h"
#include "commands/families.h"
#include "commands/pop_many.h"
#include "commands/wait_option.h"
#include "commands/zset_parts.h"

namespace sorrel::commands {
namespace {

enum class End : uint8_t { kLowest, kHighest };

constexpr Event kPopEvents[] = {{EventClass::kZset, "zpopmin"}, {EventClass::kZset, "zpopmax"}};
constexpr const char* kPopCommands[] = {"ZPOPMIN", "ZPOPMAX"};

// Removes up to `count` members, at least one, and passes each to `visit(member, score)`, after
// passing their number to `begin`. Precondition: the entry holds a sorted set.
template <class Begin, class Visit>
void pop(Entry& entry, End end, uint64_t count, Begin&& begin, Visit&& visit) {
  Zset zset(entry.edit(Type::kZset));
  const uint64_t size = zset.view().size();
  const uint64_t taken = std::min(count, size);
  const RankRange ranks{end == End::kLowest ? 0 : size - taken, taken};
  begin(taken);
  zset.view().for_each(ranks, end == End::kHighest, visit);
  zset.erase(ranks);
  entry.changed(kPopEvents[static_cast<size_t>(end)]);
}

void pop_from_one(Call& call, End end) {
  if (call.argc() > 3) return answer::syntax_error(call);
  const bool counted = call.argc() == 3;
  const auto count = counted ? parse_int64(call.arg(2)) : 1;
  if (!count || *count < 0) {
    return call.reply.error("ERR value is out of range, must be positive");
  }
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kZset)) return;
  if (!entry || *count == 0) return call.reply.array(0);
  // Without a count, the member and its score are not wrapped in a pair, in RESP3 too.
  if (!counted) {
    return pop(
        entry, end, 1, [&](uint64_t) { call.reply.array(2); },
        [&](std::string_view member, double score) {
          call.reply.bulk(member);
          call.reply.real(score);
        });
  }
  std::optional<MembersAnswer> answer;
  pop(
      entry, end, static_cast<uint64_t>(*count),
      [&](uint64_t taken) { answer.emplace(call, taken, true); },
      [&](std::string_view member, double score) { answer->add(member, score); });
}

void zpopmin(Call& call) {
  pop_from_one(call, End::kLowest);
}

void zpopmax(Call& call) {
  pop_from_one(call, End::kHighest);
}

bool parse_zmpop(Call& call, size_t first, PopMany& parsed) {
  return parse_pop_many(call, first, "MIN", "MAX", parsed);
}

// True: answered, by members or an error.
bool pop_from_first(Call& call, size_t first_key, const PopMany& parsed) {
  const End end = parsed.second_side ? End::kHighest : End::kLowest;
  const auto take = [&](Entry& entry, size_t at) {
    uint64_t taken = 0;
    pop(
        entry, end, parsed.count,
        [&](uint64_t count) {
          taken = count;
          call.reply.array(2);
          call.reply.bulk(call.arg(at));
          call.reply.array(static_cast<int64_t>(count));
        },
        [&](std::string_view member, double score) {
          call.reply.array(2);
          call.reply.bulk(member);
          call.reply.real(score);
        });
    if (call.wants_effect()) {
      call.rewrite.as({kPopCommands[static_cast<size_t>(end)], std::string(call.arg(at)),
                       to_text(static_cast<int64_t>(taken))});
    }
  };
  return take_from_first(call, Type::kZset, first_key, parsed.key_count, take);
}

void zmpop(Call& call) {
  PopMany parsed;
  if (!parse_zmpop(call, 1, parsed)) return;
  if (!pop_from_first(call, 2, parsed)) call.reply.null_array();
}

void bzmpop(Call& call) {
  PopMany parsed;
  const auto deadline = parse_wait(call, 1);
  if (!deadline || !parse_zmpop(call, 2, parsed)) return;
  if (!pop_from_first(call, 3, parsed)) call.wait(positions(3, parsed.key_count), *deadline, true);
}

void pop_or_wait(Call& call, End end) {
  const auto take = [&](Entry& entry, size_t at) {
    if (call.wants_effect()) {
      call.rewrite.as({kPopCommands[static_cast<size_t>(end)], std::string(call.arg(at))});
    }
    pop(
        entry, end, 1,
        [&](uint64_t) {
          call.reply.array(3);
          call.reply.bulk(call.arg(at));
        },
        [&](std::string_view member, double score) {
          call.reply.bulk(member);
          call.reply.real(score);
        });
  };
  take_or_wait(call, Type::kZset, take);
}

void bzpopmin(Call& call) {
  pop_or_wait(call, End::kLowest);
}

void bzpopmax(Call& call) {
  pop_or_wait(call, End::kHighest);
}

// `count` different ranks below `size`, in ascending order. Precondition: count < size.
std::vector<uint64_t> different_ranks(Random& random, uint64_t count, uint64_t size) {
  std::vector<uint64_t> ranks;
  ranks.reserve(count);
  if (count >= size / 3) {
    // Each rank is taken with the probability that leaves all choices equally likely.
    for (uint64_t rank = 0; ranks.size() < count; rank++) {
      if (random.below(size - rank) < count - ranks.size()) ranks.push_back(rank);
    }
    return ranks;
  }
  std::unordered_set<uint64_t> seen;
  while (seen.size() < count) seen.insert(random.below(size));
  ranks.assign(seen.begin(), seen.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void answer_random(Call& call, const ZsetView& zset, int64_t count, bool with_scores) {
  Random& random = call.keys.random();
  const uint64_t size = zset.size();
  // Negative: exactly that many, with repetitions.
  if (count >= 0 && static_cast<uint64_t>(count) >= size) {
    return answer_members(call, zset, {0, size}, false, with_scores);
  }
  const uint64_t wanted =
      count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  MembersAnswer answer(call, wanted, with_scores);
  const auto add = [&](std::string_view member, double score) { answer.add(member, score); };
  if (count < 0) {
    for (uint64_t i = 0; i < wanted && !call.reply.stop_repeating(); i++) {
      zset.for_each({random.below(size), 1}, false, add);
    }
  } else {
    for (const uint64_t rank : different_ranks(random, wanted, size)) {
      zset.for_each({rank, 1}, false, add);
    }
  }
}

void zrandmember(Call& call) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const bool with_scores = call.argc() >= 4;
  std::optional<int64_t> count = 1;
  if (call.argc() >= 3) {
    count = parse_int64(call.arg(2));
    if (!count) return answer::not_an_integer(call);
    if (*count < -kMax) {
      return call.reply.error(
          "ERR value is out of range, value must between -9223372036854775807 and "
          "9223372036854775807");
    }
  }
  if (call.argc() > 4 || (with_scores && !iequals(call.arg(3), "WITHSCORES"))) {
    return answer::syntax_error(call);
  }
  if (with_scores && (*count < -kMax / 2 || *count > kMax / 2)) {
    return call.reply.error("ERR value is out of range");
  }
  std::optional<ZsetView> zset;
  if (!read_zset(call, call.key(1), zset)) return;
  if (call.argc() >= 3) {
    if (!zset) return call.reply.array(0);
    return answer_random(call, *zset, *count, with_scores);
  }
  if (!zset) return call.reply.null();
  zset->for_each({call.keys.random().below(zset->size()), 1}, false,
                 [&](std::string_view member, double) { call.reply.bulk(member); });
}

// The elements of a scan, copied: views of integers are only valid during their visit.
struct Scanned {
  std::string member;
  double score;
};

void zscan(Call& call) {
  const auto cursor = parse_scan_cursor(call.arg(2));
  if (!cursor) return call.reply.error("ERR invalid cursor");
  std::optional<ZsetView> zset;
  if (!read_zset(call, call.key(1), zset)) return;
  // As in Redis, options are not parsed when the key is absent.
  if (!zset) return answer_nothing_scanned(call);
  CollectionScan scan{.cursor = *cursor};
  if (!parse_scan_options(call, false, scan)) return;

  std::vector<Scanned> found;
  const uint64_t next = scan_steps(scan, [&](uint64_t from, uint64_t& met) {
    return zset->scan(from, [&](std::string_view member, double score) {
      met++;
      if (glob_match(scan.pattern, member)) found.push_back({std::string(member), score});
    });
  });
  call.reply.array(2);
  call.reply.bulk_integer(static_cast<int64_t>(next));
  call.reply.array(static_cast<int64_t>(found.size() * 2));
  for (const Scanned& one : found) {
    call.reply.bulk(one.member);
    call.reply.bulk(zset->scanned_score(one.score));
  }
}

constexpr Binding kZsetPopBindings[] = {
    {"zmpop", zmpop}, {"zpopmax", zpopmax}, {"zpopmin", zpopmin},   {"zrandmember", zrandmember},
    {"zscan", zscan}, {"bzmpop", bzmpop},   {"bzpopmax", bzpopmax}, {"bzpopmin", bzpopmin},
};

}  // namespace

std::span<const Binding> zset_pop_bindings() {
  return kZsetPopBindings;
}

}  // namespace sorrel::commands
