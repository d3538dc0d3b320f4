#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sorrel::rdb {

// Appends bytes of the RDB format to `out`.
class Writer {
 public:
  // Receives the buffer when it is full, so that a big value is never in memory twice.
  class Spill {
   public:
    virtual ~Spill() = default;
    virtual void spill(std::string& bytes) = 0;
  };
  static constexpr size_t kSpillBytes = size_t{128} << 10;

  // A string in `out`, still without its length, that another thread compresses later.
  struct Plain {
    size_t at;
    size_t size;
  };

  // `compress`: long strings are compressed when that makes them shorter (rdbcompression), or left
  // uncompressed and listed in `plain`. `spill`, if set, is called between two strings when `out`
  // has grown beyond kSpillBytes; not together with `plain`.
  Writer(std::string& out, bool compress, Spill* spill = nullptr,
         std::vector<Plain>* plain = nullptr)
      : out_(out), compress_(compress), spill_(spill), plain_(plain) {}

  void byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void raw(std::string_view bytes) { out_.append(bytes); }
  template <class T>
  void little_endian(T value) {
    char bytes[sizeof(T)];
    store(bytes, value);
    out_.append(bytes, sizeof bytes);
  }
  void big_endian(uint64_t value) { little_endian(__builtin_bswap64(value)); }

  void length(uint64_t value);
  // Short integers in their canonical spelling are written as integers.
  void string(std::string_view text);
  void integer_string(int64_t value);
  // A string that is already compressed, and its uncompressed size.
  void compressed_string(std::string_view compressed, uint64_t size);

 private:
  bool integer(int64_t value);
  bool compressed(std::string_view text);
  void spill_much() {
    if (out_.size() > kSpillBytes && spill_ != nullptr) [[unlikely]]
      spill_->spill(out_);
  }

  std::string& out_;
  bool compress_;
  Spill* spill_;
  std::vector<Plain>* plain_;
};

}  // namespace sorrel::rdb
