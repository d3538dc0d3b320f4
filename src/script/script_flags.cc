#include "script/script_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "resp/inline_split.h"

namespace sorrel::script {
namespace {

constexpr NamedFlag kFlags[] = {
    {"no-writes", kNoWrites},
    {"allow-oom", kAllowOom},
    {"allow-stale", kAllowStale},
    {"no-cluster", kNoCluster},
    {"allow-cross-slot-keys", kAllowCrossSlotKeys},
};

constexpr std::string_view kMark = "#!";
constexpr std::string_view kFlagsOption = "flags=";
constexpr std::string_view kNameOption = "name=";

// nullopt: a quote is not closed.
std::optional<std::vector<std::string>> words_of(std::string_view line) {
  resp::ArgList words;
  std::vector<std::unique_ptr<std::string>> store;
  if (!resp::split_inline(line, words, store)) return std::nullopt;
  return std::vector<std::string>(words.begin(), words.end());
}

Status add_flags(std::string_view names, uint32_t& flags) {
  for (size_t at = 0; at <= names.size();) {
    const size_t comma = std::min(names.find(',', at), names.size());
    const std::string_view name = names.substr(at, comma - at);
    at = comma + 1;
    // "flags=" alone names none.
    if (name.empty() && names.empty()) break;
    const auto flag = script_flag(name, FlagSpelling::kExact);
    if (!flag) return Error{fmt::format("Unexpected flag in script shebang: {}", name)};
    flags |= *flag;
  }
  return {};
}

}  // namespace

std::span<const NamedFlag> named_flags() {
  return kFlags;
}

std::optional<uint32_t> script_flag(std::string_view name, FlagSpelling spelling) {
  for (const NamedFlag& known : kFlags) {
    const bool same =
        spelling == FlagSpelling::kExact ? known.name == name : iequals(known.name, name);
    if (same) return known.flag;
  }
  return std::nullopt;
}

Result<Shebang> read_script_shebang(std::string_view text) {
  Shebang shebang;
  if (!text.starts_with(kMark)) return shebang;
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return Error{"Invalid script shebang"};
  shebang.length = end;
  shebang.flags = 0;
  const auto words = words_of(text.substr(0, end));
  if (!words || words->empty()) return Error{"Invalid engine in script shebang"};
  if (words->front() != "#!lua") {
    return Error{fmt::format("Unexpected engine in script shebang: {}", words->front())};
  }
  for (size_t i = 1; i < words->size(); i++) {
    const std::string_view word = (*words)[i];
    if (!word.starts_with(kFlagsOption)) {
      return Error{fmt::format("Unknown lua shebang option: {}", word)};
    }
    if (Status added = add_flags(word.substr(kFlagsOption.size()), shebang.flags); !added) {
      return added.error();
    }
  }
  return shebang;
}

Result<LibraryShebang> read_library_shebang(std::string_view text) {
  LibraryShebang shebang;
  if (!text.starts_with(kMark)) return Error{"Missing library metadata"};
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return Error{"Invalid library metadata"};
  const auto words = words_of(text.substr(0, end));
  if (!words || words->empty()) return Error{"Invalid library metadata"};
  shebang.length = end;
  shebang.engine = words->front().substr(kMark.size());
  bool named = false;
  for (size_t i = 1; i < words->size(); i++) {
    const std::string_view word = (*words)[i];
    if (!iequals(word.substr(0, kNameOption.size()), kNameOption)) {
      return Error{fmt::format("Invalid metadata value given: {}", word)};
    }
    if (named) {
      return Error{"Invalid metadata value, name argument was given multiple times"};
    }
    named = true;
    shebang.name = word.substr(kNameOption.size());
  }
  if (!named) return Error{"Library name was not given"};
  return shebang;
}

bool is_library_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace sorrel::script
