#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "commands/collection_parts.h"
#include "dispatch/call.h"
#include "keyspace/value_limits.h"
#include "types/zset.h"

namespace sorrel::commands {

// Shared by the files of the sorted set family.

inline ZsetLimits zset_limits(Call& call) {
  return zset_limits_of(call.keys.keyspace().limits());
}

// False: WRONGTYPE has been answered. `view` stays empty when the key is absent.
bool read_zset(Call& call, const Key& key, std::optional<ZsetView>& view);

struct ZaddOptions {
  bool only_new = false;      // NX
  bool only_present = false;  // XX
  bool only_greater = false;  // GT
  bool only_less = false;     // LT
  bool count_changed = false;
  bool increment = false;
};

// The options after the key; returns where they end. `may_compare`: GT, LT and INCR as well.
size_t parse_zadd_options(Call& call, bool may_compare, ZaddOptions& add);
// ZADD to the key of the first argument, and its reply. `words` has `width` words for each score,
// the last of which is the member. Precondition: there is at least one score, and none is NaN.
void add_members(Call& call, const ZaddOptions& options, std::span<const std::string_view> words,
                 size_t width, std::span<double> scores);

// An array of members, with scores on request: flat in RESP2, pairs in RESP3.
class MembersAnswer {
 public:
  MembersAnswer(Call& call, uint64_t count, bool with_scores);
  void add(std::string_view member, double score);

 private:
  resp::ReplySink& reply_;
  bool with_scores_;
};

void answer_members(Call& call, const ZsetView& view, const RankRange& ranks, bool backwards,
                    bool with_scores);

// Stores the result of a computation at the key, or deletes the key when the result is empty, and
// answers the number of members. Owns `value` from now on.
void store_zset(Call& call, const Key& key, const Collection& value, Event event);

// Bounds as they are written: "5", "(5", "-inf"; "[a", "(a", "-", "+".
std::optional<ScoreRange> parse_score_range(std::string_view min, std::string_view max);
std::optional<LexRange> parse_lex_range(std::string_view min, std::string_view max);
// Ranks as they are written, negative ones from the end; empty when the range is.
RankRange ranks_at(uint64_t size, int64_t start, int64_t stop);

}  // namespace sorrel::commands
