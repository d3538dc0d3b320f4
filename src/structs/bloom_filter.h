#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel {

// Answers "was this item ever added?" in a few bits per item: no is certain, yes is wrong with at
// most a chosen probability.
//
//   item ── two 64-bit hashes a, b ──> bits a, a+b, a+2b, ... of each layer
//
//   layer 0 |capacity n,   error e/2|   full, then
//   layer 1 |capacity n·g, error e/4|   full, then ...
//
// An item is in the filter when all its bits are set in one of the layers. The errors of all layers
// add up to less than e. A filter that does not grow has one layer of error e.
//
// Layout, hashes and header are those of Redis's Bloom module, so header and bits can move between
// the two servers. Not thread-safe; may be freed by any thread.
class BloomFilter {
 public:
  struct Shape {
    uint64_t capacity = 100;
    double error = 0.01;  // within (0, 1)
    bool grows = true;
    uint32_t growth = 2;  // each layer has so many times the previous one's capacity
  };

  // The memory that one request can claim by numbers alone. These are zero pages until bits are
  // set. Two gigabytes hold 2^30 items at an error of one in a hundred.
  static constexpr uint64_t kMaxLayerBytes = uint64_t{1} << 31;
  static constexpr uint64_t kMaxBytes = 2 * kMaxLayerBytes;  // all layers
  static constexpr size_t kMaxLayers = 1024;  // the error can't be halved further anyway
  static constexpr uint32_t kMaxGrowth = 32'768;

  enum class Failure : uint8_t { kNone, kInvalid, kMemory };
  // Null when the filter can't be created, with the reason.
  static std::unique_ptr<BloomFilter> make(const Shape& shape, Failure& failure);

  ~BloomFilter() = default;
  BloomFilter(const BloomFilter&) = delete;
  BloomFilter& operator=(const BloomFilter&) = delete;
  // Null when out of memory.
  std::unique_ptr<BloomFilter> clone() const;

  enum class Added : uint8_t {
    kNew,
    kKnown,   // the item is present, or a false positive
    kFull,    // the filter does not grow
    kFailed,  // the filter can't grow any further
  };
  Added add(std::string_view item);
  bool contains(std::string_view item) const;

  uint64_t items() const { return items_; }
  uint64_t capacity() const;
  bool grows() const;
  uint32_t growth() const { return growth_; }
  size_t memory_bytes() const;

  struct Layer {
    uint64_t capacity = 0;
    uint64_t items = 0;
    double error = 0;
    double bits_per_item = 0;
    uint32_t hashes = 0;
    uint8_t log2_bits = 0;  // not 0: only 2^log2_bits bits are used
    uint64_t bytes = 0;     // a multiple of 8
    struct Free {
      void operator()(unsigned char* bits) const { std::free(bits); }
    };
    std::unique_ptr<unsigned char[], Free> bits;

    uint64_t modulus() const { return log2_bits != 0 ? uint64_t{1} << log2_bits : bytes * 8; }
    std::string_view view() const { return {reinterpret_cast<const char*>(bits.get()), bytes}; }
  };
  const std::vector<Layer>& layers() const { return layers_; }
  uint32_t options() const { return options_; }

  // Everything but the bits.
  std::string header() const;
  // A filter with that header, all bits unset. Null: the header is invalid, or exceeds the limits.
  static std::unique_ptr<BloomFilter> from_header(std::string_view bytes);
  // The same from its parts; `layers` have no bits yet. Every layer is validated.
  struct Parts {
    uint64_t items = 0;
    uint32_t options = 0;
    uint32_t growth = 0;
    std::vector<Layer> layers;
  };
  static std::unique_ptr<BloomFilter> from_parts(Parts parts);

  // The bits of all layers in a row: at `position`, up to `most` bytes of one layer. Empty past the
  // end.
  std::string_view chunk(uint64_t position, size_t most) const;
  // Stores a result of chunk() at the same position.
  enum class Loaded : uint8_t { kOk, kNoSuchPlace, kTooLong };
  Loaded load(uint64_t position, std::string_view bytes);

 private:
  struct Hash {
    uint64_t a;
    uint64_t b;
  };
  // Bits of options_; the values are part of the header.
  enum Option : uint32_t { kNotRounded = 1, kByBits = 2, kWideHash = 4, kNotGrowing = 8 };

  BloomFilter() = default;
  static Hash hash_of(std::string_view item);
  static bool has(const Layer& layer, const Hash& hash);
  static void set(Layer& layer, const Hash& hash);
  static bool is_sound(const Layer& layer);
  static bool allocate(Layer& layer);
  Failure add_layer(uint64_t capacity, double error);
  uint64_t total_bytes() const;
  // The layer of that byte, with the byte's index in it; null past the end.
  const Layer* locate(uint64_t position, uint64_t& offset) const;

  std::vector<Layer> layers_;
  uint64_t items_ = 0;
  uint32_t options_ = kNotRounded | kWideHash;
  uint32_t growth_ = 2;
};

}  // namespace sorrel
