#include "persist/manifest.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sorrel::persist {
namespace {

Manifest parsed(std::string_view text) {
  Manifest manifest;
  const auto problem = parse_manifest(text, manifest);
  EXPECT_FALSE(problem) << problem->reason;
  return manifest;
}

std::string refused(std::string_view text) {
  Manifest manifest;
  const auto problem = parse_manifest(text, manifest);
  return problem ? std::to_string(problem->line) + ": " + problem->reason : "accepted";
}

TEST(ManifestTest, NamesOfPartsFollowTheirNumbers) {
  Manifest manifest;
  EXPECT_EQ(manifest.add_base("log", true), "log.1.base.rdb");
  EXPECT_EQ(manifest.add_increment("log"), "log.1.incr.aof");
  EXPECT_EQ(manifest.add_increment("log"), "log.2.incr.aof");
  EXPECT_EQ(manifest.add_base("log", false), "log.2.base.aof");
  EXPECT_TRUE(manifest.retire_increments(1).empty());
  EXPECT_EQ(format_manifest(manifest),
            "file log.2.base.aof seq 2 type b\n"
            "file log.1.incr.aof seq 1 type h\n"
            "file log.1.base.rdb seq 1 type h\n"
            "file log.2.incr.aof seq 2 type i\n");
  EXPECT_EQ(parsed(format_manifest(manifest)), manifest);
}

TEST(ManifestTest, NamesThatAreNotOneWordAreQuoted) {
  Manifest manifest;
  manifest.add_increment(" file seq \n.aof ");
  EXPECT_EQ(format_manifest(manifest), "file \" file seq \\n.aof .1.incr.aof\" seq 1 type i\n");
  EXPECT_EQ(parsed(format_manifest(manifest)), manifest);
}

TEST(ManifestTest, UnknownPairsAndCommentsArePassedOver) {
  const Manifest manifest = parsed("# a comment\nfile a seq 3 type b colour red\n");
  EXPECT_EQ(manifest.base, (LogPart{"a", 3}));
  EXPECT_EQ(manifest.base_sequence, 3);
}

TEST(ManifestTest, NumbersOfIncrementsMayHaveGaps) {
  const Manifest manifest = parsed("file a seq 1 type i\nfile b seq 3 type i\n");
  EXPECT_EQ(manifest.increment_sequence, 3);
}

// A file that is to be deleted keeps its name until it is.
TEST(ManifestTest, NumbersOfHistoryAreNotGivenAgain) {
  Manifest manifest = parsed(
      "file l.4.base.rdb seq 4 type b\nfile l.7.incr.aof seq 7 type h\n"
      "file l.9.base.aof seq 9 type h\n");
  EXPECT_EQ(manifest.add_increment("l"), "l.8.incr.aof");
  EXPECT_EQ(manifest.add_base("l", true), "l.10.base.rdb");
}

TEST(ManifestTest, TheNameOfTheLogDoesNotMakeAPartAnIncrement) {
  Manifest manifest;
  manifest.add_base("my.incr.log", true);
  manifest.add_increment("my.incr.log");
  manifest.add_base("my.incr.log", true);
  EXPECT_TRUE(manifest.retire_increments(0).empty());
  EXPECT_EQ(parsed(format_manifest(manifest)), manifest);
}

TEST(ManifestTest, WhatIsWrongIsRefusedWithItsLine) {
  const std::string good = "file a seq 1 type b\n";
  EXPECT_EQ(refused(""), "1: Found an empty AOF manifest");
  EXPECT_EQ(refused("# nothing\n"), "1: Found an empty AOF manifest");
  EXPECT_EQ(refused(good + "\n" + good), "2: Invalid AOF manifest file format");
  EXPECT_EQ(refused("filx a seq 1 type b\n"), "1: Invalid AOF manifest file format");
  EXPECT_EQ(refused("file a type i\n"), "1: Invalid AOF manifest file format");
  EXPECT_EQ(refused("file a seq 1 type i odd\n"), "1: Invalid AOF manifest file format");
  EXPECT_EQ(refused("file a seq 0 type i\n"), "1: Invalid AOF manifest file format");
  EXPECT_EQ(refused("file a seq 1 type i"), "1: Invalid AOF manifest file format");
  EXPECT_EQ(refused("file \"a seq 1 type i\n"), "1: Invalid AOF manifest file format");
  EXPECT_EQ(refused("file a seq 1 type x\n"), "1: Unknown AOF file type");
  EXPECT_EQ(refused("file a seq 1 type bb\n"), "1: Unknown AOF file type");
  EXPECT_EQ(refused(good + "file b seq 2 type b\n"), "2: Found duplicate base file information");
  EXPECT_EQ(refused("file a seq 2 type i\nfile b seq 2 type i\n"),
            "2: Found a non-monotonic sequence number");
  for (const char* first : {"b", "i", "h"}) {
    EXPECT_EQ(refused("file a seq 1 type " + std::string(first) + "\nfile a seq 2 type i\n"),
              "2: Found a file that is named twice");
    EXPECT_EQ(refused("file a seq 1 type " + std::string(first) + "\nfile a seq 1 type h\n"),
              "2: Found a file that is named twice");
  }
  EXPECT_EQ(refused(good + good), "2: Found duplicate base file information");
  EXPECT_EQ(refused("file a seq 1 type b file b seq 1 type i\n"),
            "1: Invalid AOF manifest file format");
  EXPECT_EQ(refused("file " + std::string(2000, 'a') + " seq 1 type i\n"),
            "1: The AOF manifest file contains too long line");
}

// What comes next has a greater number, and the manifest that names it can be read.
TEST(ManifestTest, NumbersLeaveRoomForMore) {
  for (const char* type : {"b", "i", "h"}) {
    const auto with = [type](std::string_view number) {
      return "file a seq " + std::string(number) + " type " + type + "\n";
    };
    EXPECT_EQ(refused(with("9223372036854775807")), "1: Invalid AOF manifest file format");
    EXPECT_EQ(refused(with("4611686018427387905")), "1: Invalid AOF manifest file format");
    Manifest manifest = parsed(with("4611686018427387900"));
    for (int i = 0; i < 3; i++) {
      manifest.add_base("log", true);
      manifest.add_increment("log");
    }
    EXPECT_EQ(parsed(format_manifest(manifest)).increments, manifest.increments);
  }
}

// As many parts as a manifest can name are read and retired in the time of a blink.
TEST(ManifestTest, ManyPartsTakeLittleTime) {
  constexpr int kParts = 150'000;
  std::string text;
  for (int i = 0; i < kParts; i++) text += "file " + std::to_string(i) + " seq 1 type h\n";
  EXPECT_EQ(parsed(text).history.size(), size_t{kParts});
  EXPECT_EQ(refused(text + "file 77 seq 1 type h\n"),
            std::to_string(kParts + 1) + ": Found a file that is named twice");
  Manifest manifest;
  manifest.add_base("log", true);
  for (int i = 0; i < kParts; i++) manifest.add_increment("log");
  manifest.add_base("log", true);
  EXPECT_TRUE(manifest.retire_increments(2).empty());
  ASSERT_EQ(manifest.history.size(), size_t{kParts - 1});
  EXPECT_EQ(manifest.history.front().sequence, kParts - 2);
  EXPECT_EQ(manifest.history.back().sequence, 1);
  EXPECT_EQ(manifest.increments.front().sequence, kParts - 1);
  EXPECT_TRUE(manifest.retire_increments(5).empty());
  EXPECT_EQ(manifest.increments.size(), 2u);
}

// One bit makes history of an increment, and what is history is deleted.
TEST(ManifestTest, AnIncrementIsNotHistoryBeforeItsTime) {
  const std::string base = "file a.2.base.rdb seq 2 type b\n";
  const std::string reason = ": An increment is said to be history that nothing has replaced";
  EXPECT_EQ(refused(base + "file a.2.incr.aof seq 2 type h\n"), "2" + reason);
  EXPECT_EQ(refused(base + "file a.2.incr.aof seq 2 type i\nfile a.3.incr.aof seq 3 type h\n"),
            "3" + reason);
  EXPECT_EQ(refused(base + "file a.2.incr.aof seq 2 type h\nfile a.3.incr.aof seq 3 type i\n"),
            "3" + reason);
  // A rewrite leaves the base before it as well, until all of it is deleted.
  EXPECT_EQ(parsed(base + "file a.1.incr.aof seq 1 type h\nfile a.1.base.rdb seq 1 type h\n")
                .history.size(),
            2u);
}

// A log without a base may begin so; what we write of it can be read again.
TEST(ManifestTest, IncrementsThatHadNoBaseAreNotHistory) {
  Manifest manifest = parsed("file a.1.incr.aof seq 1 type i\nfile a.2.incr.aof seq 2 type i\n");
  manifest.add_base("a", true);
  const std::vector<LogPart> retired = manifest.retire_increments(1);
  ASSERT_EQ(retired.size(), 1u);
  EXPECT_EQ(retired[0].name, "a.1.incr.aof");
  EXPECT_EQ(format_manifest(manifest),
            "file a.1.base.rdb seq 1 type b\nfile a.2.incr.aof seq 2 type i\n");
}

TEST(ManifestTest, NamesDoNotLeadOutOfTheFolder) {
  for (const char* name : {"../a", "/etc/passwd", "a/b", "..", ".", "\"a\\x00b\""}) {
    EXPECT_EQ(refused("file " + std::string(name) + " seq 1 type i\n"),
              "1: File can't be a path, just a filename");
  }
}

// Whatever comes out of damage is refused, or is a manifest that can be written and read again.
TEST(ManifestTest, DamageIsRefusedOrHarmless) {
  Manifest manifest;
  manifest.add_base("appendonly.aof", true);
  for (int i = 0; i < 3; i++) manifest.add_increment("appendonly.aof");
  manifest.add_base("appendonly.aof", true);
  EXPECT_TRUE(manifest.retire_increments(2).empty());
  const std::string good = format_manifest(manifest);
  Random random(7);
  for (int round = 0; round < 20'000; round++) {
    std::string text = good;
    if (round % 2 == 0) text.resize(random.below(text.size()));
    for (uint64_t flips = random.below(4); flips > 0 && !text.empty(); flips--) {
      text[random.below(text.size())] ^= static_cast<char>(1 << random.below(8));
    }
    Manifest read;
    if (parse_manifest(text, read)) continue;
    Manifest again;
    ASSERT_FALSE(parse_manifest(format_manifest(read), again)) << text;
    // Numbers given away are not written; a base that is gone takes its number along.
    EXPECT_EQ(again.increments, read.increments);
    EXPECT_EQ(again.base, read.base);
  }
}

}  // namespace
}  // namespace sorrel::persist
