#include "config/command_line.h"

#include "base/bytes.h"
#include "config/config_file.h"
#include "config/config_text.h"

namespace sorrel::config {
namespace {

bool is_name(std::string_view word) {
  return word.substr(0, 2) == "--";
}

// Is this "--name", or "--name value" in one argument?
bool names_only(std::string_view word) {
  const auto parts = split_arguments(word);
  return parts && parts->size() == 1;
}

// Assembles the lines of the --name value arguments, one argument at a time, because whether "--x"
// is a name or the value of the preceding name depends on that name only.
class DirectiveWriter {
 public:
  DirectiveWriter(const Table& table, std::span<const std::string> words)
      : table_(table), words_(words) {}

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
    const bool has_value = i + 1 < words_.size() && !is_name(words_[i + 1]);
    const Directive* row = table_.find(std::string_view(word).substr(2));
    const bool stands_alone = !has_value && row != nullptr && row->has(kMayStandAlone);
    if (stands_alone) text_ += "\"\"";
    value_is_due_ = !stands_alone;
  }

  const Table& table_;
  std::span<const std::string> words_;
  std::string text_;
  bool value_is_due_ = false;
};

}  // namespace

CommandLine parse_command_line(const Table& table, std::span<const std::string> words) {
  CommandLine line;
  if (words.empty()) return line;
  const std::string& first = words[0];
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
  line.directives = DirectiveWriter(table, words).write();
  return line;
}

Status load_from_command_line(const Table& table, const CommandLine& command_line,
                              std::string_view stdin_text, Values& options,
                              const LoadEnvironment& environment) {
  std::string text;
  if (!command_line.config_path.empty()) {
    Result<std::string> file = read_config_file(command_line.config_path, environment.files);
    if (!file) return file.error();
    text = std::move(*file);
  }
  text += stdin_text;
  // The line break separates a file without a final one from the following text. Redis adds one
  // even without a file, so an error in the first --directive is reported at line 2.
  if (!command_line.directives.empty()) {
    text += '\n';
    text += command_line.directives;
  }
  return load_config(table, text, options, environment);
}

}  // namespace sorrel::config
