#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "acl/check.h"
#include "acl/users_file.h"

namespace sorrel::acl {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = text.find_first_of(" \n");
    words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

// Users with equal descriptions must have equal permissions.
void require_same_rights(const User& a, const User& b) {
  std::vector<catalog::KeyPosition> scratch;
  const auto commands = catalog::known();
  for (uint32_t i = 0; i < commands.size(); i++) {
    std::vector<std::string_view> args{commands[i]->name, "0", "a", "1", "b"};
    args.resize(std::max<size_t>(args.size(), std::abs(commands[i]->arity)), "1");
    const Asked asked{*commands[i], i, args, 0};
    const Denial first = check(a, asked, scratch);
    const Denial second = check(b, asked, scratch);
    require(first.reason == second.reason && first.position == second.position);
    if (first) require(!describe(first, a, asked, true).empty());
  }
}

// Every user that rules can make has a description, and the description makes an equal user.
void round_trip(const User& user) {
  const std::string text = user.describe();
  const std::vector<std::string_view> words = words_of(text);
  const Result<User> again =
      apply_rules(make_user(user.name, Channels::kAll), words, Channels::kNone);
  require(again.ok());
  require(again->describe() == text);
  require_same_rights(user, *again);
}

}  // namespace
}  // namespace sorrel::acl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sorrel::acl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string_view> words = words_of(text);
  for (const Channels channels : {Channels::kNone, Channels::kAll}) {
    const sorrel::Result<User> user = apply_rules(make_user("u", channels), words, channels);
    if (user) round_trip(*user);
  }
  if (const auto users = parse_users(text, "file", Channels::kNone)) {
    for (const User& user : *users) round_trip(user);
  }
  return 0;
}
