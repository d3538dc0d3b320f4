// BITCOUNT, BITPOS and BITOP run over strings of up to 512 MB while a latch is held, so counting
// and combining use whole words, and vectors where the processor has them.

#include "structs/bits.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sorrel::bits {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

uint64_t word_at(const char* at) {
  return load<uint64_t>(at);
}

// In the order of bit positions: the highest bit is the first.
uint64_t ordered_word_at(const char* at) {
  const uint64_t word = word_at(at);
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

unsigned byte_at(const char* at) {
  return static_cast<unsigned char>(*at);
}

// The bits of a byte from position `first` on, and those up to position `last`.
unsigned from_mask(uint64_t first) {
  return 0xffu >> (first & 7);
}
unsigned upto_mask(uint64_t last) {
  return (0xffu << (7 - (last & 7))) & 0xff;
}

// Adds three bits in every place: a sum bit and a carry bit.
struct Sum {
  uint64_t sum;
  uint64_t carry;
};
Sum add3(uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t half = a ^ b;
  return {half ^ c, (a & b) | (half & c)};
}

uint64_t count_word(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555;
  word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return (word * 0x0101010101010101) >> 56;
}

}  // namespace

// Adds eight words in every place at once and counts only the carries out of that: one population
// count in eight words instead of eight.
uint64_t detail::count_words_plain(const char* at, size_t words) {
  uint64_t total = 0;
  uint64_t ones = 0;
  uint64_t twos = 0;
  uint64_t fours = 0;
  for (; words >= 8; words -= 8, at += 8 * kWord) {
    const Sum a = add3(ones, word_at(at), word_at(at + kWord));
    const Sum b = add3(a.sum, word_at(at + 2 * kWord), word_at(at + 3 * kWord));
    const Sum ab = add3(twos, a.carry, b.carry);
    const Sum c = add3(b.sum, word_at(at + 4 * kWord), word_at(at + 5 * kWord));
    const Sum d = add3(c.sum, word_at(at + 6 * kWord), word_at(at + 7 * kWord));
    const Sum cd = add3(ab.sum, c.carry, d.carry);
    const Sum eights = add3(fours, ab.carry, cd.carry);
    ones = d.sum;
    twos = cd.sum;
    fours = eights.sum;
    total += 8 * count_word(eights.carry);
  }
  total += count_word(ones) + 2 * count_word(twos) + 4 * count_word(fours);
  for (; words > 0; words--, at += kWord) total += count_word(word_at(at));
  return total;
}

namespace {

#if defined(__x86_64__)

// Counts 32 bytes at a time: each half byte looks up its count in a register, and the byte counts
// are summed before any of them can overflow.
__attribute__((target("avx2"))) uint64_t count_words_avx2(const char* at, size_t words) {
  constexpr size_t kLane = 32;
  constexpr size_t kRounds = 31;  // each adds at most 8 to a byte
  const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                          2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low_half = _mm256_set1_epi8(0x0f);
  __m256i total = _mm256_setzero_si256();
  size_t lanes = words * kWord / kLane;
  const size_t rest = words * kWord % kLane / kWord;
  while (lanes > 0) {
    const size_t rounds = std::min(lanes, kRounds);
    lanes -= rounds;
    __m256i by_byte = _mm256_setzero_si256();
    for (size_t i = 0; i < rounds; i++, at += kLane) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
      const __m256i low = _mm256_and_si256(bytes, low_half);
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_half);
      by_byte = _mm256_add_epi8(by_byte, _mm256_add_epi8(_mm256_shuffle_epi8(counts, low),
                                                         _mm256_shuffle_epi8(counts, high)));
    }
    total = _mm256_add_epi64(total, _mm256_sad_epu8(by_byte, _mm256_setzero_si256()));
  }
  uint64_t parts[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), total);
  uint64_t sum = parts[0] + parts[1] + parts[2] + parts[3];
  for (size_t i = 0; i < rest; i++, at += kWord) sum += count_word(word_at(at));
  return sum;
}

uint64_t count_words(const char* at, size_t words) {
  constexpr size_t kWorthIt = 8;
  if (words >= kWorthIt && __builtin_cpu_supports("avx2")) return count_words_avx2(at, words);
  return detail::count_words_plain(at, words);
}

#else

// Other processors have an instruction for it, and their compilers widen the loop.
uint64_t count_words(const char* at, size_t words) {
  uint64_t total = 0;
  for (size_t i = 0; i < words; i++) {
    total += static_cast<uint64_t>(std::popcount(word_at(at + i * kWord)));
  }
  return total;
}

#endif

// The kernels of combine(). Whole words come first, so that the compiler can vectorize them.
template <class Step>
void step_into(char* __restrict to, const char* __restrict from, size_t size, Step step) {
  size_t i = 0;
  for (; i + kWord <= size; i += kWord) store(to + i, step(word_at(to + i), word_at(from + i)));
  for (; i < size; i++) {
    to[i] = static_cast<char>(step(uint64_t{byte_at(to + i)}, uint64_t{byte_at(from + i)}));
  }
}
template <class Step>
void step_from(char* __restrict to, const char* __restrict a, const char* __restrict b, size_t size,
               Step step) {
  size_t i = 0;
  for (; i + kWord <= size; i += kWord) store(to + i, step(word_at(a + i), word_at(b + i)));
  for (; i < size; i++) {
    to[i] = static_cast<char>(step(uint64_t{byte_at(a + i)}, uint64_t{byte_at(b + i)}));
  }
}

// Calls `act` with the combination of one more word.
template <class Act>
void with_step(Combination how, Act act) {
  switch (how) {
    case Combination::kAnd:
      return act([](uint64_t a, uint64_t b) { return a & b; });
    case Combination::kXor:
      return act([](uint64_t a, uint64_t b) { return a ^ b; });
    case Combination::kDiff:
      return act([](uint64_t a, uint64_t b) { return a & ~b; });
    default:
      return act([](uint64_t a, uint64_t b) { return a | b; });
  }
}

void put(char* to, std::string_view from, size_t size) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
  std::memset(to + from.size(), 0, size - from.size());
}

void apply(Combination how, char* to, std::string_view from, size_t size) {
  with_step(how, [&](auto step) { step_into(to, from.data(), from.size(), step); });
  if (how == Combination::kAnd) std::memset(to + from.size(), 0, size - from.size());
}
// put(a), apply(b), in one pass.
void apply_two(Combination how, char* to, std::string_view a, std::string_view b, size_t size) {
  const size_t both = std::min(a.size(), b.size());
  with_step(how, [&](auto step) { step_from(to, a.data(), b.data(), both, step); });
  std::string_view rest = a.substr(both);
  if (how == Combination::kAnd) rest = {};
  if (rest.empty() && (how == Combination::kOr || how == Combination::kXor)) rest = b.substr(both);
  put(to + both, rest, size - both);
}

void invert(char* to, size_t size) {
  size_t i = 0;
  for (; i + kWord <= size; i += kWord) store(to + i, ~word_at(to + i));
  for (; i < size; i++) to[i] = static_cast<char>(~byte_at(to + i));
}

// `twice` collects the bits that were set in `to` before.
void note_twice(char* __restrict twice, char* __restrict to, std::string_view from) {
  size_t i = 0;
  for (; i + kWord <= from.size(); i += kWord) {
    const uint64_t word = word_at(from.data() + i);
    store(twice + i, word_at(twice + i) | (word_at(to + i) & word));
    store(to + i, word_at(to + i) | word);
  }
  for (; i < from.size(); i++) {
    twice[i] = static_cast<char>(byte_at(twice + i) | (byte_at(to + i) & byte_at(&from[i])));
    to[i] = static_cast<char>(byte_at(to + i) | byte_at(&from[i]));
  }
}

// Small enough for a block of the result to stay in the L1 cache while all sources are applied to
// it.
constexpr size_t kBlock = 8 * 1024;

struct Block {
  std::span<const std::string_view> sources;
  size_t begin;
  size_t size;
  char* to;

  std::string_view source(size_t i) const {
    return begin >= sources[i].size() ? std::string_view{} : sources[i].substr(begin, size);
  }
};

// AND, OR, XOR, DIFF of the sources from `first` on.
void chain(Combination how, const Block& block, size_t first) {
  const size_t end = block.sources.size();
  if (first + 1 >= end) return put(block.to, block.source(first), block.size);
  apply_two(how, block.to, block.source(first), block.source(first + 1), block.size);
  for (size_t i = first + 2; i < end; i++) apply(how, block.to, block.source(i), block.size);
}

void exactly_one(const Block& block) {
  char twice[kBlock];
  std::memset(twice, 0, block.size);
  put(block.to, block.source(0), block.size);
  for (size_t i = 1; i < block.sources.size(); i++) note_twice(twice, block.to, block.source(i));
  apply(Combination::kDiff, block.to, {twice, block.size}, block.size);
}

void combine_block(Combination how, const Block& block) {
  switch (how) {
    case Combination::kAnd:
    case Combination::kOr:
    case Combination::kXor:
    case Combination::kDiff:
      return chain(how, block, 0);
    case Combination::kNot:
      put(block.to, block.source(0), block.size);
      return invert(block.to, block.size);
    case Combination::kDiff1:
      chain(Combination::kOr, block, 1);
      return apply(Combination::kDiff, block.to, block.source(0), block.size);
    case Combination::kAndOr:
      chain(Combination::kOr, block, 1);
      return apply(Combination::kAnd, block.to, block.source(0), block.size);
    case Combination::kOne:
      return exactly_one(block);
  }
}

}  // namespace

uint64_t count(std::string_view bytes) {
  const size_t words = bytes.size() / kWord;
  uint64_t total = count_words(bytes.data(), words);
  for (size_t i = words * kWord; i < bytes.size(); i++) {
    total += static_cast<uint64_t>(std::popcount(byte_at(&bytes[i])));
  }
  return total;
}

uint64_t count(std::string_view bytes, uint64_t first, uint64_t last) {
  const uint64_t first_byte = first / 8;
  const uint64_t last_byte = last / 8;
  uint64_t total = count(bytes.substr(first_byte, last_byte - first_byte + 1));
  // Subtracts the bits counted in excess at either end.
  total -= static_cast<uint64_t>(std::popcount(byte_at(&bytes[first_byte]) & ~from_mask(first)));
  total -= static_cast<uint64_t>(std::popcount(byte_at(&bytes[last_byte]) & ~upto_mask(last)));
  return total;
}

uint64_t find(std::string_view bytes, bool value, uint64_t first, uint64_t last) {
  // Inverted where needed, so that the search is always for a one.
  const uint64_t flip = value ? 0 : ~uint64_t{0};
  const uint64_t last_byte = last / 8;
  uint64_t at = first / 8;
  const auto look = [&](unsigned mask) {
    const unsigned found = (byte_at(&bytes[at]) ^ (flip & 0xff)) & mask;
    return found == 0 ? kNowhere : at * 8 + static_cast<uint64_t>(std::countl_zero(found)) - 24;
  };
  if (at == last_byte) return look(from_mask(first) & upto_mask(last));
  if (const uint64_t found = look(from_mask(first)); found != kNowhere) return found;
  at++;
  const char* const data = bytes.data();
  for (; at + 4 * kWord <= last_byte; at += 4 * kWord) {
    const uint64_t any = (word_at(data + at) ^ flip) | (word_at(data + at + kWord) ^ flip) |
                         (word_at(data + at + 2 * kWord) ^ flip) |
                         (word_at(data + at + 3 * kWord) ^ flip);
    if (any != 0) break;
  }
  for (; at + kWord <= last_byte; at += kWord) {
    const uint64_t word = ordered_word_at(data + at) ^ flip;
    if (word != 0) return at * 8 + static_cast<uint64_t>(std::countl_zero(word));
  }
  for (; at < last_byte; at++) {
    if (const uint64_t found = look(0xff); found != kNowhere) return found;
  }
  return look(upto_mask(last));
}

uint64_t read_field(std::string_view bytes, uint64_t offset, unsigned width) {
  const uint64_t first = offset / 8;
  // 64 bits that start inside a byte end in a ninth one.
  char window[9] = {};
  if (first < bytes.size()) {
    std::memcpy(window, bytes.data() + first, std::min<uint64_t>(9, bytes.size() - first));
  }
  const unsigned skip = offset % 8;
  uint64_t top = ordered_word_at(window) << skip;
  if (skip != 0) top |= byte_at(window + 8) >> (8 - skip);
  return top >> (64 - width);
}

void write_field(char* bytes, uint64_t offset, unsigned width, uint64_t value) {
  char* const first = bytes + offset / 8;
  const auto skip = static_cast<unsigned>(offset % 8);
  const unsigned touched = (skip + width + 7) / 8;  // at most 9
  const unsigned behind = touched * 8 - skip - width;
  const auto ones = static_cast<unsigned __int128>(~uint64_t{0} >> (64 - width));
  const unsigned __int128 mask = ones << behind;
  const unsigned __int128 wanted = (value & ones) << behind;
  for (unsigned i = 0; i < touched; i++) {
    const unsigned shift = (touched - 1 - i) * 8;
    const auto keep = static_cast<unsigned>(~(mask >> shift)) & 0xff;
    first[i] = static_cast<char>((byte_at(first + i) & keep) |
                                 (static_cast<unsigned>(wanted >> shift) & 0xff));
  }
}

void combine(Combination how, std::span<const std::string_view> sources, char* to, size_t size) {
  const bool in_place = std::any_of(sources.begin(), sources.end(),
                                    [to](std::string_view source) { return source.data() == to; });
  // A block of the result depends only on the same block of the sources, so the result may
  // overwrite a source as soon as the block is complete.
  char aside[kBlock];
  for (size_t begin = 0; begin < size; begin += kBlock) {
    const size_t bytes = std::min(kBlock, size - begin);
    combine_block(how, {sources, begin, bytes, in_place ? aside : to + begin});
    if (in_place) std::memcpy(to + begin, aside, bytes);
  }
}

}  // namespace sorrel::bits
