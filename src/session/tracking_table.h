#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace sorrel {

// A session and where it lives; it may be gone.
struct Reader {
  uint64_t id;
  unsigned worker;
};

// Who may have a copy of which key. Names of keys, whatever database they are in, as clients know
// no more.
//
// Cut into parts with a mutex each, so that workers seldom meet. A key is noted while its latch is
// held and taken out by who changes it under the same latch; so no change is missed.
class TrackingTable {
 public:
  explicit TrackingTable(const KeyHasher& hasher);

  void add(std::string_view key, Reader reader);
  // Everybody who may have a copy, oldest session first; they are forgotten.
  std::vector<Reader> take(std::string_view key);
  // Some key or other, to make room. None: there is none.
  std::optional<std::string> any_key();
  void clear();

  size_t keys() const { return keys_.load(std::memory_order_relaxed); }
  // One for each reader of each key.
  size_t items() const { return items_.load(std::memory_order_relaxed); }
  // What all of it takes.
  size_t memory_bytes() const;

 private:
  struct Hash {
    using is_transparent = void;
    const KeyHasher* hasher;
    size_t operator()(std::string_view key) const { return (*hasher)(key); }
  };
  // Readers by id: new ones are the highest, so most are added at the end.
  using Map = std::unordered_map<std::string, std::vector<Reader>, Hash, std::equal_to<>>;
  struct Part {
    std::mutex mutex;
    std::optional<Map> keys;
  };
  static constexpr size_t kParts = 16;

  void note_new(std::string_view key);
  void note_gone(std::string_view key, size_t readers);
  Part& part_of(std::string_view key) { return parts_[(hasher_(key) >> 32) % kParts]; }

  const KeyHasher& hasher_;
  std::array<Part, kParts> parts_;
  std::atomic<size_t> keys_{0};
  std::atomic<size_t> items_{0};
  std::atomic<size_t> name_bytes_{0};  // of all keys
  std::atomic<size_t> next_part_{0};   // to take a key from
};

}  // namespace sorrel
