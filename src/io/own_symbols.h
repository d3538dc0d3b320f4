#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel::io {

// Resolves code addresses to function names with the symbol table of the running executable, for
// crash reports. Async-signal-safe: find() allocates nothing. A stripped executable has no names.
class OwnSymbols {
 public:
  OwnSymbols();
  ~OwnSymbols();
  OwnSymbols(const OwnSymbols&) = delete;
  OwnSymbols& operator=(const OwnSymbols&) = delete;

  struct Place {
    std::string_view name;  // mangled; empty: unknown
    uint64_t offset = 0;  // from the function's start, or from the program's when there is no name
  };
  // Precondition: the address is in the executable's own code.
  Place find(uint64_t address) const;
  // Load address of the executable.
  uint64_t base() const { return base_; }

 private:
  void find_table();

  const char* file_ = nullptr;  // mapped
  uint64_t size_ = 0;
  uint64_t base_ = 0;
  uint64_t symbols_ = 0;  // offset in the file, 0: none
  uint64_t symbol_count_ = 0;
  uint64_t names_ = 0;
  uint64_t names_size_ = 0;
};

}  // namespace sorrel::io
