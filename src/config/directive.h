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

// One directive: its name, the accepted values, when it may change, where its value is stored and
// which part of the program receives a change. The file reader, CONFIG GET/SET/REWRITE and the
// documented file all use these rows. Made by option_rows.h.

using Arguments = std::span<const std::string>;

// A part of the program that receives changed values (ConfigStore::on_change). Compared by address;
// each is an `inline constexpr` object next to the rows that name it.
struct Part {
  std::string_view name;
};

enum DirectiveFlags : uint32_t {
  kStartupOnly = 1u << 0,      // rejected by CONFIG SET
  kHidden = 1u << 1,           // CONFIG GET returns it for its exact name only; not in the document
  kProtected = 1u << 2,        // CONFIG SET needs Caller::may_set_protected
  kSecret = 1u << 3,           // the value must not reach SLOWLOG, MONITOR or the log
  kMultiArg = 1u << 4,         // takes several arguments; CONFIG SET separates them by blanks
  kNotWhileLoading = 1u << 5,  // rejected by CONFIG SET while the dataset is being loaded
  kBinary = 1u << 6,           // a text that may contain NUL bytes
  kReapply = 1u << 7,          // setting the same value again is applied (a file may have changed)
  // A Sorrel directive. Programs that know Redis's immutable directives set all others to their
  // current values; that must not fail.
  kOurOwn = 1u << 8,
  // The alias is a spelling of later versions: accepted, but not matched by CONFIG GET's patterns.
  kAliasUnlisted = 1u << 9,
  kLineBreaks = 1u << 10,  // a text that may contain line breaks
  // The next three mark directives without effect, whose value is stored nevertheless.
  // `tools/check.py directives` compares these flags with the code; for the consequences see
  // directive_effect.h.
  kNoEffectYet = 1u << 11,  // feature not implemented; to be removed once the value is used
  kNeedless = 1u << 12,     // not needed by Sorrel's design, as `help` explains
  // As kNoEffectYet, but ignoring the value would be harmful: only the default is accepted.
  kUnsupported = 1u << 13,
  // A folder, which becomes the working directory as soon as a configuration file sets it; the
  // value is stored as absolute path.
  kWorkingDirectory = 1u << 14,
  kMayStandAlone = 1u << 15,  // `--name` without a value on the command line is the empty text
};

enum class Unit : uint8_t {
  kCount,           // plain decimal
  kBytes,           // 1k, 1kb, 1m, ...
  kBytesOrPercent,  // as kBytes, or N%, stored as -N
  kOctal,           // file modes
};

// The kinds of values. `group` is the struct that contains the value (Directive::group).

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
  // Empty means "not set": CONFIG REWRITE then removes the line instead of writing "".
  bool empty_is_unset;
  // Returns the reason to reject a text; null: every text is accepted.
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
  bool combine;                 // several words, combined with OR
  Status (*check)(int value);   // null: every combination is valid
};
// `kAdds` is passed for the second and later lines of a directive in one configuration.
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
  std::string_view alias;  // the older spelling; empty: none
  uint32_t flags;
  const Part* part;  // null: no part is notified; the value is read on use
  Kind kind;
  std::string_view help;  // one sentence, without the default
  // The struct in the options that the row refers to.
  const void* (*find_group)(const Values& options);

  bool has(DirectiveFlags flag) const { return (flags & flag) != 0; }
  // Is this a directive without effect?
  bool without_effect() const { return (flags & (kNoEffectYet | kNeedless | kUnsupported)) != 0; }
  const void* group(const Values& options) const { return find_group(options); }
  void* group(Values& options) const { return const_cast<void*>(find_group(options)); }
};

// Sets one directive from its arguments. Unless flagged, no argument may contain a line break or a
// NUL byte: a line break could inject directives into a rewritten file, a NUL byte truncates paths
// in system calls. On failure `options` is unchanged; the error text is the reason only ("argument
// must be 'yes' or 'no'"), used by both the file reader and CONFIG SET.
Status assign(const Directive& row, Values& options, Arguments args,
              Repeat repeat = Repeat::kReplaces);

// The same without the checks for line breaks and NUL bytes: for values made by the program itself.
Status assign_unchecked(const Directive& row, Values& options, Arguments args,
                        Repeat repeat = Repeat::kReplaces);

// The value in the format of CONFIG GET.
std::string show(const Directive& row, const Values& options);

// The lines (without the name) that represent the value of `options` in a configuration file. Empty
// when the directive should be omitted.
std::vector<std::string> file_lines(const Directive& row, const Values& options);

}  // namespace sorrel::config
