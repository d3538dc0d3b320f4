#include "server/config_document.h"

#include <fmt/format.h>

#include <string_view>
#include <variant>
#include <vector>

#include "server/config_text.h"
#include "server/option_table.h"

namespace sorrel::server {
namespace {

constexpr size_t kColumns = 90;

constexpr std::string_view kPreamble =
    "Configuration of the Sorrel server, with every directive at its default. Start the server "
    "with "
    "the path of a copy of this file as its first argument. One directive stands on each line, "
    "blanks separate its arguments, and an argument with blanks stands in quotes. Sizes take the "
    "units k, m, g (powers of 1000) and kb, mb, gb (powers of 1024). The last of several lines for "
    "the same directive wins, except that save and user lines add up.";

constexpr std::string_view kFileWords =
    "Words that only this file knows: include PATH reads another file (or all that match a glob) "
    "in "
    "this place; rename-command OLD NEW gives a command another name, and an empty NEW takes it "
    "away; user NAME RULES... makes a user as ACL SETUSER does.";

void append_comment(std::string& out, std::string_view text) {
  std::string line = "#";
  while (!text.empty()) {
    const size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    if (line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line = "#";
    }
    line += ' ';
    line += word;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  out += line + "\n";
}

// What the help need not say because the table knows it.
std::string facts(const Directive& row) {
  std::string text;
  if (const auto* kind = std::get_if<WordKind>(&row.kind)) {
    text += kind->combine ? " Some of:" : " One of:";
    for (size_t i = 0; i < kind->words.size(); i++) {
      text += fmt::format("{} {}", i == 0 ? "" : ",", kind->words[i].text);
    }
    text += '.';
  }
  if (const auto* kind = std::get_if<IntegerKind>(&row.kind); kind && kind->max <= 1000) {
    if (kind->unit == Unit::kCount) text += fmt::format(" From {} to {}.", kind->min, kind->max);
  }
  if (row.has(kStartupOnly)) text += " Cannot change while the server runs.";
  if (row.has(kNoEffectYet)) text += " Accepted, but has no effect yet.";
  if (row.has(kNeedless)) text += " Accepted, but has no effect.";
  if (row.has(kUnsupported)) text += " Not supported yet: any other value is refused.";
  if (!row.alias.empty()) {
    text += fmt::format(" {} name: {}.", row.has(kAliasUnlisted) ? "Newer" : "Older", row.alias);
  }
  return text;
}

void append_row(std::string& out, const Directive& row, const Options& defaults) {
  append_comment(out, std::string(row.help) + facts(row));
  const std::vector<std::string> lines = file_lines(row, defaults);
  for (const std::string& line : lines) out += fmt::format("{} {}\n", row.name, line);
  if (lines.empty()) out += fmt::format("# {} ...\n", row.name);
  out += '\n';
}

}  // namespace

std::string documented_config() {
  const Options defaults;
  std::string out;
  append_comment(out, kPreamble);
  out += "#\n";
  append_comment(out, kFileWords);
  out += '\n';
  for (const DirectiveGroup& group : directive_groups()) {
    out += fmt::format("# {:=<{}}\n\n", std::string(group.title) + " ", kColumns - 2);
    for (const Directive& row : group.rows) {
      if (!row.has(kHidden)) append_row(out, row, defaults);
    }
  }
  out.pop_back();
  return out;
}

}  // namespace sorrel::server
