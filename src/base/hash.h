#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace sorrel {

// The keyed hash of keys, fields and members: XXH3 under a secret drawn at start. The secret never
// leaves the process, so nobody outside can choose keys that collide.
class KeyHasher {
 public:
  // Fills the secret from `seed` words; equal seeds give equal hashes (tests).
  explicit KeyHasher(uint64_t seed_a, uint64_t seed_b);

  uint64_t operator()(std::string_view key) const {
    // Most keys are of this length. The answer is the same; finding out their length costs as much.
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
