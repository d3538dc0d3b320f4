// ACL SETUSER applies all rules or none, and reports the same errors as Redis; rules are parsed
// into a copy of the user.

#include "acl/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/bytes.h"
#include "base/numbers.h"
#include "base/sha256.h"

namespace sorrel::acl {
namespace {

bool has_blanks(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return is_space(c) || c == '\0'; });
}

bool is_digest(std::string_view text) {
  return text.size() == kSha256Digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

RuleError change_password(User& user, std::string_view rule) {
  const char sign = rule[0];
  std::string digest(rule.substr(1));
  if (sign == '>' || sign == '<') {
    digest = sha256_hex(digest);
  } else if (!is_digest(digest)) {
    return RuleError::kBadDigest;
  }
  const auto known = std::find(user.passwords.begin(), user.passwords.end(), digest);
  if (sign == '<' || sign == '!') {
    if (known == user.passwords.end()) return RuleError::kNoSuchPassword;
    user.passwords.erase(known);
    return RuleError::kNone;
  }
  if (known == user.passwords.end()) user.passwords.push_back(std::move(digest));
  user.no_password = false;
  return RuleError::kNone;
}

// "~pattern" and "%RW~pattern". A '%' without letters, or without '~', means nothing.
RuleError add_key_pattern(Selector& selector, std::string_view rule) {
  if (selector.all_keys) return RuleError::kPatternAfterAllKeys;
  uint8_t permissions = kReadWrite;
  const size_t tilde = rule.find('~');
  if (tilde == std::string_view::npos) return RuleError::kSyntax;
  if (rule[0] == '%') {
    permissions = 0;
    for (const char letter : rule.substr(1, tilde - 1)) {
      const uint8_t one = to_upper(letter) == 'R' ? kRead : to_upper(letter) == 'W' ? kWrite : 0;
      if (one == 0 || (permissions & one) != 0) return RuleError::kSyntax;
      permissions |= one;
    }
    if (permissions == 0) return RuleError::kSyntax;
  }
  const std::string_view pattern = rule.substr(tilde + 1);
  if (has_blanks(pattern)) return RuleError::kSyntax;
  const auto known = std::find_if(selector.keys.begin(), selector.keys.end(),
                                  [&](const KeyPattern& key) { return key.pattern == pattern; });
  if (known != selector.keys.end()) {
    known->permissions |= permissions;
  } else {
    selector.keys.push_back({std::string(pattern), permissions});
  }
  return RuleError::kNone;
}

RuleError add_channel_pattern(Selector& selector, std::string_view pattern) {
  if (selector.all_channels) return RuleError::kPatternAfterAllChannels;
  if (has_blanks(pattern)) return RuleError::kSyntax;
  auto& known = selector.channels;
  if (std::find(known.begin(), known.end(), pattern) == known.end()) known.emplace_back(pattern);
  return RuleError::kNone;
}

RuleError set_databases(Selector& selector, std::string_view list) {
  std::vector<int> databases;
  for (bool more = true; more;) {
    const size_t comma = list.find(',');
    more = comma != std::string_view::npos;
    const auto number = parse_int64(list.substr(0, comma));
    if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) {
      return RuleError::kBadDatabase;
    }
    databases.push_back(static_cast<int>(*number));
    if (more) list.remove_prefix(comma + 1);
  }
  std::sort(databases.begin(), databases.end());
  databases.erase(std::unique(databases.begin(), databases.end()), databases.end());
  selector.all_databases = false;
  selector.databases = std::move(databases);
  return RuleError::kNone;
}

bool has_subcommands(const catalog::CommandSpec& command) {
  const auto known = catalog::known();
  return std::any_of(known.begin(), known.end(), [&](const catalog::CommandSpec* spec) {
    return spec->parent == command.name;
  });
}

// "+name|word": a subcommand, or the first argument of a command without subcommands.
RuleError allow_part(Selector& selector, std::string_view name, size_t bar) {
  const catalog::CommandSpec* command = catalog::find_known(name.substr(0, bar));
  if (command == nullptr) return RuleError::kUnknownCommand;
  if (!command->parent.empty()) return RuleError::kArgumentOfSubcommand;
  const std::string_view word = name.substr(bar + 1);
  if (word.empty() || has_blanks(word)) return RuleError::kSyntax;
  if (const catalog::CommandSpec* sub = catalog::find_known(name)) {
    selector.commands.change(*sub, true);
    return RuleError::kNone;
  }
  if (has_subcommands(*command)) return RuleError::kUnknownCommand;
  selector.commands.allow_first_argument(*command, word);
  return RuleError::kNone;
}

RuleError change_commands(Selector& selector, std::string_view rule) {
  const bool allow = rule[0] == '+';
  const std::string_view name = rule.substr(1);
  if (name.starts_with('@')) {
    return selector.commands.change_category(name.substr(1), allow) ? RuleError::kNone
                                                                    : RuleError::kUnknownCommand;
  }
  const size_t bar = name.rfind('|');
  if (allow && bar != std::string_view::npos) return allow_part(selector, name, bar);
  const catalog::CommandSpec* command = catalog::find_known(name);
  if (command == nullptr) return RuleError::kUnknownCommand;
  selector.commands.change(*command, allow);
  return RuleError::kNone;
}

// The rules that are a single word. False: `rule` is none of them.
bool apply_word(Selector& selector, std::string_view rule) {
  if (iequals(rule, "allkeys") || rule == "~*" || iequals(rule, "resetkeys")) {
    selector.all_keys = !iequals(rule, "resetkeys");
    selector.keys.clear();
  } else if (iequals(rule, "allchannels") || rule == "&*" || iequals(rule, "resetchannels")) {
    selector.all_channels = !iequals(rule, "resetchannels");
    selector.channels.clear();
  } else if (iequals(rule, "alldbs") || iequals(rule, "resetdbs")) {
    selector.all_databases = iequals(rule, "alldbs");
    selector.databases.clear();
  } else if (iequals(rule, "allcommands") || iequals(rule, "+@all")) {
    selector.commands.change_all(true);
  } else if (iequals(rule, "nocommands") || iequals(rule, "-@all")) {
    selector.commands.change_all(false);
  } else {
    return false;
  }
  return true;
}

RuleError apply_to_selector(Selector& selector, std::string_view rule) {
  if (apply_word(selector, rule)) return RuleError::kNone;
  switch (rule[0]) {
    case '~':
    case '%':
      return add_key_pattern(selector, rule);
    case '&':
      return add_channel_pattern(selector, rule.substr(1));
    case '+':
    case '-':
      return change_commands(selector, rule);
    default:
      break;
  }
  constexpr std::string_view kDatabases = "db=";
  if (iequals(rule.substr(0, kDatabases.size()), kDatabases)) {
    return set_databases(selector, rule.substr(kDatabases.size()));
  }
  return RuleError::kSyntax;
}

Selector make_selector(Channels channels) {
  Selector selector;
  selector.all_channels = channels == Channels::kAll;
  return selector;
}

// `text`: the rules between the parentheses.
RuleError add_selector(User& user, std::string_view text, Channels channels) {
  Selector selector = make_selector(channels);
  while (!text.empty()) {
    const auto end = std::find_if(text.begin(), text.end(), is_space);
    const std::string_view rule = text.substr(0, static_cast<size_t>(end - text.begin()));
    text.remove_prefix(std::min(rule.size() + 1, text.size()));
    if (rule.empty()) continue;
    // Read from a file, it would be taken for the end of the selector.
    if (rule.ends_with(')')) return RuleError::kSyntax;
    const RuleError error = apply_to_selector(selector, rule);
    if (error != RuleError::kNone) return error;
  }
  user.selectors.push_back(std::move(selector));
  return RuleError::kNone;
}

// The rules about the user itself. False: `rule` is none of them.
bool apply_user_word(User& user, std::string_view rule, Channels channels) {
  if (iequals(rule, "on") || iequals(rule, "off")) {
    user.enabled = iequals(rule, "on");
  } else if (iequals(rule, "skip-sanitize-payload") || iequals(rule, "sanitize-payload")) {
    user.skip_sanitizing = iequals(rule, "skip-sanitize-payload");
  } else if (iequals(rule, "nopass") || iequals(rule, "resetpass")) {
    user.no_password = iequals(rule, "nopass");
    user.passwords.clear();
  } else if (iequals(rule, "clearselectors")) {
    user.selectors.clear();
  } else if (iequals(rule, "reset")) {
    user = make_user(user.name, channels);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string_view message_of(RuleError error) {
  switch (error) {
    case RuleError::kNone:
      return "";
    case RuleError::kUnknownCommand:
      return "Unknown command or category name in ACL";
    case RuleError::kSyntax:
      return "Syntax error";
    case RuleError::kPatternAfterAllKeys:
      return "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does "
             "not have any effect. Try 'resetkeys' to start with an empty list of patterns";
    case RuleError::kPatternAfterAllChannels:
      return "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and "
             "does not have any effect. Try 'resetchannels' to start with an empty list of "
             "channels";
    case RuleError::kNoSuchPassword:
      return "The password you are trying to remove from the user does not exist";
    case RuleError::kBadDigest:
      return "The password hash must be exactly 64 characters and contain only lowercase "
             "hexadecimal characters";
    case RuleError::kArgumentOfSubcommand:
      return "Allowing first-arg of a subcommand is not supported";
    case RuleError::kBadDatabase:
      return "Databases are numbers from 0 on, separated by commas";
  }
  return "";
}

User make_user(std::string_view name, Channels channels) {
  User user;
  user.name = name;
  user.root = make_selector(channels);
  return user;
}

RuleError apply_rule(User& user, std::string_view rule, Channels channels) {
  if (rule.empty() || apply_user_word(user, rule, channels)) return RuleError::kNone;
  constexpr std::string_view kPasswordSigns = "><#!";
  if (kPasswordSigns.find(rule[0]) != std::string_view::npos) return change_password(user, rule);
  if (rule.size() > 1 && rule.front() == '(' && rule.back() == ')') {
    return add_selector(user, rule.substr(1, rule.size() - 2), channels);
  }
  return apply_to_selector(user.root, rule);
}

MergedRules merge_selectors(std::span<const std::string_view> words) {
  MergedRules merged;
  for (size_t i = 0; i < words.size(); i++) {
    const std::string_view word = words[i];
    if (!merged.balanced) {
      merged.rules.back() += ' ';
      merged.rules.back() += word;
      merged.balanced = word.ends_with(')');
      continue;
    }
    merged.rules.emplace_back(word);
    if (word.starts_with('(') && !word.ends_with(')')) {
      merged.balanced = false;
      merged.unmatched = i;
    }
  }
  return merged;
}

Result<User> apply_rules(const User& user, std::span<const std::string_view> words,
                         Channels channels) {
  const MergedRules merged = merge_selectors(words);
  if (!merged.balanced) {
    return Error{fmt::format("Unmatched parenthesis in acl selector starting at '{}'.",
                             words[merged.unmatched])};
  }
  User changed = user;
  for (const std::string& rule : merged.rules) {
    const RuleError error = apply_rule(changed, rule, channels);
    if (error == RuleError::kNone) continue;
    return Error{fmt::format("Error in ACL SETUSER modifier '{}': {}", rule, message_of(error))};
  }
  return changed;
}

bool is_valid_name(std::string_view name) {
  return !has_blanks(name);
}

}  // namespace sorrel::acl
