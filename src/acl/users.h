#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/rules.h"
#include "acl/user.h"

namespace sorrel::acl {

// A user as connections refer to it: its identity stays, its permissions are replaced as a whole.
//
//   Session ──> Account "bob" ──> User (a snapshot)
//   Session ──┘       └── after ACL SETUSER: another snapshot; readers of the old one keep it
//
// A user that is deleted and created again is another account.
//
// Thread rule: changed in an exclusive section; read by every worker in its critical section.
class Account {
 public:
  explicit Account(User user) : user_(std::make_shared<const User>(std::move(user))) {}

  const User& user() const { return *user_; }
  std::shared_ptr<const User> snapshot() const { return user_; }
  const std::string& name() const { return user_->name; }

 private:
  friend class Users;
  std::shared_ptr<const User> user_;
};
using AccountHandle = std::shared_ptr<const Account>;

// Every user by name; there is always one called "default". The same thread rule.
class Users {
 public:
  Users();

  const AccountHandle& default_account() const { return default_; }
  const User& default_user() const { return default_->user(); }
  // Null when there is no user of that name.
  AccountHandle find(std::string_view name) const;
  // In the order of their names.
  std::vector<AccountHandle> all() const;

  // The user that these rules would make of `name`, existing or new; see apply_rules(). Changes
  // nothing yet.
  Result<User> with_rules(std::string_view name, std::span<const std::string_view> rules) const;
  // Replaces the user of that name, or adds one.
  void put(User user);
  // Null when there was no such user. Precondition: not "default".
  AccountHandle remove(std::string_view name);
  // Replaces all users. The default user keeps its account, and is reset when it is not among them.
  // Returns the accounts that were removed.
  std::vector<AccountHandle> replace_all(std::vector<User> users);
  // requirepass; empty: no password is required.
  void set_default_password(std::string_view password);

  Channels new_user_channels() const { return new_user_channels_; }
  void set_new_user_channels(Channels channels) { new_user_channels_ = channels; }

 private:
  std::map<std::string, std::shared_ptr<Account>, std::less<>> accounts_;
  AccountHandle default_;
  Channels new_user_channels_ = Channels::kNone;
};

}  // namespace sorrel::acl
