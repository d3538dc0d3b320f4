// Each kind of rule: its effect, its description and its errors.

#include "acl/rules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sha256.h"

namespace sorrel::acl {
namespace {

using Words = std::vector<std::string_view>;

// The user after these rules, or the error.
std::string made(const Words& rules, Channels channels = Channels::kNone) {
  const auto user = apply_rules(make_user("u", channels), rules, channels);
  return user ? user->describe() : user.error().text;
}
std::string commands_of(const Words& rules) {
  const auto user = apply_rules(make_user("u", Channels::kNone), rules, Channels::kNone);
  return user ? user->root.commands.describe() : user.error().text;
}
RuleError error_of(std::string_view rule) {
  User user = make_user("u", Channels::kNone);
  const std::string before = user.describe();
  const RuleError error = apply_rule(user, rule, Channels::kNone);
  if (error != RuleError::kNone) {
    EXPECT_EQ(user.describe(), before);
  }
  return error;
}

TEST(AclRules, NewUsersMayDoNothing) {
  EXPECT_EQ(made({}), "off sanitize-payload resetchannels -@all");
  EXPECT_EQ(made({}, Channels::kAll), "off sanitize-payload &* -@all");
  EXPECT_EQ(made({"on", "nopass", "~*", "+@all", "&*", "reset"}), made({}));
  EXPECT_EQ(make_default_user().describe(), "on nopass sanitize-payload ~* &* +@all");
}

TEST(AclRules, Passwords) {
  const std::string digest = sha256_hex("secret");
  const std::string add = '#' + digest;
  const std::string take = '!' + digest;
  EXPECT_EQ(made({">secret"}), "off sanitize-payload " + add + " resetchannels -@all");
  EXPECT_EQ(made({">secret", ">secret", add}), made({">secret"}));
  EXPECT_EQ(made({"nopass", ">secret"}), made({">secret"}));
  EXPECT_EQ(made({">secret", "<secret"}), made({}));
  EXPECT_EQ(made({">secret", take}), made({}));
  EXPECT_EQ(made({">secret", "resetpass"}), made({}));
  EXPECT_EQ(made({">secret", "nopass"}), "off nopass sanitize-payload resetchannels -@all");
  EXPECT_EQ(error_of("<secret"), RuleError::kNoSuchPassword);
  EXPECT_EQ(error_of(take), RuleError::kNoSuchPassword);
  EXPECT_EQ(error_of(add.substr(0, 64)), RuleError::kBadDigest);
  EXPECT_EQ(error_of('#' + std::string(64, 'A')), RuleError::kBadDigest);
  EXPECT_EQ(error_of("#"), RuleError::kBadDigest);
}

TEST(AclRules, LogIn) {
  User user = make_user("u", Channels::kNone);
  EXPECT_FALSE(user.accepts(""));
  (void)apply_rule(user, ">one", Channels::kNone);
  EXPECT_FALSE(user.accepts("one"));  // the user is off
  (void)apply_rule(user, "on", Channels::kNone);
  (void)apply_rule(user, ">two", Channels::kNone);
  EXPECT_TRUE(user.accepts("one"));
  EXPECT_TRUE(user.accepts("two"));
  EXPECT_FALSE(user.accepts("tw"));
  EXPECT_FALSE(user.accepts(std::string_view("two\0", 4)));
  (void)apply_rule(user, "nopass", Channels::kNone);
  EXPECT_TRUE(user.accepts("whatever"));
  (void)apply_rule(user, "off", Channels::kNone);
  EXPECT_FALSE(user.accepts("whatever"));
}

// A rule replaces earlier ones about the same object; all others stay.
TEST(AclRules, CommandRulesAreKeptShort) {
  EXPECT_EQ(commands_of({"+@all", "-@hash", "-@slow", "+hget"}), "+@all -@hash -@slow +hget");
  EXPECT_EQ(commands_of({"+@all", "-@hash", "-@slow", "+hget", "-@hash"}),
            "+@all -@slow +hget -@hash");
  EXPECT_EQ(commands_of({"+@read", "-get", "+@ALL"}), "+@all");
  EXPECT_EQ(commands_of({"+@HASH", "+@hash", "+HGET", "+hGeT"}), "-@all +@hash +hget");
  EXPECT_EQ(commands_of({"+hget", "-hset", "+hset", "-hget"}), "-@all +hset -hget");
  EXPECT_EQ(commands_of({"+client|list", "+client|list", "+config|get", "+config"}),
            "-@all +client|list +config");
  EXPECT_EQ(commands_of({"+config", "+config|get", "-config|set", "+config"}), "-@all +config");
  EXPECT_EQ(commands_of({"+select|0", "+SELECT|0", "+debug|segfault", "+debug"}),
            "-@all +select|0 +debug");
  EXPECT_EQ(commands_of({"-@dangerous"}), "-@all -@dangerous");
  EXPECT_EQ(commands_of({"+get", "-getex", "-get"}), "-@all -getex -get");
}

TEST(AclRules, UnknownCommands) {
  EXPECT_EQ(error_of("+nothing"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("+"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("-"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("+@"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("+@nothing"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("+config|asdf"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("-config|asdf"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("+get|key1|key2"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("-select|0"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("+config|get|appendonly"), RuleError::kArgumentOfSubcommand);
  EXPECT_EQ(error_of("+select|"), RuleError::kSyntax);
  EXPECT_EQ(error_of("+|"), RuleError::kUnknownCommand);
}

// Users and files made for Redis may name commands that are not implemented here.
TEST(AclRules, CommandsThatDoNotExistYet) {
  EXPECT_EQ(commands_of({"+@all", "-replicaof", "-FAILOVER", "-psync"}),
            "+@all -replicaof -failover -psync");
  EXPECT_EQ(commands_of({"+cluster|info", "+Sentinel", "+wait", "+WAIT|1"}),
            "-@all +cluster|info +sentinel +wait +wait|1");
  EXPECT_EQ(commands_of({"+cluster|info", "+cluster"}), "-@all +cluster");
  EXPECT_EQ(commands_of({"+cluster", "-cluster|reset"}), "-@all +cluster -cluster|reset");
  EXPECT_EQ(commands_of({"+@all", "-ft.config", "+ft.config|get"}),
            "+@all -ft.config +ft.config|get");
  EXPECT_EQ(error_of("+cluster|nothing"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("-cluster|nothing"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("+cluster|info|x"), RuleError::kArgumentOfSubcommand);
  EXPECT_EQ(error_of("-wait|1"), RuleError::kUnknownCommand);
  for (const catalog::CommandSpec* spec : catalog::known()) {
    const std::string name = catalog::full_name(*spec);
    const std::string plus = '+' + name;
    const std::string minus = '-' + name;
    EXPECT_EQ(commands_of({std::string_view(plus)}), "-@all +" + name);
    EXPECT_EQ(commands_of({"+@all", std::string_view(minus)}), "+@all -" + name);
  }
}

// Rules about them are kept, so that they mean the same once the commands exist.
TEST(AclRules, CommandsThatDoNotExistYetHaveCategories) {
  const auto allowed = [](const Words& rules, std::string_view name) {
    const auto user = apply_rules(make_user("u", Channels::kNone), rules, Channels::kNone);
    const auto known = catalog::known();
    const auto at = std::find(known.begin(), known.end(), catalog::find_known(name));
    return user->root.commands.allows(static_cast<uint32_t>(at - known.begin()), {});
  };
  EXPECT_TRUE(allowed({"+@dangerous"}, "replicaof"));
  EXPECT_FALSE(allowed({"+@all", "-@dangerous"}, "cluster|reset"));
  EXPECT_TRUE(allowed({"+@all", "-@dangerous"}, "cluster|info"));
  EXPECT_TRUE(allowed({"+@connection"}, "wait"));
  EXPECT_TRUE(allowed({"+@write"}, "json.set"));
  EXPECT_FALSE(allowed({"+@write"}, "json.get"));
  EXPECT_TRUE(allowed({"+cluster"}, "cluster|nodes"));
  EXPECT_FALSE(allowed({"+cluster", "-cluster|nodes"}, "cluster|nodes"));
  EXPECT_TRUE(allowed({"+client"}, "client|list"));
  EXPECT_FALSE(allowed({"+cluster"}, "wait"));
}

// Every implemented command is allowed, so no check is needed.
TEST(AclRules, RulesAboutMissingCommandsAreNoRestriction) {
  User user = make_default_user();
  ASSERT_EQ(apply_rule(user, "-replicaof", Channels::kNone), RuleError::kNone);
  ASSERT_EQ(apply_rule(user, "-cluster", Channels::kNone), RuleError::kNone);
  EXPECT_FALSE(user.restricted());
  EXPECT_EQ(user.root.commands.describe(), "+@all -replicaof -cluster");
  ASSERT_EQ(apply_rule(user, "-get", Channels::kNone), RuleError::kNone);
  EXPECT_TRUE(user.restricted());
}

TEST(AclRules, KeysAndChannels) {
  EXPECT_EQ(made({"~a:*", "%R~b", "%w~c", "%RW~d", "%R~e", "%W~e", "&news", "&news"}),
            "off sanitize-payload ~a:* %R~b %W~c ~d ~e resetchannels &news -@all");
  EXPECT_EQ(made({"~a", "allkeys"}), "off sanitize-payload ~* resetchannels -@all");
  EXPECT_EQ(made({"~*", "resetkeys", "~b"}), "off sanitize-payload ~b resetchannels -@all");
  EXPECT_EQ(made({"&*", "resetchannels", "&b"}), "off sanitize-payload resetchannels &b -@all");
  EXPECT_EQ(made({"~*", "~b"}),
            "Error in ACL SETUSER modifier '~b': Adding a pattern after the * pattern (or the "
            "'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start "
            "with an empty list of patterns");
  User all = make_default_user();
  EXPECT_EQ(apply_rule(all, "&b", Channels::kNone), RuleError::kPatternAfterAllChannels);
  EXPECT_EQ(apply_rule(all, "%R~b", Channels::kNone), RuleError::kPatternAfterAllKeys);
}

// CVE-2024-51741: a permission without a pattern once brought the server down.
TEST(AclRules, CVE_2024_51741_BrokenPermissions) {
  for (std::string_view rule : {"%", "%~", "%R", "%RW", "%RR~a", "%X~a", "%R ~a", "%~R~a", "~a b",
                                "&a b", "&a\n", "~\t", "word", " ", "()x", ")", "(", " () "}) {
    EXPECT_EQ(error_of(rule), RuleError::kSyntax) << rule;
  }
  EXPECT_EQ(error_of(std::string_view("~a\0b", 4)), RuleError::kSyntax);
}

TEST(AclRules, Selectors) {
  EXPECT_EQ(made({"(~a +get)", "(~b", "+set", ")", "(", "~c", ")"}),
            "off sanitize-payload resetchannels -@all (~a resetchannels -@all +get) "
            "(~b resetchannels -@all +set) (~c resetchannels -@all)");
  EXPECT_EQ(made({"()"}), "off sanitize-payload resetchannels -@all (resetchannels -@all)");
  EXPECT_EQ(made({"()", "clearselectors"}), made({}));
  EXPECT_EQ(made({"(", "+get"}), "Unmatched parenthesis in acl selector starting at '('.");
  EXPECT_EQ(made({"on", "(+get", "(+set", "(+del"}),
            "Unmatched parenthesis in acl selector starting at '(+get'.");
  EXPECT_EQ(made({"(+get", "(+set", ")"}),
            "Error in ACL SETUSER modifier '(+get (+set )': Syntax error");
  EXPECT_EQ(error_of("(on)"), RuleError::kSyntax);
  EXPECT_EQ(error_of("(>secret)"), RuleError::kSyntax);
  EXPECT_EQ(error_of("(+nothing)"), RuleError::kUnknownCommand);
  EXPECT_EQ(error_of("(&* &x)"), RuleError::kPatternAfterAllChannels);
  // It would be read back as two rules.
  EXPECT_EQ(error_of("(~a) +get)"), RuleError::kSyntax);
}

TEST(AclRules, Databases) {
  EXPECT_EQ(made({"db=3,0,3"}), "off sanitize-payload resetchannels db=0,3 -@all");
  EXPECT_EQ(made({"db=3", "db=4"}), "off sanitize-payload resetchannels db=4 -@all");
  EXPECT_EQ(made({"resetdbs"}), "off sanitize-payload resetchannels resetdbs -@all");
  EXPECT_EQ(made({"db=3", "alldbs"}), made({}));
  for (std::string_view rule : {"db=", "db=,", "db=1,", "db=-1", "db=x", "db=99999999999"}) {
    EXPECT_EQ(error_of(rule), RuleError::kBadDatabase) << rule;
  }
}

TEST(AclRules, AllOrNothing) {
  const User before = make_default_user();
  const Words rules = {"off", "resetkeys", "+nothing"};
  const auto after = apply_rules(before, rules, Channels::kNone);
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().text,
            "Error in ACL SETUSER modifier '+nothing': Unknown command or category name in ACL");
  EXPECT_EQ(before.describe(), make_default_user().describe());
}

// Every category, added to none and removed from all, is described by exactly that rule.
TEST(AclRules, CategoriesAreShownAsTheyWereGiven) {
  for (int bit = 0; bit < catalog::kAclCategoryCount; bit++) {
    const std::string name(
        catalog::acl_category_name(static_cast<catalog::AclCategory>(1ull << bit)));
    const std::string add = "+@" + name;
    const std::string take = "-@" + name;
    EXPECT_EQ(commands_of({add}), "-@all " + add);
    EXPECT_EQ(commands_of({"+@all", take}), "+@all " + take);
  }
}

}  // namespace
}  // namespace sorrel::acl
