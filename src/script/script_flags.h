#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sorrel::script {

// The declared properties of a script: EVAL reads them from its first line, functions from their
// registration.
enum ScriptFlag : uint32_t {
  kNoWrites = 1 << 0,
  kAllowOom = 1 << 1,
  kAllowStale = 1 << 2,
  kNoCluster = 1 << 3,
  kAllowCrossSlotKeys = 1 << 4,
  // Nothing was declared: an EVAL script without a shebang line, with the rules before Redis 7.
  kUnflagged = 1u << 31,
};

struct NamedFlag {
  std::string_view name;
  ScriptFlag flag;
};
// In the order of FUNCTION LIST.
std::span<const NamedFlag> named_flags();

enum class FlagSpelling : uint8_t { kExact, kAnyCase };
std::optional<uint32_t> script_flag(std::string_view name, FlagSpelling spelling);

// The first line: "#!lua flags=no-writes,allow-oom".
struct Shebang {
  uint32_t flags = kUnflagged;
  size_t length = 0;  // of the line, without its end: line numbers of the rest stay correct
};
Result<Shebang> read_script_shebang(std::string_view text);

// "#!lua name=mylib", which a library must have.
struct LibraryShebang {
  std::string engine;
  std::string name;
  size_t length = 0;
};
Result<LibraryShebang> read_library_shebang(std::string_view text);

// Letters, digits and underscores, at least one.
bool is_library_name(std::string_view name);

}  // namespace sorrel::script
