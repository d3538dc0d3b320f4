// Listpacks come from dumps and files as well as from this code, so validation and all edits share
// one description of an element's encoding.

#include "structs/listpack.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/bytes.h"

namespace sorrel::listpack {
namespace {

constexpr unsigned char kEnd = 0xff;
constexpr uint16_t kUnknownCount = 65535;

constexpr unsigned char kText6 = 0x80;
constexpr unsigned char kInt13 = 0xc0;
constexpr unsigned char kText12 = 0xe0;
constexpr unsigned char kText32 = 0xf0;
constexpr unsigned char kInt16 = 0xf1;
constexpr unsigned char kInt24 = 0xf2;
constexpr unsigned char kInt32 = 0xf3;
constexpr unsigned char kInt64 = 0xf4;

// An element prepared for writing: the kind with size or integer, then the text's bytes.
struct Encoded {
  unsigned char head[9];
  unsigned head_size = 0;
  std::string_view body;

  size_t content() const { return head_size + body.size(); }
};

// The format's limits: the largest number of each back length, each of which takes a byte more.
unsigned back_length_size(size_t content) {
  if (content <= 127) return 1;
  if (content < 16383) return 2;
  if (content < 2097151) return 3;
  if (content < 268435455) return 4;
  return 5;
}

void write_back_length(unsigned char* to, size_t content, unsigned size) {
  for (unsigned i = size; i-- > 0;) {
    to[i] = static_cast<unsigned char>((content & 127) | (i == 0 ? 0 : 128));
    content >>= 7;
  }
}

Encoded encode_integer(int64_t value) {
  Encoded encoded;
  unsigned char* head = encoded.head;
  const auto bits = static_cast<uint64_t>(value);
  unsigned width = 0;
  if (value >= 0 && value <= 127) {
    head[0] = static_cast<unsigned char>(value);
  } else if (value >= -4096 && value <= 4095) {
    head[0] = static_cast<unsigned char>(kInt13 | ((bits >> 8) & 0x1f));
    head[1] = static_cast<unsigned char>(bits & 0xff);
    encoded.head_size = 2;
    return encoded;
  } else if (value >= -32768 && value <= 32767) {
    head[0] = kInt16;
    width = 2;
  } else if (value >= -8388608 && value <= 8388607) {
    head[0] = kInt24;
    width = 3;
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    head[0] = kInt32;
    width = 4;
  } else {
    head[0] = kInt64;
    width = 8;
  }
  store(head + 1, bits);
  encoded.head_size = 1 + width;
  return encoded;
}

// The longest spelling of a 64-bit integer.
constexpr size_t kLongestInteger = 20;

std::optional<int64_t> as_integer(std::string_view text) {
  if (text.empty() || text.size() > kLongestInteger) return std::nullopt;
  // Most texts differ from a number in their first byte.
  if (text[0] != '-' && (text[0] < '0' || text[0] > '9')) return std::nullopt;
  return parse_int64(text);
}

Encoded encode_text(std::string_view text) {
  if (const auto integer = as_integer(text)) return encode_integer(*integer);
  Encoded encoded;
  encoded.body = text;
  const size_t size = text.size();
  if (size < 64) {
    encoded.head[0] = static_cast<unsigned char>(kText6 | size);
    encoded.head_size = 1;
  } else if (size < 4096) {
    encoded.head[0] = static_cast<unsigned char>(kText12 | (size >> 8));
    encoded.head[1] = static_cast<unsigned char>(size & 0xff);
    encoded.head_size = 2;
  } else {
    encoded.head[0] = kText32;
    store(encoded.head + 1, static_cast<uint32_t>(size));
    encoded.head_size = 5;
  }
  return encoded;
}

// How many bytes encode the size of an element that begins with this byte; 0: an invalid byte.
unsigned head_bytes(unsigned char kind) {
  if (kind < kText12) return 1;
  if (kind < kText32) return 2;
  if (kind == kText32) return 5;
  return kind <= kInt64 ? 1 : 0;
}

// Kind, size and content together. Precondition: head_bytes() of them may be read.
size_t content_bytes(const unsigned char* at) {
  const unsigned char kind = at[0];
  if (kind < kText6) return 1;
  if (kind < kInt13) return 1 + size_t{kind & 0x3fu};
  if (kind < kText12) return 2;
  if (kind < kText32) return 2 + ((size_t{kind & 0x0fu} << 8) | at[1]);
  switch (kind) {
    case kText32:
      return 5 + size_t{load<uint32_t>(at + 1)};
    case kInt16:
      return 3;
    case kInt24:
      return 4;
    case kInt32:
      return 5;
    default:
      return 9;
  }
}

size_t whole_bytes(const unsigned char* at) {
  const size_t content = content_bytes(at);
  return content + back_length_size(content);
}

// Allocators' size classes: steps of 16, then four steps per doubling.
size_t rounded(size_t bytes) {
  if (bytes <= 128) return (bytes + 15) & ~size_t{15};
  const size_t step = size_t{1} << (std::bit_width(bytes - 1) - 3);
  return (bytes + step - 1) & ~(step - 1);
}

uint16_t stored_count(ConstBlock block) {
  return load<uint16_t>(block + 4);
}
void set_bytes(Block block, size_t bytes) {
  store(block, static_cast<uint32_t>(bytes));
}
// An unknown count stays unknown; a count that reaches 65535 becomes unknown.
void change_count(Block block, size_t added, size_t removed) {
  const size_t count = stored_count(block);
  if (count == kUnknownCount) return;
  store(block + 4,
        static_cast<uint16_t>(std::min<size_t>(count + added - removed, size_t{kUnknownCount})));
}

Block resize(Block block, size_t before, size_t after) {
  if (rounded(before) == rounded(after)) return block;
  return static_cast<Block>(std::realloc(block, rounded(after)));
}

// Resizes the `old_size` bytes at `at` to `new_size` bytes of undefined content, and moves the
// rest.
Block reshape(Block block, size_t at, size_t old_size, size_t new_size) {
  const size_t before = bytes(block);
  const size_t after = before - old_size + new_size;
  const size_t rest = before - at - old_size;
  if (after > before) block = resize(block, before, after);
  std::memmove(block + at + new_size, block + at + old_size, rest);
  if (after < before) block = resize(block, before, after);
  set_bytes(block, after);
  return block;
}

// Replaces `old_size` bytes at `at` by the element.
Block put(Block block, size_t at, size_t old_size, const Encoded& encoded) {
  const size_t content = encoded.content();
  const unsigned back = back_length_size(content);
  block = reshape(block, at, old_size, content + back);
  unsigned char* to = block + at;
  std::memcpy(to, encoded.head, encoded.head_size);
  copy_bytes(reinterpret_cast<char*>(to) + encoded.head_size, encoded.body.data(),
             encoded.body.size());
  write_back_length(to + content, content, back);
  return block;
}

Block insert_at(Block block, size_t at, const Encoded& encoded) {
  block = put(block, at, 0, encoded);
  change_count(block, 1, 0);
  return block;
}

size_t end_of(ConstBlock block) {
  return bytes(block) - 1;
}

struct Range {
  size_t bytes;
  size_t count;
};
Range measure(ConstBlock block, Position at, size_t count) {
  const size_t end = end_of(block);
  size_t to = at;
  size_t passed = 0;
  while (passed < count && to < end) {
    to += whole_bytes(block + to);
    passed++;
  }
  return {to - at, passed};
}

}  // namespace

Wanted::Wanted(std::string_view text) : text_(text) {
  const auto integer = as_integer(text);
  is_integer_ = integer.has_value();
  integer_ = integer.value_or(0);
}

bool Wanted::matches(const Element& element) const {
  if (element.is_integer()) return is_integer_ && element.integer == integer_;
  return same_bytes({element.data, element.size}, text_);
}

Block make() {
  const size_t bytes = kHeaderBytes + 1;
  auto* block = static_cast<Block>(std::malloc(rounded(bytes)));
  set_bytes(block, bytes);
  store(block + 4, uint16_t{0});
  block[kHeaderBytes] = kEnd;
  return block;
}

void free(Block block) {
  std::free(block);
}

Block clone(ConstBlock block) {
  return adopt(view(block));
}

Block adopt(std::string_view bytes) {
  auto* block = static_cast<Block>(std::malloc(rounded(bytes.size())));
  std::memcpy(block, bytes.data(), bytes.size());
  return block;
}

bool valid(std::string_view bytes) {
  const size_t size = bytes.size();
  if (size < kHeaderBytes + 1 || size > kMaxBytes) return false;
  const auto* block = reinterpret_cast<ConstBlock>(bytes.data());
  if (load<uint32_t>(block) != size || block[size - 1] != kEnd) return false;
  const size_t end = size - 1;
  size_t at = kHeaderBytes;
  size_t count = 0;
  while (at < end) {
    const size_t left = end - at;
    const unsigned head = head_bytes(block[at]);
    if (head == 0 || head > left) return false;
    const size_t content = content_bytes(block + at);
    const unsigned back = back_length_size(content);
    if (content > left || back > left - content) return false;
    unsigned char expected[5];
    write_back_length(expected, content, back);
    if (std::memcmp(expected, block + at + content, back) != 0) return false;
    at += content + back;
    count++;
  }
  return stored_count(block) == kUnknownCount || stored_count(block) == count;
}

size_t bytes(ConstBlock block) {
  return load<uint32_t>(block);
}

size_t memory_bytes(ConstBlock block) {
  return rounded(bytes(block));
}

size_t size(ConstBlock block) {
  const uint16_t count = stored_count(block);
  if (count != kUnknownCount) return count;
  return measure(block, kHeaderBytes, kAll).count;
}

bool empty(ConstBlock block) {
  return bytes(block) == kHeaderBytes + 1;
}

bool fits(ConstBlock block, size_t more, size_t count) {
  constexpr size_t kMostAround = 10;  // kind with size, back length
  if (more > kMaxBytes || count > kMaxBytes / kMostAround) return false;
  return bytes(block) + more + count * kMostAround <= kMaxBytes;
}

size_t element_bytes(std::string_view text) {
  const size_t content = encode_text(text).content();
  return content + back_length_size(content);
}

Position first(ConstBlock block) {
  return or_none(block, kHeaderBytes);
}

Position last(ConstBlock block) {
  return prev(block, static_cast<Position>(end_of(block)));
}

Position next(ConstBlock block, Position at) {
  return or_none(block, static_cast<Position>(at + whole_bytes(block + at)));
}

Position prev(ConstBlock block, Position at) {
  if (at <= kHeaderBytes) return kNone;
  size_t content = 0;
  unsigned back = 0;
  unsigned char byte;
  do {
    byte = block[at - 1 - back];
    content |= size_t{byte & 127u} << (7 * back);
    back++;
  } while ((byte & 128) != 0 && back < 5);
  return static_cast<Position>(at - back - content);
}

Position at(ConstBlock block, int64_t index) {
  const uint16_t count = stored_count(block);
  // From the nearer end, if the count is known.
  if (count != kUnknownCount) {
    const int64_t size = count;
    if (index >= size || index < -size) return kNone;
    if (index >= 0 && index > size / 2) index -= size;
    if (index < 0 && -index > size / 2 + 1) index += size;
  }
  if (index >= 0) {
    Position here = first(block);
    for (; index > 0 && here != kNone; index--) here = next(block, here);
    return here;
  }
  Position here = last(block);
  for (; index < -1 && here != kNone; index++) here = prev(block, here);
  return here;
}

Position or_none(ConstBlock block, Position at) {
  return at < end_of(block) ? at : kNone;
}

Element get(ConstBlock block, Position at) {
  const unsigned char* from = block + at;
  const unsigned char kind = from[0];
  const auto* bytes = reinterpret_cast<const char*>(from);
  if (kind < kText6) return {.integer = kind};
  if (kind < kInt13) return {bytes + 1, kind & 0x3fu, 0};
  if (kind < kText12) {
    const auto bits = static_cast<int16_t>((kind & 0x1f) << 8 | from[1]);
    return {.integer = bits >= 4096 ? bits - 8192 : bits};
  }
  if (kind < kText32) return {bytes + 2, (size_t{kind & 0x0fu} << 8) | from[1], 0};
  switch (kind) {
    case kText32:
      return {bytes + 5, load<uint32_t>(from + 1), 0};
    case kInt16:
      return {.integer = load<int16_t>(from + 1)};
    case kInt24:
      return {.integer = static_cast<int8_t>(from[3]) * 65536 + load<uint16_t>(from + 1)};
    case kInt32:
      return {.integer = load<int32_t>(from + 1)};
    default:
      return {.integer = load<int64_t>(from + 1)};
  }
}

bool equals(ConstBlock block, Position at, std::string_view text) {
  return Wanted(text).matches(get(block, at));
}

Position find(ConstBlock block, Position from, std::string_view text, size_t skip) {
  const Wanted wanted(text);
  Position here = from;
  while (here != kNone) {
    if (wanted.matches(get(block, here))) return here;
    for (size_t i = 0; i <= skip && here != kNone; i++) here = next(block, here);
  }
  return kNone;
}

Block append(Block block, std::string_view text) {
  return insert_at(block, end_of(block), encode_text(text));
}
Block append(Block block, int64_t integer) {
  return insert_at(block, end_of(block), encode_integer(integer));
}

Block prepend(Block block, std::string_view text) {
  return insert_at(block, kHeaderBytes, encode_text(text));
}
Block prepend(Block block, int64_t integer) {
  return insert_at(block, kHeaderBytes, encode_integer(integer));
}

Block insert_before(Block block, Position at, std::string_view text) {
  return insert_at(block, at, encode_text(text));
}
Block insert_before(Block block, Position at, int64_t integer) {
  return insert_at(block, at, encode_integer(integer));
}

Block insert_after(Block block, Position at, std::string_view text) {
  return insert_at(block, at + whole_bytes(block + at), encode_text(text));
}
Block insert_after(Block block, Position at, int64_t integer) {
  return insert_at(block, at + whole_bytes(block + at), encode_integer(integer));
}

Block replace(Block block, Position at, std::string_view text) {
  return put(block, at, whole_bytes(block + at), encode_text(text));
}
Block replace(Block block, Position at, int64_t integer) {
  return put(block, at, whole_bytes(block + at), encode_integer(integer));
}

Block erase(Block block, Position at) {
  block = reshape(block, at, whole_bytes(block + at), 0);
  change_count(block, 0, 1);
  return block;
}

Block erase_range(Block block, Position at, size_t count) {
  if (at == kNone) return block;
  const Range range = measure(block, at, count);
  block = reshape(block, at, range.bytes, 0);
  change_count(block, 0, range.count);
  return block;
}

Block append_range(Block block, ConstBlock from, Position at, size_t count) {
  if (at == kNone) return block;
  const Range range = measure(from, at, count);
  const size_t end = end_of(block);
  block = reshape(block, end, 0, range.bytes);
  std::memcpy(block + end, from + at, range.bytes);
  change_count(block, range.count, 0);
  return block;
}

}  // namespace sorrel::listpack
