// Bytes may arrive in segments, so a read either returns a view of the current segment or joins
// several in a buffer.

#include "rdb/reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/crc.h"
#include "base/numbers.h"
#include "rdb/format.h"
#include "structs/lzf.h"

namespace sorrel::rdb {

uint64_t Reader::sum_up() {
  if (sums_) sum_ = crc64(sum_, bytes_.substr(summed_, at_ - summed_));
  summed_ = at_;
  return sum_;
}

void Reader::run_out() {
  if (!failed_) ran_out_ = true;
  fail();
}

// Called when the segment is used up. False: there is no further one.
bool Reader::next_piece() {
  if (refill_ == nullptr || refill_->ended_) return false;
  sum_up();
  before_ += bytes_.size();
  bytes_ = {};
  at_ = summed_ = 0;
  Result<std::string_view> more = refill_->source_.next();
  if (!more) refill_->error_ = more.error();
  refill_->ended_ = !more || more->empty();
  if (refill_->ended_) return false;
  bytes_ = *more;
  // Bytes beyond the announced size are not read.
  if (bytes_.size() > end_ - before_) bytes_ = bytes_.substr(0, end_ - before_);
  return !bytes_.empty();
}

bool Reader::has_more() {
  return at_ < bytes_.size() || (!failed_ && left() > 0 && next_piece());
}

// Copies segment by segment, so that memory grows only with the bytes that have arrived.
bool Reader::copy(size_t count, std::string& into) {
  if (failed_ || count > left()) {
    run_out();
    return false;
  }
  while (count > 0) {
    if (at_ == bytes_.size() && !next_piece()) {
      end_ = position();
      run_out();
      return false;
    }
    const size_t size = std::min(count, bytes_.size() - at_);
    into.append(bytes_, at_, size);
    at_ += size;
    count -= size;
  }
  return true;
}

std::string_view Reader::raw_of_pieces(size_t count) {
  if (refill_ == nullptr || failed_) {
    run_out();
    return {};
  }
  refill_->joined_.clear();
  if (!copy(count, refill_->joined_)) return {};
  return refill_->joined_;
}

uint8_t Reader::byte() {
  return little_endian<uint8_t>();
}

uint64_t Reader::big_endian() {
  return __builtin_bswap64(little_endian<uint64_t>());
}

Reader::Length Reader::length_or_special() {
  const uint8_t first = byte();
  const uint8_t low = first & 0x3f;
  switch (static_cast<LengthForm>(first >> 6)) {
    case LengthForm::kSixBits:
      return {low, false};
    case LengthForm::kFourteenBits:
      return {uint64_t{low} << 8 | byte(), false};
    case LengthForm::kLong:
      if (first == kLength32) return {__builtin_bswap32(little_endian<uint32_t>()), false};
      if (first == kLength64) return {big_endian(), false};
      fail();
      return {0, false};
    case LengthForm::kSpecial:
      break;
  }
  return {low, true};
}

uint64_t Reader::length() {
  const Length length = length_or_special();
  if (length.special) fail();
  return failed_ ? 0 : length.value;
}

uint64_t Reader::count(size_t least) {
  const uint64_t value = length();
  if (value > left() / least) fail();
  return failed_ ? 0 : value;
}

std::string_view Reader::string(std::string& scratch) {
  const Length length = length_or_special();
  if (failed_) return {};
  if (length.special) return special_string(length.value, scratch);
  // raw() rejects a length beyond the remaining bytes, so no string is longer than its bytes.
  if (refill_ == nullptr) [[likely]]
    return raw(length.value);
  scratch.clear();
  return copy(length.value, scratch) ? std::string_view(scratch) : std::string_view();
}

std::string_view Reader::special_string(uint64_t form, std::string& scratch) {
  switch (form) {
    case static_cast<uint64_t>(StringForm::kInt8):
      return integer_string<int8_t>(scratch);
    case static_cast<uint64_t>(StringForm::kInt16):
      return integer_string<int16_t>(scratch);
    case static_cast<uint64_t>(StringForm::kInt32):
      return integer_string<int32_t>(scratch);
    case static_cast<uint64_t>(StringForm::kLzf):
      return compressed_string(scratch);
    default:
      fail();
      return {};
  }
}

template <class T>
std::string_view Reader::integer_string(std::string& scratch) {
  scratch = to_text(little_endian<T>());
  return failed_ ? std::string_view() : std::string_view(scratch);
}

std::string_view Reader::compressed_string(std::string& scratch) {
  const uint64_t compressed_size = length();
  const uint64_t size = length();
  const std::string_view compressed = raw(compressed_size);
  scratch.clear();
  if (failed_ || size == 0 || !lzf::expand(compressed, size, scratch)) {
    fail();
    return {};
  }
  return scratch;
}

double Reader::real() {
  return little_endian<double>();
}

double Reader::text_real() {
  constexpr uint8_t kNan = 253;
  constexpr uint8_t kInfinity = 254;
  constexpr uint8_t kNegativeInfinity = 255;
  const uint8_t size = byte();
  switch (size) {
    case kNan:
      return std::numeric_limits<double>::quiet_NaN();
    case kInfinity:
      return std::numeric_limits<double>::infinity();
    case kNegativeInfinity:
      return -std::numeric_limits<double>::infinity();
    default:
      break;
  }
  const auto value = parse_double(raw(size));
  if (!value) fail();
  return value.value_or(0);
}

}  // namespace sorrel::rdb
