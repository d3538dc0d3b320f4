#include "persist/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "base/bytes.h"
#include "base/numbers.h"
#include "resp/inline_split.h"

namespace sorrel::persist {
namespace {

// Room for the longest name there can be, every byte of it escaped.
constexpr size_t kMaxName = 255;
constexpr size_t kMaxLine = 1200;
static_assert(kMaxLine > 4 * kMaxName + 100);
// So that there are numbers left for all parts that are added while a server runs.
constexpr int64_t kMaxSequence = int64_t{1} << 62;
constexpr std::string_view kBadFormat = "Invalid AOF manifest file format";

struct Line {
  LogPart part;
  char type = 0;
};

// A name is joined to the log's folder; anything that would lead out of there is refused.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

// Null: it was understood.
const char* parse_line(std::string_view text, Line& line) {
  resp::ArgList words;
  std::vector<std::unique_ptr<std::string>> store;
  if (!resp::split_inline(text, words, store)) return kBadFormat.data();
  if (words.size() < 6 || words.size() % 2 != 0) return kBadFormat.data();
  for (size_t i = 0; i < words.size(); i += 2) {
    const std::string_view value = words[i + 1];
    // Two lines whose end was damaged are one line that says everything twice.
    for (size_t j = 0; j < i; j += 2) {
      if (iequals(words[i], words[j])) return kBadFormat.data();
    }
    if (iequals(words[i], "file")) {
      if (!is_plain_name(value)) return "File can't be a path, just a filename";
      line.part.name = value;
    } else if (iequals(words[i], "seq")) {
      line.part.sequence = parse_int64(value).value_or(0);
    } else if (iequals(words[i], "type")) {
      if (value.size() != 1) return "Unknown AOF file type";
      line.type = value[0];
    }
  }
  if (line.part.name.empty() || line.type == 0) return kBadFormat.data();
  if (line.part.sequence <= 0 || line.part.sequence > kMaxSequence) return kBadFormat.data();
  return nullptr;
}

// A tree, because a manifest may name hundreds of thousands of parts.
using Names = std::set<std::string>;

const char* add_line(Line& line, Names& names, Manifest& manifest) {
  constexpr const char* kTwice = "Found a file that is named twice";
  const bool again = !names.insert(line.part.name).second;
  switch (line.type) {
    case 'b':
      if (manifest.base) return "Found duplicate base file information";
      if (again) return kTwice;
      manifest.base_sequence = line.part.sequence;
      manifest.base = std::move(line.part);
      return nullptr;
    case 'h':
      if (again) return kTwice;
      manifest.history.push_back(std::move(line.part));
      return nullptr;
    case 'i':
      if (line.part.sequence <= manifest.increment_sequence) {
        return "Found a non-monotonic sequence number";
      }
      if (again) return kTwice;
      manifest.increment_sequence = line.part.sequence;
      manifest.increments.push_back(std::move(line.part));
      return nullptr;
    default:
      return "Unknown AOF file type";
  }
}

// By the name that add_increment() gives. What stands before that is anybody's choice.
bool is_increment(const LogPart& part) {
  return part.name.ends_with(fmt::format(".{}.incr.aof", part.sequence));
}

bool has_base(const std::vector<LogPart>& history) {
  return !std::ranges::all_of(history, is_increment);
}

// The name of a file that is still to be deleted must not be given again: it would be deleted under
// whoever writes to it.
void pass_history(Manifest& manifest) {
  for (const LogPart& part : manifest.history) {
    int64_t& given = is_increment(part) ? manifest.increment_sequence : manifest.base_sequence;
    given = std::max(given, part.sequence);
  }
}

// 'i' and 'h' differ in one bit, and what is history gets deleted. Increments become history from
// the oldest on, together with the base before them, and all of that is deleted together; so one
// without a base, or that is younger than an increment that counts, is damage. Null: all is well.
const LogPart* impossible_history(const Manifest& manifest) {
  const bool is_after_base = has_base(manifest.history);
  for (const LogPart& part : manifest.history) {
    if (!is_increment(part)) continue;
    const bool is_young =
        !manifest.increments.empty() && part.sequence > manifest.increments.front().sequence;
    if (is_young || !is_after_base) return &part;
  }
  return nullptr;
}

// As Redis, which quotes only what would not read back as one word.
std::string shown_name(const std::string& name) {
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7f || c == '"' || c == '\'' || c == '\\') return quoted(name);
  }
  return name.empty() ? "\"\"" : name;
}

}  // namespace

std::string Manifest::add_base(std::string_view log_name, bool is_rdb) {
  if (base) history.insert(history.begin(), std::move(*base));
  base_sequence++;
  base = LogPart{fmt::format("{}.{}.base.{}", log_name, base_sequence, is_rdb ? "rdb" : "aof"),
                 base_sequence};
  return base->name;
}

std::string Manifest::add_increment(std::string_view log_name) {
  increment_sequence++;
  increments.push_back(
      {fmt::format("{}.{}.incr.aof", log_name, increment_sequence), increment_sequence});
  return increments.back().name;
}

std::vector<LogPart> Manifest::retire_increments(size_t keep) {
  if (increments.size() <= keep) return {};
  const auto kept = increments.end() - static_cast<ptrdiff_t>(keep);
  std::vector<LogPart> retired(std::make_move_iterator(std::make_reverse_iterator(kept)),
                               std::make_move_iterator(increments.rend()));
  increments.erase(increments.begin(), kept);
  if (!has_base(history)) return retired;
  history.insert(history.begin(), std::move_iterator(retired.begin()),
                 std::move_iterator(retired.end()));
  return {};
}

std::optional<ManifestProblem> parse_manifest(std::string_view text, Manifest& manifest) {
  manifest = {};
  if (text.empty()) return ManifestProblem{1, "", "Found an empty AOF manifest"};
  Names names;
  size_t number = 1;
  for (; !text.empty(); number++) {
    const size_t end = text.find('\n');
    const std::string_view line_text = text.substr(0, end);
    const auto problem = [&](const char* reason) {
      return ManifestProblem{number, std::string(line_text.substr(0, kMaxLine)), reason};
    };
    if (line_text.size() > kMaxLine) {
      return problem("The AOF manifest file contains too long line");
    }
    // Its last line may have been cut by whoever copied it.
    if (end == std::string_view::npos) return problem(kBadFormat.data());
    text.remove_prefix(end + 1);
    if (line_text.starts_with('#')) continue;
    Line line;
    if (const char* reason = parse_line(line_text, line)) return problem(reason);
    if (const char* reason = add_line(line, names, manifest)) return problem(reason);
  }
  if (manifest.names_nothing() && manifest.history.empty()) {
    return ManifestProblem{1, "", "Found an empty AOF manifest"};
  }
  if (const LogPart* part = impossible_history(manifest)) {
    return ManifestProblem{number - 1, part->name,
                           "An increment is said to be history that nothing has replaced"};
  }
  pass_history(manifest);
  return std::nullopt;
}

std::string format_manifest(const Manifest& manifest) {
  std::string text;
  const auto add = [&](const LogPart& part, char type) {
    text += fmt::format("file {} seq {} type {}\n", shown_name(part.name), part.sequence, type);
  };
  if (manifest.base) add(*manifest.base, 'b');
  for (const LogPart& part : manifest.history) add(part, 'h');
  for (const LogPart& part : manifest.increments) add(part, 'i');
  return text;
}

std::string manifest_name(std::string_view log_name) {
  return std::string(log_name) + ".manifest";
}

bool is_rdb_base(std::string_view name) {
  return name.ends_with(".base.rdb");
}

std::string path_in(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return std::string(folder) + (folder.back() == '/' ? "" : "/") + std::string(name);
}

}  // namespace sorrel::persist
