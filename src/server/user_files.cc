#include "server/user_files.h"

#include <fmt/format.h>

#include "acl/users_file.h"

namespace sorrel::server {
namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& words, size_t from) {
  return {words.begin() + static_cast<std::ptrdiff_t>(from), words.end()};
}

Status load_line(const std::vector<std::string>& words, acl::Channels channels, Logger& log,
                 acl::Users& users) {
  if (!acl::is_valid_name(words[0])) return Error{"Spaces not allowed in ACL usernames"};
  acl::User user = acl::make_user(words[0], channels);
  for (const std::string& rule : acl::merge_selectors(views_of(words, 1)).rules) {
    const acl::RuleError error = acl::apply_rule(user, rule, channels);
    if (error == acl::RuleError::kNone) continue;
    return Error{fmt::format("Error loading ACL rule '{}' for the user named '{}': {}", rule,
                             words[0], acl::message_of(error))};
  }
  if (!user.enabled) {
    log.notice(fmt::format(
        "The user '{}' is disabled (its description does not say 'on'). Is that what is meant?",
        words[0]));
  }
  users.put(std::move(user));
  return {};
}

Status load_lines(const Options& options, Logger& log, acl::Users& users) {
  for (const auto& words : options.security.users) {
    const Status loaded = load_line(words, channels_of_new_users(options), log, users);
    if (loaded) continue;
    log.warning(loaded.error().text);
    log.warning("Critical error while loading ACLs. Exiting.");
    return loaded;
  }
  return {};
}

}  // namespace

acl::Channels channels_of_new_users(const Options& options) {
  return options.security.pubsub_default == ChannelDefault::kAllChannels ? acl::Channels::kAll
                                                                         : acl::Channels::kNone;
}

Status load_users(const Options& options, const config::FileAccess& files, Logger& log,
                  acl::Users& users) {
  users.set_new_user_channels(channels_of_new_users(options));
  users.set_default_password(options.security.requirepass);
  if (options.security.acl_file.empty()) return load_lines(options, log, users);
  if (!options.security.users.empty()) {
    const Error both{
        "There are user lines in the configuration and an aclfile as well. Which of them should "
        "hold would be a guess, so keep the users in one place, please."};
    log.warning(both.text);
    return both;
  }
  Result<std::vector<acl::User>> loaded = read_users_file(options, files);
  if (!loaded) {
    log.warning("Aborting Redis startup because of ACL errors: " + loaded.error().text);
    return loaded.error();
  }
  users.replace_all(std::move(*loaded));
  return {};
}

Result<std::vector<acl::User>> read_users_file(const Options& options,
                                               const config::FileAccess& files) {
  const std::string& path = options.security.acl_file;
  const Result<std::string> text =
      files.read ? files.read(path) : Result<std::string>(Error{"Operation not supported"});
  if (!text) {
    return Error{fmt::format("Error loading ACLs, opening file '{}': {}", path, text.error().text)};
  }
  auto users = acl::parse_users(*text, path, channels_of_new_users(options));
  if (users) return users;
  return Error{users.error().text +
               "WARNING: ACL errors detected, no change to the previously active ACL rules was "
               "performed"};
}

std::vector<std::string> user_lines(const Options& options, const acl::Users& users) {
  std::vector<std::string> lines;
  if (!options.security.acl_file.empty()) return lines;
  for (const acl::AccountHandle& account : users.all()) {
    lines.push_back(account->name() + ' ' + account->user().describe());
  }
  return lines;
}

Status check_user_line(const std::vector<std::string>& words) {
  const acl::MergedRules merged = acl::merge_selectors(views_of(words, 1));
  if (!merged.balanced) {
    return Error{fmt::format("Unmatched parenthesis in acl selector starting at '{}'.",
                             words[1 + merged.unmatched])};
  }
  acl::User user = acl::make_user(words[0], acl::Channels::kNone);
  for (const std::string& rule : merged.rules) {
    const acl::RuleError error = acl::apply_rule(user, rule, acl::Channels::kNone);
    if (error == acl::RuleError::kNone || error == acl::RuleError::kUnknownCommand) continue;
    return Error{fmt::format("Error in user declaration '{}': {}", rule, acl::message_of(error))};
  }
  return {};
}

}  // namespace sorrel::server
