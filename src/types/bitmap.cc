#include "types/bitmap.h"

#include "base/numbers.h"

namespace sorrel {
namespace {

constexpr __int128 kOne = 1;

__int128 smallest(BitField field) {
  return field.is_signed ? -(kOne << (field.width - 1)) : 0;
}
__int128 largest(BitField field) {
  return (kOne << (field.is_signed ? field.width - 1 : field.width)) - 1;
}

// The lowest bits of `bits`, as an integer of the field's type.
int64_t number_of(BitField field, uint64_t bits) {
  const unsigned unused = 64 - field.width;
  if (field.is_signed) return static_cast<int64_t>(bits << unused) >> unused;
  return static_cast<int64_t>((bits << unused) >> unused);
}

}  // namespace

std::optional<BitField> parse_bit_field(std::string_view text) {
  if (text.empty() || (text[0] != 'i' && text[0] != 'u')) return std::nullopt;
  const bool is_signed = text[0] == 'i';
  const auto width = parse_int64(text.substr(1));
  if (!width || *width < 1 || *width > (is_signed ? 64 : 63)) return std::nullopt;
  return BitField{is_signed, static_cast<unsigned>(*width)};
}

int64_t read_bit_field(std::string_view bytes, uint64_t offset, BitField field) {
  return number_of(field, bits::read_field(bytes, offset, field.width));
}

void write_bit_field(char* bytes, uint64_t offset, BitField field, int64_t value) {
  bits::write_field(bytes, offset, field.width, static_cast<uint64_t>(value));
}

std::optional<int64_t> fit_bit_field(BitField field, __int128 number, BitOverflow overflow) {
  const __int128 low = smallest(field);
  const __int128 high = largest(field);
  if (number >= low && number <= high) return static_cast<int64_t>(number);
  switch (overflow) {
    case BitOverflow::kWrap:
      return number_of(field, static_cast<uint64_t>(number));
    case BitOverflow::kSaturate:
      return static_cast<int64_t>(number < low ? low : high);
    case BitOverflow::kFail:
      break;
  }
  return std::nullopt;
}

__int128 bit_field_argument(BitField field, int64_t value) {
  return field.is_signed ? __int128{value} : __int128{static_cast<uint64_t>(value)};
}

}  // namespace sorrel
