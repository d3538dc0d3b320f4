// Registers must be bit-compatible with Redis's dense and sparse encodings, and the bytes are
// untrusted: any client can SET them.

#include "types/hyperloglog.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/bytes.h"

namespace sorrel::hll {
namespace {

constexpr std::string_view kMagic = "HYLL";
constexpr size_t kEncodingAt = 4;
constexpr size_t kCountAt = 8;
constexpr char kDense = 0;
constexpr char kSparse = 1;
constexpr unsigned kHashBits = 64 - kRegisterBits;
constexpr unsigned kMaxRank = kHashBits + 1;

constexpr size_t kMaxShortZeros = 64;
constexpr unsigned kMaxSparseValue = 32;
constexpr size_t kMaxValueRun = 4;
constexpr uint64_t kHashSeed = 0xadc83b19;

// MurmurHash64A, which the format prescribes: registers of different servers must agree.
uint64_t murmur(std::string_view text) {
  constexpr uint64_t kMix = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  uint64_t hash = kHashSeed ^ (text.size() * kMix);
  while (text.size() >= 8) {
    auto word = load<uint64_t>(text.data());
    word *= kMix;
    word ^= word >> kShift;
    word *= kMix;
    hash ^= word;
    hash *= kMix;
    text.remove_prefix(8);
  }
  if (!text.empty()) {
    for (size_t i = text.size(); i-- > 0;) {
      hash ^= uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    }
    hash *= kMix;
  }
  hash ^= hash >> kShift;
  hash *= kMix;
  hash ^= hash >> kShift;
  return hash;
}

struct Place {
  size_t index;
  uint8_t rank;
};

// The low bits choose the register; its rank is the position of the lowest set bit in the others.
Place place_of(std::string_view element) {
  const uint64_t hash = murmur(element);
  const uint64_t rest = (hash >> kRegisterBits) | uint64_t{1} << kHashBits;
  return {hash & (kRegisters - 1), static_cast<uint8_t>(std::countr_zero(rest) + 1)};
}

uint8_t dense_get(const char* registers, size_t index) {
  const size_t bit = index * 6;
  const char* at = registers + bit / 8;
  const unsigned shift = bit % 8;
  unsigned value = static_cast<unsigned char>(at[0]) >> shift;
  // The last register ends with the last byte; nothing follows it.
  if (shift > 2) value |= static_cast<unsigned>(static_cast<unsigned char>(at[1])) << (8 - shift);
  return value & 63;
}

void dense_set(char* registers, size_t index, uint8_t value) {
  const size_t bit = index * 6;
  char* at = registers + bit / 8;
  const unsigned shift = bit % 8;
  const auto put = [](char& byte, unsigned clear, unsigned set) {
    byte = static_cast<char>((static_cast<unsigned char>(byte) & ~clear) | set);
  };
  put(at[0], 63u << shift & 255, static_cast<unsigned>(value) << shift & 255);
  if (shift > 2) put(at[1], 63u >> (8 - shift), static_cast<unsigned>(value) >> (8 - shift));
}

// One run of the sparse encoding.
struct Run {
  size_t length = 0;
  uint8_t value = 0;
  size_t bytes = 0;
  bool extended = false;  // zeros with a length of two bytes
};

// Precondition: at < bytes.size(). Length 0: truncated.
Run read_run(std::string_view bytes, size_t at) {
  const auto first = static_cast<unsigned char>(bytes[at]);
  if ((first & 0x80) != 0) {
    return {(first & 3u) + 1, static_cast<uint8_t>(((first >> 2) & 31) + 1), 1, false};
  }
  if ((first & 0x40) == 0) return {(first & 63u) + 1, 0, 1, false};
  if (at + 1 >= bytes.size()) return {};
  const auto second = static_cast<unsigned char>(bytes[at + 1]);
  return {((first & 63u) << 8 | second) + 1, 0, 2, true};
}

void write_zeros(std::string& out, size_t length) {
  if (length == 0) return;
  if (length <= kMaxShortZeros) {
    out += static_cast<char>(length - 1);
    return;
  }
  out += static_cast<char>(0x40 | (length - 1) >> 8);
  out += static_cast<char>((length - 1) & 255);
}

void write_value(std::string& out, uint8_t value, size_t length) {
  for (; length > 0; length -= std::min(length, kMaxValueRun)) {
    out += static_cast<char>(0x80 | (value - 1u) << 2 | (std::min(length, kMaxValueRun) - 1));
  }
}

void write_run(std::string& out, uint8_t value, size_t length) {
  if (value == 0) {
    write_zeros(out, length);
  } else {
    write_value(out, value, length);
  }
}

// Calls visit(first register, run, position) for each run until it returns false. True: the runs
// cover all registers, or the visitor stopped.
template <class Visit>
bool for_each_run(std::string_view bytes, Visit&& visit) {
  size_t first = 0;
  for (size_t at = kHeader; at < bytes.size();) {
    const Run run = read_run(bytes, at);
    if (run.length == 0 || run.length > kRegisters - first) return false;
    if (!visit(first, run, at)) return true;
    first += run.length;
    at += run.bytes;
  }
  return first == kRegisters;
}

// Merges neighbouring runs of one value, from the run at `from` on, for a few runs: an update makes
// at most three.
void join_values(std::string& bytes, size_t from) {
  constexpr int kLook = 5;
  size_t at = from;
  for (int i = 0; i < kLook && at + 1 < bytes.size(); i++) {
    const Run run = read_run(bytes, at);
    if (run.length == 0) return;
    const size_t next_at = at + run.bytes;
    if (run.value != 0 && next_at < bytes.size()) {
      const Run next = read_run(bytes, next_at);
      if (next.value == run.value && run.length + next.length <= kMaxValueRun) {
        std::string joined;
        write_value(joined, run.value, run.length + next.length);
        bytes.replace(at, 2, joined);
        continue;
      }
    }
    at = next_at;
  }
}

std::optional<int> add_sparse(std::string& bytes, Place place, size_t sparse_max_bytes) {
  std::optional<size_t> found_at;
  Run found;
  size_t found_first = 0;
  size_t before = kHeader;
  size_t last_at = kHeader;
  const bool sound = for_each_run(bytes, [&](size_t first, const Run& run, size_t at) {
    if (place.index >= first + run.length) {
      before = last_at;
      last_at = at;
      return true;
    }
    before = last_at;
    found_at = at;
    found = run;
    found_first = first;
    return false;
  });
  if (!sound || !found_at) return std::nullopt;
  if (found.value >= place.rank) return 0;
  std::string pieces;
  const size_t left = place.index - found_first;
  write_run(pieces, found.value, left);
  if (place.rank <= kMaxSparseValue) {
    write_value(pieces, place.rank, 1);
    write_run(pieces, found.value, found.length - left - 1);
  }
  const bool grows = pieces.size() > found.bytes;
  if (place.rank > kMaxSparseValue ||
      (grows && bytes.size() + pieces.size() - found.bytes > sparse_max_bytes)) {
    if (!make_dense(bytes)) return std::nullopt;
    dense_set(bytes.data() + kHeader, place.index, place.rank);
  } else {
    bytes.replace(*found_at, found.bytes, pieces);
    join_values(bytes, before);
  }
  forget_count(bytes);
  return 1;
}

// The estimator of Ertl (2017): good for every cardinality without switching between formulas.
double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double y = 1;
  double z = 1 - x;
  double last;
  do {
    x = std::sqrt(x);
    last = z;
    y *= 0.5;
    z -= (1 - x) * (1 - x) * y;
  } while (last != z);
  return z / 3;
}

double sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double y = 1;
  double z = x;
  double last;
  do {
    x *= x;
    last = z;
    z += x * y;
    y += y;
  } while (last != z);
  return z;
}

}  // namespace

std::string make_sparse() {
  std::string bytes(kHeader, '\0');
  kMagic.copy(bytes.data(), kMagic.size());
  bytes[kEncodingAt] = kSparse;
  write_zeros(bytes, kRegisters);
  return bytes;
}

bool looks_valid(std::string_view bytes) {
  if (bytes.size() < kHeader || !bytes.starts_with(kMagic)) return false;
  if (bytes[kEncodingAt] == kDense) return bytes.size() == kDenseBytes;
  return bytes[kEncodingAt] == kSparse;
}

bool is_dense(std::string_view bytes) {
  return bytes[kEncodingAt] == kDense;
}

std::optional<int> add(std::string& bytes, std::string_view element, size_t sparse_max_bytes) {
  const Place place = place_of(element);
  if (!is_dense(bytes)) return add_sparse(bytes, place, sparse_max_bytes);
  char* registers = bytes.data() + kHeader;
  if (dense_get(registers, place.index) >= place.rank) return 0;
  dense_set(registers, place.index, place.rank);
  forget_count(bytes);
  return 1;
}

bool make_dense(std::string& bytes) {
  if (is_dense(bytes)) return true;
  Registers registers{};
  if (!merge(bytes, registers)) return false;
  bytes.resize(kHeader);
  bytes[kEncodingAt] = kDense;
  bytes.resize(kDenseBytes);
  for (size_t i = 0; i < kRegisters; i++) {
    if (registers[i] != 0) dense_set(bytes.data() + kHeader, i, registers[i]);
  }
  return true;
}

bool merge(std::string_view bytes, Registers& into) {
  if (is_dense(bytes)) {
    for (size_t i = 0; i < kRegisters; i++) {
      into[i] = std::max(into[i], dense_get(bytes.data() + kHeader, i));
    }
    return true;
  }
  return for_each_run(bytes, [&](size_t first, const Run& run, size_t) {
    if (run.value == 0) return true;
    for (size_t i = first; i < first + run.length; i++) into[i] = std::max(into[i], run.value);
    return true;
  });
}

void set_all(std::string& bytes, const Registers& registers, size_t sparse_max_bytes) {
  const bool was_dense = is_dense(bytes);
  const bool fits = *std::max_element(registers.begin(), registers.end()) <= kMaxSparseValue;
  if (!was_dense && fits) {
    std::string sparse = bytes.substr(0, kHeader);
    for (size_t first = 0; first < kRegisters;) {
      size_t end = first + 1;
      while (end < kRegisters && registers[end] == registers[first]) end++;
      write_run(sparse, registers[first], end - first);
      first = end;
    }
    if (sparse.size() <= sparse_max_bytes) {
      bytes = std::move(sparse);
      forget_count(bytes);
      return;
    }
  }
  bytes.resize(kHeader);
  bytes[kEncodingAt] = kDense;
  bytes.resize(kDenseBytes);
  for (size_t i = 0; i < kRegisters; i++) dense_set(bytes.data() + kHeader, i, registers[i]);
  forget_count(bytes);
}

uint64_t count(const Registers& registers) {
  std::array<uint32_t, 64> with_rank{};
  for (uint8_t rank : registers) with_rank[rank & 63]++;
  constexpr auto kM = static_cast<double>(kRegisters);
  double z = kM * tau((kM - with_rank[kMaxRank]) / kM);
  for (unsigned rank = kHashBits; rank >= 1; rank--) z = (z + with_rank[rank]) * 0.5;
  z += kM * sigma(with_rank[0] / kM);
  constexpr double kAlphaInfinity = 0.721347520444481703680;
  return static_cast<uint64_t>(std::llround(kAlphaInfinity * kM * kM / z));
}

std::optional<uint64_t> cached_count(std::string_view bytes) {
  const auto cached = load<uint64_t>(bytes.data() + kCountAt);
  if (cached >> 63 != 0) return std::nullopt;
  return cached;
}

void cache_count(std::string& bytes, uint64_t count) {
  store(bytes.data() + kCountAt, count & ~(uint64_t{1} << 63));
}

void forget_count(std::string& bytes) {
  bytes[kCountAt + 7] = static_cast<char>(static_cast<unsigned char>(bytes[kCountAt + 7]) | 0x80);
}

std::optional<std::string> describe_sparse(std::string_view bytes) {
  std::string text;
  const bool sound = for_each_run(bytes, [&](size_t, const Run& run, size_t) {
    if (!text.empty()) text += ' ';
    if (run.value != 0) {
      text += fmt::format("v:{},{}", run.value, run.length);
    } else {
      text += fmt::format("{}:{}", run.extended ? 'Z' : 'z', run.length);
    }
    return true;
  });
  if (!sound) return std::nullopt;
  return text;
}

bool self_test() {
  // Registers hold the values set, whatever their neighbours hold.
  std::string dense = make_sparse();
  if (!make_dense(dense)) return false;
  for (size_t round = 0; round < 64; round++) {
    for (size_t i = 0; i < kRegisters; i++) {
      dense_set(dense.data() + kHeader, i, static_cast<uint8_t>((i * 7 + round) & 63));
    }
    for (size_t i = 0; i < kRegisters; i++) {
      if (dense_get(dense.data() + kHeader, i) != ((i * 7 + round) & 63)) return false;
    }
  }
  // Both encodings give the same estimate, which is within four standard errors.
  constexpr double kAllowed = 4 * 1.04 / 128;
  std::string both[2] = {make_sparse(), make_sparse()};
  make_dense(both[1]);
  for (uint64_t added = 1; added <= 100'000; added++) {
    const std::string element = fmt::format("element {}", added);
    for (std::string& bytes : both) add(bytes, element, kDenseBytes);
    if ((added & (added - 1)) != 0) continue;
    Registers registers[2] = {};
    if (!merge(both[0], registers[0]) || !merge(both[1], registers[1])) return false;
    if (registers[0] != registers[1]) return false;
    const double error =
        std::abs(static_cast<double>(count(registers[0])) - static_cast<double>(added));
    if (error > std::max(1.0, kAllowed * static_cast<double>(added))) return false;
  }
  return true;
}

}  // namespace sorrel::hll
