// Parses and formats the value of a directive according to the kind in its row, for the
// configuration file, CONFIG GET/SET and CONFIG REWRITE.

#include "config/directive.h"

#include <fmt/format.h>

#include <optional>

#include "base/bytes.h"
#include "base/numbers.h"
#include "config/config_text.h"

namespace sorrel::config {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::optional<int64_t> parse_octal(std::string_view text) {
  constexpr size_t kMaxDigits = 20;  // 60 bits, so that the value always fits
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + (c - '0');
  }
  return value;
}

Error range_error(const IntegerKind& kind) {
  if (kind.unit == Unit::kOctal) {
    return {fmt::format("argument must be between {:o} and {:o} inclusive", kind.min, kind.max)};
  }
  return {fmt::format("argument must be between {} and {} inclusive", kind.min, kind.max)};
}

Result<int64_t> parse_percent(const IntegerKind& kind, std::string_view text) {
  const Error bad{"argument must be a memory or percent value"};
  if (text.size() < 2 || text.back() != '%') return bad;
  const std::optional<int64_t> percent = parse_int64(text.substr(0, text.size() - 1));
  if (!percent || *percent < 0) return bad;
  if (-*percent < kind.min) {
    return Error{fmt::format("percentage argument must be less or equal to {}", -kind.min)};
  }
  return -*percent;
}

Result<int64_t> parse_integer(const IntegerKind& kind, std::string_view text) {
  std::optional<int64_t> value;
  if (kind.unit == Unit::kCount) {
    value = parse_int64(text);
    if (!value) return Error{"argument couldn't be parsed into an integer"};
  } else if (kind.unit == Unit::kOctal) {
    value = parse_octal(text);
    if (!value) return Error{"argument couldn't be parsed as an octal number"};
  } else {
    const std::optional<uint64_t> size = parse_byte_count(text);
    if (!size && kind.unit == Unit::kBytesOrPercent) return parse_percent(kind, text);
    if (!size) return Error{"argument must be a memory value"};
    if (*size > static_cast<uint64_t>(kind.max)) return range_error(kind);
    value = static_cast<int64_t>(*size);
  }
  if (*value < kind.min || *value > kind.max) return range_error(kind);
  return *value;
}

Error word_error(const WordKind& kind) {
  std::string text = "argument(s) must be one of the following: ";
  for (size_t i = 0; i < kind.words.size(); i++) {
    if (i > 0) text += ", ";
    text += kind.words[i].text;
  }
  return {text};
}

Status assign_words(const WordKind& kind, void* group, Arguments args) {
  if (args.empty() || (!kind.combine && args.size() != 1)) return word_error(kind);
  int value = 0;
  for (const std::string& arg : args) {
    const Word* found = nullptr;
    for (const Word& word : kind.words) {
      if (iequals(word.text, arg)) found = &word;
    }
    if (found == nullptr) return word_error(kind);
    value |= found->value;
  }
  if (kind.check != nullptr) {
    if (Status status = kind.check(value); !status) return status;
  }
  kind.set(group, value);
  return {};
}

std::string show_words(const WordKind& kind, int value) {
  for (const Word& word : kind.words) {
    if (word.value == value) return std::string(word.text);
  }
  std::string text;
  for (const Word& word : kind.words) {
    if ((value & word.value) == 0) continue;
    if (!text.empty()) text += ' ';
    text += word.text;
  }
  return text;
}

std::string show_integer(const IntegerKind& kind, int64_t value) {
  if (kind.unit == Unit::kBytesOrPercent && value < 0) return fmt::format("{}%", -value);
  if (kind.unit == Unit::kOctal) return fmt::format("{:o}", value);
  return to_text(value);
}

Status check_count(const Directive& row, Arguments args) {
  if (!row.has(kMultiArg) && args.size() != 1) return Error{"wrong number of arguments"};
  return {};
}

Status check_bytes(const Directive& row, Arguments args) {
  for (const std::string& arg : args) {
    if (!row.has(kLineBreaks) && arg.find_first_of("\r\n") != std::string::npos) {
      return Error{"argument must not contain line breaks"};
    }
    if (!row.has(kBinary) && arg.find('\0') != std::string::npos) {
      return Error{"argument must not contain NUL bytes"};
    }
  }
  return {};
}

std::string integer_line(const IntegerKind& kind, int64_t value) {
  const bool bytes = kind.unit == Unit::kBytes || kind.unit == Unit::kBytesOrPercent;
  if (bytes && value >= 0) return format_byte_count(static_cast<uint64_t>(value));
  return show_integer(kind, value);
}

Status set_value(const Directive& row, void* group, Arguments args, Repeat repeat) {
  return std::visit(Overloaded{
                        [&](const BoolKind& kind) -> Status {
                          const bool yes = iequals(args[0], "yes");
                          if (!yes && !iequals(args[0], "no"))
                            return Error{"argument must be 'yes' or 'no'"};
                          kind.set(group, yes);
                          return {};
                        },
                        [&](const IntegerKind& kind) -> Status {
                          const Result<int64_t> value = parse_integer(kind, args[0]);
                          if (!value) return value.error();
                          kind.set(group, *value);
                          return {};
                        },
                        [&](const WideBytesKind& kind) -> Status {
                          const std::optional<uint64_t> value = parse_byte_count(args[0]);
                          if (!value) return Error{"argument must be a memory value"};
                          kind.set(group, *value);
                          return {};
                        },
                        [&](const StringKind& kind) -> Status {
                          if (kind.check != nullptr) {
                            if (Status status = kind.check(args[0]); !status) return status;
                          }
                          kind.set(group, args[0]);
                          return {};
                        },
                        [&](const WordKind& kind) { return assign_words(kind, group, args); },
                        [&](const SpecialKind& kind) { return kind.parse(group, args, repeat); },
                    },
                    row.kind);
}

}  // namespace

Status assign(const Directive& row, Values& options, Arguments args, Repeat repeat) {
  if (Status status = check_count(row, args); !status) return status;
  if (Status status = check_bytes(row, args); !status) return status;
  return set_value(row, row.group(options), args, repeat);
}

Status assign_unchecked(const Directive& row, Values& options, Arguments args, Repeat repeat) {
  if (Status status = check_count(row, args); !status) return status;
  return set_value(row, row.group(options), args, repeat);
}

std::string show(const Directive& row, const Values& options) {
  const void* group = row.group(options);
  return std::visit(
      Overloaded{
          [&](const BoolKind& kind) -> std::string { return kind.get(group) ? "yes" : "no"; },
          [&](const IntegerKind& kind) { return show_integer(kind, kind.get(group)); },
          [&](const WideBytesKind& kind) { return fmt::format("{}", kind.get(group)); },
          [&](const StringKind& kind) { return kind.get(group); },
          [&](const WordKind& kind) { return show_words(kind, kind.get(group)); },
          [&](const SpecialKind& kind) { return kind.format(group); },
      },
      row.kind);
}

std::vector<std::string> file_lines(const Directive& row, const Values& options) {
  using Lines = std::vector<std::string>;
  const void* group = row.group(options);
  return std::visit(
      Overloaded{
          [&](const IntegerKind& kind) { return Lines{integer_line(kind, kind.get(group))}; },
          [&](const WideBytesKind& kind) { return Lines{format_byte_count(kind.get(group))}; },
          [&](const StringKind& kind) {
            const std::string& value = kind.get(group);
            if (value.empty() && kind.empty_is_unset) return Lines{};
            return Lines{quoted(value)};
          },
          [&](const SpecialKind& kind) { return kind.lines(group); },
          [&](const auto&) { return Lines{show(row, options)}; },
      },
      row.kind);
}

}  // namespace sorrel::config
