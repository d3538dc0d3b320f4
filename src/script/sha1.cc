#include "script/sha1.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace sorrel::script {
namespace {

constexpr size_t kBlock = 64;

// FIPS 180-4, section 6.1.
void add_block(std::array<uint32_t, 5>& state, const char* block) {
  std::array<uint32_t, 80> schedule;
  for (size_t i = 0; i < 16; i++) {
    schedule[i] = __builtin_bswap32(sorrel::load<uint32_t>(block + 4 * i));
  }
  for (size_t i = 16; i < 80; i++) {
    schedule[i] =
        std::rotl(schedule[i - 3] ^ schedule[i - 8] ^ schedule[i - 14] ^ schedule[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (size_t i = 0; i < 80; i++) {
    uint32_t mixed;
    if (i < 20) {
      mixed = (d ^ (b & (c ^ d))) + 0x5a827999;
    } else if (i < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1;
    } else if (i < 60) {
      mixed = ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6;
    }
    const uint32_t next = std::rotl(a, 5) + mixed + e + schedule[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
}

}  // namespace

Sha1Text sha1_hex(std::string_view bytes) {
  std::array<uint32_t, 5> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  while (bytes.size() >= kBlock) {
    add_block(state, bytes.data());
    bytes.remove_prefix(kBlock);
  }
  // The last bytes, a one, zeros and the length: one block or two.
  char tail[2 * kBlock] = {};
  if (!bytes.empty()) std::memcpy(tail, bytes.data(), bytes.size());
  tail[bytes.size()] = static_cast<char>(0x80);
  const size_t size = bytes.size() + 9 <= kBlock ? kBlock : 2 * kBlock;
  store(tail + size - 8, __builtin_bswap64(bits));
  for (size_t at = 0; at < size; at += kBlock) add_block(state, tail + at);

  Sha1Text text;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < text.size(); i++) {
    text[i] = kDigits[(state[i / 8] >> (28 - 4 * (i % 8))) & 15];
  }
  return text;
}

}  // namespace sorrel::script
