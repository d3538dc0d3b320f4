// A filter must be bit-compatible with Redis's Bloom module: sizes, hashes and header follow it
// exactly, and headers from clients are validated before anything is allocated.

#include "structs/bloom_filter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/bytes.h"

namespace sorrel {
namespace {

// Redis's Bloom module has exactly these digits; other ones would change the number of hashes.
constexpr double kLn2 = 0.693147180559945;
constexpr double kLn2Squared = 0.480453013918201;
// The bits per item for the smallest error that a double distinguishes from 0.
constexpr double kMostBitsPerItem = 1600;
// Each layer's share of the remaining error.
constexpr double kTightening = 0.5;

// MurmurHash64A, by Austin Appleby.
uint64_t murmur64(std::string_view text, uint64_t seed) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = seed ^ (left * kMultiplier);
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word = load<uint64_t>(at) * kMultiplier;
    word ^= word >> kShift;
    hash = (hash ^ (word * kMultiplier)) * kMultiplier;
  }
  if (left != 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = (hash ^ word) * kMultiplier;
  }
  hash = (hash ^ (hash >> kShift)) * kMultiplier;
  return hash ^ (hash >> kShift);
}

double bits_per_item_for(double error) {
  return -std::log(error) / kLn2Squared;
}

uint32_t hashes_for(double bits_per_item) {
  return static_cast<uint32_t>(std::ceil(kLn2 * bits_per_item));
}

// Enough bits to keep the error with a whole number of hashes, which `bits_per_item` alone does not
// ensure; slightly more, because the bits of one item are not independent.
double bits_that_hold(double items, double error, uint32_t hashes) {
  constexpr double kSlack = 1.02;
  const double per_hash = std::pow(error, 1.0 / hashes);
  return kSlack * -static_cast<double>(hashes) * items / std::log1p(-per_hash);
}

// In a layer of n bits, about one item in n has a second hash that cycles through few bits, and so
// gives a false positive. In a small layer that exceeds the error: it gets more bits, as long as
// they are cheap.
double bits_that_scatter(double error) {
  constexpr double kShare = 4;  // one false positive in so many may have this cause
  constexpr double kMost = 1 << 18;
  return std::min(kShare / error, kMost);
}

constexpr size_t kHeadBytes = 8 + 3 * 4;
constexpr size_t kLayerHeadBytes = 5 * 8 + 4 + 8 + 1;

// Packed little-endian fields, one after the other.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}
  // Precondition: sizeof(T) bytes are left.
  template <class T>
  T take() {
    const T value = load<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return value;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

template <class T>
void put(std::string& to, T value) {
  char bytes[sizeof(T)];
  store(bytes, value);
  to.append(bytes, sizeof bytes);
}

}  // namespace

BloomFilter::Hash BloomFilter::hash_of(std::string_view item) {
  constexpr uint64_t kSeed = 0xc6a4a7935bd1e995;
  const uint64_t a = murmur64(item, kSeed);
  return {a, murmur64(item, a)};
}

bool BloomFilter::has(const Layer& layer, const Hash& hash) {
  const uint64_t modulus = layer.modulus();
  uint64_t place = hash.a;
  for (uint32_t i = 0; i < layer.hashes; i++, place += hash.b) {
    const uint64_t bit = place % modulus;
    if ((layer.bits[bit / 8] >> (bit % 8) & 1) == 0) return false;
  }
  return true;
}

void BloomFilter::set(Layer& layer, const Hash& hash) {
  const uint64_t modulus = layer.modulus();
  uint64_t place = hash.a;
  for (uint32_t i = 0; i < layer.hashes; i++, place += hash.b) {
    const uint64_t bit = place % modulus;
    layer.bits[bit / 8] |= static_cast<unsigned char>(1u << (bit % 8));
  }
  layer.items++;
}

bool BloomFilter::allocate(Layer& layer) {
  layer.bits.reset(static_cast<unsigned char*>(std::calloc(layer.bytes, 1)));
  return layer.bits != nullptr;
}

uint64_t BloomFilter::total_bytes() const {
  uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.bytes;
  return sum;
}

BloomFilter::Failure BloomFilter::add_layer(uint64_t capacity, double error) {
  Layer layer;
  layer.capacity = capacity;
  layer.error = error;
  if (capacity == 0 || !(error > 0 && error < 1)) return Failure::kInvalid;
  layer.bits_per_item = bits_per_item_for(error);
  layer.hashes = hashes_for(layer.bits_per_item);
  const auto items = static_cast<double>(capacity);
  double bits = items * layer.bits_per_item;
  if (!grows()) bits = std::max(bits, bits_that_hold(items, error, layer.hashes));
  bits = std::max(bits, bits_that_scatter(error));
  if (!(bits <= static_cast<double>(kMaxLayerBytes) * 8)) return Failure::kMemory;
  const uint64_t words = std::max<uint64_t>(1, (static_cast<uint64_t>(bits) + 63) / 64);
  layer.bytes = words * 8;
  if (layers_.size() == kMaxLayers || layer.bytes > kMaxBytes - total_bytes() ||
      layer.bytes > kMaxLayerBytes || !allocate(layer)) {
    return Failure::kMemory;
  }
  layers_.push_back(std::move(layer));
  return Failure::kNone;
}

std::unique_ptr<BloomFilter> BloomFilter::make(const Shape& shape, Failure& failure) {
  failure = Failure::kInvalid;
  if (shape.grows && (shape.growth == 0 || shape.growth > kMaxGrowth)) return nullptr;
  std::unique_ptr<BloomFilter> filter(new BloomFilter);
  filter->growth_ = shape.growth;
  if (!shape.grows) filter->options_ |= kNotGrowing;
  failure = filter->add_layer(shape.capacity, shape.error * (shape.grows ? kTightening : 1));
  if (failure != Failure::kNone) return nullptr;
  return filter;
}

std::unique_ptr<BloomFilter> BloomFilter::clone() const {
  std::unique_ptr<BloomFilter> copy(new BloomFilter);
  copy->items_ = items_;
  copy->options_ = options_;
  copy->growth_ = growth_;
  for (const Layer& layer : layers_) {
    Layer& to = copy->layers_.emplace_back();
    to.capacity = layer.capacity;
    to.items = layer.items;
    to.error = layer.error;
    to.bits_per_item = layer.bits_per_item;
    to.hashes = layer.hashes;
    to.log2_bits = layer.log2_bits;
    to.bytes = layer.bytes;
    if (!allocate(to)) return nullptr;
    // Zero blocks are not copied, so that the copy takes no memory for them either.
    constexpr size_t kPage = 4096;
    static constexpr unsigned char kZeros[kPage] = {};
    for (uint64_t at = 0; at < layer.bytes; at += kPage) {
      const size_t size = std::min<uint64_t>(kPage, layer.bytes - at);
      const unsigned char* from = layer.bits.get() + at;
      if (std::memcmp(from, kZeros, size) != 0) std::memcpy(to.bits.get() + at, from, size);
    }
  }
  return copy;
}

bool BloomFilter::contains(std::string_view item) const {
  const Hash hash = hash_of(item);
  // The newest layer is the largest.
  return std::any_of(layers_.rbegin(), layers_.rend(),
                     [&](const Layer& layer) { return has(layer, hash); });
}

BloomFilter::Added BloomFilter::add(std::string_view item) {
  const Hash hash = hash_of(item);
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    if (has(*layer, hash)) return Added::kKnown;
  }
  const Layer& last = layers_.back();
  if (last.items >= last.capacity) {
    if (!grows()) return Added::kFull;
    if (last.capacity > std::numeric_limits<uint64_t>::max() / growth_) return Added::kFailed;
    if (add_layer(last.capacity * growth_, last.error * kTightening) != Failure::kNone) {
      return Added::kFailed;
    }
  }
  set(layers_.back(), hash);
  items_++;
  return Added::kNew;
}

uint64_t BloomFilter::capacity() const {
  uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.capacity;
  return sum;
}

bool BloomFilter::grows() const {
  return (options_ & kNotGrowing) == 0;
}

size_t BloomFilter::memory_bytes() const {
  return sizeof(BloomFilter) + layers_.capacity() * sizeof(Layer) + total_bytes();
}

std::string BloomFilter::header() const {
  std::string bytes;
  bytes.reserve(kHeadBytes + layers_.size() * kLayerHeadBytes);
  put<uint64_t>(bytes, items_);
  put<uint32_t>(bytes, static_cast<uint32_t>(layers_.size()));
  put<uint32_t>(bytes, options_);
  put<uint32_t>(bytes, growth_);
  for (const Layer& layer : layers_) {
    put<uint64_t>(bytes, layer.bytes);
    put<uint64_t>(bytes, layer.bytes * 8);
    put<uint64_t>(bytes, layer.items);
    put<double>(bytes, layer.error);
    put<double>(bytes, layer.bits_per_item);
    put<uint32_t>(bytes, layer.hashes);
    put<uint64_t>(bytes, layer.capacity);
    put<uint8_t>(bytes, layer.log2_bits);
  }
  return bytes;
}

std::unique_ptr<BloomFilter> BloomFilter::from_header(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) return nullptr;
  FieldReader reader(bytes);
  Parts parts;
  parts.items = reader.take<uint64_t>();
  const auto count = reader.take<uint32_t>();
  parts.options = reader.take<uint32_t>();
  parts.growth = reader.take<uint32_t>();
  if (count > kMaxLayers || bytes.size() != kHeadBytes + count * kLayerHeadBytes) return nullptr;
  for (uint32_t i = 0; i < count; i++) {
    Layer& layer = parts.layers.emplace_back();
    layer.bytes = reader.take<uint64_t>();
    const auto bits = reader.take<uint64_t>();
    layer.items = reader.take<uint64_t>();
    layer.error = reader.take<double>();
    layer.bits_per_item = reader.take<double>();
    layer.hashes = reader.take<uint32_t>();
    layer.capacity = reader.take<uint64_t>();
    layer.log2_bits = reader.take<uint8_t>();
    if (layer.bytes > kMaxLayerBytes || bits != layer.bytes * 8) return nullptr;
  }
  return from_parts(std::move(parts));
}

bool BloomFilter::is_sound(const Layer& layer) {
  if (layer.bytes == 0 || layer.bytes % 8 != 0 || layer.bytes > kMaxLayerBytes) return false;
  if (!(layer.error > 0 && layer.error < 1)) return false;
  if (!(layer.bits_per_item > 0 && layer.bits_per_item <= kMostBitsPerItem)) return false;
  if (layer.hashes != hashes_for(layer.bits_per_item)) return false;
  if (layer.capacity == 0 || layer.items > layer.capacity) return false;
  return layer.log2_bits < 64 && layer.modulus() <= layer.bytes * 8;
}

std::unique_ptr<BloomFilter> BloomFilter::from_parts(Parts parts) {
  constexpr uint32_t kKnown = kNotRounded | kByBits | kWideHash | kNotGrowing;
  // Only very old filters use the narrow hash, which is too inexact to extend.
  if ((parts.options & ~kKnown) != 0 || (parts.options & kWideHash) == 0) return nullptr;
  if (parts.growth > kMaxGrowth) return nullptr;
  if (parts.growth == 0 && (parts.options & kNotGrowing) == 0) return nullptr;
  if (parts.layers.empty() || parts.layers.size() > kMaxLayers) return nullptr;
  uint64_t bytes = 0;
  uint64_t items = 0;
  uint64_t capacity = 0;
  for (const Layer& layer : parts.layers) {
    if (!is_sound(layer)) return nullptr;
    bytes += layer.bytes;
    // The byte and item sums cannot overflow: a layer is bounded, and has fewer items than its
    // capacity.
    if (__builtin_add_overflow(capacity, layer.capacity, &capacity)) return nullptr;
    items += layer.items;
  }
  constexpr auto kMostItems = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (bytes > kMaxBytes || items != parts.items || capacity > kMostItems) return nullptr;
  // All layers are validated before anything is allocated.
  for (Layer& layer : parts.layers) {
    if (!allocate(layer)) return nullptr;
  }
  std::unique_ptr<BloomFilter> filter(new BloomFilter);
  filter->layers_ = std::move(parts.layers);
  filter->items_ = items;
  filter->options_ = parts.options;
  filter->growth_ = parts.growth;
  return filter;
}

const BloomFilter::Layer* BloomFilter::locate(uint64_t position, uint64_t& offset) const {
  for (const Layer& layer : layers_) {
    if (position < layer.bytes) {
      offset = position;
      return &layer;
    }
    position -= layer.bytes;
  }
  return nullptr;
}

std::string_view BloomFilter::chunk(uint64_t position, size_t most) const {
  uint64_t offset = 0;
  const Layer* layer = locate(position, offset);
  return layer == nullptr ? std::string_view{} : layer->view().substr(offset, most);
}

BloomFilter::Loaded BloomFilter::load(uint64_t position, std::string_view bytes) {
  uint64_t offset = 0;
  const Layer* layer = locate(position, offset);
  if (layer == nullptr) return Loaded::kNoSuchPlace;
  if (bytes.size() > layer->bytes - offset) return Loaded::kTooLong;
  if (!bytes.empty()) std::memcpy(layer->bits.get() + offset, bytes.data(), bytes.size());
  return Loaded::kOk;
}

}  // namespace sorrel
