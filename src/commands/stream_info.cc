#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "commands/collection_parts.h"
#include "commands/stream_handlers.h"
#include "commands/stream_parts.h"

// XINFO: reports on a stream, its groups and their consumers.

namespace sorrel::commands::stream {
namespace {

void field(Call& call, std::string_view name, int64_t value) {
  call.reply.bulk(name);
  call.reply.integer(value);
}
void field(Call& call, std::string_view name, size_t value) {
  field(call, name, static_cast<int64_t>(value));
}
void field(Call& call, std::string_view name, const StreamId& id) {
  call.reply.bulk(name);
  answer_id(call, id);
}
void field(Call& call, std::string_view name, std::string_view text) {
  call.reply.bulk(name);
  call.reply.bulk(text);
}
void field(Call& call, std::string_view name, const std::optional<int64_t>& value) {
  call.reply.bulk(name);
  if (value) {
    call.reply.integer(*value);
  } else {
    call.reply.null();
  }
}

std::optional<int64_t> entries_read(const StreamGroup& group) {
  if (group.entries_read == StreamGroup::kUnknown) return std::nullopt;
  return group.entries_read;
}

// Null: an error has been answered.
const Stream* find_stream(Call& call) {
  const Record* record = call.keys.read(call.key(2));
  if (record == nullptr) {
    call.reply.error("ERR no such key");
    return nullptr;
  }
  if (!check_type(call, record, Type::kStream)) return nullptr;
  return &stream_of(*record);
}

void answer_edge(Call& call, const Stream& stream, StreamWalk::Direction direction) {
  StreamEntry entry;
  if (StreamWalk(stream, kMinStreamId, kMaxStreamId, direction).next(entry)) {
    answer_entry(call, entry);
  } else {
    call.reply.null();
  }
}

// The first seven fields of both forms.
void answer_stream_head(Call& call, const Stream& stream) {
  field(call, "length", size_t{stream.length()});
  field(call, "radix-tree-keys", stream.node_count());
  // There is no radix tree here; this is the minimum for a tree with these keys.
  field(call, "radix-tree-nodes", stream.node_count() + 1);
  field(call, "last-generated-id", stream.last_id());
  field(call, "max-deleted-entry-id", stream.max_deleted_id());
  field(call, "entries-added", size_t{stream.entries_added()});
  field(call, "recorded-first-entry-id", stream.first_id());
}

size_t shown(size_t size, size_t count) {
  return count == 0 ? size : std::min(size, count);
}

void answer_full_consumer(Call& call, const StreamConsumer& consumer, size_t count) {
  call.reply.map(5);
  field(call, "name", std::string_view(consumer.name));
  field(call, "seen-time", consumer.seen_ms);
  field(call, "active-time", consumer.active_ms);
  field(call, "pel-count", consumer.pending.size());
  call.reply.bulk("pending");
  size_t left = shown(consumer.pending.size(), count);
  call.reply.array(static_cast<int64_t>(left));
  for (auto at = consumer.pending.begin(); left > 0; ++at, left--) {
    call.reply.array(3);
    answer_id(call, at->first);
    call.reply.integer(at->second->delivered_ms);
    call.reply.integer(at->second->deliveries);
  }
}

void answer_full_group(Call& call, const Stream& stream, const StreamGroup& group, size_t count) {
  field(call, "last-delivered-id", group.last_id);
  field(call, "entries-read", entries_read(group));
  field(call, "lag", stream.lag(group));
  field(call, "pel-count", group.pending.size());
  call.reply.bulk("pending");
  size_t left = shown(group.pending.size(), count);
  call.reply.array(static_cast<int64_t>(left));
  for (auto at = group.pending.begin(); left > 0; ++at, left--) {
    call.reply.array(4);
    answer_id(call, at->first);
    call.reply.bulk(at->second.consumer->name);
    call.reply.integer(at->second.delivered_ms);
    call.reply.integer(at->second.deliveries);
  }
  call.reply.bulk("consumers");
  call.reply.array(static_cast<int64_t>(group.consumers.size()));
  for (const auto& [name, consumer] : group.consumers) answer_full_consumer(call, consumer, count);
}

void answer_full(Call& call, const Stream& stream, size_t count) {
  call.reply.map(9);
  answer_stream_head(call, stream);
  call.reply.bulk("entries");
  answer_range(call, stream, kMinStreamId, kMaxStreamId, count);
  call.reply.bulk("groups");
  call.reply.array(static_cast<int64_t>(stream.groups().size()));
  for (const auto& [name, group] : stream.groups()) {
    call.reply.map(7);
    field(call, "name", std::string_view(name));
    answer_full_group(call, stream, group, count);
  }
}

}  // namespace

void xinfo_stream(Call& call) {
  const Stream* stream = find_stream(call);
  if (stream == nullptr) return;
  if (call.argc() == 3) {
    call.reply.map(10);
    answer_stream_head(call, *stream);
    field(call, "groups", stream->groups().size());
    call.reply.bulk("first-entry");
    answer_edge(call, *stream, StreamWalk::Direction::kUp);
    call.reply.bulk("last-entry");
    answer_edge(call, *stream, StreamWalk::Direction::kDown);
    return;
  }
  constexpr int64_t kDefaultCount = 10;
  const bool counted = call.argc() == 6 && iequals(call.arg(4), "COUNT");
  if (!iequals(call.arg(3), "FULL") || (call.argc() != 4 && !counted)) {
    return answer::subcommand_syntax(call);
  }
  int64_t count = kDefaultCount;
  if (counted) {
    const auto given = parse_integer(call, call.arg(5));
    if (!given) return;
    if (*given >= 0) count = *given;
  }
  answer_full(call, *stream, static_cast<size_t>(count));
}

void xinfo_groups(Call& call) {
  const Stream* stream = find_stream(call);
  if (stream == nullptr) return;
  call.reply.array(static_cast<int64_t>(stream->groups().size()));
  for (const auto& [name, group] : stream->groups()) {
    call.reply.map(6);
    field(call, "name", std::string_view(name));
    field(call, "consumers", group.consumers.size());
    field(call, "pending", group.pending.size());
    field(call, "last-delivered-id", group.last_id);
    field(call, "entries-read", entries_read(group));
    field(call, "lag", stream->lag(group));
  }
}

void xinfo_consumers(Call& call) {
  const Stream* stream = find_stream(call);
  if (stream == nullptr) return;
  const StreamGroup* group = stream->group(call.arg(3));
  if (group == nullptr) {
    return call.reply.error(fmt::format("NOGROUP No such consumer group '{}' for key name '{}'",
                                        call.arg(3), call.arg(2)));
  }
  const int64_t now = call.now_ms();
  call.reply.array(static_cast<int64_t>(group->consumers.size()));
  for (const auto& [name, consumer] : group->consumers) {
    call.reply.map(4);
    field(call, "name", std::string_view(name));
    field(call, "pending", consumer.pending.size());
    field(call, "idle", std::max<int64_t>(now - consumer.seen_ms, 0));
    field(call, "inactive", consumer.active_ms == -1 ? int64_t{-1} : now - consumer.active_ms);
  }
}

void xinfo_help(Call& call) {
  answer::help(call, {
                         "CONSUMERS <key> <groupname>",
                         "    List the consumers of a group.",
                         "GROUPS <key>",
                         "    List the groups of a stream.",
                         "STREAM <key> [FULL [COUNT <count>]",
                         "    Tell about a stream; with FULL, everything.",
                     });
}

}  // namespace sorrel::commands::stream
