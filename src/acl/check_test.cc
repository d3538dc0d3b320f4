// Which requests are denied, and with which reason, including requests that past CVEs let through.

#include "acl/check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "acl/rules.h"

namespace sorrel::acl {
namespace {

using Words = std::vector<std::string_view>;

uint32_t index_of(const catalog::CommandSpec* spec) {
  const auto all = catalog::all();
  return static_cast<uint32_t>(std::find(all.begin(), all.end(), spec) - all.begin());
}

User user_of(const Words& rules) {
  auto user = apply_rules(make_user("u", Channels::kNone), rules, Channels::kNone);
  EXPECT_TRUE(user.ok());
  return std::move(*user);
}

// "" when the request is allowed; else the reason in full.
std::string answer(const Words& rules, const Words& args, int database = 0) {
  const User user = user_of(rules);
  const catalog::CommandSpec* command = catalog::find(args[0]);
  if (args.size() > 1) {
    if (const auto* sub = catalog::find_sub(command->name, args[1])) command = sub;
  }
  const Asked asked{*command, index_of(command), args, database};
  std::vector<catalog::KeyPosition> scratch;
  const Denial denial = check(user, asked, scratch);
  return denial ? describe(denial, user, asked, true) : "";
}

std::string no_command(std::string_view name) {
  return "User u has no permissions to run the '" + std::string(name) + "' command";
}
std::string no_key(std::string_view name) {
  return "User u has no permissions to access the '" + std::string(name) + "' key";
}
std::string no_database(std::string_view name) {
  return "User u has no permissions to access the '" + std::string(name) + "' database";
}

TEST(AclCheck, Commands) {
  EXPECT_EQ(answer({"~*"}, {"get", "k"}), no_command("get"));
  EXPECT_EQ(answer({"~*", "+get"}, {"get", "k"}), "");
  EXPECT_EQ(answer({"~*", "+@read"}, {"get", "k"}), "");
  EXPECT_EQ(answer({"~*", "+@all", "-@read"}, {"get", "k"}), no_command("get"));
  EXPECT_EQ(answer({"+config|get"}, {"config", "get", "x"}), "");
  EXPECT_EQ(answer({"+config|get"}, {"config", "set", "x", "y"}), no_command("config|set"));
  EXPECT_EQ(answer({"+config", "-config|set"}, {"config", "get", "x"}), "");
  EXPECT_EQ(answer({"+config", "-config|set"}, {"config", "set", "x", "y"}),
            no_command("config|set"));
  EXPECT_EQ(answer({"+select|0"}, {"select", "0"}), "");
  EXPECT_EQ(answer({"+select|0"}, {"select", "1"}), no_command("select"));
  EXPECT_EQ(answer({"+select|0", "-select"}, {"select", "0"}), no_command("select"));
  EXPECT_EQ(answer({"+select|0", "-@connection"}, {"select", "0"}), no_command("select"));
}

// Otherwise a client whose user may run nothing could never log in as another user.
TEST(AclCheck, LoggingInIsAlwaysAllowed) {
  EXPECT_EQ(answer({"-@all"}, {"auth", "x"}), "");
  EXPECT_EQ(answer({"-@all"}, {"hello"}), "");
  EXPECT_EQ(answer({"-@all"}, {"reset"}), "");
}

TEST(AclCheck, Keys) {
  const Words rules = {"+@all", "~a:*", "%R~r*", "%W~w*"};
  EXPECT_EQ(answer(rules, {"set", "a:1", "v"}), "");
  EXPECT_EQ(answer(rules, {"set", "b", "v"}), no_key("b"));
  EXPECT_EQ(answer(rules, {"get", "r1"}), "");
  EXPECT_EQ(answer(rules, {"get", "w1"}), no_key("w1"));
  EXPECT_EQ(answer(rules, {"lpush", "w1", "x"}), "");
  EXPECT_EQ(answer(rules, {"lpush", "r1", "x"}), no_key("r1"));
  EXPECT_EQ(answer(rules, {"set", "w1", "v", "get"}), no_key("w1"));
  EXPECT_EQ(answer(rules, {"copy", "r1", "w1"}), "");
  EXPECT_EQ(answer(rules, {"copy", "w1", "r1"}), no_key("w1"));
  EXPECT_EQ(answer(rules, {"exists", "r1", "w1"}), "");
  EXPECT_EQ(answer(rules, {"mget", "a:1", "x", "y"}), no_key("x"));
  EXPECT_EQ(answer({"+@all"}, {"get", "k"}), no_key("k"));
  EXPECT_EQ(answer({"+@all"}, {"ping"}), "");
}

// PFMERGE without sources once went through: its second, empty range of keys hid the first.
TEST(AclCheck, OptionalKeysThatAreNotGiven) {
  const Words rules = {"+@all", "~a:*"};
  EXPECT_EQ(answer(rules, {"pfmerge", "b"}), no_key("b"));
  EXPECT_EQ(answer(rules, {"pfmerge", "a:1"}), "");
  EXPECT_EQ(answer(rules, {"pfmerge", "a:1", "b"}), no_key("b"));
}

// Whatever the keys are, the user must not touch them.
TEST(AclCheck, KeysThatCannotBeDetermined) {
  const Words rules = {"+@all", "~a:*", "%R~r*"};
  const auto unknown = [](std::string_view name) {
    return "The keys of the '" + std::string(name) +
           "' command cannot be determined from its arguments";
  };
  EXPECT_EQ(answer(rules, {"zunion", "9", "x", "y"}), unknown("zunion"));
  EXPECT_EQ(answer(rules, {"zunion", "9", "a:1", "a:2"}), unknown("zunion"));
  EXPECT_EQ(answer(rules, {"zunion", "0", "x", "y"}), unknown("zunion"));
  EXPECT_EQ(answer(rules, {"eval", "return 1", "-1"}), unknown("eval"));
  EXPECT_EQ(answer(rules, {"eval", "return 1", "x"}), unknown("eval"));
  EXPECT_EQ(answer(rules, {"eval", "return 1", "0", "b"}), "");
  EXPECT_EQ(answer(rules, {"lmpop", "2", "a:1", "LEFT"}), no_key("LEFT"));
  EXPECT_EQ(answer(rules, {"migrate", "h", "1", "a:1", "0", "9", "KEYS", "b"}), unknown("migrate"));
  EXPECT_EQ(answer(rules, {"xread", "COUNT", "STREAMS", "a:1"}), unknown("xread"));
  // Of several selectors, one with all keys is enough.
  EXPECT_EQ(answer({"+@all", "~a:*", "(~* +zunion)"}, {"zunion", "9", "x", "y"}), "");
  EXPECT_EQ(answer({"+@all", "~a:*", "(%R~* +zunion)"}, {"zunion", "9", "x", "y"}),
            unknown("zunion"));
}

// CVE-2023-41053 and similar: keys in unusual argument positions.
TEST(AclCheck, CVE_2023_41053_KeysOfOptions) {
  const Words rules = {"+@all", "%R~read*", "%W~write*"};
  EXPECT_EQ(answer(rules, {"sort", "read", "STORE", "write"}), "");
  EXPECT_EQ(answer(rules, {"sort", "read", "STORE", "read"}), no_key("read"));
  EXPECT_EQ(answer(rules, {"sort", "read", "STORE", "write", "STORE", "other"}), no_key("other"));
  EXPECT_EQ(answer(rules, {"sort_ro", "other"}), no_key("other"));
  EXPECT_EQ(answer(rules, {"sort_ro", "read", "BY", "x*"}), no_key("x*"));
  EXPECT_EQ(answer(rules, {"sort", "read", "GET", "x*"}), no_key("x*"));
  EXPECT_EQ(answer({"+sort", "~mylist", "%R~*"}, {"sort", "mylist", "BY", "v*"}), "");
  EXPECT_EQ(answer(rules, {"georadius", "read", "1", "2", "3", "m", "STORE", "read2"}),
            no_key("read2"));
  EXPECT_EQ(answer(rules, {"xread", "STREAMS", "read", "other", "0", "0"}), no_key("other"));
}

TEST(AclCheck, SelectorsDoNotAddUp) {
  const Words rules = {"(%R~r +@all)", "(%W~w +@all)"};
  EXPECT_EQ(answer(rules, {"get", "r"}), "");
  EXPECT_EQ(answer(rules, {"lpush", "w", "x"}), "");
  EXPECT_EQ(answer(rules, {"copy", "r", "w"}), no_key("w"));
}

// Of several selectors the one that got furthest gives the reason.
TEST(AclCheck, TheReasonIsTheFurthest) {
  const Words rules = {"+mget", "~key", "(+mget ~key ~otherkey)"};
  EXPECT_EQ(answer(rules, {"get", "key"}), no_command("get"));
  EXPECT_EQ(answer(rules, {"mget", "otherkey", "someotherkey"}), no_key("someotherkey"));
  EXPECT_EQ(answer(rules, {"mget", "key", "otherkey", "someotherkey"}), no_key("someotherkey"));
}

TEST(AclCheck, Channels) {
  const User user = user_of({"+@all", "&news:*", "&exact"});
  EXPECT_TRUE(user.root.covers_channel("news:1", false));
  EXPECT_FALSE(user.root.covers_channel("news", false));
  EXPECT_TRUE(user.root.covers_channel("news:*", true));
  EXPECT_FALSE(user.root.covers_channel("news:1*", true));
  EXPECT_FALSE(user.root.covers_channel("*", true));
}

TEST(AclCheck, Databases) {
  const Words rules = {"+@all", "~*", "db=1,2"};
  EXPECT_EQ(answer(rules, {"get", "k"}, 1), "");
  EXPECT_EQ(answer(rules, {"get", "k"}, 0), no_database("0"));
  EXPECT_EQ(answer(rules, {"get", "k"}, Asked::kLater), "");
  EXPECT_EQ(answer(rules, {"dbsize"}, 0), no_database("0"));
  EXPECT_EQ(answer(rules, {"ping"}, 0), "");
  EXPECT_EQ(answer(rules, {"select", "2"}, 0), "");
  EXPECT_EQ(answer(rules, {"select", "3"}, 1), no_database("3"));
  EXPECT_EQ(answer(rules, {"swapdb", "1", "3"}, 1), no_database("3"));
  EXPECT_EQ(answer(rules, {"swapdb", "1", "2"}, 0), "");
  EXPECT_EQ(answer(rules, {"move", "k", "3"}, 1), no_database("3"));
  EXPECT_EQ(answer(rules, {"copy", "a", "b", "DB", "3"}, 1), no_database("3"));
  EXPECT_EQ(answer(rules, {"copy", "a", "b", "DB", "3", "DB", "2"}, 1), no_database("3"));
  EXPECT_EQ(answer(rules, {"copy", "a", "b", "REPLACE"}, 1), "");
  EXPECT_EQ(answer(rules, {"flushall"}, 1), no_database("*"));
  EXPECT_EQ(answer(rules, {"flushdb"}, 1), "");
}

TEST(AclCheck, RestrictedUsers) {
  EXPECT_FALSE(make_default_user().restricted());
  EXPECT_FALSE(user_of({"+@all", "~*", "&*"}).restricted());
  EXPECT_TRUE(user_of({"+@all", "~*"}).restricted());
  EXPECT_TRUE(user_of({"+@all", "~*", "&*", "-get"}).restricted());
  EXPECT_TRUE(user_of({"+@all", "~*", "&*", "db=0"}).restricted());
  EXPECT_FALSE(user_of({"+@all", "~*", "&*", "+get"}).restricted());
}

}  // namespace
}  // namespace sorrel::acl
