// Inserts and erases must keep chunks within their bound, the directory compact, and exactly the
// inner chunks compressed; every mutator therefore ends in tidying the chunks around its place.

#include "structs/chunked_list.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/bytes.h"
#include "structs/lzf.h"

namespace sorrel {

using listpack::kNone;
using listpack::Position;

namespace {

// The only position in a chunk that holds one huge text.
constexpr Position kHugePlace = 1;
constexpr size_t kLengthBytes = 8;

size_t huge_size(const unsigned char* data) {
  return load<uint64_t>(data);
}

// The smallest listpack worth compressing, and the smallest gain worth it.
constexpr size_t kLeastBytes = 48;
constexpr size_t kLeastGain = 8;

size_t expanded_size(const unsigned char* data) {
  return load<uint32_t>(data);
}
std::string_view compressed_part(const unsigned char* data) {
  return {reinterpret_cast<const char*>(data) + kLengthBytes, load<uint32_t>(data + 4)};
}

// The listpack again. The bytes were compressed here, never read from outside, so expanding
// succeeds.
listpack::Block expanded(const unsigned char* data) {
  std::string bytes;
  if (!lzf::expand(compressed_part(data), expanded_size(data), bytes)) std::abort();
  return listpack::adopt(bytes);
}

}  // namespace

listpack::ConstBlock ChunkedList::Window::show(const unsigned char* compressed) {
  if (shown_ != compressed) {
    close();
    block_ = expanded(compressed);
    shown_ = compressed;
  }
  return block_;
}

void ChunkedList::Window::drop() {
  listpack::free(block_);
  block_ = nullptr;
  shown_ = nullptr;
}

ChunkedList::~ChunkedList() {
  for (size_t i = 0; i < used_; i++) std::free(chunk(i).data);
  std::free(slots_);
}

ChunkedList::ChunkedList(const ChunkedList& other)
    : capacity_(other.used_),
      used_(other.used_),
      size_(other.size_),
      chunk_bytes_(0),
      depth_(other.depth_) {
  if (used_ == 0) return;
  slots_ = static_cast<Chunk*>(std::malloc(capacity_ * sizeof(Chunk)));
  for (size_t i = 0; i < used_; i++) {
    slots_[i] = copy_chunk(other.chunk(i));
    chunk_bytes_ += bytes_of(slots_[i]);
  }
}

ChunkedList::Chunk ChunkedList::make_chunk(std::string_view text, const Limits& limits) {
  if (text.size() < limits.huge)
    return {listpack::append(listpack::make(), text), 1, Form::kPacked};
  auto* data = static_cast<unsigned char*>(std::malloc(kLengthBytes + text.size()));
  store(data, uint64_t{text.size()});
  std::memcpy(data + kLengthBytes, text.data(), text.size());
  return {data, 1, Form::kHuge};
}

ChunkedList::Chunk ChunkedList::copy_chunk(const Chunk& chunk) {
  if (chunk.form == Form::kPacked) {
    return {listpack::clone(chunk.data), chunk.count, Form::kPacked};
  }
  const size_t bytes = bytes_of(chunk);
  auto* data = static_cast<unsigned char*>(std::malloc(bytes));
  std::memcpy(data, chunk.data, bytes);
  return {data, chunk.count, chunk.form};
}

size_t ChunkedList::bytes_of(const Chunk& chunk) {
  switch (chunk.form) {
    case Form::kPacked:
      return listpack::memory_bytes(chunk.data);
    case Form::kHuge:
      return kLengthBytes + huge_size(chunk.data);
    case Form::kCompressed:
      break;
  }
  return kLengthBytes + compressed_part(chunk.data).size();
}

Position ChunkedList::first_in(const Chunk& chunk) {
  // No chunk is empty, so it need not be opened for this.
  return chunk.form == Form::kHuge ? kHugePlace : static_cast<Position>(listpack::kHeaderBytes);
}

Position ChunkedList::last_in(const Chunk& chunk, Window& window) {
  return chunk.form == Form::kHuge ? kHugePlace : listpack::last(block_of(chunk, window));
}

void ChunkedList::put_data(Chunk& chunk, unsigned char* data, Form form) {
  chunk_bytes_ -= bytes_of(chunk);
  std::free(chunk.data);
  chunk.data = data;
  chunk.form = form;
  chunk_bytes_ += bytes_of(chunk);
}

ChunkedList::Chunk& ChunkedList::opened(size_t index) {
  Chunk& in = chunk(index);
  if (in.form == Form::kCompressed) [[unlikely]]
    put_data(in, expanded(in.data), Form::kPacked);
  return in;
}

void ChunkedList::compress(Chunk& chunk) {
  if (chunk.form != Form::kPacked) return;
  const std::string_view bytes = listpack::view(chunk.data);
  if (bytes.size() < kLeastBytes) return;
  std::string compressed;
  if (!lzf::compress(bytes, bytes.size() - kLeastGain - kLengthBytes, compressed)) return;
  auto* data = static_cast<unsigned char*>(std::malloc(kLengthBytes + compressed.size()));
  store(data, static_cast<uint32_t>(bytes.size()));
  store(data + 4, static_cast<uint32_t>(compressed.size()));
  std::memcpy(data + kLengthBytes, compressed.data(), compressed.size());
  put_data(chunk, data, Form::kCompressed);
}

void ChunkedList::tidy(size_t index) {
  if (index >= used_) return;
  // The second term counts from the end.
  if (index >= depth_ && used_ - 1 - index >= depth_) {
    compress(chunk(index));
  } else {
    opened(index);
  }
}

void ChunkedList::tidy_ends() {
  if (depth_ == 0) return;
  const size_t reach = std::min(depth_, used_ - 1);
  for (size_t i = 0; used_ > 0 && i <= reach; i++) {
    tidy(i);
    tidy(used_ - 1 - i);
  }
}

void ChunkedList::tidy_around(size_t from, size_t to) {
  if (depth_ == 0) return;
  tidy_ends();
  for (size_t i = from; i <= to && i < used_; i++) tidy(i);
}

void ChunkedList::settle() {
  if (open_ == kNoChunk) return;
  tidy(open_);
  open_ = kNoChunk;
}

bool ChunkedList::has_room(const Chunk& chunk, std::string_view text, const Limits& limits) {
  if (chunk.form != Form::kPacked || text.size() >= limits.huge || chunk.count >= limits.count)
    return false;
  const size_t bytes = listpack::bytes(chunk.data);
  if (bytes > limits.bytes || text.size() > limits.bytes - bytes) return false;
  // Usually the size is far below the bound, and an estimate of the element's bytes will do.
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
    settle();
    add_chunk(0, make_chunk(text, limits));
    return tidy_ends();
  }
  Chunk& head = chunk(0);
  change(head, [&](listpack::Block block) { return listpack::prepend(block, text); });
  head.count++;
  size_++;
}

void ChunkedList::push_back(std::string_view text, const Limits& limits) {
  if (used_ == 0 || !has_room(chunk(used_ - 1), text, limits)) {
    settle();
    add_chunk(used_, make_chunk(text, limits));
    return tidy_ends();
  }
  Chunk& tail = chunk(used_ - 1);
  change(tail, [&](listpack::Block block) { return listpack::append(block, text); });
  tail.count++;
  size_++;
}

void ChunkedList::push_block(listpack::Block block) {
  settle();
  add_chunk(used_, {block, static_cast<uint32_t>(listpack::size(block)), Form::kPacked});
  tidy_ends();
}

ChunkedList::Cursor ChunkedList::first() const {
  if (used_ == 0) return {};
  return {0, first_in(chunk(0))};
}

ChunkedList::Cursor ChunkedList::last() const {
  if (used_ == 0) return {};
  // The chunks at the ends are never compressed.
  Window unused;
  return {used_ - 1, last_in(chunk(used_ - 1), unused)};
}

ChunkedList::Cursor ChunkedList::next(Cursor here, Window& window) const {
  const Chunk& in = chunk(here.chunk);
  const Position at =
      in.form == Form::kHuge ? kNone : listpack::next(block_of(in, window), here.at);
  if (at != kNone) return {here.chunk, at};
  if (here.chunk + 1 == used_) return {};
  return {here.chunk + 1, first_in(chunk(here.chunk + 1))};
}

ChunkedList::Cursor ChunkedList::prev(Cursor here, Window& window) const {
  const Chunk& in = chunk(here.chunk);
  // The first position of a chunk is known without opening it.
  if (here.at != first_in(in)) {
    return {here.chunk, listpack::prev(block_of(in, window), here.at)};
  }
  if (here.chunk == 0) return {};
  return {here.chunk - 1, last_in(chunk(here.chunk - 1), window)};
}

ChunkedList::Cursor ChunkedList::at(int64_t index, Window& window) const {
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
  if (found.form == Form::kHuge) return {in, kHugePlace};
  return {in, listpack::at(block_of(found, window), static_cast<int64_t>(left))};
}

listpack::Element ChunkedList::get(Cursor here, Window& window) const {
  const Chunk& in = chunk(here.chunk);
  if (in.form != Form::kHuge) return listpack::get(block_of(in, window), here.at);
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
  settle();
  place_before(here, text, limits);
  // The chunk before may have had the space; one after it may have been split off, and another
  // added.
  tidy_around(here.chunk == 0 ? 0 : here.chunk - 1, here.chunk + 2);
}

void ChunkedList::place_before(Cursor here, std::string_view text, const Limits& limits) {
  if (has_room(opened(here.chunk), text, limits)) {
    return insert_in(chunk(here.chunk), here.at, text, false);
  }
  Window window;
  const Cursor before = prev(here, window);
  if (before && before.chunk == here.chunk) {
    // In the middle of a full chunk: after the split one half has space, or the text goes between.
    split(here);
  }
  if (before && has_room(opened(before.chunk), text, limits)) {
    return insert_in(chunk(before.chunk), before.at, text, true);
  }
  const size_t following = before ? before.chunk + 1 : 0;
  Chunk& next_chunk = opened(following);
  if (has_room(next_chunk, text, limits)) {
    return insert_in(next_chunk, first_in(next_chunk), text, false);
  }
  add_chunk(following, make_chunk(text, limits));
}

void ChunkedList::insert_after(Cursor here, std::string_view text, const Limits& limits) {
  settle();
  if (has_room(opened(here.chunk), text, limits)) {
    insert_in(chunk(here.chunk), here.at, text, true);
    return tidy_around(here.chunk, here.chunk);
  }
  Window window;
  const Cursor following = next(here, window);
  if (following) {
    insert_before(following, text, limits);
  } else {
    push_back(text, limits);
  }
  tidy_around(here.chunk, here.chunk);
}

void ChunkedList::replace(Cursor here, std::string_view text, const Limits& limits) {
  settle();
  Chunk& in = opened(here.chunk);
  if (in.count == 1) {
    const Chunk made = make_chunk(text, limits);
    put_data(in, made.data, made.form);
  } else if (text.size() >= limits.huge) {
    // The text gets a chunk before the element's, which is split first if the element is not its
    // first.
    const bool is_first = here.at == first_in(in);
    place_before(here, text, limits);
    const size_t old = here.chunk + (is_first ? 1 : 2);
    erase({old, first_in(chunk(old))});
  } else if (listpack::bytes(in.data) + listpack::element_bytes(text) <= limits.bytes ||
             listpack::get(in.data, here.at).size >= text.size()) {
    change(in, [&](listpack::Block block) { return listpack::replace(block, here.at, text); });
  } else {
    const Cursor following = erase(here);
    if (following) {
      place_before(following, text, limits);
    } else {
      push_back(text, limits);
    }
  }
  open_ = kNoChunk;
  tidy_around(here.chunk == 0 ? 0 : here.chunk - 1, here.chunk + 3);
}

ChunkedList::Cursor ChunkedList::erase(Cursor here) {
  if (open_ != kNoChunk && open_ != here.chunk) [[unlikely]]
    settle();
  Chunk& in = opened(here.chunk);
  if (in.count == 1) {
    open_ = kNoChunk;
    drop_chunks(here.chunk, 1);
    tidy_ends();
  } else {
    change(in, [&](listpack::Block block) { return listpack::erase(block, here.at); });
    in.count--;
    size_--;
    if (depth_ != 0) open_ = here.chunk;
    const Position at = listpack::or_none(in.data, here.at);
    if (at != kNone) return {here.chunk, at};
    here.chunk++;
  }
  if (here.chunk >= used_) return {};
  return {here.chunk, first_in(chunk(here.chunk))};
}

void ChunkedList::erase_range(size_t index, size_t count) {
  if (count == 0) return;
  settle();
  Window window;
  const Cursor from = at(static_cast<int64_t>(index), window);
  size_t in = from.chunk;
  Position place = from.at;
  size_t whole_from = in;
  size_t whole = 0;
  while (count > 0) {
    if (place == first_in(chunk(in)) && chunk(in).count <= count) {
      // Whole chunks leave the directory together.
      if (whole == 0) whole_from = in;
      whole++;
      count -= chunk(in).count;
    } else {
      Chunk& here = opened(in);
      const size_t size_before = here.count;
      change(here,
             [&](listpack::Block block) { return listpack::erase_range(block, place, count); });
      here.count = static_cast<uint32_t>(listpack::size(here.data));
      const size_t erased = size_before - here.count;
      size_ -= erased;
      count -= erased;
    }
    in++;
    if (count > 0) place = first_in(chunk(in));
  }
  if (whole > 0) drop_chunks(whole_from, whole);
  tidy_around(from.chunk, from.chunk + 1);
}

listpack::ConstBlock ChunkedList::single_block() const {
  return used_ == 1 && chunk(0).form == Form::kPacked ? chunk(0).data : nullptr;
}

listpack::Block ChunkedList::release_single_block() {
  listpack::Block block = chunk(0).data;
  chunk_bytes_ = 0;
  size_ = 0;
  used_ = 0;
  open_ = kNoChunk;
  return block;
}

void ChunkedList::split(Cursor here) {
  Chunk& in = chunk(here.chunk);
  Chunk rest{listpack::append_range(listpack::make(), in.data, here.at), 0, Form::kPacked};
  rest.count = static_cast<uint32_t>(listpack::size(rest.data));
  change(in, [&](listpack::Block block) {
    return listpack::erase_range(block, here.at, listpack::kAll);
  });
  in.count -= rest.count;
  size_ -= rest.count;
  add_chunk(here.chunk + 1, rest);
}

void ChunkedList::add_chunk(size_t index, const Chunk& added) {
  // Moves the side with fewer chunks, if it has free space.
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
  // A queue that was once long releases its directory.
  constexpr size_t kSmall = 16;
  if (capacity_ > kSmall && used_ < capacity_ / 8) make_room();
}

// Rebuilds the directory with free space at both ends: a list that moves in one direction (a queue)
// then moves its directory only once in so many chunks.
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
    switch (in.form) {
      case Form::kPacked:
        visit({listpack::view(in.data)});
        break;
      case Form::kHuge:
        visit(
            {{reinterpret_cast<const char*>(in.data) + kLengthBytes, huge_size(in.data)}, 0, true});
        break;
      case Form::kCompressed:
        visit({compressed_part(in.data), expanded_size(in.data)});
        break;
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
    if (in.form == Form::kHuge) continue;
    const bool is_inner = i >= depth_ && used_ - 1 - i >= depth_;
    if (in.form == Form::kCompressed && (depth_ == 0 || !is_inner)) return false;
    Window window;
    const listpack::ConstBlock block = block_of(in, window);
    if (!listpack::valid(listpack::view(block)) || listpack::size(block) != in.count) return false;
  }
  return elements == size_ && bytes == chunk_bytes_ && begin_ + used_ <= capacity_;
}

}  // namespace sorrel
