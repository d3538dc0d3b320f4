#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/command_set.h"

namespace sorrel::acl {

// Permissions on a key. Bits.
enum Permission : uint8_t { kRead = 1, kWrite = 2, kReadWrite = kRead | kWrite };

struct KeyPattern {
  std::string pattern;
  uint8_t permissions = kReadWrite;
};

// One set of permissions; a single selector of the user must allow the whole request.
struct Selector {
  CommandSet commands;
  bool all_keys = false;
  std::vector<KeyPattern> keys;
  bool all_channels = false;
  std::vector<std::string> channels;  // patterns
  bool all_databases = true;
  std::vector<int> databases;  // ascending

  bool unrestricted() const { return commands.all() && all_keys && all_channels && all_databases; }
  // One pattern covers every key.
  bool covers_all_keys(uint8_t permissions) const;
  bool covers_key(std::string_view key, uint8_t permissions) const;
  // A pattern of PSUBSCRIBE must be one of `channels`, byte by byte.
  bool covers_channel(std::string_view channel, bool is_pattern) const;
  bool covers_database(int64_t database) const;

  // "~* %R~shown:*", "&news", "db=1,2": empty when there is none.
  std::string describe_keys() const;
  std::string describe_channels() const;
  std::string describe_databases() const;
  // The whole selector, as rules.
  std::string describe() const;
};

// One user and its permissions. A value: changes are made to a copy, which then replaces it.
struct User {
  std::string name;
  bool enabled = false;
  bool no_password = false;
  bool skip_sanitizing = false;        // of RESTORE's payloads; only stored and shown
  std::vector<std::string> passwords;  // SHA-256, 64 lower-case hex digits each
  Selector root;
  std::vector<Selector> selectors;  // those in parentheses

  // The root selector and the others.
  template <class Holds>
  bool any_selector(Holds&& holds) const {
    return holds(root) || std::any_of(selectors.begin(), selectors.end(), holds);
  }

  // Is any request denied? Requests of an unrestricted user need no check.
  bool restricted() const { return !root.unrestricted(); }
  // Whether a new connection of this user has to authenticate first.
  bool needs_password() const { return !no_password || !enabled; }
  // Allowed by any selector.
  bool covers_channel(std::string_view channel, bool is_pattern) const;
  // Every channel rule of `before` still holds, so no subscription of its clients is now denied.
  bool keeps_channels_of(const User& before) const;
  // Constant time: a wrong password takes as long as the right one.
  bool accepts(std::string_view password) const;

  std::vector<std::string_view> flag_names() const;  // "on", "nopass", ...
  // The rules that make this user, as ACL LIST and files have them.
  std::string describe() const;
};

// The initial default user: may run everything, without a password.
User make_default_user();

}  // namespace sorrel::acl
