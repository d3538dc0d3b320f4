#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "commands/collection_parts.h"
#include "commands/stream_handlers.h"
#include "commands/stream_parts.h"
#include "commands/wait_option.h"

// XREAD and XREADGROUP: new entries of several streams, with or without a consumer group.

namespace sorrel::commands::stream {
namespace {

struct ReadOptions {
  uint64_t count = 0;  // 0: all
  bool no_ack = false;
  std::optional<int64_t> wait_until_ms;  // BLOCK: until then; 0: forever
  bool has_group = false;
  std::string_view group;
  std::string_view consumer;
  size_t keys_at = 0;  // 0: no keys were found
  size_t streams = 0;
};

// Finds the keys where the key specs of the catalog find them, because those keys are latched.
class ReadParser {
 public:
  ReadParser(Call& call, bool for_group) : call_(call), for_group_(for_group) {}

  // False: an error has been answered.
  bool parse(ReadOptions& parsed) {
    while (at_ < call_.argc() && parsed.keys_at == 0) {
      if (!take_one(parsed)) return false;
    }
    if (parsed.keys_at == 0) return fail("ERR syntax error");
    if (for_group_ && !parsed.has_group) return fail("ERR Missing GROUP option for XREADGROUP");
    return true;
  }

 private:
  bool fail(std::string_view error) {
    call_.reply.error(error);
    return false;
  }

  bool take_one(ReadOptions& parsed) {
    const std::string_view word = call_.arg(at_);
    const size_t follow = call_.argc() - at_ - 1;
    if (iequals(word, "BLOCK") && follow >= 1) return take_block(parsed);
    if (iequals(word, "COUNT") && follow >= 1) {
      const auto count = parse_integer(call_, call_.arg(at_ + 1));
      if (!count) return false;
      parsed.count = static_cast<uint64_t>(std::max<int64_t>(*count, 0));
      at_ += 2;
      return true;
    }
    if (iequals(word, "STREAMS") && follow >= 1) return take_streams(parsed, follow);
    if (iequals(word, "GROUP") && follow >= 2) return take_group(parsed);
    if (iequals(word, "NOACK")) {
      if (!for_group_) {
        return fail(
            "ERR The NOACK option is only supported by XREADGROUP. You "
            "called XREAD "
            "instead.");
      }
      parsed.no_ack = true;
      at_++;
      return true;
    }
    return fail("ERR syntax error");
  }

  bool take_block(ReadOptions& parsed) {
    if (call_.caller.kind == Caller::Kind::kScript) {
      return fail(fmt::format("ERR {} command is not allowed with BLOCK option from scripts",
                              call_.arg(0)));
    }
    const auto timeout =
        parse_integer(call_, call_.arg(at_ + 1), "ERR timeout is not an integer or out of range");
    if (!timeout) return false;
    if (*timeout < 0) return fail("ERR timeout is negative");
    const auto until = checked_add(call_.now_ms(), *timeout);
    if (!until) return fail("ERR timeout is out of range");
    parsed.wait_until_ms = *timeout == 0 ? 0 : *until;
    at_ += 2;
    return true;
  }

  bool take_streams(ReadOptions& parsed, size_t follow) {
    if (follow % 2 != 0) {
      return fail(
          fmt::format("ERR Unbalanced '{}' list of streams: for each stream key an ID or "
                      "'{}' must be specified.",
                      for_group_ ? "xreadgroup" : "xread", for_group_ ? '>' : '$'));
    }
    parsed.keys_at = at_ + 1;
    parsed.streams = follow / 2;
    return true;
  }

  bool take_group(ReadOptions& parsed) {
    if (!for_group_) {
      return fail(
          "ERR The GROUP option is only supported by XREADGROUP. You "
          "called XREAD "
          "instead.");
    }
    parsed.has_group = true;
    parsed.group = call_.arg(at_ + 1);
    parsed.consumer = call_.arg(at_ + 2);
    at_ += 3;
    return true;
  }

  Call& call_;
  bool for_group_;
  size_t at_ = 1;
};

// The position to read a stream from: entries greater than `after`.
struct Place {
  size_t key_at;
  StreamId after;
  bool only_new = false;  // XREADGROUP's ">"
};

constexpr std::string_view kMeaninglessLast =
    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to "
    "read the history of "
    "this consumer by specifying a proper ID, or use the > ID to get new "
    "messages. The $ ID would "
    "just return an empty result set.";
constexpr std::string_view kMeaninglessEnd =
    "ERR The + ID is meaningless in the context of XREADGROUP: you want to "
    "read the history of "
    "this consumer by specifying a proper ID, or use the > ID to get new "
    "messages. The + ID would "
    "just return an empty result set.";

// nullopt: an error has been answered. `stream` is null when there is no such key.
std::optional<Place> parse_place(Call& call, const ReadOptions& options, size_t index,
                                 const Stream* stream) {
  const std::string_view text = call.arg(options.keys_at + options.streams + index);
  Place place{options.keys_at + index, {}, false};
  std::string_view error;
  if (text == "$") {
    if (options.has_group) error = kMeaninglessLast;
    if (stream != nullptr) place.after = stream->last_id();
  } else if (text == "+") {
    if (options.has_group) error = kMeaninglessEnd;
    // The last entry, whatever was deleted after it.
    if (stream != nullptr) {
      const StreamId last = stream->length() == 0 ? stream->last_id() : stream->last_entry_id();
      place.after = last.before().value_or(kMinStreamId);
    }
  } else if (text == ">") {
    if (!options.has_group) {
      error =
          "ERR The > ID can be specified only when calling XREADGROUP "
          "using the GROUP <group> "
          "<consumer> option.";
    }
    place.only_new = true;
  } else {
    const auto id = parse_id(call, text);
    if (!id) return std::nullopt;
    place.after = *id;
    // As in Redis, the greatest id is a synonym of ">".
    place.only_new = options.has_group && *id == kMaxStreamId;
  }
  if (error.empty()) return place;
  call.reply.error(error);
  return std::nullopt;
}

// Parses all keys and ids before any change. False: an error has been answered.
bool find_places(Call& call, const ReadOptions& options, std::vector<Place>& places) {
  for (size_t i = 0; i < options.streams; i++) {
    const std::string_view key = call.arg(options.keys_at + i);
    const Record* record = call.keys.read(call.key(options.keys_at + i));
    // A client blocked on a stream stays blocked when the key gets another type.
    if (call.retrying() && !options.has_group && record != nullptr &&
        record->type() != Type::kStream) {
      record = nullptr;
    }
    if (!check_type(call, record, Type::kStream)) return false;
    const Stream* stream = record == nullptr ? nullptr : &stream_of(*record);
    if (options.has_group && (stream == nullptr || stream->group(options.group) == nullptr)) {
      call.reply.error(
          fmt::format("NOGROUP No such key '{}' or consumer group "
                      "'{}' in XREADGROUP with GROUP "
                      "option",
                      key, options.group));
      return false;
    }
    const auto place = parse_place(call, options, i, stream);
    if (!place) return false;
    places.push_back(*place);
  }
  return true;
}

// RESP2 has an array of pairs where RESP3 has a map.
void begin_streams(Call& call, size_t count) {
  if (call.reply.protocol() == 3) {
    call.reply.map(static_cast<int64_t>(count));
  } else {
    call.reply.array(static_cast<int64_t>(count));
  }
}

void begin_stream(Call& call, size_t key_at) {
  if (call.reply.protocol() != 3) call.reply.array(2);
  call.reply.bulk(call.arg(key_at));
}

// Blocks the client, if BLOCK was given.
void answer_nothing(Call& call, const ReadOptions& options, const std::vector<Place>& places) {
  if (!options.wait_until_ms) return call.reply.null_array();
  // "$" is the last id now, not at the time when the client is served.
  if (call.caller.may_wait && !call.retrying()) {
    for (const Place& place : places) {
      const size_t id_at = place.key_at + options.streams;
      if (call.arg(id_at) != "$") continue;
      call.waiting.replaced.emplace_back(id_at, place.after.text());
    }
  }
  auto keys = positions(options.keys_at, options.streams);
  if (options.has_group) {
    call.wait_needing_keys(std::move(keys), *options.wait_until_ms, true);
  } else {
    call.wait(std::move(keys), *options.wait_until_ms, true);
  }
}

const Stream& peek_stream(Call& call, size_t key_at) {
  return stream_of(*call.keys.peek(call.key(key_at)));
}

// The entries of one stream to deliver to a consumer.
struct Share {
  size_t key_at;
  bool history;
  // New entries: all from the first to the last of these.
  std::vector<StreamId> ids;
};

// Delivers new entries to the consumer; returns their ids.
std::vector<StreamId> deliver(Call& call, const ReadOptions& options, Stream& stream,
                              StreamGroup& group, StreamConsumer& consumer, GroupEffects& effects) {
  std::vector<StreamId> ids;
  const auto from = group.last_id.after();
  if (!from) return ids;
  StreamWalk walk(stream, *from, kMaxStreamId);
  StreamEntry entry;
  while ((options.count == 0 || ids.size() < options.count) && walk.next(entry)) {
    ids.push_back(entry.id);
    stream.advance(group, entry.id);
    if (options.no_ack) continue;
    // After XGROUP SETID to an earlier id, another consumer may have the entry pending.
    StreamPending& pending = stream.assign(group, entry.id, consumer, call.now_ms());
    pending.delivered_ms = call.now_ms();
    pending.deliveries = 1;
    consumer.active_ms = call.now_ms();
    effects.pending_changed(group, entry.id, pending);
  }
  if (!ids.empty()) effects.position_changed(group);
  return ids;
}

// The consumer's own pending entries, which count as delivered once more.
std::vector<StreamId> redeliver(Call& call, const ReadOptions& options, const Stream& stream,
                                StreamConsumer& consumer, const StreamId& after) {
  std::vector<StreamId> ids;
  auto at = consumer.pending.upper_bound(after);
  for (; at != consumer.pending.end(); ++at) {
    if (options.count != 0 && ids.size() == options.count) break;
    ids.push_back(at->first);
    if (!stream.contains(at->first)) continue;
    at->second->delivered_ms = call.now_ms();
    at->second->count_delivery();
  }
  return ids;
}

// False: there is nothing to deliver.
bool serve(Call& call, const ReadOptions& options, const Place& place, Share& share) {
  const std::string_view key = call.arg(place.key_at);
  Entry entry = call.keys.open(call.key(place.key_at));
  Stream& stream = stream_of(entry.edit(Type::kStream));
  StreamGroup& group = *stream.group(options.group);
  GroupEffects effects(call, key, options.group);
  StreamConsumer* consumer = Stream::consumer(group, options.consumer);
  if (consumer == nullptr) {
    consumer = &stream.add_consumer(group, options.consumer, call.now_ms());
    entry.changed(kCreateConsumerEvent);
    effects.consumer_created(options.consumer);
  }
  consumer->seen_ms = call.now_ms();
  share.key_at = place.key_at;
  share.history = !place.only_new;
  if (share.history) {
    share.ids = redeliver(call, options, stream, *consumer, place.after);
    return true;
  }
  share.ids = deliver(call, options, stream, group, *consumer, effects);
  if (!share.ids.empty()) call.keys.count_changes(1);
  return !share.ids.empty();
}

void answer_history(Call& call, const Stream& stream, const std::vector<StreamId>& ids) {
  call.reply.array(static_cast<int64_t>(ids.size()));
  for (const StreamId& id : ids) {
    if (const auto entry = stream.find(id)) {
      answer_entry(call, *entry);
    } else {
      // Pending, but deleted from the stream.
      call.reply.array(2);
      answer_id(call, id);
      call.reply.null_array();
    }
  }
}

}  // namespace

void xread(Call& call) {
  ReadOptions options;
  std::vector<Place> places;
  if (!ReadParser(call, false).parse(options) || !find_places(call, options, places)) return;
  std::vector<Place> ready;
  for (const Place& place : places) {
    const Record* record = call.keys.peek(call.key(place.key_at));
    if (record == nullptr || record->type() != Type::kStream) continue;
    const Stream& stream = stream_of(*record);
    if (stream.length() != 0 && stream.last_entry_id() > place.after) ready.push_back(place);
  }
  if (ready.empty()) return answer_nothing(call, options, places);
  begin_streams(call, ready.size());
  for (const Place& place : ready) {
    begin_stream(call, place.key_at);
    answer_range(call, peek_stream(call, place.key_at), *place.after.after(), kMaxStreamId,
                 options.count);
  }
}

void xreadgroup(Call& call) {
  ReadOptions options;
  std::vector<Place> places;
  if (!ReadParser(call, true).parse(options) || !find_places(call, options, places)) return;
  call.rewrite.nothing();
  std::vector<Share> shares;
  for (const Place& place : places) {
    Share share;
    if (serve(call, options, place, share)) shares.push_back(std::move(share));
  }
  if (shares.empty()) return answer_nothing(call, options, places);
  begin_streams(call, shares.size());
  for (const Share& share : shares) {
    begin_stream(call, share.key_at);
    const Stream& stream = peek_stream(call, share.key_at);
    if (share.history) {
      answer_history(call, stream, share.ids);
    } else {
      answer_range(call, stream, share.ids.front(), share.ids.back(), 0);
    }
  }
}

}  // namespace sorrel::commands::stream
