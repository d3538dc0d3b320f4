// A node must be byte-compatible with Redis's stream listpacks, because dumps and files carry it
// unchanged.

#include "types/stream_node.h"

#include <string>
#include <vector>

namespace sorrel::stream_node {
namespace {

constexpr int64_t kDeleted = 1;
constexpr int64_t kSameNames = 2;
// Flags and the two parts of the id.
constexpr int64_t kFixedElements = 3;
// The number of elements that are not names or values.
constexpr size_t kOtherElements = 9;

int64_t integer(ConstBlock node, Position at) {
  return listpack::get(node, at).integer;
}

Position skip(ConstBlock node, Position at, int64_t count) {
  for (; count > 0; count--) at = listpack::next(node, at);
  return at;
}

Position position_of_field_count(ConstBlock node) {
  return skip(node, listpack::first(node), 2);
}

bool has_names(ConstBlock node, Pairs pairs) {
  Position at = position_of_field_count(node);
  if (integer(node, at) != static_cast<int64_t>(pairs.size() / 2)) return false;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    at = listpack::next(node, at);
    if (!listpack::equals(node, at, pairs[i])) return false;
  }
  return true;
}

// The element before an entry is the size of the previous entry.
Position back_from(ConstBlock node, Position size_at) {
  const int64_t size = integer(node, size_at);
  if (size == 0) return listpack::kNone;
  Position at = size_at;
  for (int64_t i = 0; i < size; i++) at = listpack::prev(node, at);
  return at;
}

Block add_to_count(Block node, Position at, int64_t more) {
  return listpack::replace(node, at, integer(node, at) + more);
}

size_t text_bytes(Pairs pairs) {
  size_t total = 0;
  for (std::string_view text : pairs) total += text.size();
  return total;
}

}  // namespace

Fields::Fields(const Entry& entry)
    : node_(entry.node),
      name_(listpack::next(entry.node, position_of_field_count(entry.node))),
      value_(entry.values),
      same_names_(entry.same_names),
      left_(entry.fields) {}

bool Fields::next(listpack::Element& name, listpack::Element& value) {
  if (left_ == 0) return false;
  left_--;
  if (same_names_) {
    name = listpack::get(node_, name_);
    name_ = listpack::next(node_, name_);
  } else {
    name = listpack::get(node_, value_);
    value_ = listpack::next(node_, value_);
  }
  value = listpack::get(node_, value_);
  value_ = listpack::next(node_, value_);
  return true;
}

bool storable(Pairs pairs) {
  // The names may be stored twice, in the head and in the entry; an element has some extra bytes.
  constexpr size_t kAround = 10;
  const size_t elements = 2 * pairs.size() + kOtherElements;
  if (elements > listpack::kMaxBytes / kAround) return false;
  const size_t around = elements * kAround + listpack::kHeaderBytes + 1;
  const size_t room = listpack::kMaxBytes - around;
  return around < listpack::kMaxBytes && text_bytes(pairs) <= room / 2;
}

bool fits(ConstBlock node, Pairs pairs) {
  return listpack::fits(node, text_bytes(pairs), pairs.size() + kOtherElements);
}

Block make(Pairs pairs) {
  Block node = listpack::make();
  node = listpack::append(node, int64_t{0});
  node = listpack::append(node, int64_t{0});
  node = listpack::append(node, static_cast<int64_t>(pairs.size() / 2));
  for (size_t i = 0; i < pairs.size(); i += 2) node = listpack::append(node, pairs[i]);
  return listpack::append(node, int64_t{0});
}

Block append(Block node, const StreamId& first, const StreamId& id, Pairs pairs) {
  const bool same = has_names(node, pairs);
  const auto fields = static_cast<int64_t>(pairs.size() / 2);
  node = add_to_count(node, listpack::first(node), 1);
  node = listpack::append(node, same ? kSameNames : int64_t{0});
  node = listpack::append(node, static_cast<int64_t>(id.ms - first.ms));
  node = listpack::append(node, static_cast<int64_t>(id.seq - first.seq));
  if (!same) node = listpack::append(node, fields);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (!same) node = listpack::append(node, pairs[i]);
    node = listpack::append(node, pairs[i + 1]);
  }
  return listpack::append(node, kFixedElements + (same ? fields : 2 * fields + 1));
}

// Keeps the names in the head even if no live entry has them, so the node never grows.
Block without_deleted(ConstBlock node, const StreamId& first_id) {
  IntegerText scratch;
  Block clean = listpack::make();
  Position at = listpack::first(node);
  clean = listpack::append(clean, int64_t{0});
  clean = listpack::append(clean, int64_t{0});
  at = listpack::next(node, listpack::next(node, at));
  const int64_t fields = integer(node, at);
  clean = listpack::append(clean, fields);
  for (int64_t i = 0; i < fields; i++) {
    at = listpack::next(node, at);
    clean = listpack::append(clean, listpack::get(node, at).text(scratch));
  }
  clean = listpack::append(clean, int64_t{0});
  std::vector<std::string> texts;
  std::vector<std::string_view> pairs;
  for (Position entry_at = first(node); entry_at != listpack::kNone;) {
    const Entry entry = read(node, first_id, entry_at);
    entry_at = next(entry);
    if (entry.deleted) continue;
    texts.clear();
    Fields all(entry);
    listpack::Element name;
    listpack::Element value;
    while (all.next(name, value)) {
      texts.emplace_back(name.text(scratch));
      texts.emplace_back(value.text(scratch));
    }
    pairs.assign(texts.begin(), texts.end());
    clean = append(clean, first_id, entry.id, pairs);
  }
  return clean;
}

int64_t live(ConstBlock node) {
  return integer(node, listpack::first(node));
}

int64_t deleted(ConstBlock node) {
  return integer(node, listpack::next(node, listpack::first(node)));
}

Position first(ConstBlock node) {
  const Position count = position_of_field_count(node);
  // The names and the 0 after them.
  return skip(node, count, integer(node, count) + 2);
}

Position last(ConstBlock node) {
  return back_from(node, listpack::last(node));
}

Position next(const Entry& entry) {
  const int64_t elements = entry.same_names ? entry.fields : 2 * entry.fields;
  return skip(entry.node, entry.values, elements + 1);
}

Position prev(const Entry& entry) {
  return back_from(entry.node, listpack::prev(entry.node, entry.at));
}

Entry read(ConstBlock node, const StreamId& first, Position at) {
  Entry entry;
  const int64_t flags = integer(node, at);
  entry.node = node;
  entry.at = at;
  entry.deleted = (flags & kDeleted) != 0;
  entry.same_names = (flags & kSameNames) != 0;
  at = listpack::next(node, at);
  entry.id.ms = first.ms + static_cast<uint64_t>(integer(node, at));
  at = listpack::next(node, at);
  entry.id.seq = first.seq + static_cast<uint64_t>(integer(node, at));
  at = listpack::next(node, at);
  if (entry.same_names) {
    entry.fields = integer(node, position_of_field_count(node));
  } else {
    entry.fields = integer(node, at);
    at = listpack::next(node, at);
  }
  entry.values = at;
  return entry;
}

Block mark_deleted(Block node, const Entry& entry) {
  return listpack::replace(node, entry.at, integer(node, entry.at) | kDeleted);
}

Block count_deleted(Block node, int64_t more) {
  node = add_to_count(node, listpack::first(node), -more);
  return add_to_count(node, listpack::next(node, listpack::first(node)), more);
}

}  // namespace sorrel::stream_node
