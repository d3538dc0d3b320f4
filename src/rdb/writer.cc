#include "rdb/writer.h"

#include <limits>

#include "base/numbers.h"
#include "rdb/format.h"
#include "structs/lzf.h"

namespace sorrel::rdb {
namespace {

// The longest text of a 32-bit integer.
constexpr size_t kLongestInteger = 11;
// Compressing shorter strings saves nothing.
constexpr size_t kTooShort = 20;
// A compressed string must be shorter by this.
constexpr size_t kLeastGain = 4;

uint8_t special(StringForm form) {
  return static_cast<uint8_t>(static_cast<unsigned>(LengthForm::kSpecial) << 6 |
                              static_cast<unsigned>(form));
}

template <class T>
bool is_within(int64_t value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

}  // namespace

void Writer::length(uint64_t value) {
  if (value < 1 << 6) {
    byte(static_cast<uint8_t>(value));
  } else if (value < 1 << 14) {
    byte(static_cast<uint8_t>(static_cast<unsigned>(LengthForm::kFourteenBits) << 6 | value >> 8));
    byte(static_cast<uint8_t>(value));
  } else if (value <= std::numeric_limits<uint32_t>::max()) {
    byte(kLength32);
    little_endian(__builtin_bswap32(static_cast<uint32_t>(value)));
  } else {
    byte(kLength64);
    big_endian(value);
  }
}

// False, and nothing is written, when the value needs more than 32 bits.
bool Writer::integer(int64_t value) {
  if (is_within<int8_t>(value)) {
    byte(special(StringForm::kInt8));
    little_endian(static_cast<int8_t>(value));
  } else if (is_within<int16_t>(value)) {
    byte(special(StringForm::kInt16));
    little_endian(static_cast<int16_t>(value));
  } else if (is_within<int32_t>(value)) {
    byte(special(StringForm::kInt32));
    little_endian(static_cast<int32_t>(value));
  } else {
    return false;
  }
  return true;
}

void Writer::integer_string(int64_t value) {
  spill_much();
  if (integer(value)) return;
  IntegerText text;
  const auto size = static_cast<size_t>(format_int64(value, text.text));
  length(size);
  raw({text.text, size});
}

// False, and nothing is written, when compression does not make it shorter.
bool Writer::compressed(std::string_view text) {
  const size_t most = text.size() - kLeastGain;
  char few[512];
  if (text.size() <= sizeof few) {
    const size_t size = lzf::compress(text, few, most);
    if (size != 0) compressed_string({few, size}, text.size());
    return size != 0;
  }
  std::string many;
  if (!lzf::compress(text, most, many)) return false;
  compressed_string(many, text.size());
  return true;
}

void Writer::string(std::string_view text) {
  spill_much();
  if (text.size() <= kLongestInteger) {
    if (const auto value = parse_int64(text); value && integer(*value)) return;
  }
  if (compress_ && text.size() > kTooShort) {
    if (plain_ != nullptr) {
      plain_->push_back({out_.size(), text.size()});
      return raw(text);
    }
    if (compressed(text)) return;
  }
  length(text.size());
  raw(text);
}

void Writer::compressed_string(std::string_view compressed, uint64_t size) {
  spill_much();
  byte(special(StringForm::kLzf));
  length(compressed.size());
  length(size);
  raw(compressed);
}

}  // namespace sorrel::rdb
