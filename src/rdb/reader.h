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

// Takes bytes of the RDB format apart, from front to back. The bytes may be anything: nothing is
// read outside of them and nothing is allocated because they say so. The first mistake is latched;
// everything answers zero or empty from then on, and whoever asks looks at failed() before he
// believes what he got. Loops over a count that was read must look at it in every round.
//
// The bytes are all there, or come piece by piece from a source. Then a piece is read where it
// lies, and what reaches over its end is put together elsewhere; offsets count all bytes of the
// source.
class Reader {
 public:
  // What a Reader of a source needs besides its piece. Belongs to one Reader.
  class Refill {
   public:
    // The source outlives it.
    explicit Refill(ByteSource& source) : source_(source) {}

   private:
    friend class Reader;
    ByteSource& source_;
    std::string joined_;  // what reached over the end of a piece
    bool ended_ = false;
    std::optional<Error> error_;
  };

  explicit Reader(std::string_view bytes) : bytes_(bytes), end_(bytes.size()) {}
  // Of what the source gives. `refill` outlives it.
  explicit Reader(Refill& refill)
      : end_(refill.source_.size().value_or(kUnknown)), refill_(&refill) {}

  bool failed() const { return failed_; }
  // What failed wanted more bytes than there are.
  bool ran_out() const { return ran_out_; }
  void fail() { failed_ = true; }
  // How many bytes follow; of a source that does not know it, more than there can be.
  size_t left() const { return end_ - before_ - at_; }
  // How many bytes have been read.
  uint64_t position() const { return before_ + at_; }
  // How many there are, or were when they ran out; of a source as far as it knows.
  uint64_t end() const { return end_; }
  // Does a byte follow? Waits for the source to tell, which may fail.
  bool has_more();
  // Why the source could give no more.
  const Error* source_error() const {
    return refill_ != nullptr && refill_->error_ ? &*refill_->error_ : nullptr;
  }
  // The number of bytes is known, so that they can be counted.
  bool knows_end() const { return end_ != kUnknown; }

  // The sum of all bytes up to position(), once start_sum() was called before the first was read.
  // To be asked for often enough that the bytes are still in the cache.
  void start_sum() { sums_ = true; }
  uint64_t unsummed() const { return at_ - summed_; }
  uint64_t sum_up();

  // The value that was read has no elements: said by read_value() when that is all that is wrong
  // with it. It has been read to its end then.
  void note_empty() { empty_ = true; }
  bool take_empty() { return std::exchange(empty_, false); }
  // What is wrong with the value that is refused, for whoever is told of it; the first one said
  // counts. Precondition: the text lasts for ever.
  void note_flaw(std::string_view flaw) {
    if (flaw_.empty()) flaw_ = flaw;
  }
  std::string_view flaw() const { return flaw_; }
  // It is of a module that is not there.
  void note_module(uint64_t id) { module_ = id; }
  uint64_t module() const { return module_; }
  // Everything was read, and rightly.
  bool at_end() const { return !failed_ && left() == 0; }

  uint8_t byte();
  // So many bytes as they are; valid until the next call, or as long as the bytes if all were
  // given.
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
  // A length that counts things of at least `least` bytes each: more than can follow is a mistake.
  uint64_t count(size_t least);
  // Valid as long as the bytes and `scratch`, which takes those that are not there as they are
  // (integers, compressed ones) and those of a source.
  std::string_view string(std::string& scratch);

  double real();
  // The form of old versions: a length and digits.
  double text_real();

 private:
  struct Length {
    uint64_t value;
    bool special;  // then the value says how a string is written
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

  std::string_view bytes_;  // all, or a piece
  size_t at_ = 0;           // in them
  uint64_t before_ = 0;     // bytes of earlier pieces
  uint64_t end_;
  Refill* refill_ = nullptr;
  size_t summed_ = 0;  // of the piece
  uint64_t sum_ = 0;
  bool sums_ = false;
  bool failed_ = false;
  bool ran_out_ = false;
  bool empty_ = false;
  std::string_view flaw_;
  uint64_t module_ = 0;
};

}  // namespace sorrel::rdb
