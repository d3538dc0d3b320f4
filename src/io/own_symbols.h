#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel::io {

// The functions of this very program by their addresses, out of the symbol table of its file. Made
// for the moment when the process dies: nothing is allocated. A program without a symbol table has
// no names.
class OwnSymbols {
 public:
  OwnSymbols();
  ~OwnSymbols();
  OwnSymbols(const OwnSymbols&) = delete;
  OwnSymbols& operator=(const OwnSymbols&) = delete;

  struct Place {
    std::string_view name;  // as the linker knows it; empty: unknown
    uint64_t offset = 0;  // from the function's start, or from the program's when there is no name
  };
  // Precondition: the address is in this program's own code.
  Place find(uint64_t address) const;
  // Where the program was put in memory.
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
