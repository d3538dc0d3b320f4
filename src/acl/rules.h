#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/user.h"
#include "base/result.h"

namespace sorrel::acl {

// The language of rules:
//
//   on off nopass resetpass >password <password #digest !digest sanitize-payload
//   skip-sanitize-payload reset (selector) clearselectors          about the user
//   allcommands nocommands +name -name +name|sub -name|sub +name|argument +@category -@category
//   allkeys resetkeys ~pattern %R~pattern %W~pattern %RW~pattern
//   allchannels resetchannels &pattern
//   alldbs resetdbs db=0,3                                         about a selector
//
// Rules about a selector apply to the root selector, or in parentheses to one of their own.

enum class RuleError : uint8_t {
  kNone,
  kUnknownCommand,  // or category
  kSyntax,
  kPatternAfterAllKeys,
  kPatternAfterAllChannels,
  kNoSuchPassword,
  kBadDigest,
  kArgumentOfSubcommand,
  kBadDatabase,
};
// Redis's error texts.
std::string_view message_of(RuleError error);

// How a new selector starts: with every channel, or with none (acl-pubsub-default).
enum class Channels : uint8_t { kNone, kAll };

User make_user(std::string_view name, Channels channels);

// Applies one rule to `user`, which is unchanged on error. An empty rule changes nothing.
RuleError apply_rule(User& user, std::string_view rule, Channels channels);

// Joins selectors that were split at blanks: "(~a", "+get)" is one rule. On a parenthesis that is
// not closed, `unmatched` is its position and the list must not be used.
struct MergedRules {
  std::vector<std::string> rules;
  bool balanced = true;
  size_t unmatched = 0;
};
MergedRules merge_selectors(std::span<const std::string_view> words);

// Applies all rules or none. The error is the full text of ACL SETUSER's, without "ERR ".
Result<User> apply_rules(const User& user, std::span<const std::string_view> words,
                         Channels channels);

// No blanks and no NUL bytes, neither of which would survive a file.
bool is_valid_name(std::string_view name);

}  // namespace sorrel::acl
