// Look-up, derived facts, and consistency rules over all tables.

#include "catalog/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace sorrel::catalog {
namespace {

using Names = std::vector<std::string_view>;

const CommandSpec& get(std::string_view full) {
  const CommandSpec* spec = find_full(full);
  EXPECT_NE(spec, nullptr) << full;
  return spec != nullptr ? *spec : *all()[0];
}

Names categories(std::string_view full) {
  Names names;
  uint64_t bits = effective_acl_categories(get(full));
  for (int i = 0; i < kAclCategoryCount; i++) {
    if ((bits >> i & 1) != 0) names.push_back(acl_category_name(AclCategory{1ull << i}));
  }
  return names;
}

TEST(Catalog, EveryCommandIsFoundByItsOwnName) {
  std::set<std::string> seen;
  for (const CommandSpec* spec : all()) {
    std::string name = full_name(*spec);
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_EQ(find_full(name), spec) << name;
    if (spec->parent.empty()) {
      EXPECT_EQ(find(spec->name), spec) << name;
    } else {
      EXPECT_EQ(find_sub(spec->parent, spec->name), spec) << name;
      ASSERT_NE(find(spec->parent), nullptr) << name;
    }
  }
}

TEST(Catalog, CaseDoesNotMatter) {
  EXPECT_EQ(find("GeT"), find("get"));
  EXPECT_EQ(find_sub("CONFIG", "Get"), find_full("config|get"));
  EXPECT_EQ(find_sub("client", "NO-EVICT"), find_full("CLIENT|no-evict"));
}

TEST(Catalog, UnknownNamesAreNotFound) {
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(find("gets"), nullptr);
  EXPECT_EQ(find("ge"), nullptr);
  EXPECT_EQ(find(std::string_view("get\0", 4)), nullptr);
  EXPECT_EQ(find(std::string(1 << 20, 'g')), nullptr);
  // '_' and DEL differ from each other only by the bit that the hash ignores.
  EXPECT_EQ(find("bitfield\x7fro"), nullptr);
  EXPECT_EQ(find_sub("", "get"), nullptr);
  EXPECT_EQ(find_sub("get", "config"), nullptr);
  EXPECT_EQ(find_sub("config", "nothing"), nullptr);
  EXPECT_EQ(find_full("config|get|x"), nullptr);
  EXPECT_EQ(find_full("|get"), nullptr);
  EXPECT_EQ(find_full("get|"), nullptr);
  // A subcommand is no command.
  EXPECT_EQ(find("idletime"), nullptr);
}

// ACL rules accept them, nothing else does; and implementing a command removes its entry there.
TEST(Catalog, CommandsThatDoNotExistYetAreKnown) {
  std::set<std::string> seen;
  for (const CommandSpec* spec : known()) {
    std::string name = full_name(*spec);
    EXPECT_TRUE(seen.insert(name).second) << name << " is in two tables";
    EXPECT_EQ(find_known(name), spec) << name;
    if (!spec->parent.empty()) {
      EXPECT_NE(find_known(spec->parent), nullptr) << name;
    }
  }
  ASSERT_EQ(known().first(all().size()).data(), all().data());
  for (const CommandSpec* spec : known().subspan(all().size())) {
    EXPECT_EQ(find_full(full_name(*spec)), nullptr) << spec->name;
  }
  EXPECT_EQ(find_known("GET"), find("get"));
  EXPECT_EQ(find_known("Config|Get"), find_full("config|get"));
  EXPECT_NE(find_known("json.SET"), nullptr);
  for (std::string_view name : {"", "|", "|get", "get|", "nothing", "config|nothing", "a|b|c"}) {
    EXPECT_EQ(find_known(name), nullptr) << name;
  }
}

TEST(Catalog, SubcommandsFollowTheirParent) {
  Names names;
  for (const CommandSpec* sub : subcommands(get("object"))) names.push_back(sub->name);
  EXPECT_EQ(names, (Names{"encoding", "freq", "help", "idletime", "refcount"}));
  EXPECT_TRUE(subcommands(get("get")).empty());
  EXPECT_TRUE(subcommands(get("config|get")).empty());
}

TEST(Catalog, CommandIsACommandWithSubcommands) {
  EXPECT_FALSE(get("command").container);
  EXPECT_EQ(subcommands(get("command")).size(), 7u);
  EXPECT_TRUE(get("config").container);
  for (const CommandSpec* spec : all()) {
    if (spec->container) {
      EXPECT_FALSE(subcommands(*spec).empty()) << spec->name;
    }
  }
}

TEST(Catalog, AclCategoriesFollowFromFlags) {
  EXPECT_EQ(categories("get"), (Names{"read", "string", "fast"}));
  EXPECT_EQ(categories("mset"), (Names{"write", "string", "slow"}));
  EXPECT_EQ(categories("flushall"), (Names{"keyspace", "write", "slow", "dangerous"}));
  EXPECT_EQ(categories("config|set"), (Names{"admin", "slow", "dangerous"}));
  EXPECT_EQ(categories("ping"), (Names{"fast", "connection"}));
}

TEST(Catalog, ReadOnlyScriptsAreNotInTheReadCategory) {
  CommandSpec script{.name = "x",
                     .summary = "x",
                     .since = "1.0.0",
                     .group = Group::kScripting,
                     .arity = 1,
                     .flags = kReadonly,
                     .acl_categories = kAclScripting};
  EXPECT_EQ(effective_acl_categories(script), kAclScripting | kAclSlow);
}

TEST(Catalog, KeyRangesAreThoseOfCommandInfo) {
  auto expect = [](std::string_view name, int first, int last, int step, bool movable) {
    KeyRange range = key_range(get(name));
    EXPECT_EQ(range.first, first) << name;
    EXPECT_EQ(range.last, last) << name;
    EXPECT_EQ(range.step, step) << name;
    EXPECT_EQ(range.movable, movable) << name;
    EXPECT_EQ((effective_flags(get(name)) & kMovableKeys) != 0, movable) << name;
  };
  expect("get", 1, 1, 1, false);
  expect("mset", 1, -1, 2, false);
  expect("lcs", 1, 2, 1, false);
  expect("bitop", 2, -1, 1, false);
  expect("copy", 1, 2, 1, false);
  expect("object|encoding", 2, 2, 1, false);
  expect("msetex", 0, 0, 0, true);
  expect("ping", 0, 0, 0, false);
}

TEST(Catalog, SpecsWithAGapMakeKeysMovable) {
  static constexpr KeySpec kGap[] = {{.flags = kKeyRO, .index = 1}, {.flags = kKeyOW, .index = 3}};
  CommandSpec spec{.name = "x",
                   .summary = "x",
                   .since = "1.0.0",
                   .group = Group::kGeneric,
                   .arity = 4,
                   .keys = kGap};
  EXPECT_TRUE(key_range(spec).movable);
  EXPECT_EQ(key_range(spec).last, 1);
}

TEST(Catalog, NamesAreThoseOfTheProtocol) {
  EXPECT_EQ(flag_names(effective_flags(get("set"))), (Names{"write", "denyoom"}));
  EXPECT_EQ(flag_names(effective_flags(get("msetex"))), (Names{"write", "denyoom", "movablekeys"}));
  // Sentinel, protected and internal flags are not shown.
  EXPECT_EQ(flag_names(get("auth").flags),
            (Names{"noscript", "loading", "stale", "fast", "no_auth", "allow_busy"}));
  EXPECT_EQ(flag_names(get("debug").flags), (Names{"admin", "noscript", "loading", "stale"}));
  EXPECT_EQ(key_flag_names(get("set").keys[0].flags),
            (Names{"RW", "access", "update", "variable_flags"}));
  EXPECT_EQ(group_name(Group::kGeneric), "generic");
  EXPECT_EQ(group_name(Group::kSortedSet), "sorted-set");
  EXPECT_EQ(group_name(Group::kModule), "module");
  EXPECT_EQ(arg_type_name(ArgType::kPureToken), "pure-token");
  EXPECT_EQ(arg_type_name(ArgType::kBlock), "block");
  EXPECT_EQ(acl_category_name(kAclKeyspace), "keyspace");
  EXPECT_EQ(acl_category_name(kAclScripting), "scripting");
  EXPECT_EQ(acl_category_name(AclCategory{0}), "");
}

TEST(Catalog, SecretsAndPausesAreMarked) {
  EXPECT_TRUE(get("auth").flags & kSensitiveArgs);
  EXPECT_TRUE(get("hello").flags & kSensitiveArgs);
  EXPECT_FALSE(get("set").flags & kSensitiveArgs);
  EXPECT_TRUE(get("client|unpause").flags & kAllowedPaused);
  // A second CLIENT PAUSE waits for the end of the first, as clients expect.
  EXPECT_FALSE(get("client|pause").flags & kAllowedPaused);
}

TEST(Catalog, LockingFollowsTheKeys) {
  for (const CommandSpec* spec : all()) {
    // Shard channels have key specs in Redis, but are no keys.
    const bool keys = std::any_of(spec->keys.begin(), spec->keys.end(),
                                  [](const KeySpec& key) { return (key.flags & kKeyNotKey) == 0; });
    // Scripts may access keys that they do not name, and share an interpreter.
    // MIGRATE: no other client may access a key while it moves to another server.
    const bool alone = spec->group == Group::kScripting || spec->name == "migrate";
    EXPECT_EQ(spec->locking == Locking::kKeys, keys && !alone) << full_name(*spec);
    // A write command without key names needs the exclusive section.
    bool writes = (spec->flags & kWrite) != 0;
    if (writes && spec->keys.empty()) {
      EXPECT_EQ(spec->locking, Locking::kGate) << spec->name;
    }
  }
  EXPECT_EQ(get("ping").locking, Locking::kNone);
  EXPECT_EQ(get("reset").locking, Locking::kGate);
  EXPECT_EQ(get("scan").locking, Locking::kGate);
  EXPECT_EQ(get("memory|usage").locking, Locking::kKeys);
}

}  // namespace
}  // namespace sorrel::catalog
