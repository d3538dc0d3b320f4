#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "structs/bits.h"  // also for users of this header

namespace sorrel {

// Integers of any width inside a string, for BITFIELD.
struct BitField {
  bool is_signed = false;
  unsigned width = 1;  // 1-64 signed, 1-63 unsigned, so that every value is an int64_t
};

// "u8", "i16"; nullopt for anything else, u64 included.
std::optional<BitField> parse_bit_field(std::string_view text);

// How to treat a number that does not fit its field.
enum class BitOverflow : uint8_t {
  kWrap,      // keep the lowest bits
  kSaturate,  // clamp to the nearest number that fits
  kFail,      // do not write
};

// Bits past the end are zero.
int64_t read_bit_field(std::string_view bytes, uint64_t offset, BitField field);
// Precondition: the field lies within `bytes`, and the value came out of fit_bit_field().
void write_bit_field(char* bytes, uint64_t offset, BitField field, int64_t value);

// The number as the field stores it; nullopt when it does not fit and `overflow` is kFail.
std::optional<int64_t> fit_bit_field(BitField field, __int128 number, BitOverflow overflow);

// SET's argument as a number: an unsigned field takes a negative one as the large number with the
// same bits.
__int128 bit_field_argument(BitField field, int64_t value);

}  // namespace sorrel
