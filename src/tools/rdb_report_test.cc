// sorrel-rdb: options, formats and totals.

#include "tools/rdb_report.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "rdb/file_fixture.h"
#include "tools/rdb_format.h"

namespace sorrel::tools {
namespace {

using rdb::ObjectType;
using rdb::Opcode;
using rdb::testing::FileBuilder;
using rdb::testing::flat_value;
using rdb::testing::text_value;

std::string sample() {
  FileBuilder file("REDIS0011");
  file.aux("redis-ver", "7.2.0");
  file.database(0);
  file.key("user:1", text_value(std::string(300, 'x') + "y"));
  file.opcode(Opcode::kExpiryMs).number(int64_t{2'000'000'000'123});
  file.key("user:2", text_value("12"));
  file.key("queue:jobs", flat_value(ObjectType::kList, {"one", "three"}));
  file.database(5);
  file.opcode(Opcode::kIdle).length(60);
  file.key("plain", flat_value(ObjectType::kHash, {"f", "1", "longest", "2"}, 2));
  return file.end();
}

std::string report(RdbReportOptions options, std::string_view bytes, bool whole = true) {
  options.path = "dump.rdb";
  std::string out;
  EXPECT_EQ(report_rdb(options, bytes, [&](std::string_view text) { out += text; }), whole);
  return out;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

size_t lines(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(RdbReport, CsvHasALineForEachKey) {
  const std::string csv = report({.format = "csv"}, sample());
  EXPECT_TRUE(csv.starts_with(
      "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry"));
  EXPECT_EQ(lines(csv), 5u);
  EXPECT_TRUE(contains(csv, "\n0,string,\"user:1\","));
  EXPECT_TRUE(contains(csv, ",int,1,2,2033-05-18T03:33:20.123,"));
  EXPECT_TRUE(contains(csv, "\n0,list,\"queue:jobs\","));
  EXPECT_TRUE(contains(csv, ",listpack,2,5,,"));
  EXPECT_TRUE(contains(csv, "\n5,hash,\"plain\","));
}

TEST(RdbReport, BytesFilterWhatIsListedAndNotTheSums) {
  const std::string csv = report({.format = "csv", .least_bytes = 250}, sample());
  EXPECT_EQ(lines(csv), 2u);
  EXPECT_TRUE(contains(csv, "user:1"));
  const std::string json = report({.format = "json", .least_bytes = 250}, sample());
  EXPECT_TRUE(contains(json, "\"total\":{\"keys\":4,"));
  EXPECT_FALSE(contains(json, "queue:jobs\""));
}

TEST(RdbReport, OnlyKeysLikeThis) {
  EXPECT_EQ(lines(report({.format = "csv", .db = 5}, sample())), 2u);
  EXPECT_EQ(lines(report({.format = "csv", .type = Type::kString}, sample())), 3u);
  EXPECT_EQ(lines(report({.format = "csv", .match = "*:*"}, sample())), 4u);
  EXPECT_TRUE(contains(report({.format = "json", .match = "nobody"}, sample()), "\"keys\":0"));
}

TEST(RdbReport, JsonSums) {
  const std::string json = report({.format = "json", .most_biggest = 1}, sample());
  EXPECT_TRUE(contains(json, R"("prefix":"user:","keys":2,)"));
  EXPECT_TRUE(contains(json, "\"prefix\":\"(none)\",\"keys\":1,"));
  EXPECT_TRUE(contains(json, R"("string":{"keys":2,)"));
  EXPECT_TRUE(contains(json, R"("5":{"keys":1,)"));
  EXPECT_TRUE(contains(json, R"("idle_seconds":60)"));
  EXPECT_TRUE(contains(json, R"("expiry_ms":2000000000123)"));
  EXPECT_TRUE(contains(json, R"("redis-ver":"7.2.0")"));
  EXPECT_TRUE(contains(json, R"("checksum_ok":true)"));
  EXPECT_TRUE(contains(json, R"("complete":true)"));
}

TEST(RdbReport, WhatBelongsToAKeyIsCounted) {
  FileBuilder file("REDIS0011");
  file.database(0);
  file.opcode(Opcode::kExpiryMs).number(int64_t{2'000'000'000'123});
  file.opcode(Opcode::kIdle).length(60);
  file.key("e1", text_value("x"));
  const std::string json = report({.format = "json", .most_biggest = 1}, file.end());
  // An expire time of 9 bytes, an idle time of 2, a type, a name of 3 and a text of 2.
  EXPECT_TRUE(contains(json, R"("file_bytes":17)")) << json;
}

TEST(RdbReport, NothingFollowsAFileWithoutASum) {
  FileBuilder file("REDIS0011");
  file.database(0).key("a", text_value("x"));
  const std::string bytes = file.end_without_sum() + std::string(8, '\0');
  EXPECT_TRUE(contains(report({.format = "json"}, bytes), R"("complete":true)"));
  EXPECT_TRUE(
      contains(report({.format = "json"}, bytes + "GARBAGE", false), R"("complete":false)"));
}

TEST(RdbReport, MemoryFormatShowsSumsAndTheBiggest) {
  const std::string text = report({}, sample());
  EXPECT_TRUE(contains(text, "dump.rdb: RDB version 11"));
  EXPECT_TRUE(contains(text, "By prefix"));
  EXPECT_TRUE(contains(text, "\nuser: "));
  EXPECT_LT(text.find("\nuser:1 "), text.find("\nqueue:jobs "));
}

TEST(RdbReport, DamageIsReportedAfterTheKeysBeforeIt) {
  std::string bytes = sample();
  bytes.resize(bytes.size() - 30);
  const std::string json = report({.format = "json"}, bytes, false);
  EXPECT_TRUE(contains(json, "user:1"));
  EXPECT_TRUE(contains(json, "\"complete\":false,\"problem\":\"offset "));
  EXPECT_TRUE(contains(report({}, bytes, false), "The file is damaged: offset "));
}

TEST(RdbReport, AnyBytesGiveAReport) {
  Random random(3);
  for (const auto& file : rdb::testing::files_of_all_versions()) {
    for (const std::string_view format : {"json", "csv", "memory"}) {
      EXPECT_FALSE(report({.format = std::string(format)}, file.bytes).empty());
    }
    for (int round = 0; round < 100; round++) {
      std::string bytes = file.bytes;
      bytes[random.below(bytes.size())] ^= static_cast<char>(1u << random.below(8));
      std::string out;
      RdbReportOptions options{.path = "f", .format = "json"};
      (void)report_rdb(options, bytes, [&](std::string_view text) { out += text; });
      EXPECT_TRUE(out.starts_with("{") && out.ends_with("}\n"));
    }
  }
}

TEST(RdbReport, PrefixDepthAndSeparator) {
  FileBuilder file("REDIS0011");
  for (const char* name : {"a:b:1", "a:b:2", "a:c:1", "a|b"}) file.key(name, text_value("v"));
  const std::string bytes = file.end();
  EXPECT_TRUE(contains(report({.format = "json"}, bytes), R"("prefix":"a:","keys":3)"));
  EXPECT_TRUE(contains(report({.format = "json", .prefix = {.depth = 2}}, bytes),
                       R"("prefix":"a:b:","keys":2)"));
  EXPECT_TRUE(contains(report({.format = "json", .prefix = {.separator = '|'}}, bytes),
                       R"("prefix":"a|","keys":1)"));
}

TEST(RdbTotals, ManyPrefixesStayBounded) {
  RdbTotals totals({}, 3);
  KeyFacts facts;
  for (size_t i = 0; i < RdbTotals::kMostPrefixes + 10; i++) {
    facts.name = std::to_string(i) + ":x";
    facts.memory = i % 1000;
    totals.add(facts);
    totals.offer(facts);
  }
  EXPECT_EQ(totals.all().keys, RdbTotals::kMostPrefixes + 10);
  uint64_t keys = 0;
  const auto prefixes = totals.prefixes(RdbTotals::kMostPrefixes + 1);
  for (const NamedTotals& named : prefixes) keys += named.totals.keys;
  EXPECT_EQ(keys, totals.all().keys);
  EXPECT_EQ(prefixes.size(), RdbTotals::kMostPrefixes + 1);
  ASSERT_EQ(totals.biggest().size(), 3u);
  EXPECT_EQ(totals.biggest()[0].memory, 999u);
}

TEST(JsonText, AnyBytesAreAString) {
  EXPECT_EQ(json_text("a\"b\\c\n\x7f"), R"("a\"b\\c\u000a\u007f")");
  EXPECT_EQ(json_text("gr\xc3\xbc\xc3\x9f \xf0\x9f\x8c\xbf"),
            "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x8c\xbf\"");
  EXPECT_EQ(json_text("\xff\xc3"), R"("\u00ff\u00c3")");
  // An overlong form, a surrogate, beyond the last character.
  for (const std::string_view bad : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(RdbReport, Arguments) {
  const auto parse = [](std::vector<std::string> args) { return parse_rdb_report_options(args); };
  const auto options = parse({"--format=csv", "--bytes", "2kb", "dump.rdb", "--depth", "2"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->format, "csv");
  EXPECT_EQ(options->least_bytes, 2048u);
  EXPECT_EQ(options->path, "dump.rdb");
  EXPECT_EQ(options->prefix.depth, 2u);
  EXPECT_FALSE(parse({}));
  EXPECT_FALSE(parse({"a", "b"}));
  EXPECT_FALSE(parse({"a", "--bytes"}));
  EXPECT_FALSE(parse({"a", "--bytes", "many"}));
  EXPECT_FALSE(parse({"a", "--type", "none"}));
  EXPECT_FALSE(parse({"a", "--separator", ""}));
  EXPECT_FALSE(parse({"a", "--unknown", "x"}));
}

}  // namespace
}  // namespace sorrel::tools
