#include "acl/user.h"

#include <algorithm>

#include "base/glob.h"
#include "base/numbers.h"
#include "base/sha256.h"

namespace sorrel::acl {
namespace {

// Compares every byte, wherever the first difference is, so that timing reveals nothing. Volatile,
// so that the compiler cannot stop early. Precondition: both have the length of a digest.
bool same_digest(std::string_view a, std::string_view b) {
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < kSha256Digits; i++) {
    difference = difference | static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

std::string_view prefix_of(uint8_t permissions) {
  if (permissions == kReadWrite) return "~";
  return permissions == kRead ? "%R~" : "%W~";
}

void append_word(std::string& text, std::string_view word) {
  if (word.empty()) return;
  if (!text.empty()) text += ' ';
  text += word;
}

}  // namespace

bool Selector::covers_all_keys(uint8_t permissions) const {
  return all_keys || std::any_of(keys.begin(), keys.end(), [&](const KeyPattern& key) {
           return (key.permissions & permissions) == permissions && key.pattern == "*";
         });
}

bool Selector::covers_key(std::string_view key, uint8_t permissions) const {
  return all_keys || std::any_of(keys.begin(), keys.end(), [&](const KeyPattern& allowed) {
           return (allowed.permissions & permissions) == permissions &&
                  glob_match(allowed.pattern, key);
         });
}

bool Selector::covers_channel(std::string_view channel, bool is_pattern) const {
  return all_channels || std::any_of(channels.begin(), channels.end(), [&](const auto& allowed) {
           return is_pattern ? allowed == channel : glob_match(allowed, channel);
         });
}

bool Selector::covers_database(int64_t database) const {
  return all_databases ||
         std::find(databases.begin(), databases.end(), database) != databases.end();
}

std::string Selector::describe_keys() const {
  if (all_keys) return "~*";
  std::string text;
  for (const KeyPattern& key : keys) {
    append_word(text, prefix_of(key.permissions));
    text += key.pattern;
  }
  return text;
}

std::string Selector::describe_channels() const {
  if (all_channels) return "&*";
  std::string text;
  for (const std::string& channel : channels) append_word(text, '&' + channel);
  return text;
}

std::string Selector::describe_databases() const {
  if (all_databases) return "";
  if (databases.empty()) return "resetdbs";
  std::string text = "db=";
  for (const int database : databases) {
    if (text.back() != '=') text += ',';
    text += to_text(database);
  }
  return text;
}

std::string Selector::describe() const {
  std::string text = describe_keys();
  // Written even when there are channels, because a new user may start with all of them.
  if (!all_channels) append_word(text, "resetchannels");
  append_word(text, describe_channels());
  append_word(text, describe_databases());
  append_word(text, commands.describe());
  return text;
}

bool User::covers_channel(std::string_view channel, bool is_pattern) const {
  return any_selector(
      [&](const Selector& selector) { return selector.covers_channel(channel, is_pattern); });
}

bool User::keeps_channels_of(const User& before) const {
  if (any_selector([](const Selector& selector) { return selector.all_channels; })) return true;
  return !before.any_selector([&](const Selector& selector) {
    return selector.all_channels ||
           !std::all_of(selector.channels.begin(), selector.channels.end(),
                        [&](const auto& pattern) { return covers_channel(pattern, true); });
  });
}

bool User::accepts(std::string_view password) const {
  const std::string digest = sha256_hex(password);
  bool found = false;
  for (const std::string& known : passwords) found |= same_digest(known, digest);
  return enabled && (no_password || found);
}

std::vector<std::string_view> User::flag_names() const {
  std::vector<std::string_view> names{enabled ? "on" : "off"};
  if (no_password) names.push_back("nopass");
  names.push_back(skip_sanitizing ? "skip-sanitize-payload" : "sanitize-payload");
  return names;
}

std::string User::describe() const {
  std::string text;
  for (std::string_view flag : flag_names()) append_word(text, flag);
  for (const std::string& password : passwords) append_word(text, '#' + password);
  append_word(text, root.describe());
  for (const Selector& selector : selectors) append_word(text, '(' + selector.describe() + ')');
  return text;
}

User make_default_user() {
  User user;
  user.name = "default";
  user.enabled = user.no_password = true;
  user.root.commands.change_all(true);
  user.root.all_keys = user.root.all_channels = true;
  return user;
}

}  // namespace sorrel::acl
