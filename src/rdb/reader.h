#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace sorrel::rdb {

// Takes bytes of the RDB format apart, from front to back. The bytes may be anything: nothing is
// read outside of them and nothing is allocated because they say so. The first mistake is latched;
// everything answers zero or empty from then on, and whoever asks looks at failed() before he
// believes what he got. Loops over a count that was read must look at it in every round.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  // What failed wanted more bytes than there are.
  bool ran_out() const { return ran_out_; }
  void fail() { failed_ = true; }
  size_t left() const { return bytes_.size() - at_; }
  // How many bytes have been read.
  size_t position() const { return at_; }
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
  // So many bytes as they are; they stay where they were given.
  std::string_view raw(size_t count);
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
  // (integers, compressed ones).
  std::string_view string(std::string& scratch);

  double real();
  // The form of old versions: a length and digits.
  double text_real();

 private:
  struct Length {
    uint64_t value;
    bool special;  // then the value says how a string is written
  };
  Length length_or_special();
  std::string_view special_string(uint64_t form, std::string& scratch);
  std::string_view compressed_string(std::string& scratch);
  template <class T>
  std::string_view integer_string(std::string& scratch);

  std::string_view bytes_;
  size_t at_ = 0;
  bool failed_ = false;
  bool ran_out_ = false;
  bool empty_ = false;
  std::string_view flaw_;
  uint64_t module_ = 0;
};

}  // namespace sorrel::rdb
