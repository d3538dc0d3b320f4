#include "io/own_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/bytes.h"

namespace sorrel::io {
namespace {

void somewhere_in_this_program() {}

}  // namespace

OwnSymbols::OwnSymbols() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&somewhere_in_this_program), &info) != 0) {
    base_ = reinterpret_cast<uint64_t>(info.dli_fbase);
  }
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    void* bytes =
        mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      file_ = static_cast<const char*>(bytes);
      size_ = static_cast<uint64_t>(status.st_size);
    }
  }
  close(file);
  if (file_ != nullptr) find_table();
}

OwnSymbols::~OwnSymbols() {
  if (file_ != nullptr) munmap(const_cast<char*>(file_), size_);
}

void OwnSymbols::find_table() {
  if (size_ < sizeof(Elf64_Ehdr)) return;
  const auto header = load<Elf64_Ehdr>(file_);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > size_) return;
  if ((size_ - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum) return;
  const auto section = [&](uint64_t index) {
    return load<Elf64_Shdr>(file_ + header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto is_inside = [&](const Elf64_Shdr& of) {
    return of.sh_offset <= size_ && of.sh_size <= size_ - of.sh_offset;
  };
  for (unsigned i = 0; i < header.e_shnum; i++) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB || symbols.sh_link >= header.e_shnum) continue;
    const Elf64_Shdr names = section(symbols.sh_link);
    if (!is_inside(symbols) || !is_inside(names)) return;
    symbols_ = symbols.sh_offset;
    symbol_count_ = symbols.sh_size / sizeof(Elf64_Sym);
    names_ = names.sh_offset;
    names_size_ = names.sh_size;
    return;
  }
}

OwnSymbols::Place OwnSymbols::find(uint64_t address) const {
  const uint64_t wanted = address - base_;
  for (uint64_t i = 0; i < symbol_count_; i++) {
    const auto symbol = load<Elf64_Sym>(file_ + symbols_ + i * sizeof(Elf64_Sym));
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names_size_) continue;
    if (wanted < symbol.st_value || wanted - symbol.st_value >= symbol.st_size) continue;
    const char* name = file_ + names_ + symbol.st_name;
    return {{name, strnlen(name, names_size_ - symbol.st_name)}, wanted - symbol.st_value};
  }
  return {{}, wanted};
}

}  // namespace sorrel::io
