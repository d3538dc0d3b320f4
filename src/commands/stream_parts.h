#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/call.h"
#include "types/stream.h"

// Shared by the commands on streams.
namespace sorrel::commands {

inline constexpr Event kCreateConsumerEvent{EventClass::kStream, "xgroup-createconsumer", false};
inline constexpr Event kXdelEvent{EventClass::kStream, "xdel"};

// Ids as arguments; nullopt: an error has been answered.
std::optional<StreamId> parse_id(Call& call, std::string_view text, uint64_t missing_seq = 0);
// All arguments from this one on, or `count` of them.
std::optional<std::vector<StreamId>> parse_ids(Call& call, size_t from);
std::optional<std::vector<StreamId>> parse_ids(Call& call, size_t from, size_t count);
// KEEPREF, DELREF, ACKED; nullopt: another word, which is no error yet.
std::optional<StreamRefs> refs_named(std::string_view word);
// The bounds of a range: "-", "+", incomplete ids, "(" for exclusive ones.
std::optional<StreamId> parse_range_start(Call& call, std::string_view text);
std::optional<StreamId> parse_range_end(Call& call, std::string_view text);
std::optional<int64_t> parse_integer(Call& call, std::string_view text,
                                     std::string_view error = {});

void answer_id(Call& call, const StreamId& id);
// [id, [field, value, ...]]
void answer_entry(Call& call, const StreamEntry& entry);
// Answers the entries within [from, to], an array; `count` 0: all of them.
void answer_range(Call& call, const Stream& stream, const StreamId& from, const StreamId& to,
                  uint64_t count, StreamWalk::Direction direction = StreamWalk::Direction::kUp);

// Effects for changes of a consumer group. Precondition: rewrite.nothing() was called, because the
// request itself depends on the time or on the entries available.
class GroupEffects {
 public:
  GroupEffects(Call& call, std::string_view key, std::string_view group)
      : call_(call), key_(key), group_(group) {}
  void consumer_created(std::string_view consumer);
  // Call after the group's last id has advanced.
  void pending_changed(const StreamGroup& group, const StreamId& id, const StreamPending& pending);
  void position_changed(const StreamGroup& group);

 private:
  Call& call_;
  std::string_view key_;
  std::string_view group_;
};

}  // namespace sorrel::commands
