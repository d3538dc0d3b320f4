#include <limits>

#include "types/stream_node.h"

// Validates a node from an untrusted source before it is used.

namespace sorrel::stream_node {
namespace {

// Walks a listpack element by element; the first error is latched.
class Walker {
 public:
  explicit Walker(ConstBlock node) : node_(node), at_(listpack::first(node)) {}

  bool failed() const { return failed_; }
  bool at_end() const { return at_ == listpack::kNone; }

  // An integer stored as one: texts that spell an integer are not accepted as numbers.
  int64_t integer() {
    if (at_end() || failed_) return fail();
    const listpack::Element element = listpack::get(node_, at_);
    if (!element.is_integer()) return fail();
    at_ = listpack::next(node_, at_);
    return element.integer;
  }
  void skip(int64_t count) {
    for (; count > 0 && !failed_; count--) {
      if (at_end()) {
        fail();
      } else {
        at_ = listpack::next(node_, at_);
      }
    }
  }
  int64_t fail() {
    failed_ = true;
    return 0;
  }

 private:
  ConstBlock node_;
  Position at_;
  bool failed_ = false;
};

struct Head {
  int64_t live;
  int64_t deleted;
  int64_t fields;
};

Head read_head(Walker& walk) {
  Head head{};
  head.live = walk.integer();
  head.deleted = walk.integer();
  head.fields = walk.integer();
  if (head.live < 0 || head.deleted < 0 || head.fields < 1) walk.fail();
  walk.skip(head.fields);
  if (walk.integer() != 0) walk.fail();
  return head;
}

struct Seen {
  StreamId id;
  bool deleted;
};

Seen read_entry(Walker& walk, const Head& head, const StreamId& first) {
  constexpr int64_t kDeleted = 1;
  constexpr int64_t kSameNames = 2;
  constexpr int64_t kFixedElements = 3;  // flags and the two parts of the id
  const int64_t flags = walk.integer();
  if (flags < 0 || flags > (kDeleted | kSameNames)) walk.fail();
  // Differences are computed with wrapping arithmetic, as they were written.
  const StreamId id{first.ms + static_cast<uint64_t>(walk.integer()),
                    first.seq + static_cast<uint64_t>(walk.integer())};
  int64_t elements = kFixedElements;
  if ((flags & kSameNames) != 0) {
    walk.skip(head.fields);
    elements += head.fields;
  } else {
    int64_t fields = walk.integer();
    // A listpack can't have enough elements to overflow this.
    if (fields < 1 || fields > std::numeric_limits<int32_t>::max()) fields = walk.fail();
    walk.skip(2 * fields);
    elements += 2 * fields + 1;
  }
  if (walk.integer() != elements) walk.fail();
  return {id, (flags & kDeleted) != 0};
}

}  // namespace

std::optional<Checked> check(ConstBlock node, const StreamId& first) {
  Walker walk(node);
  const Head head = read_head(walk);
  int64_t live = 0;
  int64_t deleted = 0;
  StreamId before = first;
  Checked checked{.last = first, .tidy = true};
  while (!walk.failed() && !walk.at_end()) {
    const Seen entry = read_entry(walk, head, first);
    const bool is_first = live + deleted == 0;
    checked.tidy = checked.tidy && (is_first ? entry.id >= first : entry.id > before);
    before = entry.id;
    if (entry.deleted) {
      deleted++;
      continue;
    }
    if (live == 0 ? entry.id < first : entry.id <= checked.last) walk.fail();
    checked.last = entry.id;
    live++;
  }
  if (walk.failed() || live != head.live || deleted != head.deleted || live + deleted == 0) {
    return std::nullopt;
  }
  checked.tidy = checked.tidy && (live == 0 || before == checked.last);
  return checked;
}

}  // namespace sorrel::stream_node
