#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sorrel::hll {

// HyperLogLog in the byte format that Redis keeps in string values:
//
//   "HYLL" [encoding 1][3 unused][cached count 8, little endian; top bit: out of date][registers]
//
//   dense:  16384 registers of six bits, lowest bits first
//   sparse: runs: 00nnnnnn zeros (n+1) | 01nnnnnn nnnnnnnn zeros (n+1) | 1vvvvvnn value v+1 (n+1)
//
// The bytes are untrusted (SET, RESTORE), so every walk validates them and returns nullopt or false
// for runs that do not cover all registers.
inline constexpr unsigned kRegisterBits = 14;
inline constexpr size_t kRegisters = size_t{1} << kRegisterBits;
inline constexpr size_t kHeader = 16;
inline constexpr size_t kDenseBytes = kHeader + kRegisters * 6 / 8;

using Registers = std::array<uint8_t, kRegisters>;

std::string make_sparse();

// Header and size are valid; the runs of a sparse one are not checked.
bool looks_valid(std::string_view bytes);
// Precondition of everything below: looks_valid().
bool is_dense(std::string_view bytes);

// Adds an element. 1: a register grew; 0: none did; nullopt: the bytes are invalid (and unchanged).
// A sparse one that would exceed `sparse_max_bytes` becomes dense.
std::optional<int> add(std::string& bytes, std::string_view element, size_t sparse_max_bytes);
// False: invalid, and unchanged.
bool make_dense(std::string& bytes);

// Raises `into` to the maximum of itself and the bytes' registers. False: invalid.
bool merge(std::string_view bytes, Registers& into);
// Replaces the registers of `bytes`, in its encoding if that can hold them. The cached count is out
// of date afterwards.
void set_all(std::string& bytes, const Registers& registers, size_t sparse_max_bytes);

uint64_t count(const Registers& registers);
std::optional<uint64_t> cached_count(std::string_view bytes);  // nullopt: out of date
void cache_count(std::string& bytes, uint64_t count);
void forget_count(std::string& bytes);

// For PFSELFTEST: do registers and estimate work in this build?
bool self_test();

// "Z:16384", "z:3 v:1,2": the runs of a sparse one as text; nullopt: invalid.
std::optional<std::string> describe_sparse(std::string_view bytes);

}  // namespace sorrel::hll
