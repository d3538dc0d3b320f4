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

// A user as connections hold on to it: who it is stays, what it may do is replaced as a whole.
//
//   Session ──> Account "bob" ──> User (a snapshot)
//   Session ──┘       └── after ACL SETUSER: another snapshot; whoever reads the old one keeps it
//
// A user that is deleted and made again is another account.
//
// Thread rule: changed under the gate; read by every worker inside its batch.
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
  // Null when there is none of that name.
  AccountHandle find(std::string_view name) const;
  // In the order of their names.
  std::vector<AccountHandle> all() const;

  // What the user would be after these rules, new ones included; see apply_rules(). Nothing is
  // changed yet.
  Result<User> with_rules(std::string_view name, std::span<const std::string_view> rules) const;
  // In place of the one of that name, or new.
  void put(User user);
  // Null when there was none. Precondition: not "default".
  AccountHandle remove(std::string_view name);
  // Instead of all there are. The default user keeps its account, and is as at the beginning when
  // it is not among them. Answers the accounts that are no more.
  std::vector<AccountHandle> replace_all(std::vector<User> users);
  // requirepass; empty: none is asked for.
  void set_default_password(std::string_view password);

  Channels new_user_channels() const { return new_user_channels_; }
  void set_new_user_channels(Channels channels) { new_user_channels_ = channels; }

 private:
  std::map<std::string, std::shared_ptr<Account>, std::less<>> accounts_;
  AccountHandle default_;
  Channels new_user_channels_ = Channels::kNone;
};

}  // namespace sorrel::acl
