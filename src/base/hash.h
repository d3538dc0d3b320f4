#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace sorrel {

// The keyed hash of keys, fields and members: XXH3 with a random secret generated at start. The
// secret never leaves the process, so clients cannot choose colliding keys.
class KeyHasher {
 public:
  // Fills the secret from `seed` words; equal seeds give equal hashes (tests).
  explicit KeyHasher(uint64_t seed_a, uint64_t seed_b);

  uint64_t operator()(std::string_view key) const {
    // Fast path for the usual key length, with the same result: a dispatch on the length costs as
    // much as the hash itself.
    if (key.size() - 9 <= 7) [[likely]] {
      return XXH3_len_9to16_64b(reinterpret_cast<const xxh_u8*>(key.data()), key.size(),
                                secret_.data(), 0);
    }
    return XXH3_64bits_withSecret(key.data(), key.size(), secret_.data(), secret_.size());
  }

 private:
  std::array<unsigned char, XXH3_SECRET_SIZE_MIN + 56> secret_;
};

}  // namespace sorrel
