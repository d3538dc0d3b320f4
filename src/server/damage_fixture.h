#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "base/random.h"
#include "base/sanitizer.h"

#if SORREL_ASAN
#include <sanitizer/allocator_interface.h>
#endif

// Damage to the bytes of a file, and the memory that reading it takes: for tests.
namespace sorrel::server::testing {

inline uint64_t from_environment(const char* name, uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : parse_uint64(text).value_or(usual);
}

enum class Damage : uint8_t {
  kBit,       // one flipped
  kBits,      // up to eight of them
  kByte,      // one with a value that means much somewhere
  kNoise,     // some bytes in a row that are anything
  kZeros,     // a piece that was never written
  kCut,       // the rest is missing
  kHole,      // a piece in the middle is missing
  kTwice,     // a piece stands there twice
  kAppended,  // something follows
  kMoved,     // a piece stands where another should
};
inline constexpr const char* kDamageNames[] = {"bit", "bits", "byte",  "noise",    "zeros",
                                               "cut", "hole", "twice", "appended", "moved"};
inline constexpr size_t kDamages = std::size(kDamageNames);

// Half of all damages are bits and ends, which disks and copies do most.
inline Damage random_damage(Random& random) {
  if (random.below(3) == 0) return Damage::kBit;
  if (random.below(4) == 0) return Damage::kCut;
  return static_cast<Damage>(random.below(kDamages));
}

// The bytes with that damage; they differ from the given ones. Precondition: there are some.
inline std::string damaged(std::string_view sound, Damage damage, Random& random) {
  std::string bytes(sound);
  const auto piece = [&](size_t most) {
    const size_t from = random.below(bytes.size());
    return std::pair(from, std::min(bytes.size() - from, 1 + random.below(most)));
  };
  const auto noise = [&](char& byte) { byte = static_cast<char>(random.below(256)); };
  const auto flip = [&] {
    bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
  };
  switch (damage) {
    case Damage::kBit:
      flip();
      break;
    case Damage::kBits:
      for (uint64_t flips = 2 + random.below(7); flips > 0; flips--) flip();
      break;
    case Damage::kByte: {
      constexpr uint8_t kTelling[] = {0,    1,    0x3f, 0x40, 0x7f, 0x80, 0x81,
                                      0xc3, 0xf0, 0xfa, 0xfc, 0xfe, 0xff, '*'};
      bytes[random.below(bytes.size())] =
          static_cast<char>(kTelling[random.below(std::size(kTelling))]);
      break;
    }
    case Damage::kNoise: {
      const auto [from, size] = piece(64);
      for (size_t i = from; i < from + size; i++) noise(bytes[i]);
      break;
    }
    case Damage::kZeros: {
      const auto [from, size] = piece(512);
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(from), size, '\0');
      break;
    }
    case Damage::kCut:
      bytes.resize(random.below(bytes.size()));
      break;
    case Damage::kHole: {
      const auto [from, size] = piece(64);
      bytes.erase(from, size);
      break;
    }
    case Damage::kTwice: {
      const auto [from, size] = piece(64);
      bytes.insert(from, bytes.substr(from, size));
      break;
    }
    case Damage::kAppended: {
      const size_t before = bytes.size();
      bytes.resize(before + 1 + random.below(64));
      if (random.below(2) == 0)
        std::for_each(bytes.begin() + ptrdiff_t(before), bytes.end(), noise);
      break;
    }
    case Damage::kMoved: {
      const auto [from, size] = piece(128);
      const std::string moved = bytes.substr(from, size);
      const size_t to = random.below(bytes.size() - size + 1);
      bytes.replace(to, size, moved);
      break;
    }
  }
  if (bytes == sound) flip();
  return bytes;
}

// What is allocated while it exists: the most at a time, and the biggest piece. Only one at a time,
// and only where the address sanitizer counts; elsewhere all is zero.
class MemoryWatch {
 public:
  MemoryWatch() { counts() = {}; }
  ~MemoryWatch() { counts().watching = false; }
  void begin() { counts() = {.watching = true}; }
  void end() { counts().watching = false; }
  uint64_t peak() const { return static_cast<uint64_t>(counts().peak); }
  uint64_t biggest() const { return counts().biggest; }

 private:
  struct Counts {
    bool watching = false;
    int64_t live = 0;
    int64_t peak = 0;
    uint64_t biggest = 0;
  };
  static Counts& counts() {
    static Counts all;
#if SORREL_ASAN
    static const int kInstalled = __sanitizer_install_malloc_and_free_hooks(&on_malloc, &on_free);
    (void)kInstalled;
#endif
    return all;
  }
#if SORREL_ASAN
  static void on_malloc(const volatile void*, size_t size) {
    Counts& all = counts();
    if (!all.watching) return;
    all.live += static_cast<int64_t>(size);
    all.peak = std::max(all.peak, all.live);
    all.biggest = std::max<uint64_t>(all.biggest, size);
  }
  static void on_free(const volatile void* freed) {
    Counts& all = counts();
    if (!all.watching || freed == nullptr) return;
    all.live -= static_cast<int64_t>(__sanitizer_get_allocated_size(const_cast<void*>(freed)));
  }
#endif
};

}  // namespace sorrel::server::testing
