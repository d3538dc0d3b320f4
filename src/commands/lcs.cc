#include "commands/lcs.h"

#include <algorithm>
#include <memory>
#include <new>

namespace sorrel::commands {
namespace {

// One bit per cell of the table without its border: was the cell above larger than the one to the
// left?
class Directions {
 public:
  // False: out of memory.
  bool allocate(size_t rows, size_t columns) {
    columns_ = columns;
    const size_t words = (rows * columns + 63) / 64;
    words_.reset(new (std::nothrow) uint64_t[std::max<size_t>(words, 1)]());
    return words_ != nullptr;
  }
  void set_up(size_t row, size_t column) {
    const size_t at = row * columns_ + column;
    words_[at / 64] |= uint64_t{1} << (at % 64);
  }
  bool up(size_t row, size_t column) const {
    const size_t at = row * columns_ + column;
    return ((words_[at / 64] >> (at % 64)) & 1) != 0;
  }

 private:
  std::unique_ptr<uint64_t[]> words_;
  size_t columns_ = 0;
};

// Fills the table row by row in one array: before row i is written, it holds row i - 1. nullopt:
// out of memory.
template <class Visit>
std::optional<uint32_t> fill(std::string_view a, std::string_view b, Visit&& up_is_larger) {
  const std::unique_ptr<uint32_t[]> row(new (std::nothrow) uint32_t[b.size() + 1]());
  if (row == nullptr) return std::nullopt;
  for (size_t i = 0; i < a.size(); i++) {
    uint32_t diagonal = 0;
    for (size_t j = 0; j < b.size(); j++) {
      const uint32_t above = row[j + 1];
      if (a[i] == b[j]) {
        row[j + 1] = diagonal + 1;
      } else if (above > row[j]) {
        up_is_larger(i, j);
      } else {
        row[j + 1] = row[j];
      }
      diagonal = above;
    }
  }
  return row[b.size()];
}

// The walk yields the subsequence and the matches in reverse order.
class Collector {
 public:
  explicit Collector(Lcs& out) : out_(out), left_(out.length) { out.text.resize(out.length); }

  void take(char byte, uint32_t a_at, uint32_t b_at) {
    out_.text[--left_] = byte;
    if (!out_.matches.empty()) {
      LcsMatch& last = out_.matches.back();
      if (a_at + 1 == last.a_first && b_at + 1 == last.b_first) {
        last.a_first = a_at;
        last.b_first = b_at;
        return;
      }
    }
    out_.matches.push_back({a_at, a_at, b_at, b_at});
  }

 private:
  Lcs& out_;
  size_t left_;
};

}  // namespace

std::optional<uint64_t> lcs_table_bytes(uint64_t a_size, uint64_t b_size) {
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t bytes = 0;
  if (__builtin_add_overflow(a_size, uint64_t{1}, &rows) ||
      __builtin_add_overflow(b_size, uint64_t{1}, &columns) ||
      __builtin_mul_overflow(rows, columns, &bytes) ||
      __builtin_mul_overflow(bytes, uint64_t{sizeof(uint32_t)}, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::optional<Lcs> lcs_length(std::string_view a, std::string_view b) {
  // The length does not depend on the order; the shorter string makes the shorter row.
  if (a.size() < b.size()) std::swap(a, b);
  const auto length = fill(a, b, [](size_t, size_t) {});
  if (!length) return std::nullopt;
  return Lcs{*length, {}, {}};
}

std::optional<Lcs> lcs_of(std::string_view a, std::string_view b) {
  Directions directions;
  if (!directions.allocate(a.size(), b.size())) return std::nullopt;
  Lcs out;
  const auto length = fill(a, b, [&](size_t i, size_t j) { directions.set_up(i, j); });
  if (!length) return std::nullopt;
  out.length = *length;
  Collector collector(out);
  size_t i = a.size();
  size_t j = b.size();
  while (i > 0 && j > 0) {
    if (a[i - 1] == b[j - 1]) {
      i--;
      j--;
      collector.take(a[i], static_cast<uint32_t>(i), static_cast<uint32_t>(j));
    } else if (directions.up(i - 1, j - 1)) {
      i--;
    } else {
      j--;
    }
  }
  return out;
}

}  // namespace sorrel::commands
