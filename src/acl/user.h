#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/command_set.h"

namespace sorrel::acl {

// What may be done with a key. Bits.
enum Permission : uint8_t { kRead = 1, kWrite = 2, kReadWrite = kRead | kWrite };

struct KeyPattern {
  std::string pattern;
  uint8_t permissions = kReadWrite;
};

// One set of permissions; a request must be covered by a single one of a user's as a whole.
struct Selector {
  CommandSet commands;
  bool all_keys = false;
  std::vector<KeyPattern> keys;
  bool all_channels = false;
  std::vector<std::string> channels;  // patterns
  bool all_databases = true;
  std::vector<int> databases;  // ascending

  bool unrestricted() const { return commands.all() && all_keys && all_channels && all_databases; }
  // Of every key there is, by one pattern.
  bool covers_all_keys(uint8_t permissions) const;
  bool covers_key(std::string_view key, uint8_t permissions) const;
  // A pattern somebody wants to subscribe to must be one of `channels`, letter by letter.
  bool covers_channel(std::string_view channel, bool is_pattern) const;
  bool covers_database(int64_t database) const;

  // "~* %R~shown:*", "&news", "db=1,2": empty when there is none.
  std::string describe_keys() const;
  std::string describe_channels() const;
  std::string describe_databases() const;
  // All of it, as rules.
  std::string describe() const;
};

// What one user is and may do. A value: it is changed as a copy, and the copy put in its place.
struct User {
  std::string name;
  bool enabled = false;
  bool no_password = false;
  bool skip_sanitizing = false;        // of payloads given to RESTORE; only kept and shown
  std::vector<std::string> passwords;  // SHA-256, 64 digits in lower case each
  Selector root;
  std::vector<Selector> selectors;  // those in parentheses

  // The root and the others.
  template <class Holds>
  bool any_selector(Holds&& holds) const {
    return holds(root) || std::any_of(selectors.begin(), selectors.end(), holds);
  }

  // Something is not allowed. Who is not restricted need not be checked.
  bool restricted() const { return !root.unrestricted(); }
  // Whether a new connection that is this user has to say a password first.
  bool needs_password() const { return !no_password || !enabled; }
  // By any selector.
  bool covers_channel(std::string_view channel, bool is_pattern) const;
  // Every channel rule of `before` still holds, so nobody listens to what it may not.
  bool keeps_channels_of(const User& before) const;
  // Takes as long for a wrong password as for a right one.
  bool accepts(std::string_view password) const;

  std::vector<std::string_view> flag_names() const;  // "on", "nopass", ...
  // The rules that make this user, as ACL LIST and files have them.
  std::string describe() const;
};

// The one everybody is at first: may do everything, asks for no password.
User make_default_user();

}  // namespace sorrel::acl
