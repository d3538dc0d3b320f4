// sorrel-check-rdb: reports on valid and on randomly damaged files.

#include "tools/check_rdb.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "rdb/file_fixture.h"

namespace sorrel::tools {
namespace {

using rdb::Opcode;
using rdb::testing::FileBuilder;
using rdb::testing::text_value;

constexpr int64_t kNow = 1'700'000'000'000;

struct Outcome {
  std::optional<uint64_t> end;
  std::string report;
  bool says(std::string_view text) const { return report.find(text) != std::string::npos; }
};

Outcome check(std::string_view bytes) {
  Outcome outcome;
  outcome.end =
      check_rdb("dump.rdb", bytes, kNow, [&](std::string_view text) { outcome.report += text; });
  return outcome;
}

FileBuilder small_file() {
  FileBuilder file("REDIS0011");
  file.aux("redis-ver", "7.2.0");
  file.database(3);
  file.opcode(Opcode::kExpiryMs).number(int64_t{kNow - 1});
  file.key("old", text_value("1"));
  file.opcode(Opcode::kExpiryMs).number(int64_t{kNow + 1});
  file.key("young", text_value("2"));
  file.key("eternal", text_value("3"));
  return file;
}

TEST(CheckRdb, GoodFile) {
  const std::string bytes = small_file().end();
  const Outcome outcome = check(bytes);
  EXPECT_EQ(outcome.end, bytes.size());
  EXPECT_TRUE(outcome.says("[offset 0] Checking RDB file dump.rdb\n"));
  EXPECT_TRUE(outcome.says("AUX FIELD redis-ver = '7.2.0'\n"));
  EXPECT_TRUE(outcome.says("Selecting DB ID 3\n"));
  EXPECT_TRUE(outcome.says("Checksum OK\n"));
  EXPECT_TRUE(outcome.says("\\o/ RDB looks OK! \\o/\n"));
  EXPECT_TRUE(outcome.says("[info] 3 keys read\n[info] 2 expires\n[info] 1 already expired\n"));
}

TEST(CheckRdb, EveryVersion) {
  for (const auto& file : rdb::testing::files_of_all_versions()) {
    EXPECT_EQ(check(file.bytes).end, file.bytes.size()) << file.name;
  }
}

TEST(CheckRdb, WhatFollowsIsLeftAlone) {
  const std::string bytes = small_file().end();
  EXPECT_EQ(check(bytes + "*1\r\n$4\r\nPING\r\n").end, bytes.size());
}

TEST(CheckRdb, WrongChecksum) {
  std::string bytes = small_file().end();
  bytes.back() ^= 1;
  const Outcome outcome = check(bytes);
  EXPECT_FALSE(outcome.end);
  EXPECT_TRUE(outcome.says("--- RDB ERROR DETECTED ---\n"));
  EXPECT_TRUE(outcome.says("While doing: check-sum\n"));
  EXPECT_FALSE(outcome.says("Reading type"));
  EXPECT_TRUE(outcome.says("[info] 3 keys read\n"));
}

TEST(CheckRdb, NoChecksum) {
  std::string bytes = small_file().end_without_sum();
  bytes += std::string(8, '\0');
  const Outcome outcome = check(bytes);
  EXPECT_EQ(outcome.end, bytes.size());
  EXPECT_TRUE(outcome.says("checksum disabled"));
  EXPECT_FALSE(outcome.says("Checksum OK"));
}

TEST(CheckRdb, ReportsThePositionOfAFailure) {
  FileBuilder file = small_file();
  std::string list = rdb::testing::flat_value(rdb::ObjectType::kList, {"one", "two"});
  list.resize(list.size() - 2);
  std::string bytes = file.key("broken checksum", list).end_without_sum();
  bytes.pop_back();
  const Outcome outcome = check(bytes);
  EXPECT_FALSE(outcome.end);
  EXPECT_TRUE(outcome.says("While doing: read-object-value\n"));
  EXPECT_TRUE(outcome.says("Reading key 'broken checksum'\n"));
  EXPECT_TRUE(outcome.says("Reading type 1 (list-linked)\n"));
  EXPECT_TRUE(outcome.says("[info] 3 keys read\n"));
}

TEST(CheckRdb, ValuesOfModulesAreNamed) {
  // Nine letters of six bits each and ten bits of a version: "ReJSON-RL", 3.
  constexpr uint64_t kId = 0x45e25238df912c03ull;
  std::string value;
  rdb::Writer to(value, false);
  to.byte(static_cast<uint8_t>(rdb::ObjectType::kModule2));
  to.length(kId);
  to.length(0);
  FileBuilder file = small_file();
  const Outcome outcome = check(file.key("document", value).end());
  EXPECT_FALSE(outcome.end);
  EXPECT_TRUE(outcome.says("module data I can't load: no matching module type 'ReJSON-RL'"));
}

TEST(CheckRdb, NoRdbAtAll) {
  for (const std::string_view bytes :
       {"", "RED", "*1\r\n$4\r\nPING\r\n", "REDIS9999", "REDISabcd"}) {
    const Outcome outcome = check(bytes);
    EXPECT_FALSE(outcome.end) << bytes;
    EXPECT_TRUE(outcome.says("While doing: start\n")) << bytes;
  }
}

TEST(CheckRdb, ControlCharactersDoNotReachTheTerminal) {
  FileBuilder file("REDIS0011");
  file.aux("name\x1b[2J", "value\r\nforged line");
  const Outcome outcome = check(file.end());
  EXPECT_TRUE(outcome.end);
  EXPECT_TRUE(outcome.says("AUX FIELD name\\x1b[2J = 'value\\r\\nforged line'\n"));
}

// A version without checksums would not detect the damage.
TEST(CheckRdb, VersionThatWasMadeOlder) {
  std::string bytes = small_file().end();
  bytes[7] = '0';
  bytes[8] = '4';
  EXPECT_FALSE(check(bytes).end);
}

// A damaged file has the right checksum only by accident, so every mutation must be rejected.
TEST(CheckRdb, DamageIsAlwaysRejected) {
  Random random(7);
  for (const auto& file : rdb::testing::files_of_all_versions()) {
    const bool has_sum = check(file.bytes).says("Checksum OK");
    for (int round = 0; round < 200; round++) {
      std::string bytes = file.bytes;
      if (round % 4 == 0) {
        bytes.resize(random.below(bytes.size()));
      } else {
        bytes[random.below(bytes.size())] ^= static_cast<char>(1u << random.below(8));
      }
      const Outcome outcome = check(bytes);
      EXPECT_LT(outcome.report.size(), 100'000u);
      EXPECT_FALSE(has_sum && outcome.end) << file.name << " round " << round;
    }
  }
}

TEST(CheckRdb, Program) {
  std::string out;
  std::string errors;
  const auto run = [&](std::vector<std::string> args) {
    out.clear();
    errors.clear();
    return check_rdb_program(
        "redis-check-rdb", args, [&](std::string_view text) { out += text; },
        [&](std::string_view text) { errors += text; });
  };
  EXPECT_EQ(run({}), 1);
  EXPECT_EQ(errors, "Usage: redis-check-rdb <rdb-file-name>\n");
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_TRUE(out.starts_with("sorrel-check-rdb "));
  EXPECT_EQ(run({"/nowhere/dump.rdb"}), 1);
  EXPECT_EQ(errors, "Cannot open file /nowhere/dump.rdb: No such file or directory\n");
  EXPECT_EQ(run({"/"}), 1);
}

}  // namespace
}  // namespace sorrel::tools
