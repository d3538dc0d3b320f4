#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/option_values.h"

namespace sorrel::config {

// One directive: its name, the values it takes, when it may change, where its value lives and which
// part of the program receives a change. Everything that deals with directives (file reader, CONFIG
// GET/SET/REWRITE, documented file) reads these rows. option_rows.h makes them.

using Arguments = std::span<const std::string>;

// A part of the program that receives changed values (ConfigStore::on_change). Compared by address;
// each is an `inline constexpr` object next to the rows that name it.
struct Part {
  std::string_view name;
};

enum DirectiveFlags : uint32_t {
  kStartupOnly = 1u << 0,      // CONFIG SET refuses it
  kHidden = 1u << 1,           // CONFIG GET shows it only by its exact name; not in the document
  kProtected = 1u << 2,        // CONFIG SET needs Caller::may_set_protected
  kSecret = 1u << 3,           // the value must not reach SLOWLOG, MONITOR or the log
  kMultiArg = 1u << 4,         // takes several arguments; CONFIG SET separates them by blanks
  kNotWhileLoading = 1u << 5,  // CONFIG SET refuses it while the dataset is being loaded
  kBinary = 1u << 6,           // a text that may hold NUL bytes
  kReapply = 1u << 7,          // setting the same value again means something (a file was changed)
  // Not Redis's. Programs that know Redis's immutable directives set all others to the values they
  // have; that must not fail.
  kOurOwn = 1u << 8,
  // The alias is a spelling of later versions: understood, but not shown by CONFIG GET's patterns.
  kAliasUnlisted = 1u << 9,
  kLineBreaks = 1u << 10,  // a text that may hold line breaks
  // The next three say that nothing acts on the value, which is kept all the same. `tools/check.py
  // directives` compares them with the code; directive_effect.h says what follows from them.
  kNoEffectYet = 1u << 11,  // its feature is missing; goes when something reads the value
  kNeedless = 1u << 12,     // Sorrel works otherwise than Redis here, and `help` says how
  // As kNoEffectYet, but a program that ignored it would do harm: only the default is accepted.
  kUnsupported = 1u << 13,
  // A folder: a configuration file that names it makes it the working directory at once, and the
  // value becomes the absolute path.
  kWorkingDirectory = 1u << 14,
  kMayStandAlone = 1u << 15,  // `--name` without a value on the command line is the empty text
};

enum class Unit : uint8_t {
  kCount,           // plain decimal
  kBytes,           // 1k, 1kb, 1m, ...
  kBytesOrPercent,  // as kBytes, or N% which is stored as -N
  kOctal,           // file modes
};

// The kinds of values. `group` is the struct that holds the value (Directive::group).

struct BoolKind {
  bool (*get)(const void* group);
  void (*set)(void* group, bool value);
};
struct IntegerKind {
  int64_t (*get)(const void* group);
  void (*set)(void* group, int64_t value);
  int64_t min;
  int64_t max;
  Unit unit;
};
// Byte counts up to 2^64-1.
struct WideBytesKind {
  uint64_t (*get)(const void* group);
  void (*set)(void* group, uint64_t value);
};
struct StringKind {
  const std::string& (*get)(const void* group);
  void (*set)(void* group, std::string value);
  // Empty means "not set": CONFIG REWRITE then drops the line instead of writing "".
  bool empty_is_unset;
  // Says why a text is refused; null when none is.
  Status (*check)(std::string_view text);
};
struct Word {
  std::string_view text;
  int value;
};
struct WordKind {
  int (*get)(const void* group);
  void (*set)(void* group, int value);
  std::span<const Word> words;  // in the order that error messages list them
  bool combine;                 // several words, OR-ed together
  Status (*check)(int value);   // null when every combination is good
};
// `kAdds` is given to the second and later lines of one directive in one configuration.
enum class Repeat : uint8_t { kReplaces, kAdds };
struct SpecialKind {
  // Leaves the values untouched when it fails.
  Status (*parse)(void* group, Arguments args, Repeat repeat);
  std::string (*format)(const void* group);
  // The text after the name in a configuration file, one element per line; may be empty.
  std::vector<std::string> (*lines)(const void* group);
};

using Kind = std::variant<BoolKind, IntegerKind, WideBytesKind, StringKind, WordKind, SpecialKind>;

struct Directive {
  std::string_view name;
  std::string_view alias;  // the older spelling; empty when there is none
  uint32_t flags;
  const Part* part;  // null: no part receives a change; the value is read where it is used
  Kind kind;
  std::string_view help;  // one sentence, without the default
  // The struct in the options that the row points into.
  const void* (*find_group)(const Values& options);

  bool has(DirectiveFlags flag) const { return (flags & flag) != 0; }
  // No code acts on the value.
  bool without_effect() const { return (flags & (kNoEffectYet | kNeedless | kUnsupported)) != 0; }
  const void* group(const Values& options) const { return find_group(options); }
  void* group(Values& options) const { return const_cast<void*>(find_group(options)); }
};

// Sets one directive from its arguments. Unless it is marked so, no argument may hold a line break
// or a NUL byte: the one could smuggle directives into a rewritten file, the other cuts paths short
// in system calls. `options` is untouched when it fails; the error text is the reason alone
// ("argument must be 'yes' or 'no'"), fit for both the file reader and CONFIG SET.
Status assign(const Directive& row, Values& options, Arguments args,
              Repeat repeat = Repeat::kReplaces);

// The same without the checks for line breaks and NUL bytes: for a text that the program made.
Status assign_unchecked(const Directive& row, Values& options, Arguments args,
                        Repeat repeat = Repeat::kReplaces);

// The value as CONFIG GET shows it.
std::string show(const Directive& row, const Values& options);

// The lines (without the name) that make a configuration file say the same as `options`. Empty when
// the directive is best left out.
std::vector<std::string> file_lines(const Directive& row, const Values& options);

}  // namespace sorrel::config
