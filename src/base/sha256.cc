#include "base/sha256.h"

#include <bit>
#include <cstring>

namespace sorrel {
namespace {

constexpr size_t kBlock = 64;

constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

using State = std::array<uint32_t, 8>;

constexpr State kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

uint32_t big_endian(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | uint32_t{at[3]};
}

void put_big_endian(uint8_t* at, uint32_t word) {
  for (int i = 0; i < 4; i++) at[i] = static_cast<uint8_t>(word >> (24 - 8 * i));
}

void mix_block(State& state, const uint8_t* block) {
  uint32_t words[64];
  for (size_t i = 0; i < 16; i++) words[i] = big_endian(block + 4 * i);
  for (size_t i = 16; i < 64; i++) {
    const uint32_t a = words[i - 15];
    const uint32_t b = words[i - 2];
    const uint32_t low = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
    const uint32_t high = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
    words[i] = words[i - 16] + low + words[i - 7] + high;
  }
  State s = state;
  for (size_t i = 0; i < 64; i++) {
    const uint32_t e = s[4];
    const uint32_t a = s[0];
    const uint32_t choice = (e & s[5]) ^ (~e & s[6]);
    const uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
    const uint32_t first = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice +
                           kRounds[i] + words[i];
    const uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
    s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
  }
  for (size_t i = 0; i < 8; i++) state[i] += s[i];
}

}  // namespace

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  State state = kStart;
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= kBlock; left -= kBlock, at += kBlock) mix_block(state, at);
  // Padding: the remaining bytes, a one bit, zeros and the length in bits, in one block or two.
  uint8_t tail[2 * kBlock] = {};
  if (left > 0) std::memcpy(tail, at, left);
  tail[left] = 0x80;
  const size_t blocks = left + 9 <= kBlock ? 1 : 2;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  put_big_endian(tail + blocks * kBlock - 8, static_cast<uint32_t>(bits >> 32));
  put_big_endian(tail + blocks * kBlock - 4, static_cast<uint32_t>(bits));
  for (size_t i = 0; i < blocks; i++) mix_block(state, tail + i * kBlock);
  std::array<uint8_t, 32> digest;
  for (size_t i = 0; i < 8; i++) put_big_endian(digest.data() + 4 * i, state[i]);
  return digest;
}

std::string sha256_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(kSha256Digits);
  for (const uint8_t byte : sha256(bytes)) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace sorrel
