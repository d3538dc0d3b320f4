#include "structs/chunked_list.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"

namespace sorrel {

using listpack::kNone;
using listpack::Position;

namespace {

// The only place in a chunk that is one huge text.
constexpr Position kHugePlace = 1;
constexpr size_t kLengthBytes = 8;

size_t huge_size(const unsigned char* data) {
  return load<uint64_t>(data);
}

}  // namespace

ChunkedList::~ChunkedList() {
  for (size_t i = 0; i < used_; i++) std::free(chunk(i).data);
  std::free(slots_);
}

ChunkedList::ChunkedList(const ChunkedList& other)
    : capacity_(other.used_), used_(other.used_), size_(other.size_), chunk_bytes_(0) {
  if (used_ == 0) return;
  slots_ = static_cast<Chunk*>(std::malloc(capacity_ * sizeof(Chunk)));
  for (size_t i = 0; i < used_; i++) {
    slots_[i] = copy_chunk(other.chunk(i));
    chunk_bytes_ += bytes_of(slots_[i]);
  }
}

ChunkedList::Chunk ChunkedList::make_chunk(std::string_view text, const Limits& limits) {
  if (text.size() < limits.huge) return {listpack::append(listpack::make(), text), 1, false};
  auto* data = static_cast<unsigned char*>(std::malloc(kLengthBytes + text.size()));
  store(data, uint64_t{text.size()});
  std::memcpy(data + kLengthBytes, text.data(), text.size());
  return {data, 1, true};
}

ChunkedList::Chunk ChunkedList::copy_chunk(const Chunk& chunk) {
  if (!chunk.huge) return {listpack::clone(chunk.data), chunk.count, false};
  const size_t bytes = bytes_of(chunk);
  auto* data = static_cast<unsigned char*>(std::malloc(bytes));
  std::memcpy(data, chunk.data, bytes);
  return {data, 1, true};
}

size_t ChunkedList::bytes_of(const Chunk& chunk) {
  return chunk.huge ? kLengthBytes + huge_size(chunk.data) : listpack::memory_bytes(chunk.data);
}

bool ChunkedList::has_room(const Chunk& chunk, std::string_view text, const Limits& limits) {
  if (chunk.huge || text.size() >= limits.huge || chunk.count >= limits.count) return false;
  const size_t bytes = listpack::bytes(chunk.data);
  if (bytes > limits.bytes || text.size() > limits.bytes - bytes) return false;
  // Far from the bound, which is the rule, there is no need to know it to the byte.
  constexpr size_t kMostAround = 10;
  if (bytes + text.size() + kMostAround <= limits.bytes) return true;
  return bytes + listpack::element_bytes(text) <= limits.bytes;
}

template <class Change>
void ChunkedList::change(Chunk& chunk, Change&& change) {
  chunk_bytes_ -= listpack::memory_bytes(chunk.data);
  chunk.data = change(chunk.data);
  chunk_bytes_ += listpack::memory_bytes(chunk.data);
}

void ChunkedList::push_front(std::string_view text, const Limits& limits) {
  if (used_ == 0 || !has_room(chunk(0), text, limits)) {
    return add_chunk(0, make_chunk(text, limits));
  }
  Chunk& head = chunk(0);
  change(head, [&](listpack::Block block) { return listpack::prepend(block, text); });
  head.count++;
  size_++;
}

void ChunkedList::push_back(std::string_view text, const Limits& limits) {
  if (used_ == 0 || !has_room(chunk(used_ - 1), text, limits)) {
    return add_chunk(used_, make_chunk(text, limits));
  }
  Chunk& tail = chunk(used_ - 1);
  change(tail, [&](listpack::Block block) { return listpack::append(block, text); });
  tail.count++;
  size_++;
}

void ChunkedList::push_block(listpack::Block block) {
  add_chunk(used_, {block, static_cast<uint32_t>(listpack::size(block)), false});
}

ChunkedList::Cursor ChunkedList::first() const {
  if (used_ == 0) return {};
  const Chunk& head = chunk(0);
  return {0, head.huge ? kHugePlace : listpack::first(head.data)};
}

ChunkedList::Cursor ChunkedList::last() const {
  if (used_ == 0) return {};
  const Chunk& tail = chunk(used_ - 1);
  return {used_ - 1, tail.huge ? kHugePlace : listpack::last(tail.data)};
}

ChunkedList::Cursor ChunkedList::next(Cursor here) const {
  const Chunk& in = chunk(here.chunk);
  const Position at = in.huge ? kNone : listpack::next(in.data, here.at);
  if (at != kNone) return {here.chunk, at};
  if (here.chunk + 1 == used_) return {};
  const Chunk& behind = chunk(here.chunk + 1);
  return {here.chunk + 1, behind.huge ? kHugePlace : listpack::first(behind.data)};
}

ChunkedList::Cursor ChunkedList::prev(Cursor here) const {
  const Chunk& in = chunk(here.chunk);
  const Position at = in.huge ? kNone : listpack::prev(in.data, here.at);
  if (at != kNone) return {here.chunk, at};
  if (here.chunk == 0) return {};
  const Chunk& before = chunk(here.chunk - 1);
  return {here.chunk - 1, before.huge ? kHugePlace : listpack::last(before.data)};
}

ChunkedList::Cursor ChunkedList::at(int64_t index) const {
  const auto size = static_cast<int64_t>(size_);
  if (index >= size || index < -size) return {};
  if (index < 0) index += size;
  auto left = static_cast<size_t>(index);
  size_t in = 0;
  if (left < size_ / 2) {
    while (left >= chunk(in).count) left -= chunk(in++).count;
  } else {
    in = used_ - 1;
    size_t begin = size_ - chunk(in).count;  // the index of the chunk's first element
    while (left < begin) begin -= chunk(--in).count;
    left -= begin;
  }
  const Chunk& found = chunk(in);
  if (found.huge) return {in, kHugePlace};
  return {in, listpack::at(found.data, static_cast<int64_t>(left))};
}

listpack::Element ChunkedList::get(Cursor here) const {
  const Chunk& in = chunk(here.chunk);
  if (!in.huge) return listpack::get(in.data, here.at);
  return {reinterpret_cast<const char*>(in.data) + kLengthBytes, huge_size(in.data), 0};
}

void ChunkedList::insert_in(Chunk& chunk, Position at, std::string_view text, bool after) {
  change(chunk, [&](listpack::Block block) {
    return after ? listpack::insert_after(block, at, text)
                 : listpack::insert_before(block, at, text);
  });
  chunk.count++;
  size_++;
}

void ChunkedList::insert_before(Cursor here, std::string_view text, const Limits& limits) {
  if (has_room(chunk(here.chunk), text, limits)) {
    return insert_in(chunk(here.chunk), here.at, text, false);
  }
  const Cursor before = prev(here);
  if (before && before.chunk == here.chunk) {
    // In the middle of a full chunk: with it cut in two, one side has room or the text goes
    // between.
    split(here);
  }
  if (before && has_room(chunk(before.chunk), text, limits)) {
    return insert_in(chunk(before.chunk), before.at, text, true);
  }
  const size_t behind = before ? before.chunk + 1 : 0;
  Chunk& next_chunk = chunk(behind);
  if (has_room(next_chunk, text, limits)) {
    return insert_in(next_chunk, listpack::first(next_chunk.data), text, false);
  }
  add_chunk(behind, make_chunk(text, limits));
}

void ChunkedList::insert_after(Cursor here, std::string_view text, const Limits& limits) {
  if (has_room(chunk(here.chunk), text, limits)) {
    return insert_in(chunk(here.chunk), here.at, text, true);
  }
  const Cursor behind = next(here);
  if (behind) return insert_before(behind, text, limits);
  push_back(text, limits);
}

void ChunkedList::replace(Cursor here, std::string_view text, const Limits& limits) {
  Chunk& in = chunk(here.chunk);
  if (in.count == 1) {
    chunk_bytes_ -= bytes_of(in);
    std::free(in.data);
    in = make_chunk(text, limits);
    chunk_bytes_ += bytes_of(in);
    return;
  }
  if (text.size() >= limits.huge) {
    // It gets a chunk before the element's, which is cut first if the element is not its first.
    const bool is_first = here.at == listpack::first(in.data);
    insert_before(here, text, limits);
    const size_t old = here.chunk + (is_first ? 1 : 2);
    erase({old, listpack::first(chunk(old).data)});
    return;
  }
  const size_t after = listpack::bytes(in.data) + listpack::element_bytes(text);
  if (after <= limits.bytes || listpack::get(in.data, here.at).size >= text.size()) {
    return change(in,
                  [&](listpack::Block block) { return listpack::replace(block, here.at, text); });
  }
  const Cursor behind = erase(here);
  if (behind) return insert_before(behind, text, limits);
  push_back(text, limits);
}

ChunkedList::Cursor ChunkedList::erase(Cursor here) {
  Chunk& in = chunk(here.chunk);
  if (in.count == 1) {
    drop_chunks(here.chunk, 1);
  } else {
    change(in, [&](listpack::Block block) { return listpack::erase(block, here.at); });
    in.count--;
    size_--;
    const Position at = listpack::or_none(in.data, here.at);
    if (at != kNone) return {here.chunk, at};
    here.chunk++;
  }
  if (here.chunk >= used_) return {};
  const Chunk& behind = chunk(here.chunk);
  return {here.chunk, behind.huge ? kHugePlace : listpack::first(behind.data)};
}

void ChunkedList::erase_range(size_t index, size_t count) {
  if (count == 0) return;
  const Cursor from = at(static_cast<int64_t>(index));
  size_t in = from.chunk;
  Position place = from.at;
  size_t whole_from = in;
  size_t whole = 0;
  while (count > 0) {
    Chunk& here = chunk(in);
    const bool from_begin = here.huge || place == listpack::first(here.data);
    if (from_begin && here.count <= count) {
      // Whole chunks leave the directory together.
      if (whole == 0) whole_from = in;
      whole++;
      count -= here.count;
    } else {
      const size_t size_before = here.count;
      change(here,
             [&](listpack::Block block) { return listpack::erase_range(block, place, count); });
      here.count = static_cast<uint32_t>(listpack::size(here.data));
      const size_t erased = size_before - here.count;
      size_ -= erased;
      count -= erased;
    }
    in++;
    if (count > 0) place = chunk(in).huge ? kHugePlace : listpack::first(chunk(in).data);
  }
  if (whole > 0) drop_chunks(whole_from, whole);
}

listpack::ConstBlock ChunkedList::single_block() const {
  return used_ == 1 && !chunk(0).huge ? chunk(0).data : nullptr;
}

listpack::Block ChunkedList::release_single_block() {
  listpack::Block block = chunk(0).data;
  chunk_bytes_ = 0;
  size_ = 0;
  used_ = 0;
  return block;
}

void ChunkedList::split(Cursor here) {
  Chunk& in = chunk(here.chunk);
  Chunk rest{listpack::append_range(listpack::make(), in.data, here.at), 0, false};
  rest.count = static_cast<uint32_t>(listpack::size(rest.data));
  change(in, [&](listpack::Block block) {
    return listpack::erase_range(block, here.at, listpack::kAll);
  });
  in.count -= rest.count;
  size_ -= rest.count;
  add_chunk(here.chunk + 1, rest);
}

void ChunkedList::add_chunk(size_t index, const Chunk& added) {
  // The side with fewer chunks makes way, if it has the room.
  const bool to_front = index < used_ / 2 || (index == 0 && used_ > 0);
  if (to_front ? begin_ == 0 : begin_ + used_ == capacity_) make_room();
  if (to_front) {
    begin_--;
    std::memmove(slots_ + begin_, slots_ + begin_ + 1, index * sizeof(Chunk));
  } else {
    std::memmove(slots_ + begin_ + index + 1, slots_ + begin_ + index,
                 (used_ - index) * sizeof(Chunk));
  }
  used_++;
  chunk(index) = added;
  size_ += added.count;
  chunk_bytes_ += bytes_of(added);
}

void ChunkedList::drop_chunks(size_t index, size_t count) {
  for (size_t i = index; i < index + count; i++) {
    size_ -= chunk(i).count;
    chunk_bytes_ -= bytes_of(chunk(i));
    std::free(chunk(i).data);
  }
  close_gap(index, count);
}

void ChunkedList::close_gap(size_t index, size_t count) {
  if (index < used_ - index - count) {
    std::memmove(slots_ + begin_ + count, slots_ + begin_, index * sizeof(Chunk));
    begin_ += count;
  } else {
    std::memmove(slots_ + begin_ + index, slots_ + begin_ + index + count,
                 (used_ - index - count) * sizeof(Chunk));
  }
  used_ -= count;
  // A queue that was long once gives its directory back.
  constexpr size_t kSmall = 16;
  if (capacity_ > kSmall && used_ < capacity_ / 8) make_room();
}

// Lays the directory out anew, with a free part at both ends: a list that wanders (a queue) then
// moves its directory once in so many chunks, whichever way it goes.
void ChunkedList::make_room() {
  const size_t capacity = used_ + used_ / 2 + 4;
  const size_t begin = (capacity - used_) / 2;
  auto* slots = static_cast<Chunk*>(std::malloc(capacity * sizeof(Chunk)));
  if (used_ > 0) std::memcpy(slots + begin, slots_ + begin_, used_ * sizeof(Chunk));
  std::free(slots_);
  slots_ = slots;
  capacity_ = capacity;
  begin_ = begin;
}

void ChunkedList::for_each_chunk(const std::function<void(const ChunkView&)>& visit) const {
  for (size_t i = 0; i < used_; i++) {
    const Chunk& in = chunk(i);
    if (in.huge) {
      visit({{reinterpret_cast<const char*>(in.data) + kLengthBytes, huge_size(in.data)}, 0, true});
    } else {
      visit({listpack::view(in.data)});
    }
  }
}

bool ChunkedList::consistent() const {
  size_t elements = 0;
  size_t bytes = 0;
  for (size_t i = 0; i < used_; i++) {
    const Chunk& in = chunk(i);
    elements += in.count;
    bytes += bytes_of(in);
    if (in.count == 0) return false;
    if (in.huge) continue;
    if (!listpack::valid(listpack::view(in.data)) || listpack::size(in.data) != in.count) {
      return false;
    }
  }
  return elements == size_ && bytes == chunk_bytes_ && begin_ + used_ <= capacity_;
}

}  // namespace sorrel
