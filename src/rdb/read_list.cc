#include <utility>

#include "rdb/packed.h"
#include "rdb/read_parts.h"

namespace sorrel::rdb {
namespace {

class ListBuilder {
 public:
  explicit ListBuilder(const ListLimits& limits)
      : value_(Type::kList), list_(value_.collection(), limits) {}

  void add(std::string_view text) {
    list_.grow(text.size(), 1);
    list_.push(ListEnd::kTail, text);
  }
  // An element in a node of its own: such a list never becomes a single listpack.
  void add_plain(std::string_view text) {
    add(text);
    nodes_ += 2;
  }
  bool add_packed(Packed form, std::string_view block) {
    const size_t before = list_.size();
    const bool sound = walk_packed(form, block, [&](const PackedElement& element) {
      IntegerText scratch;
      add(element.text(scratch));
      return true;
    });
    // A node may be empty; it does not count.
    if (list_.size() > before) nodes_++;
    return sound;
  }

  // A list stays one listpack when it was stored as one and is within the bound.
  bool is_empty() const { return list_.size() == 0; }
  // Precondition: not empty.
  std::optional<Value> take() {
    if (nodes_ > 1 || list_.exceeds()) list_.spread();
    return std::move(value_);
  }

 private:
  Value value_;
  List list_;
  size_t nodes_ = 0;
};

bool read_nodes(ObjectType type, Reader& in, ListBuilder& list) {
  const bool tells_kind = type == ObjectType::kListQuicklist2;
  const Packed form = tells_kind ? Packed::kListpack : Packed::kZiplist;
  std::string scratch;
  const uint64_t nodes = in.count(1);
  for (uint64_t i = 0; i < nodes && !in.failed(); i++) {
    const uint64_t kind = tells_kind ? in.length() : kPackedNode;
    const std::string_view node = in.string(scratch);
    if (in.failed()) return false;
    if (kind == kPlainNode) {
      if (node.empty()) return false;
      list.add_plain(node);
    } else if (kind != kPackedNode || !list.add_packed(form, node)) {
      return false;
    }
  }
  return !in.failed();
}

bool read_elements(ObjectType type, Reader& in, ListBuilder& list) {
  std::string scratch;
  if (type == ObjectType::kListZiplist) {
    const std::string_view block = in.string(scratch);
    return !in.failed() && list.add_packed(Packed::kZiplist, block);
  }
  if (type != ObjectType::kList) return read_nodes(type, in, list);
  const uint64_t elements = in.count(1);
  for (uint64_t i = 0; i < elements; i++) {
    const std::string_view text = in.string(scratch);
    if (in.failed()) return false;
    list.add(text);
  }
  return !in.failed();
}

}  // namespace

std::optional<Value> read_list(ObjectType type, Reader& in, const ValueLimits& limits) {
  ListBuilder list(limits.list);
  if (!read_elements(type, in, list)) return std::nullopt;
  return list.is_empty() ? nothing_in(in) : list.take();
}

}  // namespace sorrel::rdb
