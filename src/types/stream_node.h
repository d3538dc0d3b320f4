#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "structs/listpack.h"
#include "types/stream_id.h"

// Some tens of a stream's entries in one listpack, in Redis's layout, so that dumps and files can
// carry a node unchanged.
//
//   node   | live | deleted | fields | name ... | 0 | entry | entry | ...
//   entry  | flags | ms | seq | value ... | size |                         same names as the node
//          | flags | ms | seq | fields | name | value | ... | size |       others
//
// `live` and `deleted` count entries; ms and seq are differences from the node's own id, which is
// that of its first entry and is stored by the owner; `size` is the number of the entry's elements
// before it, for walking backwards, and the node's head ends in 0 for the same reason. Deleted
// entries stay, marked in their flags.
namespace sorrel::stream_node {

using listpack::Block;
using listpack::ConstBlock;
using listpack::Position;

struct Entry {
  StreamId id;
  bool deleted;
  bool same_names;
  ConstBlock node;
  Position at;      // of the flags
  Position values;  // after the ids, or after the number of fields
  int64_t fields;
};

// The names and values of one entry, pair by pair.
class Fields {
 public:
  explicit Fields(const Entry& entry);
  // False past the last pair.
  bool next(listpack::Element& name, listpack::Element& value);

 private:
  ConstBlock node_;
  Position name_;   // in the head, when the entry shares the node's names
  Position value_;  // of the value, or of the name before it
  bool same_names_;
  int64_t left_;
};

// Names and values, alternating. An even number, at least two.
using Pairs = std::span<const std::string_view>;

// Can any node hold them?
bool storable(Pairs pairs);
// Does this node have space for them, whatever the limits of its owner?
bool fits(ConstBlock node, Pairs pairs);

// A node without entries, for entries with these names.
Block make(Pairs pairs);
// Appends an entry; `first` is the node's id. Precondition: fits().
[[nodiscard]] Block append(Block node, const StreamId& first, const StreamId& id, Pairs pairs);

// Is this listpack a valid node in every element: counts, flags, names, sizes, and ids of its live
// entries that ascend from `first` on? For untrusted bytes; nullopt if it is not.
struct Checked {
  StreamId last;  // of the live entries; `first` when there are none
  // All ids ascend, and the last is that of a live entry. XSETID of older versions lets new entries
  // follow deleted ones with greater ids.
  bool tidy = false;
};
std::optional<Checked> check(ConstBlock node, const StreamId& first);
// A node with the live entries only. Precondition: check().
Block without_deleted(ConstBlock node, const StreamId& first);

int64_t live(ConstBlock node);
int64_t deleted(ConstBlock node);

// Positions of entries, deleted ones as well; kNone at the end.
Position first(ConstBlock node);
Position last(ConstBlock node);
Position next(const Entry& entry);
Position prev(const Entry& entry);
Entry read(ConstBlock node, const StreamId& first, Position at);

// Only marks: count_deleted() then updates the counts at once. Neither position moves.
[[nodiscard]] Block mark_deleted(Block node, const Entry& entry);
[[nodiscard]] Block count_deleted(Block node, int64_t more);

}  // namespace sorrel::stream_node
