#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/numbers.h"
#include "commands/collection_parts.h"
#include "commands/stream_handlers.h"
#include "commands/stream_parts.h"
#include "dispatch/option_parser.h"

// XPENDING, XCLAIM and XAUTOCLAIM: entries that were delivered but not acknowledged.

namespace sorrel::commands::stream {
namespace {

void answer_no_group(Call& call) {
  call.reply.error(
      fmt::format("NOGROUP No such key '{}' or consumer group '{}'", call.arg(1), call.arg(2)));
}

struct PendingOptions {
  int64_t min_idle_ms = 0;
  StreamId from;
  StreamId to;
  uint64_t count = 0;
  std::optional<std::string_view> consumer;
};

// nullopt: an error has been answered.
std::optional<PendingOptions> parse_xpending(Call& call) {
  PendingOptions parsed;
  size_t at = 3;
  if (iequals(call.arg(3), "IDLE")) {
    const auto idle = parse_integer(call, call.arg(4));
    if (!idle) return std::nullopt;
    parsed.min_idle_ms = *idle;
    at += 2;
    if (call.argc() < 8) {
      answer::syntax_error(call);
      return std::nullopt;
    }
  }
  const auto count = parse_integer(call, call.arg(at + 2));
  if (!count) return std::nullopt;
  const auto from = parse_range_start(call, call.arg(at));
  if (!from) return std::nullopt;
  const auto to = parse_range_end(call, call.arg(at + 1));
  if (!to) return std::nullopt;
  parsed.count = static_cast<uint64_t>(std::max<int64_t>(*count, 0));
  parsed.from = *from;
  parsed.to = *to;
  if (at + 3 < call.argc()) parsed.consumer = call.arg(at + 3);
  return parsed;
}

void answer_summary(Call& call, const StreamGroup& group) {
  call.reply.array(4);
  call.reply.integer(static_cast<int64_t>(group.pending.size()));
  if (group.pending.empty()) {
    call.reply.null();
    call.reply.null();
    return call.reply.null_array();
  }
  answer_id(call, group.pending.begin()->first);
  answer_id(call, group.pending.rbegin()->first);
  const auto busy = [](const auto& named) { return !named.second.pending.empty(); };
  call.reply.array(std::ranges::count_if(group.consumers, busy));
  for (const auto& named : group.consumers) {
    if (!busy(named)) continue;
    call.reply.array(2);
    call.reply.bulk(named.first);
    call.reply.bulk_integer(static_cast<int64_t>(named.second.pending.size()));
  }
}

struct Listed {
  StreamId id;
  const StreamPending* pending;
};

// The same for a group's list and a consumer's, which have different element types.
const StreamPending* pointer_to(const StreamPending& pending) {
  return &pending;
}
const StreamPending* pointer_to(const StreamPending* pending) {
  return pending;
}

template <class Pending>
std::vector<Listed> list_pending(const Pending& all, const PendingOptions& options,
                                 int64_t now_ms) {
  std::vector<Listed> listed;
  for (auto at = all.lower_bound(options.from); at != all.end() && at->first <= options.to; ++at) {
    if (listed.size() == options.count) break;
    const StreamPending* pending = pointer_to(at->second);
    if (options.min_idle_ms != 0 && now_ms - pending->delivered_ms < options.min_idle_ms) continue;
    listed.push_back({at->first, pending});
  }
  return listed;
}

void answer_listed(Call& call, const std::vector<Listed>& listed) {
  call.reply.array(static_cast<int64_t>(listed.size()));
  for (const Listed& one : listed) {
    call.reply.array(4);
    answer_id(call, one.id);
    call.reply.bulk(one.pending->consumer->name);
    call.reply.integer(std::max<int64_t>(call.now_ms() - one.pending->delivered_ms, 0));
    call.reply.integer(one.pending->deliveries);
  }
}

struct ClaimOptions {
  int64_t min_idle_ms = 0;
  int64_t delivered_ms = 0;
  int64_t retry_count = -1;  // -1: not given
  bool force = false;
  bool just_id = false;
  StreamId last_id;
};

// One group of one stream, while entries of it change their consumer.
class Claimer {
 public:
  Claimer(Call& call, Entry& entry, StreamGroup& group, const ClaimOptions& options)
      : call_(call),
        stream_(stream_of(entry.edit(Type::kStream))),
        group_(group),
        options_(options),
        effects_(call, call.arg(1), call.arg(2)) {
    call.rewrite.nothing();
    consumer_ = Stream::consumer(group, call.arg(3));
    if (consumer_ == nullptr) {
      consumer_ = &stream_.add_consumer(group, call.arg(3), call.now_ms());
      entry.changed(kCreateConsumerEvent);
      effects_.consumer_created(call.arg(3));
    }
    consumer_->seen_ms = call.now_ms();
  }

  bool exists(const StreamId& id) const { return stream_.contains(id); }

  // A deleted entry cannot be claimed; it leaves the pending list.
  bool forget(const StreamId& id) {
    const auto found = group_.pending.find(id);
    if (found == group_.pending.end()) return false;
    effects_.pending_changed(group_, id, found->second);
    stream_.acknowledge(group_, id);
    changes_++;
    return true;
  }

  // False: it is not pending (and FORCE is not given), or not idle for long enough.
  bool claim(const StreamId& id) {
    const auto found = group_.pending.find(id);
    if (found == group_.pending.end()) {
      if (!options_.force) return false;
    } else if (options_.min_idle_ms != 0 &&
               call_.now_ms() - found->second.delivered_ms < options_.min_idle_ms) {
      return false;
    }
    StreamPending& pending = stream_.assign(group_, id, *consumer_, call_.now_ms());
    pending.delivered_ms = options_.delivered_ms;
    if (options_.retry_count >= 0) {
      pending.deliveries = options_.retry_count;
    } else if (!options_.just_id) {
      pending.count_delivery();
    }
    consumer_->active_ms = call_.now_ms();
    effects_.pending_changed(group_, id, pending);
    changes_++;
    return true;
  }

  void move_group() {
    if (options_.last_id <= group_.last_id) return;
    group_.last_id = options_.last_id;
    moved_ = true;
  }

  void answer(const std::vector<StreamId>& claimed) {
    call_.reply.array(static_cast<int64_t>(claimed.size()));
    for (const StreamId& id : claimed) {
      if (options_.just_id) {
        answer_id(call_, id);
      } else {
        answer_entry(call_, *stream_.find(id));
      }
    }
  }

  // Counts as a change, but there is no event for pending entries.
  void finish() {
    if (moved_ && changes_ == 0) {
      effects_.position_changed(group_);
      changes_++;
    }
    call_.keys.count_changes(changes_);
  }

 private:
  Call& call_;
  Stream& stream_;
  StreamGroup& group_;
  const ClaimOptions& options_;
  GroupEffects effects_;
  StreamConsumer* consumer_;
  uint64_t changes_ = 0;
  bool moved_ = false;
};

// False: an error has been answered.
bool parse_claim_options(Call& call, size_t from, ClaimOptions& parsed) {
  const int64_t now = call.now_ms();
  parsed.delivered_ms = now;
  OptionParser options(call.args, from);
  while (options.more()) {
    if (options.word("FORCE")) {
      parsed.force = true;
    } else if (options.word("JUSTID")) {
      parsed.just_id = true;
    } else if (options.word("IDLE", 1)) {
      const int64_t idle = options.integer("ERR Invalid IDLE option argument for XCLAIM");
      parsed.delivered_ms = checked_sub(now, idle).value_or(now);
    } else if (options.word("TIME", 1)) {
      parsed.delivered_ms = options.integer("ERR Invalid TIME option argument for XCLAIM");
    } else if (options.word("RETRYCOUNT", 1)) {
      parsed.retry_count = options.integer("ERR Invalid RETRYCOUNT option argument for XCLAIM");
    } else if (options.word("LASTID", 1)) {
      const auto id = parse_id(call, options.text());
      if (!id) return false;
      parsed.last_id = *id;
    } else {
      call.reply.error(fmt::format("ERR Unrecognized XCLAIM option '{}'", options.peek()));
      return false;
    }
  }
  // Times are from clients' clocks; an impossible one is replaced by now. Replayed effects are
  // exempt: they were checked against a clock that may be ahead of this one.
  const bool ahead = parsed.delivered_ms > now && !call.caller.repeats_history();
  if (parsed.delivered_ms < 0 || ahead) parsed.delivered_ms = now;
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

// The group of a command that is about to change it. Null: an error has been answered.
StreamGroup* open_group(Call& call, Entry& entry) {
  if (!check_type(call, entry, Type::kStream)) return nullptr;
  StreamGroup* group = entry ? stream_of(entry.edit(Type::kStream)).group(call.arg(2)) : nullptr;
  if (group == nullptr) answer_no_group(call);
  return group;
}

}  // namespace

void xpending(Call& call) {
  const bool summary = call.argc() == 3;
  if (!summary && (call.argc() < 6 || call.argc() > 9)) return answer::syntax_error(call);
  PendingOptions options;
  if (!summary) {
    const auto parsed = parse_xpending(call);
    if (!parsed) return;
    options = *parsed;
  }
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kStream)) return;
  const StreamGroup* group = record == nullptr ? nullptr : stream_of(*record).group(call.arg(2));
  if (group == nullptr) return answer_no_group(call);
  if (summary) return answer_summary(call, *group);
  if (!options.consumer) {
    return answer_listed(call, list_pending(group->pending, options, call.now_ms()));
  }
  const StreamConsumer* consumer = Stream::consumer(*group, *options.consumer);
  if (consumer == nullptr) return call.reply.array(0);
  answer_listed(call, list_pending(consumer->pending, options, call.now_ms()));
}

void xclaim(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  StreamGroup* group = open_group(call, entry);
  if (group == nullptr) return;
  const auto idle =
      parse_integer(call, call.arg(4), "ERR Invalid min-idle-time argument for XCLAIM");
  if (!idle) return;
  ClaimOptions options;
  options.min_idle_ms = std::max<int64_t>(*idle, 0);
  // Ids, up to the first argument that is none.
  std::vector<StreamId> ids;
  size_t at = 5;
  for (; at < call.argc(); at++) {
    const auto id = parse_stream_id(call.arg(at));
    if (!id) break;
    ids.push_back(*id);
  }
  if (!parse_claim_options(call, at, options)) return;

  Claimer claimer(call, entry, *group, options);
  claimer.move_group();
  std::vector<StreamId> claimed;
  for (const StreamId& id : ids) {
    if (!claimer.exists(id)) {
      claimer.forget(id);
    } else if (claimer.claim(id)) {
      claimed.push_back(id);
    }
  }
  claimer.answer(claimed);
  claimer.finish();
}

void xautoclaim(Call& call) {
  const auto idle =
      parse_integer(call, call.arg(4), "ERR Invalid min-idle-time argument for XAUTOCLAIM");
  if (!idle) return;
  const auto start = parse_range_start(call, call.arg(5));
  if (!start) return;
  ClaimOptions options;
  options.min_idle_ms = std::max<int64_t>(*idle, 0);
  options.delivered_ms = call.now_ms();
  constexpr int64_t kLooksPerClaim = 10;
  constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max() / 16;
  constexpr std::string_view kBadCount = "ERR COUNT must be > 0";
  int64_t count = 100;
  OptionParser words(call.args, 6);
  while (words.more()) {
    if (words.word("COUNT", 1)) {
      count = words.integer(kBadCount);
      if (count < 1 || count > kMaxCount) words.fail(kBadCount);
    } else if (words.word("JUSTID")) {
      options.just_id = true;
    } else {
      words.fail_syntax();
    }
  }
  if (words.failed()) return call.reply.error(words.error());
  Entry entry = call.keys.open(call.key(1));
  StreamGroup* group = open_group(call, entry);
  if (group == nullptr) return;

  Claimer claimer(call, entry, *group, options);
  std::vector<StreamId> claimed;
  std::vector<StreamId> gone;
  auto at = group->pending.lower_bound(*start);
  for (int64_t looks = count * kLooksPerClaim; looks > 0 && count > 0; looks--) {
    if (at == group->pending.end()) break;
    const StreamId id = at->first;
    ++at;
    if (!claimer.exists(id)) {
      claimer.forget(id);
      gone.push_back(id);
      count--;
    } else if (claimer.claim(id)) {
      claimed.push_back(id);
      count--;
    }
  }
  call.reply.array(3);
  answer_id(call, at == group->pending.end() ? kMinStreamId : at->first);
  claimer.answer(claimed);
  call.reply.array(static_cast<int64_t>(gone.size()));
  for (const StreamId& id : gone) answer_id(call, id);
  claimer.finish();
}

}  // namespace sorrel::commands::stream
