#include "acl/users.h"

#include <utility>

namespace sorrel::acl {
namespace {

constexpr std::string_view kDefaultName = "default";

}  // namespace

Users::Users() {
  put(make_default_user());
  default_ = accounts_.begin()->second;
}

AccountHandle Users::find(std::string_view name) const {
  const auto found = accounts_.find(name);
  return found == accounts_.end() ? nullptr : found->second;
}

std::vector<AccountHandle> Users::all() const {
  std::vector<AccountHandle> accounts;
  for (const auto& [name, account] : accounts_) accounts.push_back(account);
  return accounts;
}

Result<User> Users::with_rules(std::string_view name,
                               std::span<const std::string_view> rules) const {
  const auto found = accounts_.find(name);
  if (found != accounts_.end()) {
    return apply_rules(found->second->user(), rules, new_user_channels_);
  }
  return apply_rules(make_user(name, new_user_channels_), rules, new_user_channels_);
}

void Users::put(User user) {
  std::shared_ptr<Account>& account = accounts_[user.name];
  if (account == nullptr) {
    account = std::make_shared<Account>(std::move(user));
  } else {
    account->user_ = std::make_shared<const User>(std::move(user));
  }
}

AccountHandle Users::remove(std::string_view name) {
  const auto found = accounts_.find(name);
  if (found == accounts_.end()) return nullptr;
  AccountHandle gone = std::move(found->second);
  accounts_.erase(found);
  return gone;
}

std::vector<AccountHandle> Users::replace_all(std::vector<User> users) {
  std::vector<AccountHandle> gone;
  for (auto at = accounts_.begin(); at != accounts_.end();) {
    if (at->first == kDefaultName) {
      ++at;
      continue;
    }
    gone.push_back(std::move(at->second));
    at = accounts_.erase(at);
  }
  put(make_default_user());
  for (User& user : users) put(std::move(user));
  return gone;
}

void Users::set_default_password(std::string_view password) {
  User user = default_user();
  (void)apply_rule(user, password.empty() ? "nopass" : "resetpass", new_user_channels_);
  if (!password.empty()) {
    (void)apply_rule(user, '>' + std::string(password), new_user_channels_);
  }
  put(std::move(user));
}

}  // namespace sorrel::acl
