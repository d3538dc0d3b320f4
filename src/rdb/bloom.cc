#include "rdb/bloom.h"

#include <limits>
#include <vector>

#include "types/bloom.h"

// Bloom filters in the layout of Redis's Bloom module: each field follows a number that gives its
// kind.

namespace sorrel::rdb {
namespace {

enum class FieldKind : uint64_t { kEnd = 0, kUnsigned = 2, kDouble = 4, kString = 5 };

// Module types are identified by their name, six bits a letter, and the version of the layout.
constexpr uint64_t module_id(std::string_view name, uint64_t version) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  uint64_t id = 0;
  for (const char c : name) id = id << 6 | kLetters.find(c);
  return id << 10 | version;
}

// The layout has had this version since filters store how they grow.
constexpr uint64_t kBloomId = module_id("MBbloom--", 4);

// Reads fields of a given kind; another kind is a reader error.
class FieldReader {
 public:
  explicit FieldReader(Reader& in) : in_(in) {}

  bool kind(FieldKind expected) {
    if (in_.length() != static_cast<uint64_t>(expected)) in_.fail();
    return !in_.failed();
  }
  uint64_t number() { return kind(FieldKind::kUnsigned) ? in_.length() : 0; }
  uint32_t small_number() {
    const uint64_t value = number();
    if (value > std::numeric_limits<uint32_t>::max()) in_.fail();
    return static_cast<uint32_t>(value);
  }
  double real() { return kind(FieldKind::kDouble) ? in_.little_endian<double>() : 0; }
  std::string_view string(std::string& scratch) {
    return kind(FieldKind::kString) ? in_.string(scratch) : std::string_view{};
  }

 private:
  Reader& in_;
};

class FieldWriter {
 public:
  explicit FieldWriter(Writer& out) : out_(out) {}

  void number(uint64_t value) {
    kind(FieldKind::kUnsigned);
    out_.length(value);
  }
  void real(double value) {
    kind(FieldKind::kDouble);
    out_.little_endian(value);
  }
  void string(std::string_view bytes) {
    kind(FieldKind::kString);
    out_.string(bytes);
  }
  void kind(FieldKind kind) { out_.length(static_cast<uint64_t>(kind)); }

 private:
  Writer& out_;
};

}  // namespace

void write_bloom(const BloomFilter& filter, Writer& out) {
  out.length(kBloomId);
  FieldWriter fields(out);
  fields.number(filter.items());
  fields.number(filter.layers().size());
  fields.number(filter.options());
  fields.number(filter.growth());
  for (const BloomFilter::Layer& layer : filter.layers()) {
    fields.number(layer.capacity);
    fields.real(layer.error);
    fields.number(layer.hashes);
    fields.real(layer.bits_per_item);
    fields.number(layer.bytes * 8);
    fields.number(layer.log2_bits);
    fields.string(layer.view());
    fields.number(layer.items);
  }
  fields.kind(FieldKind::kEnd);
}

std::optional<Value> read_bloom(Reader& in) {
  const auto fail = [&]() -> std::optional<Value> {
    in.fail();
    return std::nullopt;
  };
  if (const uint64_t id = in.length(); id != kBloomId) {
    if (!in.failed()) in.note_module(id);
    return fail();
  }
  FieldReader fields(in);
  BloomFilter::Parts parts;
  parts.items = fields.number();
  const uint64_t layers = fields.number();
  parts.options = fields.small_number();
  parts.growth = fields.small_number();
  if (in.failed() || layers > BloomFilter::kMaxLayers) return fail();
  // The bits are stored in the filter once all of it is validated.
  std::vector<std::string> bits(layers);
  std::vector<std::string_view> views(layers);
  for (uint64_t i = 0; i < layers && !in.failed(); i++) {
    BloomFilter::Layer& layer = parts.layers.emplace_back();
    layer.capacity = fields.number();
    layer.error = fields.real();
    layer.hashes = fields.small_number();
    layer.bits_per_item = fields.real();
    const uint64_t bit_count = fields.number();
    const uint64_t log2_bits = fields.number();
    views[i] = fields.string(bits[i]);
    layer.items = fields.number();
    layer.bytes = views[i].size();
    layer.log2_bits = static_cast<uint8_t>(log2_bits);
    if (log2_bits >= 64 || bit_count != uint64_t{layer.bytes} * 8) return fail();
  }
  if (!fields.kind(FieldKind::kEnd)) return fail();
  auto filter = BloomFilter::from_parts(std::move(parts));
  if (filter == nullptr) return fail();
  uint64_t position = 0;
  for (const std::string_view view : views) {
    filter->load(position, view);
    position += view.size();
  }
  return Value(Type::kBloom, bloom_collection(std::move(filter)));
}

}  // namespace sorrel::rdb
