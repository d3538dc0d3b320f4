#include "acl/users.h"

#include <gtest/gtest.h>

#include "acl/access_log.h"
#include "acl/users_file.h"

namespace sorrel::acl {
namespace {

using Words = std::vector<std::string_view>;

void set_user(Users& users, std::string_view name, const Words& rules) {
  auto user = users.with_rules(name, rules);
  ASSERT_TRUE(user.ok());
  users.put(std::move(*user));
}

TEST(AclUsers, ThereIsAlwaysADefaultUser) {
  Users users;
  EXPECT_EQ(write_users(users), "user default on nopass sanitize-payload ~* &* +@all\n");
  EXPECT_EQ(users.find("default"), users.default_account());
  EXPECT_EQ(users.find("bob"), nullptr);
}

TEST(AclUsers, AccountsSeeChangesAndSnapshotsDoNot) {
  Users users;
  set_user(users, "bob", {"+get"});
  const AccountHandle bob = users.find("bob");
  const auto before = bob->snapshot();
  set_user(users, "bob", {"+set"});
  EXPECT_EQ(bob->user().root.commands.describe(), "-@all +get +set");
  EXPECT_EQ(before->root.commands.describe(), "-@all +get");
  EXPECT_EQ(users.remove("bob"), bob);
  EXPECT_EQ(users.remove("bob"), nullptr);
  set_user(users, "bob", {});
  EXPECT_NE(users.find("bob"), bob);
}

TEST(AclUsers, RequirePass) {
  Users users;
  EXPECT_FALSE(users.default_user().needs_password());
  users.set_default_password("secret");
  EXPECT_TRUE(users.default_user().needs_password());
  EXPECT_TRUE(users.default_user().accepts("secret"));
  users.set_default_password("other");
  EXPECT_FALSE(users.default_user().accepts("secret"));
  users.set_default_password("");
  EXPECT_TRUE(users.default_user().accepts("whatever"));
}

TEST(AclUsers, ReplacingAll) {
  Users users;
  set_user(users, "alice", {"on"});
  set_user(users, "default", {"off"});
  const AccountHandle first = users.default_account();
  auto loaded = parse_users("user bob on\n\n  user carol off\r\n", "f", Channels::kNone);
  ASSERT_TRUE(loaded.ok());
  const auto gone = users.replace_all(std::move(*loaded));
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0]->name(), "alice");
  EXPECT_EQ(users.default_account(), first);
  EXPECT_EQ(write_users(users),
            "user bob on sanitize-payload resetchannels -@all\n"
            "user carol off sanitize-payload resetchannels -@all\n"
            "user default on nopass sanitize-payload ~* &* +@all\n");
}

std::string refusal_of(std::string_view text) {
  const auto users = parse_users(text, "f", Channels::kNone);
  return users ? "" : users.error().text;
}

TEST(AclUsersFile, ErrorsNameTheLine) {
  EXPECT_EQ(refusal_of("user a on\nuser a off"), "WARNING: Duplicate user 'a' found on line 2. ");
  EXPECT_EQ(refusal_of("# comment"),
            "f:1 should start with user keyword followed by the username. ");
  EXPECT_EQ(refusal_of("user"), "f:1 should start with user keyword followed by the username. ");
  EXPECT_EQ(refusal_of("\nuser a\tb on"), "'f:2: username 'a\tb' contains invalid characters. ");
  EXPECT_EQ(refusal_of("user a (+get"), "f:1: Unmatched parenthesis in selector definition.");
  EXPECT_EQ(refusal_of("user a +nope"),
            "f:1: Error in applying operation '+nope': Unknown command or category name in ACL. ");
  // An error never quotes a mistyped password.
  EXPECT_EQ(refusal_of("user a #abc"),
            "f:1: The password hash must be exactly 64 characters and contain only lowercase "
            "hexadecimal characters. ");
  EXPECT_EQ(refusal_of("user a bad\nuser b worse"), "f:1: Syntax error. f:2: Syntax error. ");
}

TEST(AclUsersFile, SelectorsOverSeveralWords) {
  const auto users = parse_users("user a on (~x +get) ( ~y +set )", "f", Channels::kNone);
  ASSERT_TRUE(users.ok());
  EXPECT_EQ(user_line((*users)[0]),
            "user a on sanitize-payload resetchannels -@all (~x resetchannels -@all +get) "
            "(~y resetchannels -@all +set)");
}

AccessEntry entry(std::string object, int64_t at_ms) {
  AccessEntry entry;
  entry.reason = Reason::kKey;
  entry.object = std::move(object);
  entry.created_ms = at_ms;
  return entry;
}

TEST(AclAccessLog, SimilarEventsAreOneEntry) {
  AccessLog log;
  log.add(entry("a", 1000));
  log.add(entry("b", 1001));
  log.add(entry("a", 1002));
  auto shown = log.newest(10);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0].object, "a");
  EXPECT_EQ(shown[0].count, 2u);
  EXPECT_EQ(shown[0].id, 0u);
  EXPECT_EQ(shown[0].created_ms, 1000);
  EXPECT_EQ(shown[0].updated_ms, 1002);
  log.add(entry("a", 1002 + 60'001));
  shown = log.newest(1);
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0].count, 1u);
  EXPECT_EQ(shown[0].id, 2u);
  EXPECT_EQ(log.total(Reason::kKey), 4u);
  EXPECT_EQ(log.total(Reason::kCommand), 0u);
}

TEST(AclAccessLog, IsBounded) {
  AccessLog log;
  log.set_max_length(5);
  for (int i = 0; i < 20; i++) log.add(entry(std::to_string(i), 0));
  EXPECT_EQ(log.newest(100).size(), 5u);
  log.set_max_length(0);
  log.add(entry("x", 0));
  EXPECT_TRUE(log.newest(100).empty());
}

}  // namespace
}  // namespace sorrel::acl
