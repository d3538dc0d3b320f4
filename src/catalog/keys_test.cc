#include <gtest/gtest.h>

#include <string>

#include "catalog/catalog.h"

namespace sorrel::catalog {
namespace {

struct Found {
  uint32_t position;
  uint32_t flags;
  bool operator==(const Found&) const = default;
};

using Args = std::vector<std::string_view>;

// The keys of a command, or nothing on kBadArguments.
std::optional<std::vector<Found>> keys_of(const CommandSpec& spec, const Args& args) {
  std::vector<KeyPosition> positions;
  if (extract_keys(spec, args, positions) != KeyError::kNone) return std::nullopt;
  std::vector<Found> found;
  for (const KeyPosition& key : positions) found.push_back({key.position, key.flags});
  return found;
}

std::optional<std::vector<Found>> keys_of(const Args& args) {
  const CommandSpec* spec = args.size() > 1 ? find_sub(args[0], args[1]) : nullptr;
  if (spec == nullptr) spec = find(args[0]);
  EXPECT_NE(spec, nullptr) << args[0];
  return keys_of(*spec, args);
}

using Keys = std::vector<Found>;
constexpr uint32_t kRead = kKeyRO | kKeyAccess;
constexpr uint32_t kOverwrite = kKeyOW | kKeyUpdate;
constexpr uint32_t kModify = kKeyRW | kKeyAccess | kKeyUpdate;

// Artificial commands, for ways of naming keys that no command in the catalog uses.
constexpr CommandSpec made_up(std::span<const KeySpec> keys, uint64_t flags = 0) {
  return {.name = "x",
          .summary = "x",
          .since = "1.0.0",
          .group = Group::kGeneric,
          .arity = -2,
          .flags = flags,
          .keys = keys};
}

TEST(Keys, Ranges) {
  EXPECT_EQ(keys_of({"get", "k"}), (Keys{{1, kRead}}));
  EXPECT_EQ(keys_of({"mget", "a", "b", "c"}), (Keys{{1, kRead}, {2, kRead}, {3, kRead}}));
  EXPECT_EQ(keys_of({"mset", "a", "1", "b", "2"}), (Keys{{1, kOverwrite}, {3, kOverwrite}}));
  // An odd number of words is rejected by the handler; the names are keys all the same.
  EXPECT_EQ(keys_of({"mset", "a", "1", "b"}), (Keys{{1, kOverwrite}, {3, kOverwrite}}));
  EXPECT_EQ(keys_of({"lcs", "a", "b", "LEN"}), (Keys{{1, kRead}, {2, kRead}}));
  EXPECT_EQ(keys_of({"ping"}), Keys{});
  EXPECT_EQ(keys_of({"config", "get", "*"}), Keys{});
}

TEST(Keys, SeveralSpecs) {
  EXPECT_EQ(keys_of({"bitop", "and", "dest", "a", "b"}),
            (Keys{{2, kOverwrite}, {3, kRead}, {4, kRead}}));
  EXPECT_EQ(keys_of({"copy", "from", "to", "DB", "1"}), (Keys{{1, kRead}, {2, kOverwrite}}));
  EXPECT_EQ(keys_of({"rename", "from", "to"}),
            (Keys{{1, kKeyRW | kKeyAccess | kKeyDelete}, {2, kOverwrite}}));
}

// Options may stand anywhere, and have arguments that look like options.
TEST(Keys, OfOptions) {
  EXPECT_EQ(keys_of({"sort", "k"}), (Keys{{1, kRead}}));
  EXPECT_EQ(keys_of({"sort", "k", "alpha", "store", "d"}), (Keys{{1, kRead}, {4, kOverwrite}}));
  EXPECT_EQ(keys_of({"sort", "k", "STORE", "a", "STORE", "b"}),
            (Keys{{1, kRead}, {5, kOverwrite}}));
  EXPECT_EQ(keys_of({"sort", "k", "STORE", "STORE", "ASC"}), (Keys{{1, kRead}, {3, kOverwrite}}));
  EXPECT_EQ(keys_of({"sort", "k", "BY", "STORE", "GET", "STORE", "LIMIT", "STORE", "1"}),
            (Keys{{1, kRead}}));
  EXPECT_EQ(keys_of({"sort", "k", "STORE"}), (Keys{{1, kRead}}));
  EXPECT_EQ(keys_of({"sort_ro", "k", "STORE", "d"}), (Keys{{1, kRead}}));
  EXPECT_EQ(keys_of({"georadius", "k", "1", "1", "1", "m", "STORE", "STORE", "ASC"}),
            (Keys{{1, kRead}, {7, kOverwrite}}));
  EXPECT_EQ(keys_of({"georadius", "k", "1", "1", "1", "m", "STOREDIST", "STORE", "COUNT", "1"}),
            (Keys{{1, kRead}, {7, kOverwrite}}));
  EXPECT_EQ(keys_of({"georadiusbymember", "k", "STORE", "1", "m", "STORE", "a", "STORE", "b"}),
            (Keys{{1, kRead}, {8, kOverwrite}}));
}

TEST(Keys, MadeFromContents) {
  const auto outcome = [](const Args& args, size_t named) {
    std::vector<KeyPosition> positions;
    const KeyError error = extract_keys(*find(args[0]), args, positions);
    EXPECT_EQ(positions.size(), named);
    return error;
  };
  EXPECT_EQ(outcome({"sort", "k", "BY", "w_*"}, 1), KeyError::kMoreByContent);
  EXPECT_EQ(outcome({"sort", "k", "STORE", "d", "GET", "w_*->f"}, 2), KeyError::kMoreByContent);
  EXPECT_EQ(outcome({"sort_ro", "k", "ALPHA", "BY", "*"}, 1), KeyError::kMoreByContent);
  EXPECT_EQ(outcome({"sort", "k", "BY", "nosort", "GET", "#", "STORE", "d*"}, 2), KeyError::kNone);
}

TEST(Keys, Subcommands) {
  EXPECT_EQ(keys_of({"object", "encoding", "k"}), (Keys{{2, kKeyRO}}));
  EXPECT_EQ(keys_of({"MEMORY", "USAGE", "k", "SAMPLES", "5"}), (Keys{{2, kKeyRO}}));
}

TEST(Keys, CountedPairs) {
  EXPECT_EQ(keys_of({"msetex", "1", "a", "1"}), (Keys{{2, kOverwrite}}));
  EXPECT_EQ(keys_of({"msetex", "2", "a", "1", "b", "2", "EX", "10"}),
            (Keys{{2, kOverwrite}, {4, kOverwrite}}));
}

TEST(Keys, BadCounts) {
  for (std::string_view count :
       {"0", "-1", "3", "4", "x", "", "1.0", "01", " 1", "2147483648", "4611686018427387905",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808"}) {
    EXPECT_EQ(keys_of({"msetex", count, "a", "1", "b", "2"}), std::nullopt) << count;
  }
}

TEST(Keys, ZeroKeysWhereNoneIsNeeded) {
  static constexpr KeySpec kCounted[] = {
      {.flags = kRead, .index = 2, .find = KeySpec::Find::kKeyNum, .first_key = 1}};
  EXPECT_EQ(keys_of(made_up(kCounted, kNoMandatoryKeys), {"x", "body", "0", "arg"}), Keys{});
  EXPECT_EQ(keys_of(made_up(kCounted), {"x", "body", "0", "arg"}), std::nullopt);
  EXPECT_EQ(keys_of(made_up(kCounted), {"x", "body", "2", "a", "b", "arg"}),
            (Keys{{3, kRead}, {4, kRead}}));
  EXPECT_EQ(keys_of(made_up(kCounted, kNoMandatoryKeys), {"x", "body", "2", "a"}), std::nullopt);
  EXPECT_EQ(keys_of(made_up(kCounted), {"x", "body"}), std::nullopt);
}

// Keys that the arity does not require may be absent; the keys before them are still found.
TEST(Keys, OptionalRanges) {
  constexpr uint32_t kMerged = kKeyRW | kKeyAccess | kKeyInsert;
  EXPECT_EQ(keys_of({"pfmerge", "k"}), (Keys{{1, kMerged}}));
  EXPECT_EQ(keys_of({"pfmerge", "k", "a"}), (Keys{{1, kMerged}, {2, kRead}}));
  static constexpr KeySpec kSecond[] = {{.flags = kRead}, {.flags = kRead, .index = 2, .last = -1}};
  CommandSpec spec = made_up(kSecond);
  EXPECT_EQ(keys_of(spec, {"x", "a"}), (Keys{{1, kRead}}));
  spec.arity = -3;
  EXPECT_EQ(keys_of(spec, {"x", "a"}), std::nullopt);
  // A single optional key.
  static constexpr KeySpec kOne[] = {{.flags = kRead, .index = 2}};
  EXPECT_EQ(keys_of(made_up(kOne), {"x", "a"}), Keys{});
  EXPECT_EQ(keys_of(made_up(kOne), {"x", "a", "b", "c"}), (Keys{{2, kRead}}));
}

TEST(Keys, MissingArguments) {
  EXPECT_EQ(keys_of({"get"}), std::nullopt);
  EXPECT_EQ(keys_of({"bitop", "and", "dest"}), std::nullopt);
  EXPECT_EQ(keys_of({"msetex"}), std::nullopt);
}

TEST(Keys, NegativeLastLeavesArgumentsAtTheEnd) {
  static constexpr KeySpec kAllButOne[] = {{.flags = kRead, .last = -2}};
  EXPECT_EQ(keys_of(made_up(kAllButOne), {"x", "a", "b", "timeout"}),
            (Keys{{1, kRead}, {2, kRead}}));
  EXPECT_EQ(keys_of(made_up(kAllButOne), {"x", "timeout"}), std::nullopt);
}

TEST(Keys, KeywordAndHalves) {
  static constexpr KeySpec kStreams[] = {{.flags = kRead,
                                          .begin = KeySpec::Begin::kKeyword,
                                          .keyword = "STREAMS",
                                          .start_from = 1,
                                          .last = -1,
                                          .limit = 2}};
  CommandSpec spec = made_up(kStreams);
  EXPECT_EQ(keys_of(spec, {"x", "COUNT", "1", "streams", "a", "b", "0", "0"}),
            (Keys{{4, kRead}, {5, kRead}}));
  // The first of several wins, and without the word there are no keys.
  EXPECT_EQ(keys_of(spec, {"x", "STREAMS", "STREAMS", "0"}), (Keys{{2, kRead}}));
  EXPECT_EQ(keys_of(spec, {"x", "COUNT", "1"}), Keys{});
  EXPECT_EQ(keys_of(spec, {"x", "a", "STREAMS"}), Keys{});
  EXPECT_EQ(keys_of(spec, {"x", "STREAMS", "a"}), std::nullopt);
}

// The client's group name must not decide which keys are found.
TEST(Keys, NamesOfGroupsAreNoKeywords) {
  const CommandSpec& spec = *find("xreadgroup");
  EXPECT_EQ(keys_of(spec, {"x", "GROUP", "g", "c", "STREAMS", "a", ">"}), (Keys{{5, kRead}}));
  EXPECT_EQ(keys_of(spec, {"x", "GROUP", "streams", "STREAMS", "STREAMS", "a", ">"}),
            (Keys{{5, kRead}}));
  EXPECT_EQ(
      keys_of(spec, {"x", "NOACK", "NOACK", "group", "streams", "streams", "streams", "a", ">"}),
      (Keys{{7, kRead}}));
  EXPECT_EQ(keys_of(spec, {"x", "GROUP", "streams", "a"}), Keys{});
  EXPECT_EQ(keys_of(spec, {"x", "GROUP"}), Keys{});
}

TEST(Keys, KeywordFromTheEnd) {
  static constexpr KeySpec kKeysWord[] = {{.flags = kRead,
                                           .begin = KeySpec::Begin::kKeyword,
                                           .keyword = "KEYS",
                                           .start_from = -2,
                                           .last = -1}};
  CommandSpec spec = made_up(kKeysWord);
  EXPECT_EQ(keys_of(spec, {"x", "h", "KEYS", "KEYS", "a"}), (Keys{{4, kRead}}));
  EXPECT_EQ(keys_of(spec, {"x", "h", "KEYS", "a", "b"}), (Keys{{3, kRead}, {4, kRead}}));
  // The last word and the first argument are not searched.
  EXPECT_EQ(keys_of(spec, {"x", "h", "a", "KEYS"}), Keys{});
  EXPECT_EQ(keys_of(spec, {"x", "KEYS", "a"}), Keys{});
  EXPECT_EQ(keys_of(spec, {"x"}), Keys{});
}

TEST(Keys, WordsThatAreNoKeysAreLeftOut) {
  static constexpr KeySpec kChannel[] = {{.flags = kKeyNotKey}};
  EXPECT_EQ(keys_of(made_up(kChannel), {"x", "channel"}), Keys{});
}

TEST(Keys, SpecsThatCannotNameAllKeysAreRejected) {
  static constexpr KeySpec kUnknown[] = {{.flags = kRead, .begin = KeySpec::Begin::kUnknown}};
  static constexpr KeySpec kPartial[] = {{.flags = kRead | kKeyIncomplete}};
  EXPECT_EQ(keys_of(made_up(kUnknown), {"x", "a"}), std::nullopt);
  EXPECT_EQ(keys_of(made_up(kPartial), {"x", "a"}), std::nullopt);
}

TEST(Keys, MigrateNamesOneKeyOrMany) {
  constexpr uint32_t kMoved = kKeyRW | kKeyAccess | kKeyDelete;
  constexpr uint32_t kListed = kMoved | kKeyIncomplete;
  EXPECT_EQ(keys_of({"migrate", "h", "1", "k", "0", "9"}), (Keys{{3, kMoved}}));
  EXPECT_EQ(keys_of({"migrate", "h", "1", "", "0", "9"}), (Keys{{3, kMoved}}));
  EXPECT_EQ(keys_of({"migrate", "h", "1", "", "0", "9", "copy", "keys", "a", "KEYS", "b"}),
            (Keys{{8, kListed}, {9, kListed}, {10, kListed}}));
  // A password may equal the keyword.
  EXPECT_EQ(keys_of({"migrate", "h", "1", "", "0", "9", "AUTH", "keys", "KEYS", "a"}),
            (Keys{{9, kListed}}));
  EXPECT_EQ(keys_of({"migrate", "h", "1", "k", "0", "9", "AUTH2", "KEYS", "keys"}),
            (Keys{{3, kMoved}}));
  EXPECT_EQ(keys_of({"migrate", "h", "1", "k", "0", "9", "KEYS", "a"}), std::nullopt);
}

TEST(Keys, SetReadsOnlyWhenAsked) {
  EXPECT_EQ(keys_of({"set", "k", "v"}), (Keys{{1, kOverwrite}}));
  EXPECT_EQ(keys_of({"set", "k", "v", "NX", "EX", "10"}), (Keys{{1, kOverwrite}}));
  EXPECT_EQ(keys_of({"set", "k", "v", "NX", "get"}), (Keys{{1, kModify}}));
  EXPECT_EQ(keys_of({"set", "k", "v", "IFEQ", "w"}), (Keys{{1, kModify}}));
  // As key or value the word is only text.
  EXPECT_EQ(keys_of({"set", "get", "get"}), (Keys{{1, kOverwrite}}));
}

TEST(Keys, BitfieldWritesOnlyWhenAsked) {
  EXPECT_EQ(keys_of({"bitfield", "k"}), (Keys{{1, kRead}}));
  EXPECT_EQ(keys_of({"bitfield", "set", "GET", "u8", "0"}), (Keys{{1, kRead}}));
  EXPECT_EQ(keys_of({"bitfield", "k", "GET", "u8", "0", "set", "u8", "0", "1"}),
            (Keys{{1, kModify}}));
  EXPECT_EQ(keys_of({"bitfield", "k", "OVERFLOW", "SAT", "INCRBY", "u8", "0", "1"}),
            (Keys{{1, kModify}}));
}

TEST(Keys, PositionsAreAppended) {
  std::vector<KeyPosition> out;
  Args one = {"get", "a"};
  Args two = {"del", "b", "c"};
  ASSERT_EQ(extract_keys(*find("get"), one, out), KeyError::kNone);
  ASSERT_EQ(extract_keys(*find("del"), two, out), KeyError::kNone);
  EXPECT_EQ(out.size(), 3u);
}

// No combination of words and counts yields a position that is not an argument.
TEST(Keys, PositionsAreAlwaysArguments) {
  const std::string_view words[] = {"", "0", "1", "2", "-1", "GET", "99999999999999999999", "k"};
  for (const CommandSpec* spec : all()) {
    for (size_t count = 0; count <= 5; count++) {
      for (size_t seed = 0; seed < 512; seed++) {
        Args args;
        for (size_t i = 0; i < count; i++) args.push_back(words[(seed >> i * 2 ^ i) % 8]);
        std::vector<KeyPosition> out;
        if (extract_keys(*spec, args, out) != KeyError::kNone) continue;
        for (const KeyPosition& key : out) {
          ASSERT_LT(key.position, args.size()) << full_name(*spec);
          ASSERT_GT(key.position, 0u) << full_name(*spec);
          ASSERT_NE(key.flags, 0u) << full_name(*spec);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sorrel::catalog
