#include "structs/lzf.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/bytes.h"

namespace sorrel::lzf {
namespace {

constexpr size_t kLeastMatch = 3;
constexpr size_t kLongestMatch = 264;
constexpr size_t kFarthest = 8192;
constexpr size_t kLongestRun = 32;

// Compresses with a table of the last position of each three bytes. A table sized to the text stays
// in the L1 cache, which dominates the cost for short texts.
template <unsigned kBits, class Index>
class Packer {
 public:
  Packer(std::string_view bytes, char* out, size_t most)
      : in_(bytes.data()), size_(bytes.size()), out_(out), most_(most) {}

  // The number of bytes; 0: they do not fit.
  size_t run() {
    size_t at = 0;
    while (at + kLeastMatch < size_) {
      Index& last = table_[hash_at(at)];
      const size_t candidate = last;
      last = static_cast<Index>(at + 1);
      if (candidate == 0 || !matches(candidate - 1, at)) {
        // After a long stretch without a match, matches are unlikely soon: positions are skipped.
        at += 1 + ((at - literals_) >> 6);
        continue;
      }
      const size_t length = match_length(candidate - 1, at);
      if (!put_literals(at) || !put_match(at - (candidate - 1), length)) return 0;
      at += length;
      literals_ = at;
      if (at + 1 < size_) table_[hash_at(at - 2)] = static_cast<Index>(at - 1);
    }
    return put_literals(size_) ? written_ : 0;
  }

 private:
  // Precondition: four bytes are readable.
  uint32_t three_at(size_t at) const { return load<uint32_t>(in_ + at) << 8; }
  size_t hash_at(size_t at) const { return (three_at(at) * 2654435761u) >> (32 - kBits); }
  bool matches(size_t before, size_t at) const {
    return at - before <= kFarthest && three_at(before) == three_at(at);
  }
  size_t match_length(size_t before, size_t at) const {
    const size_t most = std::min(size_ - at, kLongestMatch);
    size_t length = kLeastMatch;
    while (length + sizeof(uint64_t) <= most) {
      const uint64_t differ =
          load<uint64_t>(in_ + before + length) ^ load<uint64_t>(in_ + at + length);
      if (differ != 0) return length + static_cast<unsigned>(std::countr_zero(differ)) / 8;
      length += sizeof(uint64_t);
    }
    while (length < most && in_[before + length] == in_[at + length]) length++;
    return length;
  }
  // Writes literals from literals_ to `end`.
  bool put_literals(size_t end) {
    while (literals_ < end) {
      const size_t run = std::min(end - literals_, kLongestRun);
      if (most_ - written_ < run + 1) return false;
      out_[written_] = static_cast<char>(run - 1);
      std::memcpy(out_ + written_ + 1, in_ + literals_, run);
      written_ += run + 1;
      literals_ += run;
    }
    return true;
  }
  bool put_match(size_t distance, size_t length) {
    constexpr size_t kShort = 7;
    if (most_ - written_ < 3) return false;
    const size_t back = distance - 1;
    const size_t code = length - 2;
    out_[written_++] = static_cast<char>(std::min(code, kShort) << 5 | back >> 8);
    if (code >= kShort) out_[written_++] = static_cast<char>(code - kShort);
    out_[written_++] = static_cast<char>(back);
    return true;
  }

  const char* in_;
  size_t size_;
  char* out_;
  size_t most_;
  size_t written_ = 0;
  size_t literals_ = 0;  // where the unwritten literals begin
  Index table_[size_t{1} << kBits] = {};
};

}  // namespace

size_t compress(std::string_view bytes, char* out, size_t most) {
  if (bytes.size() <= 255) return Packer<7, uint8_t>(bytes, out, most).run();
  if (bytes.size() < 4096) return Packer<10, uint16_t>(bytes, out, most).run();
  if (bytes.size() > std::numeric_limits<uint32_t>::max() - 1) return 0;
  return Packer<14, uint32_t>(bytes, out, most).run();
}

bool compress(std::string_view bytes, size_t most, std::string& out) {
  const size_t before = out.size();
  out.resize(before + most);
  const size_t size = compress(bytes, out.data() + before, most);
  out.resize(before + size);
  return size != 0;
}

bool expand(std::string_view compressed, size_t size, std::string& out) {
  const size_t begin = out.size();
  if (size / kMostPerByte > compressed.size()) return false;
  out.reserve(begin + std::min(size, 4 * compressed.size()));
  const auto written = [&] { return out.size() - begin; };
  size_t at = 0;
  while (at < compressed.size()) {
    const unsigned control = static_cast<unsigned char>(compressed[at++]);
    if (control < 32) {
      const size_t run = control + 1;
      if (run > compressed.size() - at || run > size - written()) return false;
      out.append(compressed, at, run);
      at += run;
      continue;
    }
    size_t length = (control >> 5) + 2;
    const bool is_long = control >> 5 == 7;
    if (compressed.size() - at < (is_long ? 2u : 1u)) return false;
    if (is_long) length += static_cast<unsigned char>(compressed[at++]);
    const size_t back = ((control & 31) << 8 | static_cast<unsigned char>(compressed[at++])) + 1;
    if (back > written() || length > size - written()) return false;
    // Byte by byte: for runs the source overlaps the copy.
    size_t from = out.size() - back;
    out.resize(out.size() + length);
    char* to = out.data() + out.size() - length;
    for (size_t i = 0; i < length; i++) to[i] = out[from++];
  }
  return written() == size;
}

}  // namespace sorrel::lzf
