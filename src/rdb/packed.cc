// Ziplists and zipmaps of old versions are untrusted blocks with redundant sizes: all of them must
// agree before an element is used.

#include "rdb/packed.h"

#include <optional>

#include "base/bytes.h"
#include "rdb/reader.h"

namespace sorrel::rdb {
namespace {

constexpr uint8_t kEnd = 0xff;

PackedElement text_element(std::string_view text) {
  // An element with a null pointer would be an integer.
  return {text.data() == nullptr ? "" : text.data(), text.size(), 0};
}
PackedElement integer_element(int64_t integer) {
  return {.integer = integer};
}

bool walk_listpack(std::string_view block, const VisitElement& visit) {
  if (!listpack::valid(block)) return false;
  const auto* bytes = reinterpret_cast<listpack::ConstBlock>(block.data());
  for (auto at = listpack::first(bytes); at != listpack::kNone; at = listpack::next(bytes, at)) {
    if (!visit(listpack::get(bytes, at))) return false;
  }
  return true;
}

// Ziplist, the predecessor of the listpack:
//
//   block     | total bytes u32 | offset of the last element u32 | count u16 | element ... | 0xff |
//   element   | size of the one before it | kind and size | bytes or integer |
//
// The size of the previous element takes a byte, or 0xfe and four. A count of 65535 means unknown.
namespace ziplist {

constexpr size_t kHeaderBytes = 10;
constexpr uint16_t kUnknownCount = 65535;
constexpr uint8_t kLongSize = 0xfe;

PackedElement read_integer(uint8_t kind, Reader& in) {
  constexpr uint8_t kFirstSmall = 0xf1;
  constexpr uint8_t kLastSmall = 0xfd;
  switch (kind) {
    case 0xc0:
      return integer_element(in.little_endian<int16_t>());
    case 0xd0:
      return integer_element(in.little_endian<int32_t>());
    case 0xe0:
      return integer_element(in.little_endian<int64_t>());
    case 0xf0: {
      const auto low = in.little_endian<uint16_t>();
      return integer_element(static_cast<int8_t>(in.byte()) * 65536 + low);
    }
    case 0xfe:
      return integer_element(in.little_endian<int8_t>());
    default:
      break;
  }
  if (kind < kFirstSmall || kind > kLastSmall) in.fail();
  return integer_element(kind - kFirstSmall);
}

PackedElement read_content(Reader& in) {
  const uint8_t kind = in.byte();
  const uint8_t low = kind & 0x3f;
  switch (kind >> 6) {
    case 0:
      return text_element(in.raw(low));
    case 1:
      return text_element(in.raw(size_t{low} << 8 | in.byte()));
    case 2:
      if (low != 0) in.fail();
      return text_element(in.raw(__builtin_bswap32(in.little_endian<uint32_t>())));
    default:
      return read_integer(kind, in);
  }
}

bool walk(std::string_view block, const VisitElement& visit) {
  Reader in(block);
  const auto total = in.little_endian<uint32_t>();
  const auto last = in.little_endian<uint32_t>();
  const auto announced = in.little_endian<uint16_t>();
  if (in.failed() || total != block.size() || static_cast<uint8_t>(block.back()) != kEnd) {
    return false;
  }
  size_t count = 0;
  size_t begin = kHeaderBytes;    // start of the next element
  size_t previous = 0;            // the size of the previous element
  size_t last_at = kHeaderBytes;  // start of the last element read
  while (in.left() > 1) {
    const uint8_t size = in.byte();
    const size_t told = size == kLongSize ? in.little_endian<uint32_t>() : size;
    const PackedElement element = read_content(in);
    // The end mark belongs to no element.
    if (in.failed() || size == kEnd || told != previous || in.left() == 0) return false;
    if (!visit(element)) return false;
    count++;
    last_at = begin;
    previous = block.size() - in.left() - begin;
    begin += previous;
  }
  return in.left() == 1 && last == last_at && (announced == kUnknownCount || announced == count);
}

}  // namespace ziplist

// Zipmap, the predecessor of the ziplist for hashes:
//
//   block   | count u8 | size | field | size | free u8 | value | free bytes | ... | 0xff |
//
// A size takes a byte, or 0xfe and four. A count of 254 or more means unknown.
namespace zipmap {

constexpr uint8_t kUnknownCount = 254;
constexpr uint8_t kLongSize = 254;

// The first byte has been read.
size_t read_size(uint8_t first, Reader& in) {
  if (first == kEnd) in.fail();
  return first == kLongSize ? in.little_endian<uint32_t>() : first;
}

bool walk(std::string_view block, const VisitElement& visit) {
  Reader in(block);
  const uint8_t announced = in.byte();
  size_t count = 0;
  for (uint8_t first = in.byte(); !in.failed() && first != kEnd; first = in.byte()) {
    const PackedElement field = text_element(in.raw(read_size(first, in)));
    const size_t size = read_size(in.byte(), in);
    const uint8_t unused = in.byte();
    const PackedElement value = text_element(in.raw(size));
    in.raw(unused);
    if (in.failed() || !visit(field) || !visit(value)) return false;
    count++;
  }
  return in.at_end() && (announced >= kUnknownCount || announced == count);
}

}  // namespace zipmap

}  // namespace

bool walk_packed(Packed form, std::string_view block, const VisitElement& visit) {
  switch (form) {
    case Packed::kListpack:
      return walk_listpack(block, visit);
    case Packed::kZiplist:
      return ziplist::walk(block, visit);
    case Packed::kZipmap:
      return zipmap::walk(block, visit);
  }
  return false;
}

bool walk_pairs(Packed form, std::string_view block, const VisitPair& visit) {
  std::optional<PackedElement> first;
  const bool sound = walk_packed(form, block, [&](const PackedElement& element) {
    if (!first) {
      first = element;
      return true;
    }
    const bool goes_on = visit(*first, element);
    first.reset();
    return goes_on;
  });
  return sound && !first;
}

}  // namespace sorrel::rdb
