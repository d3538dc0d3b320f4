#include "server/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "server/config_text.h"

namespace sorrel::server {
namespace {

bool is_name(std::string_view word) {
  return word.substr(0, 2) == "--";
}

CommandLine refuse(std::string message) {
  CommandLine line;
  line.action = CommandLine::Action::kRefuse;
  line.message = std::move(message);
  return line;
}

// --name, or "--name value" in one word.
bool names_only(std::string_view word) {
  const auto parts = split_arguments(word);
  return parts && parts->size() == 1;
}

constexpr std::string_view kNoSentinel =
    "Sentinel mode is not supported yet. Run Redis's own redis-sentinel.";

// As Redis sees it: any word counts, also one that is the value of another.
bool asks_for_sentinel(std::span<const std::string> words, std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);
  if (program.find("redis-sentinel") != std::string_view::npos) return true;
  if (program.find("sorrel-sentinel") != std::string_view::npos) return true;
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return iequals(word, "--sentinel"); });
}

// Puts the --name value words together. One word at a time, because whether "--x" is a name or the
// value of the name before it depends on that name alone.
class DirectiveWriter {
 public:
  explicit DirectiveWriter(std::span<const std::string> words) : words_(words) {}

  std::string write() {
    for (size_t i = 0; i < words_.size(); i++) {
      if (value_is_due_ || !is_name(words_[i])) {
        text_ += quoted(words_[i]) + " ";
        value_is_due_ = false;
      } else {
        write_name(i);
      }
    }
    return text_;
  }

 private:
  void write_name(size_t i) {
    const std::string& word = words_[i];
    if (!text_.empty()) text_ += '\n';
    text_ += word.substr(2) + " ";
    if (!names_only(word)) return;
    const bool stands_alone = i + 1 == words_.size() || is_name(words_[i + 1]);
    const bool save = iequals(word, "--save");
    if (save && stands_alone) text_ += "\"\"";
    value_is_due_ = !(stands_alone && save);
  }

  std::span<const std::string> words_;
  std::string text_;
  bool value_is_due_ = false;
};

}  // namespace

CommandLine parse_command_line(std::span<const std::string> words, std::string_view program) {
  CommandLine line;
  const bool sentinel = asks_for_sentinel(words, program);
  if (words.empty()) return sentinel ? refuse(std::string(kNoSentinel)) : line;
  const std::string& first = words[0];
  if (first == "-v" || first == "--version") line.action = CommandLine::Action::kVersion;
  if (first == "-h" || first == "--help") line.action = CommandLine::Action::kHelp;
  if (first == "--check-system") line.action = CommandLine::Action::kCheckSystem;
  if (line.action != CommandLine::Action::kRun) return line;
  if (first == "--test-memory") {
    return refuse("--test-memory is not offered; use a memory tester such as memtester.\n");
  }
  if (sentinel) return refuse(std::string(kNoSentinel));
  if (first == "-") {
    line.config_from_stdin = true;
    words = words.subspan(1);
  } else if (first.empty() || first[0] != '-') {
    line.config_path = first;
    words = words.subspan(1);
  }
  if (!words.empty() && words.back() == "-") {
    line.config_from_stdin = true;
    words = words.first(words.size() - 1);
  }
  line.directives = DirectiveWriter(words).write();
  return line;
}

Status load_from_command_line(const CommandLine& command_line, std::string_view stdin_text,
                              Options& options, const LoadEnvironment& environment) {
  std::string text;
  if (!command_line.config_path.empty()) {
    Result<std::string> file = read_config_file(command_line.config_path, environment.files);
    if (!file) return file.error();
    text = std::move(*file);
  }
  text += stdin_text;
  // The line break keeps a file without one at its end apart from what follows. Redis puts one even
  // when there is no file, so a mistake in the first --directive is reported at line 2.
  if (!command_line.directives.empty()) {
    text += '\n';
    text += command_line.directives;
  }
  return load_config(text, options, environment);
}

std::string usage_text(std::string_view program) {
  return fmt::format(
      "Usage: {0} [config-file] [--directive value ...] [-]\n"
      "\n"
      "  config-file          read the configuration from this file\n"
      "  -                    read configuration from standard input (first or last word)\n"
      "  --directive value    set a directive; later ones win over the file\n"
      "  -v, --version        print the version\n"
      "  -h, --help           print this text\n"
      "  --check-system       look for system settings that slow the server down\n"
      "\n"
      "Examples:\n"
      "  {0}                                  with the defaults\n"
      "  {0} sorrel.conf                      with a file\n"
      "  {0} --port 7777 --save ''            with directives only\n"
      "  {0} sorrel.conf --loglevel verbose   with both\n"
      "  echo 'maxmemory 128mb' | {0} -       with standard input\n",
      program);
}

}  // namespace sorrel::server
