#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "types/collection.h"
#include "types/stream_group.h"
#include "types/stream_id.h"
#include "types/stream_node.h"

namespace sorrel {

using StreamEntry = stream_node::Entry;

// stream-node-max-bytes and stream-node-max-entries; 0: no limit.
struct StreamLimits {
  int64_t node_bytes;
  int64_t node_entries;
};

// How XDELEX and trimming treat the groups' references to an entry that is removed.
enum class StreamRefs : uint8_t {
  kKeep,    // references stay, and dangle
  kDelete,  // references are removed with the entry
  kAcked,   // an entry that a group has pending or still to read is not removed
};

// Which of the oldest entries are trimmed.
struct StreamTrim {
  enum class Kind : uint8_t { kNone, kMaxLength, kMinId } kind = Kind::kNone;
  uint64_t max_length = 0;   // kMaxLength: the number of entries to keep
  StreamId min_id;           // kMinId: entries below are trimmed
  bool approximate = false;  // whole nodes only
  uint64_t limit = 0;        // the most entries to remove at once; 0: no limit
  StreamRefs refs = StreamRefs::kKeep;
};

// An append-only log of entries, each some fields with values under an ascending id, and the groups
// that read it. The entries are stored in nodes (stream_node.h), ordered by the id of their first
// entry: finding an id takes logarithmic time and a walk through one node, appending constant time.
//
// Invariants: 1. no node is without a live entry; 2. first_id() is that of the first live entry,
// 0-0 when there is none; 3. last_id() is never below an entry's id; 4. each pending entry of a
// group is in the list of exactly the consumer it names.
class Stream {
 public:
  using Groups = std::map<std::string, StreamGroup, std::less<>>;

  Stream() = default;
  ~Stream();
  Stream(const Stream& other);
  Stream& operator=(const Stream&) = delete;

  uint64_t length() const { return length_; }
  uint64_t entries_added() const { return entries_added_; }
  const StreamId& first_id() const { return first_id_; }
  const StreamId& last_id() const { return last_id_; }
  const StreamId& max_deleted_id() const { return max_deleted_id_; }
  size_t node_count() const { return nodes_.size(); }
  // Keyed by the ids to which the nodes' entries are relative.
  const std::map<StreamId, listpack::Block>& nodes() const { return nodes_; }
  size_t memory_bytes() const { return sizeof(Stream) + bytes_; }

  // Preconditions: `id` above last_id(), storable pairs.
  void append(const StreamId& id, stream_node::Pairs pairs, const StreamLimits& limits);
  // Appends a whole node and takes ownership; the caller then sets ids and counts of the stream.
  // Precondition: stream_node::check(), and every entry of it is above the existing ones. A node
  // without a live entry is freed at once.
  void push_node(const StreamId& id, listpack::Block node);
  bool contains(const StreamId& id) const { return find(id).has_value(); }
  // Valid until the stream changes.
  std::optional<StreamEntry> find(const StreamId& id) const;
  // The greatest id of a live entry; 0-0 when there is none.
  StreamId last_entry_id() const;
  // False when there is no such entry.
  bool erase(const StreamId& id);
  // Returns the number of removed entries.
  uint64_t trim(const StreamTrim& rule);
  // Sets the values of XSETID. Precondition: no entry is above `last`.
  void set_last_id(const StreamId& last) { last_id_ = last; }
  void set_entries_added(uint64_t count) { entries_added_ = count; }
  void set_max_deleted_id(const StreamId& id) { max_deleted_id_ = id; }

  // Groups; null when there is no group of that name, or one exists already.
  const Groups& groups() const { return groups_; }
  StreamGroup* group(std::string_view name);
  const StreamGroup* group(std::string_view name) const;
  StreamGroup* add_group(std::string_view name, const StreamId& last_id, int64_t entries_read);
  bool erase_group(std::string_view name);

  static StreamConsumer* consumer(StreamGroup& group, std::string_view name);
  static const StreamConsumer* consumer(const StreamGroup& group, std::string_view name);
  // Precondition: there is no consumer of that name.
  StreamConsumer& add_consumer(StreamGroup& group, std::string_view name, int64_t now_ms);
  // Returns the number of the consumer's entries, which are no longer pending.
  size_t erase_consumer(StreamGroup& group, std::string_view name);
  // Assigns the entry to `consumer`. An entry that was not pending gets the counters of a first
  // delivery at `now_ms`; a pending one keeps its counters.
  StreamPending& assign(StreamGroup& group, const StreamId& id, StreamConsumer& consumer,
                        int64_t now_ms);
  // False when the entry was not pending.
  bool acknowledge(StreamGroup& group, const StreamId& id);
  // Is the entry pending in a group, or has a group still to read it?
  bool is_referenced(const StreamId& id) const;
  // Removes the entry from all groups' pending lists; returns in how many it was.
  size_t acknowledge_everywhere(const StreamId& id);

  // May the count of entries from `from` on differ from that of ids added, because of XDEL?
  bool has_holes_from(const StreamId& from) const;
  // The number of entries that were ever added up to `id`; nullopt when it is no longer known.
  std::optional<int64_t> count_up_to(const StreamId& id) const;
  // The number of entries that the group has still to read; nullopt as above.
  std::optional<int64_t> lag(const StreamGroup& group) const;
  // Advances the group's position to `id`.
  void advance(StreamGroup& group, const StreamId& id) const;

 private:
  friend class StreamWalk;
  using Nodes = std::map<StreamId, listpack::Block>;

  // The size of a tree node besides its payload.
  static constexpr size_t kTreeNode = 48;
  static size_t group_bytes(std::string_view name);
  static size_t consumer_bytes(std::string_view name);
  static constexpr size_t kPendingBytes =
      2 * kTreeNode + 2 * sizeof(StreamId) + sizeof(StreamPending) + sizeof(void*);

  bool is_full(const listpack::Block& node, stream_node::Pairs pairs,
               const StreamLimits& limits) const;
  bool may_drop(const StreamTrim& rule, const Nodes::value_type& node, uint64_t live) const;
  bool is_trimmed(const StreamTrim& rule, const StreamId& id) const;
  // `last`: set to the id of the last removed entry, if any.
  uint64_t trim_within(const StreamTrim& rule, Nodes::iterator node, StreamId& last);
  bool refers_to(const Nodes::value_type& node) const;
  void acknowledge_all_of(const Nodes::value_type& node);
  // Counts `more` of the node's marked entries as deleted; frees the node when no live entry is
  // left. The node's bytes were `before`.
  void settle(Nodes::iterator node, uint64_t more, size_t before);
  void drop(Nodes::iterator node);
  void find_first();

  Nodes nodes_;
  uint64_t length_ = 0;
  uint64_t entries_added_ = 0;
  StreamId first_id_;
  StreamId last_id_;
  StreamId max_deleted_id_;
  Groups groups_;
  size_t bytes_ = 0;  // outside of this object
};

// Iterates over the live entries with ids within [from, to], up or down. The stream must not change
// meanwhile.
class StreamWalk {
 public:
  enum class Direction : uint8_t { kUp, kDown };

  StreamWalk(const Stream& stream, const StreamId& from, const StreamId& to,
             Direction direction = Direction::kUp);
  // False at the end.
  bool next(StreamEntry& entry);

 private:
  // The next entry, in the range or not; false at the end.
  bool step(StreamEntry& entry);
  void leave_node();

  const Stream::Nodes& nodes_;
  Stream::Nodes::const_iterator node_;
  listpack::Position at_ = listpack::kNone;
  StreamId from_;
  StreamId to_;
  Direction direction_;
};

const CollectionOps& stream_ops();

inline Stream& stream_of(Collection& value) {
  return *static_cast<Stream*>(value.data);
}
// Precondition: the record holds a stream.
inline const Stream& stream_of(const Record& record) {
  return *static_cast<const Stream*>(collection_of(record).data);
}

}  // namespace sorrel
