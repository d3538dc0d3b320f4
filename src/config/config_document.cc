#include "config/config_document.h"

#include <fmt/format.h>

#include <string_view>
#include <variant>
#include <vector>

namespace sorrel::config {
namespace {

constexpr size_t kColumns = 90;

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

// Sentences generated from the row's flags and type.
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

void append_row(std::string& out, const Directive& row, const Values& defaults) {
  append_comment(out, std::string(row.help) + facts(row));
  const std::vector<std::string> lines = file_lines(row, defaults);
  for (const std::string& line : lines) out += fmt::format("{} {}\n", row.name, line);
  if (lines.empty()) out += fmt::format("# {} ...\n", row.name);
  out += '\n';
}

}  // namespace

std::string documented_config(const Table& table) {
  std::string out;
  for (const std::string_view paragraph : table.program().preamble) {
    if (!out.empty()) out += "#\n";
    append_comment(out, paragraph);
  }
  out += '\n';
  for (const Chapter& chapter : table.chapters()) {
    out += fmt::format("# {:=<{}}\n\n", std::string(chapter.title) + " ", kColumns - 2);
    for (const Directive& row : chapter.rows) {
      if (!row.has(kHidden)) append_row(out, row, table.defaults());
    }
  }
  out.pop_back();
  return out;
}

}  // namespace sorrel::config
