#include "config/config_file.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_set>

#include "base/bytes.h"
#include "config/config_text.h"

namespace sorrel::config {
namespace {

// Bounds the recursion of a file that includes itself.
constexpr int kMaxIncludes = 256;

Error fatal(const Table& table, std::string_view reason) {
  return {
      fmt::format("\n*** FATAL CONFIG FILE ERROR ({}) ***\n{}\n", table.program().version, reason)};
}

Error fatal_at(const Table& table, size_t line_number, std::string_view line,
               std::string_view reason) {
  return fatal(table, fmt::format("Reading the configuration file, at line {}\n>>> '{}'\n{}",
                                  line_number, line, reason));
}

// The result of one line. A failed include returns a complete message, which must not be wrapped
// again.
struct LineOutcome {
  Status status;
  bool message_is_whole = false;
};

class Loader {
 public:
  Loader(const Table& table, Values& options, const LoadEnvironment& environment)
      : table_(table), options_(options), environment_(environment) {}

  Status load(std::string_view text) {
    const std::vector<std::string_view> lines = trimmed_lines(text);
    for (size_t i = 0; i < lines.size(); i++) {
      if (is_blank_or_comment(lines[i])) continue;
      const LineOutcome outcome = load_line(lines[i]);
      if (outcome.status) continue;
      if (outcome.message_is_whole) return outcome.status;
      return fatal_at(table_, i + 1, lines[i], outcome.status.error().text);
    }
    return {};
  }

 private:
  LineOutcome load_line(std::string_view line) {
    if (line.find('\0') != std::string_view::npos) return {Error{"NUL byte in configuration line"}};
    std::optional<std::vector<std::string>> words = split_arguments(line);
    if (!words) return {Error{"Unbalanced quotes in configuration line"}};
    if (words->empty()) return {};
    const std::string name = lower_copy(words->front());
    const Arguments args = Arguments(*words).subspan(1);
    if (const Directive* row = table_.find(name)) return {load_directive(*row, args)};
    if (name == "include" && args.size() == 1) return load_include(args[0]);
    return {load_file_word(name, args)};
  }

  Status load_directive(const Directive& row, Arguments args) {
    const Repeat repeat = seen_.insert(&row).second ? Repeat::kReplaces : Repeat::kAdds;
    if (row.has(kWorkingDirectory) && args.size() == 1 && environment_.files.change_dir) {
      Result<std::string> absolute = environment_.files.change_dir(args[0]);
      if (!absolute) return absolute.error();
      return assign_unchecked(row, options_, Arguments(&*absolute, 1));
    }
    // --save "60 1" passes one argument that stands for two.
    if (row.has(kMultiArg) && args.size() == 1 && !args[0].empty()) {
      const std::optional<std::vector<std::string>> parts = split_arguments(args[0]);
      if (!parts) return Error{"Unbalanced quotes in configuration line"};
      return assign(row, options_, *parts, repeat);
    }
    return assign(row, options_, args, repeat);
  }

  LineOutcome load_include(const std::string& path) {
    if (++includes_ > kMaxIncludes) return {Error{"Too many include directives"}};
    const Result<std::string> text = read_config_file(path, environment_.files);
    if (!text) return {text.error(), true};
    return {load(*text), true};
  }

  Status load_file_word(std::string_view name, Arguments args) {
    const FileWord* word = table_.find_file_word(name);
    if (word != nullptr && args.size() >= word->min_args && args.size() <= word->max_args) {
      return word->read == nullptr ? Status() : word->read(options_, args, environment_);
    }
    std::string reason;
    const auto unknown_word = table_.program().unknown_word;
    if (unknown_word != nullptr) reason = unknown_word(name, args);
    if (reason.empty()) reason = "Bad directive or wrong number of arguments";
    return Error{std::move(reason)};
  }

  const Table& table_;
  Values& options_;
  const LoadEnvironment& environment_;
  std::unordered_set<const Directive*> seen_;
  int includes_ = 0;
};

}  // namespace

Status load_config(const Table& table, std::string_view text, Values& options,
                   const LoadEnvironment& environment) {
  Loader loader(table, options, environment);
  if (Status status = loader.load(text); !status) return status;
  const Program& program = table.program();
  if (program.check != nullptr) {
    if (const Status status = program.check(options); !status) {
      return fatal(table, status.error().text);
    }
  }
  if (program.normalize != nullptr) program.normalize(options);
  return {};
}

Result<std::string> read_config_file(const std::string& path, const FileAccess& files) {
  std::vector<std::string> paths = {path};
  if (path.find_first_of("*?[") != std::string::npos) {
    paths = files.glob ? files.glob(path) : std::vector<std::string>();
  }
  std::string all;
  for (const std::string& one : paths) {
    const Result<std::string> text =
        files.read ? files.read(one) : Result<std::string>(Error{"Operation not supported"});
    if (!text) {
      return Error{
          fmt::format("Fatal error, can't open config file '{}': {}", one, text.error().text)};
    }
    // A line break after each file, so that its last line and the next file's first line stay
    // separate.
    if (!all.empty() && all.back() != '\n') all += '\n';
    all += *text;
  }
  return all;
}

}  // namespace sorrel::config
