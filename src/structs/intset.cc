// The integers are kept sorted in place; a value too wide for the current width re-encodes the
// whole block.

#include "structs/intset.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/bytes.h"

namespace sorrel {
namespace {

constexpr size_t kMaxSize = std::numeric_limits<uint32_t>::max();

int64_t load_integer(const char* at, size_t width) {
  if (width == 2) return load<int16_t>(at);
  if (width == 4) return load<int32_t>(at);
  return load<int64_t>(at);
}

}  // namespace

char* Intset::make() {
  Intset set(nullptr);
  set.resize(2, 0);
  set.set_header(2, 0);
  return set.block_;
}

char* Intset::copy(std::string_view bytes) {
  auto* block = static_cast<char*>(std::malloc(bytes.size()));
  if (block == nullptr) throw std::bad_alloc();
  std::memcpy(block, bytes.data(), bytes.size());
  return block;
}

bool Intset::valid(std::string_view bytes) {
  if (bytes.size() < kHeader) return false;
  const size_t width = load<uint32_t>(bytes.data());
  const size_t size = load<uint32_t>(bytes.data() + 4);
  if (width != 2 && width != 4 && width != 8) return false;
  if (bytes.size() - kHeader != size * width) return false;
  for (size_t i = 1; i < size; i++) {
    const char* at = bytes.data() + kHeader + i * width;
    if (load_integer(at - width, width) >= load_integer(at, width)) return false;
  }
  return true;
}

size_t Intset::width() const {
  return load<uint32_t>(block_);
}

size_t Intset::size() const {
  return load<uint32_t>(block_ + 4);
}

void Intset::set_header(size_t width, size_t size) {
  store(block_, static_cast<uint32_t>(width));
  store(block_ + 4, static_cast<uint32_t>(size));
}

size_t Intset::width_for(int64_t value) {
  if (value == static_cast<int16_t>(value)) return 2;
  if (value == static_cast<int32_t>(value)) return 4;
  return 8;
}

int64_t Intset::read(size_t width, size_t index) const {
  return load_integer(block_ + kHeader + index * width, width);
}

void Intset::write(size_t width, size_t index, int64_t value) {
  // Little-endian: the low bytes come first.
  std::memcpy(block_ + kHeader + index * width, &value, width);
}

void Intset::resize(size_t width, size_t size) {
  void* block = std::realloc(block_, kHeader + size * width);
  if (block == nullptr) throw std::bad_alloc();
  block_ = static_cast<char*>(block);
}

// The first position whose integer is not less than `value`.
size_t Intset::lower_bound(int64_t value) const {
  const size_t bytes = width();
  size_t low = 0;
  size_t high = size();
  // Integers mostly arrive in ascending order.
  if (high > 0 && read(bytes, high - 1) < value) return high;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (read(bytes, middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<size_t> Intset::find(int64_t value) const {
  if (width_for(value) > width()) return std::nullopt;
  const size_t at = lower_bound(value);
  if (at == size() || read(width(), at) != value) return std::nullopt;
  return at;
}

bool Intset::add(int64_t value) {
  const size_t count = size();
  const size_t bytes = width();
  if (width_for(value) > bytes) {
    if (count == kMaxSize) return false;
    widen_and_add(value);
    return true;
  }
  const size_t at = lower_bound(value);
  if ((at < count && read(bytes, at) == value) || count == kMaxSize) return false;
  resize(bytes, count + 1);
  char* place = block_ + kHeader + at * bytes;
  std::memmove(place + bytes, place, (count - at) * bytes);
  write(bytes, at, value);
  set_header(bytes, count + 1);
  return true;
}

// A value too wide for the present width is less than all integers, or greater.
void Intset::widen_and_add(int64_t value) {
  const size_t count = size();
  const size_t narrow = width();
  const size_t wide = width_for(value);
  const size_t shift = value < 0 ? 1 : 0;
  resize(wide, count + 1);
  // From the end, so that no integer is overwritten before it is read.
  for (size_t i = count; i-- > 0;) write(wide, i + shift, read(narrow, i));
  write(wide, shift == 1 ? 0 : count, value);
  set_header(wide, count + 1);
}

bool Intset::remove(int64_t value) {
  const auto at = find(value);
  if (!at) return false;
  remove_at(*at);
  return true;
}

void Intset::remove_at(size_t index) {
  const size_t count = size();
  const size_t bytes = width();
  char* place = block_ + kHeader + index * bytes;
  std::memmove(place, place + bytes, (count - index - 1) * bytes);
  set_header(bytes, count - 1);
  resize(bytes, count - 1);
}

}  // namespace sorrel
