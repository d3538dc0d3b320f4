#include "acl/users_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace sorrel::acl {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class FileReader {
 public:
  FileReader(std::string_view name, Channels channels) : name_(name), channels_(channels) {}

  void read_line(std::string_view line, size_t number) {
    number_ = number;
    line = trim(line);
    if (line.empty()) return;
    const std::vector<std::string_view> words = split(line, ' ');
    if (words[0] != "user" || words.size() < 2) {
      complain("{}:{} should start with user keyword followed by the username. ", name_, number_);
      return;
    }
    if (!is_valid_name(words[1])) {
      complain("'{}:{}: username '{}' contains invalid characters. ", name_, number_, words[1]);
      return;
    }
    const auto known = std::find_if(users.begin(), users.end(),
                                    [&](const User& user) { return user.name == words[1]; });
    if (known != users.end()) {
      complain("WARNING: Duplicate user '{}' found on line {}. ", words[1], number_);
      return;
    }
    users.push_back(make_user(words[1], channels_));
    apply(users.back(), std::span(words).subspan(2));
  }

  std::vector<User> users;
  std::string errors;

 private:
  template <class... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    errors += fmt::format(format, std::forward<Args>(args)...);
  }

  void apply(User& user, std::span<const std::string_view> words) {
    const MergedRules merged = merge_selectors(words);
    if (!merged.balanced) {
      complain("{}:{}: Unmatched parenthesis in selector definition.", name_, number_);
      return;
    }
    bool complained = false;
    for (const std::string& rule : merged.rules) {
      const RuleError error = apply_rule(user, trim(rule, "\t\r\n"), channels_);
      if (error == RuleError::kUnknownCommand) {
        // Names of commands are no secrets.
        complain("{}:{}: Error in applying operation '{}': {}. ", name_, number_, rule,
                 message_of(error));
      } else if (error != RuleError::kNone && !complained) {
        complained = true;
        complain("{}:{}: {}. ", name_, number_, message_of(error));
      }
    }
  }

  std::string_view name_;
  Channels channels_;
  size_t number_ = 0;
};

}  // namespace

Result<std::vector<User>> parse_users(std::string_view text, std::string_view file_name,
                                      Channels channels) {
  FileReader reader(file_name, channels);
  size_t number = 0;
  for (std::string_view line : split(text, '\n')) reader.read_line(line, ++number);
  if (!reader.errors.empty()) return Error{std::move(reader.errors)};
  return std::move(reader.users);
}

std::string user_line(const User& user) {
  return fmt::format("user {} {}", user.name, user.describe());
}

std::string write_users(const Users& users) {
  std::string text;
  for (const AccountHandle& account : users.all()) text += user_line(account->user()) + '\n';
  return text;
}

}  // namespace sorrel::acl
