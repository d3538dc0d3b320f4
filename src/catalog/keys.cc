// Finds the keys among a command's arguments by the key specs of its catalog entry.

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/bytes.h"
#include "base/numbers.h"
#include "catalog/catalog.h"

namespace sorrel::catalog {
namespace {

using Arguments = std::span<const std::string_view>;

// Positions `first`, `first + step`, ... up to `last`. All arithmetic is on 64 bits with values no
// larger than the number of arguments times a small constant, so nothing overflows.
struct Span {
  int64_t first;
  int64_t last;
};

// The position where the spec begins; 0 when its keyword does not occur. A keyword as the last
// argument has no keys after it and does not count; a backward search ends before the first
// argument.
int64_t begin_of(const KeySpec& key, Arguments args) {
  if (key.begin == KeySpec::Begin::kIndex) return key.index;
  int64_t count = static_cast<int64_t>(args.size());
  bool forward = key.start_from > 0;
  int64_t from = forward ? key.start_from : count + key.start_from;
  if (!key.passed_word.empty()) from = 1;
  int64_t end = forward ? count - 1 : 1;
  for (int64_t i = from; forward ? i < end : i > end; i += forward ? 1 : -1) {
    if (i >= count) return 0;
    if (iequals(args[i], key.keyword)) return i + 1;
    if (!key.passed_word.empty() && iequals(args[i], key.passed_word)) i += key.passed_arguments;
  }
  return 0;
}

Span range_from(const KeySpec& key, int64_t first, int64_t count) {
  if (key.last >= 0) return {first, first + key.last};
  if (key.limit == 0) return {first, count + key.last};
  return {first, first + (count - first) / key.limit + key.last};
}

// nullopt when the count is missing, no number, negative, or larger than the arguments can hold.
// A count of zero gives an empty span.
std::optional<Span> counted_from(const KeySpec& key, int64_t begin, Arguments args) {
  int64_t count = static_cast<int64_t>(args.size());
  int64_t place = begin + key.key_num_index;
  if (place >= count) return std::nullopt;
  std::optional<int64_t> keys = parse_int64(args[place]);
  if (!keys || *keys < 0 || *keys > count) return std::nullopt;
  int64_t first = begin + key.first_key;
  if (*keys == 0) return Span{first, first - 1};
  return Span{first, first + (*keys - 1) * key.step};
}

uint32_t flags_of(const KeySpec& key, Arguments args) {
  if ((key.flags & kKeyVariableFlags) == 0) return key.flags;
  for (size_t i = key.words_from; i < args.size(); i++) {
    for (std::string_view word : key.wide_words) {
      if (iequals(args[i], word)) return key.flags & ~uint32_t{kKeyVariableFlags};
    }
  }
  return key.narrow_flags;
}

// The keys named by options. Options with mistakes are rejected by the handler before it accesses
// those keys.
struct OptionKeys {
  size_t named = 0;  // position of the key after the last `keyword`; 0: none
  size_t made = 0;   // of the first argument that names of keys are derived from; 0: none
};

OptionKeys read_options(const KeySpec& key, Arguments args) {
  OptionKeys keys;
  for (size_t i = static_cast<size_t>(key.start_from); i < args.size(); i++) {
    const auto option =
        std::find_if(key.options.begin(), key.options.end(),
                     [&](const OptionWord& word) { return iequals(word.name, args[i]); });
    if (option == key.options.end()) continue;
    const auto arguments = static_cast<size_t>(option->arguments);
    if (args.size() - i <= arguments) break;
    if (keys.made == 0 && key.keyword.empty() && option->makes_keys &&
        args[i + 1].find('*') != std::string_view::npos) {
      keys.made = i + 1;
    }
    if (option->name == key.keyword) keys.named = i + 1;
    i += arguments;
  }
  return keys;
}

KeyError extract_option(const KeySpec& key, Arguments args, std::vector<KeyPosition>& out) {
  const OptionKeys keys = read_options(key, args);
  if (keys.made != 0) return KeyError::kMoreByContent;
  if (keys.named != 0) out.push_back({static_cast<uint32_t>(keys.named), key.flags});
  return KeyError::kNone;
}

KeyError extract_instead(const CommandSpec& spec, const KeySpec& key, Arguments args,
                         std::vector<KeyPosition>& out) {
  for (size_t i = static_cast<size_t>(key.instead_from); i < args.size(); i++) {
    if (iequals(args[i], key.keyword)) {
      if (!args[static_cast<size_t>(spec.keys.front().index)].empty()) {
        return KeyError::kBadArguments;
      }
      out.pop_back();
      while (++i < args.size()) out.push_back({static_cast<uint32_t>(i), key.flags});
      return KeyError::kNone;
    }
    for (const OptionWord& option : key.options) {
      if (!iequals(option.name, args[i])) continue;
      i += static_cast<size_t>(option.arguments);
      break;
    }
  }
  return KeyError::kNone;
}

KeyError extract_one(const CommandSpec& spec, const KeySpec& key, Arguments args,
                     std::vector<KeyPosition>& out) {
  if (key.instead_from != 0) return extract_instead(spec, key, args, out);
  if (!key.options.empty()) return extract_option(key, args, out);
  if (key.begin == KeySpec::Begin::kUnknown || key.find == KeySpec::Find::kUnknown ||
      (key.flags & kKeyIncomplete) != 0) {
    return KeyError::kBadArguments;
  }
  int64_t count = static_cast<int64_t>(args.size());
  int64_t begin = begin_of(key, args);
  if (begin == 0) return KeyError::kNone;

  Span span;
  if (key.find == KeySpec::Find::kKeyNum) {
    std::optional<Span> counted = counted_from(key, begin, args);
    if (!counted) return KeyError::kBadArguments;
    span = *counted;
    bool none = span.last < span.first;
    if (none && (spec.flags & kNoMandatoryKeys) != 0) return KeyError::kNone;
  } else {
    span = range_from(key, begin, count);
    // Keys that the arity does not require may be absent: the sources of PFMERGE.
    const bool optional = key.begin == KeySpec::Begin::kIndex && span.first >= std::abs(spec.arity);
    if (optional && span.first >= count) return KeyError::kNone;
  }
  if (span.last < span.first || span.last >= count) return KeyError::kBadArguments;

  uint32_t flags = flags_of(key, args);
  for (int64_t i = span.first; i <= span.last; i += key.step) {
    out.push_back({static_cast<uint32_t>(i), flags});
  }
  return KeyError::kNone;
}

bool is_plain_range(const KeySpec& key) {
  return key.begin == KeySpec::Begin::kIndex && key.find == KeySpec::Find::kRange;
}

}  // namespace

KeyError extract_keys(const CommandSpec& spec, std::span<const std::string_view> args,
                      std::vector<KeyPosition>& out) {
  KeyError outcome = KeyError::kNone;
  for (const KeySpec& key : spec.keys) {
    if ((key.flags & kKeyNotKey) != 0) continue;
    KeyError error = extract_one(spec, key, args, out);
    if (error == KeyError::kBadArguments) return error;
    if (error == KeyError::kMoreByContent) outcome = error;
  }
  return outcome;
}

size_t made_key_names(const CommandSpec& spec, std::span<const std::string_view> args) {
  for (const KeySpec& key : spec.keys) {
    if (key.options.empty() || key.instead_from != 0) continue;
    if (const size_t made = read_options(key, args).made; made != 0) return made;
  }
  return 0;
}

// One spec is shown as it is. Several are shown as one range when each has step 1 and begins
// directly after the one before; specs that do not fit are left out and make the keys movable.
KeyRange key_range(const CommandSpec& spec) {
  KeyRange range;
  bool alone = spec.keys.size() == 1;
  for (const KeySpec& key : spec.keys) {
    bool adjoins = range.step == 0 || key.index == range.last + 1;
    if (!is_plain_range(key) || (!alone && (key.step != 1 || !adjoins))) {
      range.movable = true;
      continue;
    }
    if ((key.flags & kKeyIncomplete) != 0) range.movable = true;
    if (range.step == 0) range.first = key.index;
    range.last = key.last >= 0 ? key.index + key.last : key.last;
    range.step = key.step;
  }
  return range;
}

}  // namespace sorrel::catalog
