#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::commands {

// The longest common subsequence of two byte strings, by the table of all pairs of prefixes:
//
//        b: ""  m  y  n         L[i][j] = L[i-1][j-1] + 1            when a[i-1] == b[j-1]
//   a: ""   0  0  0  0                    max(L[i-1][j], L[i][j-1])  otherwise
//      o    0  0  0  0
//      m    0  1  1  1         and a walk back from the last corner reads the subsequence off.
//
// Lengths need only one row. The walk needs to know in every cell which neighbour was larger: one
// bit, a thirty-second of the table of lengths.

// A contiguous run of bytes common to both strings; positions are inclusive.
struct LcsMatch {
  uint32_t a_first;
  uint32_t a_last;
  uint32_t b_first;
  uint32_t b_last;

  uint32_t length() const { return a_last - a_first + 1; }
};

struct Lcs {
  uint32_t length = 0;
  std::string text;               // from lcs_of() only, as are matches
  std::vector<LcsMatch> matches;  // the last one first; of any length
};

// The bytes of a table of 32-bit lengths, which limits are expressed in; nullopt when that
// overflows 64 bits.
std::optional<uint64_t> lcs_table_bytes(uint64_t a_size, uint64_t b_size);

// Precondition: each string is shorter than 2^32 - 2 bytes, and the caller accepts
// lcs_table_bytes(). Among several subsequences of the same length it is the one that Redis finds.
// nullopt: out of memory.
std::optional<Lcs> lcs_of(std::string_view a, std::string_view b);
// The length alone, with the memory of one row.
std::optional<Lcs> lcs_length(std::string_view a, std::string_view b);

}  // namespace sorrel::commands
