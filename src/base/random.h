#pragma once

#include <cstdint>

namespace sorrel {

// xoshiro256**: fast, small, one per worker. Not for secrets; see random_bytes() in io/process.h.
class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) word = splitmix(seed);
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound). Precondition: bound > 0. The bias of the multiply is below 2^-32 for
  // bound < 2^32.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<__uint128_t>(next()) * bound) >> 64);
  }

 private:
  static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static uint64_t splitmix(uint64_t& seed) {
    uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  uint64_t state_[4];
};

}  // namespace sorrel
