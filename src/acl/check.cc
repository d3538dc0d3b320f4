// A request must be allowed as a whole by one selector: command, keys, channels and database.

#include "acl/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/numbers.h"

namespace sorrel::acl {
namespace {

// Most of these need permission of either kind, because a command that only asks whether a key
// exists, or for its length, reveals no more than many writes do.
uint8_t permissions_for(uint32_t key_flags) {
  uint8_t permissions = 0;
  if ((key_flags & catalog::kKeyAccess) != 0) permissions |= kRead;
  if ((key_flags & (catalog::kKeyInsert | catalog::kKeyDelete | catalog::kKeyUpdate)) != 0) {
    permissions |= kWrite;
  }
  return permissions;
}

bool is_key(const catalog::KeySpec& spec) {
  return (spec.flags & catalog::kKeyNotKey) == 0;
}

// One request, checked against one selector after the other; its keys are extracted once.
class Question {
 public:
  Question(const Asked& asked, std::vector<catalog::KeyPosition>& keys)
      : asked_(asked), keys_(keys) {}

  Denial ask(const Selector& selector) {
    // AUTH, HELLO and the like are always allowed: without them a client could never change its
    // user.
    const bool always = (asked_.command.flags & catalog::kNoAuth) != 0;
    if (!always && !selector.commands.allows(asked_.index, asked_.args)) {
      return {Reason::kCommand, 0};
    }
    Denial denial;
    if (!selector.all_databases) denial = ask_databases(selector);
    if (!denial && !selector.all_keys && !asked_.command.keys.empty()) denial = ask_keys(selector);
    if (!denial && !selector.all_channels) denial = ask_channels(selector);
    return denial;
  }

 private:
  Denial ask_databases(const Selector& selector) const {
    constexpr uint64_t kOnKeys = catalog::kWrite | catalog::kReadonly;
    const catalog::CommandSpec& command = asked_.command;
    if ((command.flags & catalog::kAllDatabases) != 0) return {Reason::kDatabase, 0};
    const bool on_keys = (command.flags & kOnKeys) != 0 && command.databases.empty();
    const bool here = on_keys || std::any_of(command.keys.begin(), command.keys.end(), is_key);
    if (here && asked_.database != Asked::kLater && !selector.covers_database(asked_.database)) {
      return {Reason::kDatabase, 0};
    }
    for (const catalog::DatabaseSpec& spec : command.databases) {
      for (auto at = static_cast<size_t>(spec.index); at < asked_.args.size(); at++) {
        if (denies_number(selector, spec, at)) {
          return {Reason::kDatabase, static_cast<uint32_t>(at)};
        }
        if (spec.keyword.empty()) break;
      }
    }
    return {};
  }

  // An argument that is no number names no database; the command's handler rejects it.
  bool denies_number(const Selector& selector, const catalog::DatabaseSpec& spec, size_t at) const {
    if (!spec.keyword.empty() && !iequals(asked_.args[at - 1], spec.keyword)) return false;
    const auto number = parse_int64(asked_.args[at]);
    return number && !selector.covers_database(*number);
  }

  Denial ask_keys(const Selector& selector) {
    if (!extracted_) {
      keys_.clear();
      extracted_ = catalog::extract_keys(asked_.command, asked_.args, keys_);
    }
    if (*extracted_ == catalog::KeyError::kBadArguments) {
      return {.reason = Reason::kKey, .keys_unknown = true};
    }
    for (const auto& key : keys_) {
      if (!selector.covers_key(asked_.args[key.position], permissions_for(key.flags))) {
        return {Reason::kKey, key.position};
      }
    }
    if (*extracted_ == catalog::KeyError::kMoreByContent && !selector.covers_all_keys(kRead)) {
      const size_t made = catalog::made_key_names(asked_.command, asked_.args);
      return {Reason::kKey, static_cast<uint32_t>(made), true};
    }
    return {};
  }

  Denial ask_channels(const Selector& selector) const {
    const catalog::ChannelSpec& spec = asked_.command.channels;
    if (spec.index == 0) return {};
    const auto first = static_cast<size_t>(spec.index);
    const size_t end = spec.many ? asked_.args.size() : std::min(first + 1, asked_.args.size());
    for (size_t i = first; i < end; i++) {
      if (!selector.covers_channel(asked_.args[i], spec.pattern)) {
        return {Reason::kChannel, static_cast<uint32_t>(i)};
      }
    }
    return {};
  }

  const Asked& asked_;
  std::vector<catalog::KeyPosition>& keys_;
  std::optional<catalog::KeyError> extracted_;
};

bool got_further(const Denial& denial, const Denial& than) {
  if (denial.reason != than.reason) return denial.reason > than.reason;
  if (denial.keys_by_content != than.keys_by_content) return denial.keys_by_content;
  return denial.position > than.position;
}

std::string_view noun_of(Reason reason) {
  return reason == Reason::kDatabase ? "database" : reason == Reason::kKey ? "key" : "channel";
}

}  // namespace

std::string_view reason_name(Reason reason) {
  constexpr std::string_view kNames[] = {"",        "command", "database", "key",
                                         "channel", "auth",    "tls-cert"};
  static_assert(std::size(kNames) == kReasonCount);
  return kNames[static_cast<size_t>(reason)];
}

Denial check(const User& user, const Asked& asked, std::vector<catalog::KeyPosition>& scratch) {
  Question question(asked, scratch);
  Denial furthest = question.ask(user.root);
  if (!furthest) return {};
  for (const Selector& selector : user.selectors) {
    const Denial denial = question.ask(selector);
    if (!denial) return {};
    if (got_further(denial, furthest)) furthest = denial;
  }
  return furthest;
}

std::string describe(const Denial& denial, const User& user, const Asked& asked, bool verbose) {
  if (denial.reason == Reason::kCommand) {
    return fmt::format("User {} has no permissions to run the '{}' command", user.name,
                       catalog::full_name(asked.command));
  }
  if (denial.keys_unknown) {
    return fmt::format("The keys of the '{}' command cannot be determined from its arguments",
                       catalog::full_name(asked.command));
  }
  const std::string_view noun = noun_of(denial.reason);
  if (denial.keys_by_content && !verbose) {
    return fmt::format("{} option of SORT denied due to insufficient ACL permissions.",
                       upper_copy(asked.args[denial.position - 1]));
  }
  if (!verbose) return fmt::format("No permissions to access a {}", noun);
  return fmt::format("User {} has no permissions to access the '{}' {}", user.name,
                     object_of(denial, asked), noun);
}

std::string object_of(const Denial& denial, const Asked& asked) {
  if (denial.reason == Reason::kDatabase && denial.position == 0) {
    const bool all = (asked.command.flags & catalog::kAllDatabases) != 0;
    return all ? "*" : to_text(asked.database);
  }
  if (denial.position > 0) return std::string(asked.args[denial.position]);
  return catalog::full_name(asked.command);
}

}  // namespace sorrel::acl
