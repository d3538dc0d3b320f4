// Deleting entries leaves gaps in nodes and in the groups' references; the stream keeps counts,
// first id and greatest deleted id exact, as XINFO reports them.

#include "types/stream.h"

#include <algorithm>
#include <utility>

namespace sorrel {
namespace {

constexpr size_t kIndexEntry = 48 + sizeof(StreamId) + sizeof(listpack::Block);

}  // namespace

Stream::~Stream() {
  for (auto& [id, node] : nodes_) listpack::free(node);
}

Stream::Stream(const Stream& other)
    : length_(other.length_),
      entries_added_(other.entries_added_),
      first_id_(other.first_id_),
      last_id_(other.last_id_),
      max_deleted_id_(other.max_deleted_id_) {
  for (const auto& [id, node] : other.nodes_) {
    const auto copy = nodes_.emplace_hint(nodes_.end(), id, listpack::clone(node));
    bytes_ += kIndexEntry + listpack::memory_bytes(copy->second);
  }
  for (const auto& [name, from] : other.groups_) {
    StreamGroup& to = *add_group(name, from.last_id, from.entries_read);
    for (const auto& [consumer_name, consumer] : from.consumers) {
      StreamConsumer& copy = add_consumer(to, consumer_name, consumer.seen_ms);
      copy.active_ms = consumer.active_ms;
      for (const auto& [id, pending] : consumer.pending) {
        assign(to, id, copy, pending->delivered_ms).deliveries = pending->deliveries;
      }
    }
  }
}

bool Stream::is_full(const listpack::Block& node, stream_node::Pairs pairs,
                     const StreamLimits& limits) const {
  if (!stream_node::fits(node, pairs)) return true;
  if (limits.node_bytes > 0) {
    size_t bytes = listpack::bytes(node);
    for (std::string_view text : pairs) bytes += text.size();
    if (bytes >= static_cast<size_t>(limits.node_bytes)) return true;
  }
  return limits.node_entries > 0 &&
         stream_node::live(node) + stream_node::deleted(node) >= limits.node_entries;
}

void Stream::append(const StreamId& id, stream_node::Pairs pairs, const StreamLimits& limits) {
  auto tail = nodes_.end();
  size_t before = 0;
  if (!nodes_.empty()) {
    tail = std::prev(tail);
    if (is_full(tail->second, pairs, limits)) {
      tail = nodes_.end();
    } else {
      before = kIndexEntry + listpack::memory_bytes(tail->second);
    }
  }
  if (tail == nodes_.end()) {
    tail = nodes_.emplace_hint(nodes_.end(), id, stream_node::make(pairs));
  }
  tail->second = stream_node::append(tail->second, tail->first, id, pairs);
  bytes_ += kIndexEntry + listpack::memory_bytes(tail->second) - before;
  length_++;
  entries_added_++;
  last_id_ = id;
  if (length_ == 1) first_id_ = id;
}

void Stream::push_node(const StreamId& id, listpack::Block node) {
  const auto live = static_cast<uint64_t>(stream_node::live(node));
  if (live == 0) return listpack::free(node);
  nodes_.emplace_hint(nodes_.end(), id, node);
  bytes_ += kIndexEntry + listpack::memory_bytes(node);
  const bool was_empty = length_ == 0;
  length_ += live;
  if (was_empty) find_first();
}

std::optional<StreamEntry> Stream::find(const StreamId& id) const {
  StreamEntry entry;
  if (!StreamWalk(*this, id, id).next(entry)) return std::nullopt;
  return entry;
}

StreamId Stream::last_entry_id() const {
  StreamEntry entry;
  StreamWalk walk(*this, kMinStreamId, kMaxStreamId, StreamWalk::Direction::kDown);
  return walk.next(entry) ? entry.id : StreamId{};
}

void Stream::drop(Nodes::iterator node) {
  bytes_ -= kIndexEntry + listpack::memory_bytes(node->second);
  listpack::free(node->second);
  nodes_.erase(node);
}

void Stream::settle(Nodes::iterator node, uint64_t more, size_t before) {
  length_ -= more;
  node->second = stream_node::count_deleted(node->second, static_cast<int64_t>(more));
  bytes_ += listpack::memory_bytes(node->second) - before;
  if (stream_node::live(node->second) == 0) drop(node);
}

void Stream::find_first() {
  StreamEntry entry;
  first_id_ = StreamWalk(*this, kMinStreamId, kMaxStreamId).next(entry) ? entry.id : StreamId{};
}

bool Stream::erase(const StreamId& id) {
  const auto entry = find(id);
  if (!entry) return false;
  const auto node = std::prev(nodes_.upper_bound(id));
  const size_t before = listpack::memory_bytes(node->second);
  node->second = stream_node::mark_deleted(node->second, *entry);
  settle(node, 1, before);
  max_deleted_id_ = std::max(max_deleted_id_, id);
  if (id == first_id_) find_first();
  return true;
}

bool Stream::may_drop(const StreamTrim& rule, const Nodes::value_type& node, uint64_t live) const {
  if (rule.kind == StreamTrim::Kind::kMaxLength) return length_ - live >= rule.max_length;
  const auto last = stream_node::last(node.second);
  return stream_node::read(node.second, node.first, last).id < rule.min_id;
}

bool Stream::is_trimmed(const StreamTrim& rule, const StreamId& id) const {
  if (rule.kind == StreamTrim::Kind::kMaxLength) return length_ > rule.max_length;
  return id < rule.min_id;
}

uint64_t Stream::trim_within(const StreamTrim& rule, Nodes::iterator node, StreamId& last) {
  const size_t before = listpack::memory_bytes(node->second);
  const uint64_t surplus = length_ > rule.max_length ? length_ - rule.max_length : 0;
  uint64_t marked = 0;
  auto at = stream_node::first(node->second);
  while (at != listpack::kNone) {
    const StreamEntry entry = stream_node::read(node->second, node->first, at);
    const bool goes =
        rule.kind == StreamTrim::Kind::kMaxLength ? marked < surplus : entry.id < rule.min_id;
    if (!goes) break;
    at = stream_node::next(entry);
    if (entry.deleted) continue;
    if (rule.refs == StreamRefs::kAcked && is_referenced(entry.id)) continue;
    if (rule.refs == StreamRefs::kDelete) acknowledge_everywhere(entry.id);
    node->second = stream_node::mark_deleted(node->second, entry);
    last = entry.id;
    marked++;
  }
  if (marked != 0) settle(node, marked, before);
  return marked;
}

bool Stream::refers_to(const Nodes::value_type& node) const {
  for (auto at = stream_node::first(node.second); at != listpack::kNone;) {
    const StreamEntry entry = stream_node::read(node.second, node.first, at);
    if (!entry.deleted && is_referenced(entry.id)) return true;
    at = stream_node::next(entry);
  }
  return false;
}

void Stream::acknowledge_all_of(const Nodes::value_type& node) {
  for (auto at = stream_node::first(node.second); at != listpack::kNone;) {
    const StreamEntry entry = stream_node::read(node.second, node.first, at);
    if (!entry.deleted) acknowledge_everywhere(entry.id);
    at = stream_node::next(entry);
  }
}

uint64_t Stream::trim(const StreamTrim& rule) {
  if (rule.kind == StreamTrim::Kind::kNone) return 0;
  const bool only_acked = rule.refs == StreamRefs::kAcked && !groups_.empty();
  uint64_t removed = 0;
  StreamId last;  // of the removed entries
  auto node = nodes_.begin();
  while (node != nodes_.end() && is_trimmed(rule, node->first)) {
    const auto next = std::next(node);
    const auto live = static_cast<uint64_t>(stream_node::live(node->second));
    if (rule.limit != 0 && removed + live > rule.limit) break;
    if (may_drop(rule, *node, live) && !(only_acked && refers_to(*node))) {
      if (rule.refs == StreamRefs::kDelete) acknowledge_all_of(*node);
      length_ -= live;
      removed += live;
      last = stream_node::read(node->second, node->first, stream_node::last(node->second)).id;
      drop(node);
    } else if (rule.approximate) {
      break;
    } else {
      removed += trim_within(rule, node, last);
      // Only entries that are still referenced can remain in this node.
      if (!only_acked) break;
    }
    node = next;
  }
  if (removed == 0) return 0;
  find_first();
  // An entry that stays before removed ones makes gaps, as XDEL does.
  if (length_ != 0 && first_id_ < last) max_deleted_id_ = std::max(max_deleted_id_, last);
  return removed;
}

StreamWalk::StreamWalk(const Stream& stream, const StreamId& from, const StreamId& to,
                       Direction direction)
    : nodes_(stream.nodes_), from_(from), to_(to), direction_(direction) {
  const bool up = direction == Direction::kUp;
  node_ = nodes_.upper_bound(up ? from : to);
  if (node_ != nodes_.begin()) {
    --node_;
  } else if (!up) {
    node_ = nodes_.end();  // all entries are above `to`
  }
  if (from > to) node_ = nodes_.end();
  if (node_ == nodes_.end()) return;
  at_ = up ? stream_node::first(node_->second) : stream_node::last(node_->second);
}

void StreamWalk::leave_node() {
  if (direction_ == Direction::kUp) {
    if (++node_ != nodes_.end()) at_ = stream_node::first(node_->second);
  } else if (node_ == nodes_.begin()) {
    node_ = nodes_.end();
  } else {
    at_ = stream_node::last((--node_)->second);
  }
}

bool StreamWalk::step(StreamEntry& entry) {
  while (node_ != nodes_.end() && at_ == listpack::kNone) leave_node();
  if (node_ == nodes_.end()) return false;
  entry = stream_node::read(node_->second, node_->first, at_);
  at_ = direction_ == Direction::kUp ? stream_node::next(entry) : stream_node::prev(entry);
  return true;
}

bool StreamWalk::next(StreamEntry& entry) {
  while (step(entry)) {
    const bool above = entry.id > to_;
    const bool below = entry.id < from_;
    if (direction_ == Direction::kUp ? above : below) {
      node_ = nodes_.end();
      return false;
    }
    if (!above && !below && !entry.deleted) return true;
  }
  return false;
}

const CollectionOps& stream_ops() {
  static constexpr CollectionOps kOps = {
      .make =
          [] {
            return Collection{Encoding::kStream, new Stream};
          },
      // A stream without entries still exists: it has a last id, and perhaps groups.
      .size =
          [](const Collection& value) {
            return std::max<size_t>(1, static_cast<const Stream*>(value.data)->length());
          },
      .memory =
          [](const Collection& value) {
            return static_cast<const Stream*>(value.data)->memory_bytes();
          },
      .free = [](Collection value) { delete static_cast<Stream*>(value.data); },
      .clone =
          [](const Collection& value) {
            return Collection{Encoding::kStream,
                              new Stream(*static_cast<const Stream*>(value.data))};
          },
  };
  return kOps;
}

}  // namespace sorrel
