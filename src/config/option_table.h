#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "server/options.h"

namespace sorrel::server {

// The one table of configuration directives. A row says what a directive is called, what values it
// takes, when it may change and where in Options it lives; everything that speaks of directives
// (file reader, CONFIG GET/SET/REWRITE, sorrel.conf, the documentation) reads these rows.
//
// The rows are constant data in option_table_*.cc, one file per reader of the values.

using Arguments = std::span<const std::string>;

// Where a value lives in Options.
template <class T>
struct Place {
  const T& (*get)(const Options&);
  T& (*ref)(Options&);
};

enum DirectiveFlags : uint32_t {
  kStartupOnly = 1u << 0,      // CONFIG SET refuses it
  kHidden = 1u << 1,           // CONFIG GET shows it only by its exact name; not in sorrel.conf
  kProtected = 1u << 2,        // CONFIG SET needs enable-protected-configs
  kSecret = 1u << 3,           // the value must not reach SLOWLOG, MONITOR or the log
  kMultiArg = 1u << 4,         // takes several arguments; CONFIG SET separates them by blanks
  kNotWhileLoading = 1u << 5,  // CONFIG SET refuses it while the dataset is being loaded
  kBinary = 1u << 6,           // a text that may hold NUL bytes
  kLineBreaks = 1u << 10,      // a text that may hold line breaks
  kReapply = 1u << 7,          // setting the same value again means something (a file was changed)
  // Not Redis's. Programs that know Redis's immutable directives set all others to what they are;
  // that must not fail.
  kOurOwn = 1u << 8,
  // The alias is a spelling of later versions: understood, but not shown by CONFIG GET's patterns.
  kAliasUnlisted = 1u << 9,
  // The next three say that nothing acts on the value, which is kept all the same. `tools/check.py
  // directives` compares them with the code; see directive_effect.h for what they bring about.
  kNoEffectYet = 1u << 11,  // its feature is missing; goes when something reads the value
  kNeedless = 1u << 12,     // Sorrel works otherwise than Redis here, and `help` says how
  // As kNoEffectYet, but a server that ignored it would do harm: only the default is accepted.
  kUnsupported = 1u << 13,
};

enum class Unit : uint8_t {
  kCount,           // plain decimal
  kBytes,           // 1k, 1kb, 1m, ...
  kBytesOrPercent,  // as kBytes, or N% which is stored as -N
  kOctal,           // file modes
};

struct BoolKind {
  Place<bool> place;
};
struct IntegerKind {
  Place<int64_t> place;
  int64_t min;
  int64_t max;
  Unit unit;
};
// Byte counts up to 2^64-1; only maxmemory and cluster-link-sendbuf-limit are as wide as that.
struct WideBytesKind {
  Place<uint64_t> place;
};
struct StringKind {
  Place<std::string> place;
  // Empty means "not set": CONFIG REWRITE then drops the line instead of writing "".
  bool empty_is_unset;
  // Says why a text is no good; null when every text is.
  Status (*check)(std::string_view text);
};
struct Word {
  std::string_view text;
  int value;
};
struct WordKind {
  int (*get)(const Options&);
  void (*set)(Options&, int value);
  std::span<const Word> words;  // in the order that error messages list them
  bool combine;                 // several words, OR-ed together
  Status (*check)(int value);   // null when every combination is good
};
// `kAdds` is given to the second and later lines of one directive in one configuration: only `save`
// makes something of it.
enum class Repeat : uint8_t { kReplaces, kAdds };
struct SpecialKind {
  // Leaves Options untouched when it fails.
  Status (*parse)(Options&, Arguments args, Repeat repeat);
  std::string (*format)(const Options&);
  // What stands behind the name in a configuration file, one element per line; may be empty.
  std::vector<std::string> (*lines)(const Options&);
};

using Kind = std::variant<BoolKind, IntegerKind, WideBytesKind, StringKind, WordKind, SpecialKind>;

struct Directive {
  std::string_view name;
  std::string_view alias = {};  // the older spelling; empty when there is none
  uint32_t flags = 0;
  Kind kind;
  std::string_view help;  // one sentence, without the default

  bool has(DirectiveFlags flag) const { return (flags & flag) != 0; }
};

// A chapter of the table: its title in sorrel.conf and its rows.
struct DirectiveGroup {
  std::string_view title;
  std::span<const Directive> rows;
};
std::span<const DirectiveGroup> directive_groups();

// By name or alias, in any case; null when there is none.
const Directive* find_directive(std::string_view name);

// Sets one directive from its arguments. Unless it is marked so, no argument may hold a line break
// or a NUL byte: the one could smuggle directives into a rewritten file, the other cuts paths short
// in system calls. Options is untouched when it fails; the error text is the reason alone
// ("argument must be 'yes' or 'no'"), fit for both the file reader and CONFIG SET.
Status assign(const Directive& row, Options& options, Arguments args,
              Repeat repeat = Repeat::kReplaces);

// The value as CONFIG GET shows it.
std::string show(const Directive& row, const Options& options);

// The lines (without the name) that make a configuration file say what `options` says. Empty when
// the directive is best left out.
std::vector<std::string> file_lines(const Directive& row, const Options& options);

// --- Row makers for the table files
// ---------------------------------------------------------------

template <auto Group, auto Member>
struct At {
  using Type = std::remove_cvref_t<decltype((std::declval<Options&>().*Group).*Member)>;
  static const Type& get(const Options& options) { return (options.*Group).*Member; }
  static Type& ref(Options& options) { return (options.*Group).*Member; }
};

template <auto Group, auto Member>
constexpr Kind boolean() {
  using Here = At<Group, Member>;
  return BoolKind{{&Here::get, &Here::ref}};
}

template <auto Group, auto Member>
constexpr Kind integer(int64_t min, int64_t max, Unit unit = Unit::kCount) {
  using Here = At<Group, Member>;
  return IntegerKind{{&Here::get, &Here::ref}, min, max, unit};
}

template <auto Group, auto Member>
constexpr Kind bytes(int64_t min, int64_t max) {
  return integer<Group, Member>(min, max, Unit::kBytes);
}

template <auto Group, auto Member>
constexpr Kind wide_bytes() {
  using Here = At<Group, Member>;
  return WideBytesKind{{&Here::get, &Here::ref}};
}

using TextCheck = Status (*)(std::string_view);

// A text for which empty is a value like any other.
template <auto Group, auto Member>
constexpr Kind text(TextCheck check = nullptr) {
  using Here = At<Group, Member>;
  return StringKind{{&Here::get, &Here::ref}, false, check};
}

// A text for which empty means "not set".
template <auto Group, auto Member>
constexpr Kind optional_text(TextCheck check = nullptr) {
  using Here = At<Group, Member>;
  return StringKind{{&Here::get, &Here::ref}, true, check};
}

template <auto Group, auto Member>
constexpr Kind words(std::span<const Word> list) {
  using Here = At<Group, Member>;
  return WordKind{[](const Options& options) { return static_cast<int>(Here::get(options)); },
                  [](Options& options, int value) {
                    Here::ref(options) = static_cast<typename Here::Type>(value);
                  },
                  list, false, nullptr};
}

template <auto Group, auto Member>
constexpr Kind word_set(std::span<const Word> list, Status (*check)(int value)) {
  using Here = At<Group, Member>;
  return WordKind{[](const Options& options) { return static_cast<int>(Here::get(options)); },
                  [](Options& options, int value) { Here::ref(options) = value; }, list, true,
                  check};
}

}  // namespace sorrel::server
