#include "commands/stream_parts.h"

#include "base/numbers.h"

namespace sorrel::commands {
namespace {

constexpr std::string_view kInvalidId =
    "ERR Invalid stream ID specified as stream command argument";

// "(" before an id; alone it is not an id.
bool take_exclusive(std::string_view& text) {
  if (text.size() < 2 || text[0] != '(') return false;
  text.remove_prefix(1);
  return true;
}

// Only inclusive bounds may be "-" and "+".
std::optional<StreamId> parse_bound(Call& call, std::string_view text, uint64_t missing_seq,
                                    bool exclusive) {
  if (!exclusive && text == "-") return kMinStreamId;
  if (!exclusive && text == "+") return kMaxStreamId;
  return parse_id(call, text, missing_seq);
}

std::string copy(std::string_view text) {
  return std::string(text);
}

}  // namespace

std::optional<StreamId> parse_id(Call& call, std::string_view text, uint64_t missing_seq) {
  const auto id = parse_stream_id(text, missing_seq);
  if (!id) call.reply.error(kInvalidId);
  return id;
}

std::optional<std::vector<StreamId>> parse_ids(Call& call, size_t from) {
  return parse_ids(call, from, call.argc() - from);
}

std::optional<std::vector<StreamId>> parse_ids(Call& call, size_t from, size_t count) {
  std::vector<StreamId> ids;
  ids.reserve(count);
  for (size_t i = from; i < from + count; i++) {
    const auto id = parse_id(call, call.arg(i));
    if (!id) return std::nullopt;
    ids.push_back(*id);
  }
  return ids;
}

std::optional<StreamRefs> refs_named(std::string_view word) {
  if (iequals(word, "KEEPREF")) return StreamRefs::kKeep;
  if (iequals(word, "DELREF")) return StreamRefs::kDelete;
  if (iequals(word, "ACKED")) return StreamRefs::kAcked;
  return std::nullopt;
}

std::optional<StreamId> parse_range_start(Call& call, std::string_view text) {
  const bool exclusive = take_exclusive(text);
  auto id = parse_bound(call, text, 0, exclusive);
  if (!id || !exclusive) return id;
  id = id->after();
  if (!id) call.reply.error("ERR invalid start ID for the interval");
  return id;
}

std::optional<StreamId> parse_range_end(Call& call, std::string_view text) {
  const bool exclusive = take_exclusive(text);
  auto id = parse_bound(call, text, kMaxStreamPart, exclusive);
  if (!id || !exclusive) return id;
  id = id->before();
  if (!id) call.reply.error("ERR invalid end ID for the interval");
  return id;
}

std::optional<int64_t> parse_integer(Call& call, std::string_view text, std::string_view error) {
  const auto value = parse_int64(text);
  if (value) return value;
  if (error.empty()) {
    answer::not_an_integer(call);
  } else {
    call.reply.error(error);
  }
  return std::nullopt;
}

void answer_id(Call& call, const StreamId& id) {
  call.reply.bulk(StreamIdText(id).view());
}

void answer_entry(Call& call, const StreamEntry& entry) {
  call.reply.array(2);
  answer_id(call, entry.id);
  call.reply.array(2 * entry.fields);
  stream_node::Fields fields(entry);
  listpack::Element name;
  listpack::Element value;
  while (fields.next(name, value)) {
    IntegerText scratch;
    call.reply.bulk(name.text(scratch));
    call.reply.bulk(value.text(scratch));
  }
}

void answer_range(Call& call, const Stream& stream, const StreamId& from, const StreamId& to,
                  uint64_t count, StreamWalk::Direction direction) {
  // The reply needs the number of entries first.
  std::vector<StreamEntry> found;
  StreamWalk walk(stream, from, to, direction);
  StreamEntry entry;
  while ((count == 0 || found.size() < count) && walk.next(entry)) found.push_back(entry);
  call.reply.array(static_cast<int64_t>(found.size()));
  for (const StreamEntry& one : found) answer_entry(call, one);
}

void GroupEffects::consumer_created(std::string_view consumer) {
  if (!call_.wants_effect()) return;
  call_.rewrite.as({"XGROUP", "CREATECONSUMER", copy(key_), copy(group_), copy(consumer)});
}

void GroupEffects::pending_changed(const StreamGroup& group, const StreamId& id,
                                   const StreamPending& pending) {
  if (!call_.wants_effect()) return;
  call_.rewrite.as({"XCLAIM", copy(key_), copy(group_), pending.consumer->name, "0", id.text(),
                    "TIME", to_text(pending.delivered_ms), "RETRYCOUNT",
                    to_text(pending.deliveries), "FORCE", "JUSTID", "LASTID",
                    group.last_id.text()});
}

void GroupEffects::position_changed(const StreamGroup& group) {
  if (!call_.wants_effect()) return;
  call_.rewrite.as({"XGROUP", "SETID", copy(key_), copy(group_), group.last_id.text(),
                    "ENTRIESREAD", to_text(group.entries_read)});
}

}  // namespace sorrel::commands
