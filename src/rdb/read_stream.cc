// A stream is stored as nodes, ids, counters and pending lists that refer to each other; every
// reference is validated, because commands rely on them later.

#include <algorithm>
#include <limits>
#include <vector>

#include "rdb/read_parts.h"
#include "types/stream.h"

namespace sorrel::rdb {
namespace {

constexpr size_t kIdBytes = 16;
constexpr size_t kTimeBytes = 8;

class StreamReader {
 public:
  StreamReader(ObjectType type, Reader& in, Stream& stream)
      : in_(in),
        stream_(stream),
        has_counters_(type != ObjectType::kStream1),
        has_activity_(type == ObjectType::kStream3) {}

  bool read() {
    if (!read_nodes() || !read_counters()) return false;
    const uint64_t groups = in_.count(5);
    for (uint64_t i = 0; i < groups; i++) {
      if (!read_group()) return false;
    }
    return !in_.failed();
  }

 private:
  // Entries delivered and not acknowledged, before their consumers are known.
  struct Pending {
    StreamId id;
    int64_t delivered_ms;
    int64_t deliveries;
    bool owned;
  };

  bool read_nodes();
  bool read_counters();
  bool read_group();
  bool read_pending();
  bool read_consumer(StreamGroup& group);

  bool refuse(std::string_view flaw) {
    in_.note_flaw(flaw);
    return false;
  }
  StreamId read_raw_id() {
    const uint64_t ms = in_.big_endian();
    return {ms, in_.big_endian()};
  }
  StreamId read_id() {
    const uint64_t ms = in_.length();
    return {ms, in_.length()};
  }
  // A number that is stored in a signed type.
  int64_t read_counter() {
    const uint64_t value = in_.length();
    if (value > uint64_t{std::numeric_limits<int64_t>::max()}) in_.fail();
    return in_.failed() ? 0 : static_cast<int64_t>(value);
  }
  int64_t read_time(int64_t least) {
    const auto time = in_.little_endian<int64_t>();
    if (time < least) in_.fail();
    return in_.failed() ? least : time;
  }

  Reader& in_;
  Stream& stream_;
  bool has_counters_;
  bool has_activity_;
  std::vector<Pending> pending_;
  std::string scratch_;
  StreamId last_entry_;  // of live entries, over all nodes
};

bool StreamReader::read_nodes() {
  const uint64_t nodes = in_.count(1 + kIdBytes + 1);
  std::string key_scratch;
  bool first = true;
  for (uint64_t i = 0; i < nodes; i++) {
    Reader key(in_.string(key_scratch));
    const StreamId id{key.big_endian(), key.big_endian()};
    const std::string_view bytes = in_.string(scratch_);
    if (in_.failed() || !key.at_end() || !listpack::valid(bytes)) return false;
    // Nodes are found by their ids, so their ranges must not overlap.
    if (!first && id <= last_entry_) return false;
    const auto node = reinterpret_cast<listpack::ConstBlock>(bytes.data());
    const auto checked = stream_node::check(node, id);
    if (!checked) return false;
    first = false;
    last_entry_ = checked->last;
    stream_.push_node(
        id, checked->tidy ? listpack::adopt(bytes) : stream_node::without_deleted(node, id));
  }
  return !in_.failed();
}

bool StreamReader::read_counters() {
  const uint64_t length = in_.length();
  const StreamId last = read_id();
  if (in_.failed()) return false;
  if (length != stream_.length()) return refuse("its length is not the number of its entries");
  if (last < last_entry_) return refuse("an entry is above its last ID");
  stream_.set_last_id(last);
  stream_.set_entries_added(length);
  if (!has_counters_) return true;
  // The first id follows from the entries.
  read_id();
  const StreamId max_deleted = read_id();
  const int64_t added = read_counter();
  // A deleted id may be above the last one: XSETID of older versions allows it.
  if (in_.failed() || static_cast<uint64_t>(added) < length) return false;
  stream_.set_max_deleted_id(max_deleted);
  stream_.set_entries_added(static_cast<uint64_t>(added));
  return true;
}

bool StreamReader::read_group() {
  const std::string_view name = in_.string(scratch_);
  if (in_.failed()) return false;
  StreamGroup* const group = stream_.add_group(name, {}, StreamGroup::kUnknown);
  if (group == nullptr) return refuse("Duplicate stream group detected");
  group->last_id = read_id();
  if (has_counters_) {
    const auto read = static_cast<int64_t>(in_.length());
    if (read < StreamGroup::kUnknown) return false;
    group->entries_read = read;
  } else {
    group->entries_read = stream_.count_up_to(group->last_id).value_or(StreamGroup::kUnknown);
  }
  if (!read_pending()) return false;
  const uint64_t consumers = in_.count(1 + kTimeBytes + 1);
  for (uint64_t i = 0; i < consumers; i++) {
    if (!read_consumer(*group)) return false;
  }
  const auto is_owned = [](const Pending& pending) { return pending.owned; };
  if (in_.failed()) return false;
  return std::all_of(pending_.begin(), pending_.end(), is_owned) ||
         refuse("a pending entry belongs to no consumer");
}

bool StreamReader::read_pending() {
  pending_.clear();
  const uint64_t entries = in_.count(kIdBytes + kTimeBytes + 1);
  for (uint64_t i = 0; i < entries; i++) {
    const StreamId id = read_raw_id();
    const int64_t delivered_ms = read_time(0);
    const int64_t deliveries = read_counter();
    if (in_.failed() || (!pending_.empty() && id <= pending_.back().id)) return false;
    pending_.push_back({id, delivered_ms, deliveries, false});
  }
  return !in_.failed();
}

// Each pending entry belongs to exactly one consumer.
bool StreamReader::read_consumer(StreamGroup& group) {
  const std::string_view name = in_.string(scratch_);
  if (in_.failed()) return false;
  if (Stream::consumer(group, name) != nullptr) return refuse("Duplicate stream consumer detected");
  StreamConsumer& consumer = stream_.add_consumer(group, name, 0);
  consumer.seen_ms = read_time(0);
  consumer.active_ms = has_activity_ ? read_time(-1) : consumer.seen_ms;
  const uint64_t entries = in_.count(kIdBytes);
  for (uint64_t i = 0; i < entries; i++) {
    const StreamId id = read_raw_id();
    const auto is_below = [](const Pending& pending, const StreamId& other) {
      return pending.id < other;
    };
    const auto found = std::lower_bound(pending_.begin(), pending_.end(), id, is_below);
    if (in_.failed()) return false;
    if (found == pending_.end() || found->id != id || found->owned) {
      return refuse("a consumer has an entry that is not pending for it");
    }
    found->owned = true;
    stream_.assign(group, id, consumer, found->delivered_ms).deliveries = found->deliveries;
  }
  return !in_.failed();
}

}  // namespace

std::optional<Value> read_stream(ObjectType type, Reader& in) {
  Value value(Type::kStream);
  if (!StreamReader(type, in, stream_of(value.collection())).read()) return std::nullopt;
  return value;
}

}  // namespace sorrel::rdb
