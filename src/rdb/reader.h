#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "rdb/byte_source.h"

namespace sorrel::rdb {

// Parses bytes of the RDB format, from front to back. The bytes are untrusted: nothing is read
// outside of them and nothing is allocated by announced size. The first error is latched; from then
// on every call returns zero or empty, and the caller checks failed() before using the results.
// Loops over a count from the bytes must check it in every round.
//
// The bytes are either all in memory, or come from a source in segments. Then a segment is parsed
// in place, and parts that cross its end are joined in a buffer; offsets count all bytes of the
// source.
class Reader {
 public:
  // State of a Reader of a source besides its segment. Belongs to one Reader.
  class Refill {
   public:
    // The source must outlive this object.
    explicit Refill(ByteSource& source) : source_(source) {}

   private:
    friend class Reader;
    ByteSource& source_;
    std::string joined_;  // parts that cross the end of a segment
    bool ended_ = false;
    std::optional<Error> error_;
  };

  explicit Reader(std::string_view bytes) : bytes_(bytes), end_(bytes.size()) {}
  // Reads from a source. `refill` must outlive the Reader.
  explicit Reader(Refill& refill)
      : end_(refill.source_.size().value_or(kUnknown)), refill_(&refill) {}

  bool failed() const { return failed_; }
  // The error is that the bytes ended too soon.
  bool ran_out() const { return ran_out_; }
  void fail() { failed_ = true; }
  // How many bytes follow; a huge number for a source of unknown size.
  size_t left() const { return end_ - before_ - at_; }
  // How many bytes have been read.
  uint64_t position() const { return before_ + at_; }
  // The total number of bytes, or where they ran out; for a source as far as it is known.
  uint64_t end() const { return end_; }
  // Does a byte follow? Blocks until the source answers, which may fail.
  bool has_more();
  // Why the source could not continue.
  const Error* source_error() const {
    return refill_ != nullptr && refill_->error_ ? &*refill_->error_ : nullptr;
  }
  // The total number of bytes is known, so that the remaining ones can be counted.
  bool knows_end() const { return end_ != kUnknown; }

  // The checksum of all bytes up to position(), once start_sum() was called before the first byte
  // was read. To be called often enough that the bytes are still cached.
  void start_sum() { sums_ = true; }
  uint64_t unsummed() const { return at_ - summed_; }
  uint64_t sum_up();

  // The value has no elements: set by read_value() when that is the only error. The value has then
  // been read to its end.
  void note_empty() { empty_ = true; }
  bool take_empty() { return std::exchange(empty_, false); }
  // Why the value is rejected, for the error text; the first reason counts. Precondition: `flaw`
  // has static storage.
  void note_flaw(std::string_view flaw) {
    if (flaw_.empty()) flaw_ = flaw;
  }
  std::string_view flaw() const { return flaw_; }
  // The value belongs to a module that is not loaded.
  void note_module(uint64_t id) { module_ = id; }
  uint64_t module() const { return module_; }
  // All bytes were read, without an error.
  bool at_end() const { return !failed_ && left() == 0; }

  uint8_t byte();
  // The next `count` bytes; valid until the next call, or as long as the bytes if all are in
  // memory.
  std::string_view raw(size_t count) {
    if (failed_ || count > bytes_.size() - at_) [[unlikely]]
      return raw_of_pieces(count);
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  template <class T>
  T little_endian() {
    const std::string_view bytes = raw(sizeof(T));
    return failed_ ? T{} : load<T>(bytes.data());
  }
  uint64_t big_endian();

  // 6, 14, 32 or 64 bits.
  uint64_t length();
  // A count of items of at least `least` bytes each: more than can follow is an error.
  uint64_t count(size_t least);
  // Valid as long as the bytes and `scratch`, which holds strings that are not stored literally
  // (integers, compressed ones) and those of a source.
  std::string_view string(std::string& scratch);

  double real();
  // The encoding of old versions: a length and digits.
  double text_real();

 private:
  struct Length {
    uint64_t value;
    bool special;  // then the value says how a string is encoded
  };
  static constexpr uint64_t kUnknown = ~uint64_t{0};

  Length length_or_special();
  std::string_view raw_of_pieces(size_t count);
  bool copy(size_t count, std::string& into);
  bool next_piece();
  void run_out();
  std::string_view special_string(uint64_t form, std::string& scratch);
  std::string_view compressed_string(std::string& scratch);
  template <class T>
  std::string_view integer_string(std::string& scratch);

  std::string_view bytes_;  // all, or one segment
  size_t at_ = 0;           // in bytes_
  uint64_t before_ = 0;     // bytes of earlier segments
  uint64_t end_;
  Refill* refill_ = nullptr;
  size_t summed_ = 0;  // bytes of the segment in the checksum
  uint64_t sum_ = 0;
  bool sums_ = false;
  bool failed_ = false;
  bool ran_out_ = false;
  bool empty_ = false;
  std::string_view flaw_;
  uint64_t module_ = 0;
};

}  // namespace sorrel::rdb
