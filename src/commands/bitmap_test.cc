// Bit commands and BITFIELD: boundary positions, encodings, effects and events.

#include <gtest/gtest.h>

#include <string>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class Bitmap : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  std::string integer(int64_t value) { return "(integer) " + std::to_string(value); }
  void quiet() {
    server_.effects();
    server_.events();
  }

  TestServer server_{{string_bindings(), string_set_bindings(), bitmap_bindings(), keys_bindings()},
                     GetParam()};
};

constexpr std::string_view kBadOffset = "(error) ERR bit offset is not an integer or out of range";
constexpr std::string_view kBadInteger = "(error) ERR value is not an integer or out of range";
constexpr std::string_view kSyntax = "(error) ERR syntax error";

TEST_P(Bitmap, SetbitGrowsAndAnswersTheOldBit) {
  EXPECT_EQ(server_("SETBIT k 7 1"), "(integer) 0");
  EXPECT_EQ(server_("SETBIT k 7 0"), "(integer) 1");
  EXPECT_EQ(server_("GET k"), R"("\x00")");
  EXPECT_EQ(server_("SETBIT k 17 1"), "(integer) 0");
  EXPECT_EQ(server_("GET k"), R"("\x00\x00@")");
  EXPECT_EQ(server_("GETBIT k 17"), "(integer) 1");
  EXPECT_EQ(server_("GETBIT k 16"), "(integer) 0");
  EXPECT_EQ(server_("GETBIT k 100000"), "(integer) 0");
  EXPECT_EQ(server_("GETBIT none 0"), "(integer) 0");
}

TEST_P(Bitmap, SetbitOfAnIntegerChangesItsText) {
  server_("SET n 1");
  EXPECT_EQ(server_("GETBIT n 2"), "(integer) 1");
  EXPECT_EQ(server_("SETBIT n 6 1"), "(integer) 0");
  EXPECT_EQ(server_("GET n"), R"("3")");
  EXPECT_EQ(server_("OBJECT ENCODING n"), R"("raw")");
}

TEST_P(Bitmap, SetbitIsAChangeWhenSomethingChanges) {
  server_("SETBIT k 3 0");
  EXPECT_EQ(server_.effects(), Texts{"SETBIT k 3 0"}) << "the key is new";
  EXPECT_EQ(server_.events(), Texts{"setbit k"});
  server_("SETBIT k 3 0");
  server_("SETBIT k 7 0");
  EXPECT_EQ(server_.effects(), Texts{});
  EXPECT_EQ(server_.events(), Texts{});
  server_("SETBIT k 8 0");
  EXPECT_EQ(server_.effects(), Texts{"SETBIT k 8 0"}) << "the string grew";
}

TEST_P(Bitmap, WhatMightHaveChangedAStringMakesItRaw) {
  server_("SET a 1");
  server_("SET b 1");
  server_("SET c v");
  server_("SETBIT a 2 1");
  server_("BITFIELD b SET u8 0 49");
  server_("BITFIELD c GET u8 0");
  EXPECT_EQ(server_("OBJECT ENCODING a"), R"("raw")");
  EXPECT_EQ(server_("OBJECT ENCODING b"), R"("raw")");
  EXPECT_EQ(server_("OBJECT ENCODING c"), R"("embstr")");
  EXPECT_EQ(server_("GET a"), R"("1")");
}

TEST_P(Bitmap, SetbitKeepsTheDeadline) {
  server_("SET k v");
  server_("EXPIRE k 100");
  server_("SETBIT k 100 1");
  EXPECT_EQ(server_("TTL k"), "(integer) 100");
}

TEST_P(Bitmap, OffsetsAreCheckedBeforeAnythingHappens) {
  for (const char* offset : {"-1", "x", "4294967296", "99999999999999999999", "1.5", "", "#1"}) {
    EXPECT_EQ(server_("SETBIT k '" + std::string(offset) + "' 1"), kBadOffset) << offset;
    EXPECT_EQ(server_("GETBIT k '" + std::string(offset) + "'"), kBadOffset) << offset;
  }
  EXPECT_EQ(server_("SETBIT k 0 2"), "(error) ERR bit is not an integer or out of range");
  EXPECT_EQ(server_("SETBIT k 0 x"), "(error) ERR bit is not an integer or out of range");
  EXPECT_EQ(server_("GETBIT k 4294967295"), "(integer) 0");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
  EXPECT_EQ(server_.effects(), Texts{});
}

TEST_P(Bitmap, BitcountByBytesAndBits) {
  server_("SET k foobar");
  EXPECT_EQ(server_("BITCOUNT k"), "(integer) 26");
  EXPECT_EQ(server_("BITCOUNT k 0 0"), "(integer) 4");
  EXPECT_EQ(server_("BITCOUNT k 1 1"), "(integer) 6");
  EXPECT_EQ(server_("BITCOUNT k -2 -1"), "(integer) 7");
  EXPECT_EQ(server_("BITCOUNT k -2 1000"), "(integer) 7");
  EXPECT_EQ(server_("BITCOUNT k 5 30 BIT"), "(integer) 17");
  EXPECT_EQ(server_("BITCOUNT k 5 -18 bit"), "(integer) 17");
  EXPECT_EQ(server_("BITCOUNT k 1 1 BYTE"), "(integer) 6");
  EXPECT_EQ(server_("BITCOUNT k 4 2"), "(integer) 0");
  EXPECT_EQ(server_("BITCOUNT k -10 -20"), "(integer) 0");
  EXPECT_EQ(server_("BITCOUNT k 100 200"), "(integer) 0");
  EXPECT_EQ(server_("BITCOUNT k -9223372036854775808 9223372036854775807"), "(integer) 26");
  EXPECT_EQ(server_("BITCOUNT none"), "(integer) 0");
  EXPECT_EQ(server_("BITCOUNT none 0 -1"), "(integer) 0");
}

TEST_P(Bitmap, BitcountGrammar) {
  EXPECT_EQ(server_("BITCOUNT k 1"), kSyntax);
  EXPECT_EQ(server_("BITCOUNT k 1 2 BITS"), kSyntax);
  EXPECT_EQ(server_("BITCOUNT k 1 2 BIT x"), kSyntax);
  EXPECT_EQ(server_("BITCOUNT k a 2"), kBadInteger);
  EXPECT_EQ(server_("BITCOUNT k 1 b"), kBadInteger);
}

TEST_P(Bitmap, BitposFindsTheFirst) {
  server_(R"(SET k "\xff\xf0\x00")");
  EXPECT_EQ(server_("BITPOS k 0"), "(integer) 12");
  EXPECT_EQ(server_("BITPOS k 1 2"), "(integer) -1");
  EXPECT_EQ(server_("BITPOS k 0 2"), "(integer) 16");
  EXPECT_EQ(server_("BITPOS k 1 0 -1 BIT"), "(integer) 0");
  EXPECT_EQ(server_("BITPOS k 1 12 23 BIT"), "(integer) -1");
  EXPECT_EQ(server_("BITPOS k 0 7 15 BIT"), "(integer) 12");
  EXPECT_EQ(server_("BITPOS k 0 8 11 BIT"), "(integer) -1");
  EXPECT_EQ(server_("BITPOS k 1 1 1 BIT"), "(integer) 1");
}

TEST_P(Bitmap, BitposSeesZerosAfterTheStringUnlessAnEndIsGiven) {
  server_(R"(SET k "\xff\xff")");
  EXPECT_EQ(server_("BITPOS k 0"), "(integer) 16");
  EXPECT_EQ(server_("BITPOS k 0 1"), "(integer) 16");
  EXPECT_EQ(server_("BITPOS k 0 0 -1"), "(integer) -1");
  EXPECT_EQ(server_("BITPOS k 0 2"), "(integer) -1");
  EXPECT_EQ(server_("BITPOS none 0"), "(integer) 0");
  EXPECT_EQ(server_("BITPOS none 1"), "(integer) -1");
  server_("SET e ''");
  EXPECT_EQ(server_("BITPOS e 0"), "(integer) -1");
}

TEST_P(Bitmap, BitposGrammar) {
  EXPECT_EQ(server_("BITPOS k 2"), "(error) ERR The bit argument must be 1 or 0.");
  EXPECT_EQ(server_("BITPOS k x"), kBadInteger);
  EXPECT_EQ(server_("BITPOS k 1 x"), kBadInteger);
  EXPECT_EQ(server_("BITPOS k 1 0 x"), kBadInteger);
  EXPECT_EQ(server_("BITPOS k 1 0 x BITS"), kSyntax);
  EXPECT_EQ(server_("BITPOS k 1 0 1 BIT x"), kSyntax);
}

TEST_P(Bitmap, BitopCombines) {
  server_(R"(SET a "\x0f\xff")");
  server_(R"(SET b "\x3c")");
  EXPECT_EQ(server_("BITOP AND d a b"), "(integer) 2");
  EXPECT_EQ(server_("GET d"), R"("\x0c\x00")");
  server_("BITOP or d a b none");
  EXPECT_EQ(server_("GET d"), R"("?\xff")");
  server_("BITOP XOR d a b");
  EXPECT_EQ(server_("GET d"), R"("3\xff")");
  server_("BITOP NOT d a");
  EXPECT_EQ(server_("GET d"), R"("\xf0\x00")");
  server_("BITOP DIFF d a b");
  EXPECT_EQ(server_("GET d"), R"("\x03\xff")");
  server_("BITOP DIFF1 d a b");
  EXPECT_EQ(server_("GET d"), R"("0\x00")");
  server_("BITOP ANDOR d a b none");
  EXPECT_EQ(server_("GET d"), R"("\x0c\x00")");
  server_("BITOP ONE d a b");
  EXPECT_EQ(server_("GET d"), R"("3\xff")");
}

TEST_P(Bitmap, BitopMayWriteToASource) {
  server_(R"(SET a "\x0f")");
  server_("SET b 1");
  EXPECT_EQ(server_("BITOP OR a a b"), "(integer) 1");
  EXPECT_EQ(server_("GET a"), R"("?")");
  EXPECT_EQ(server_("BITOP NOT a a"), "(integer) 1");
  EXPECT_EQ(server_("GET a"), R"("\xc0")");
  server_("SET long abcdef");
  server_("EXPIRE b 100");
  EXPECT_EQ(server_("BITOP XOR b long b none b"), "(integer) 6");
  EXPECT_EQ(server_("GET b"), R"("abcdef")") << "it grew, and counted twice";
  EXPECT_EQ(server_("TTL b"), "(integer) -1");
  EXPECT_EQ(server_("BITOP OR new new long"), "(integer) 6");
  EXPECT_EQ(server_("GET new"), R"("abcdef")");
}

TEST_P(Bitmap, BitopReplacesWhatWasThereAndItsDeadline) {
  server_("SET d old-and-much-longer-than-the-result");
  server_("EXPIRE d 100");
  server_("SET a 12");
  quiet();
  EXPECT_EQ(server_("BITOP AND d a"), "(integer) 2");
  EXPECT_EQ(server_.effects(), Texts{"BITOP AND d a"});
  EXPECT_EQ(server_.events(), Texts{"set d"});
  EXPECT_EQ(server_("GET d"), R"("12")");
  EXPECT_EQ(server_("TTL d"), "(integer) -1");
}

TEST_P(Bitmap, BitopOverAStringOfTheSameLength) {
  server_("SET a abcdef");
  server_("SET d 123456 EX 100");
  quiet();
  EXPECT_EQ(server_("BITOP OR d a"), "(integer) 6");
  EXPECT_EQ(server_("GET d"), R"("abcdef")");
  EXPECT_EQ(server_("TTL d"), "(integer) -1");
  EXPECT_EQ(server_("OBJECT ENCODING d"), R"("raw")");
  EXPECT_EQ(server_.events(), Texts{"set d"});
}

TEST_P(Bitmap, BitopOfNothingDeletes) {
  server_("SET d v");
  quiet();
  EXPECT_EQ(server_("BITOP AND d none1 none2"), "(integer) 0");
  EXPECT_EQ(server_.events(), Texts{"del d"});
  EXPECT_EQ(server_("EXISTS d"), "(integer) 0");
  quiet();
  EXPECT_EQ(server_("BITOP AND d none1 none2"), "(integer) 0");
  EXPECT_EQ(server_.effects(), Texts{});
}

TEST_P(Bitmap, BitopGrammar) {
  EXPECT_EQ(server_("BITOP NAND d a"), kSyntax);
  EXPECT_EQ(server_("BITOP NOT d a b"),
            "(error) ERR BITOP NOT must be called with a single source key.");
  EXPECT_EQ(server_("BITOP diff1 d a"),
            "(error) ERR BITOP DIFF1 must be called with at least two source keys.");
}

TEST_P(Bitmap, BitopOfLongStrings) {
  server_("SETBIT a 9999999 1");
  server_("SETBIT b 9999990 1");
  EXPECT_EQ(server_("BITOP OR d a b"), integer(1250000));
  EXPECT_EQ(server_("BITCOUNT d"), "(integer) 2");
  EXPECT_EQ(server_("BITPOS d 1"), "(integer) 9999990");
  EXPECT_EQ(server_("BITOP OR a a d"), integer(1250000));
  EXPECT_EQ(server_("BITCOUNT a"), "(integer) 2");
}

TEST_P(Bitmap, BitfieldReadsAndWrites) {
  EXPECT_EQ(server_("BITFIELD k SET u8 0 255 GET u8 0 GET i8 0 GET u4 #1"),
            "[(integer) 0, (integer) 255, (integer) -1, (integer) 15]");
  EXPECT_EQ(server_("BITFIELD k INCRBY i5 100 1 GET u4 0"), "[(integer) 1, (integer) 15]");
  EXPECT_EQ(server_("BITFIELD k SET i16 #1 -2 GET i16 16 GET u16 16"),
            "[(integer) 0, (integer) -2, (integer) 65534]");
  EXPECT_EQ(server_("BITFIELD k"), "[]");
  EXPECT_EQ(server_("BITFIELD none GET u63 #1"), "[(integer) 0]");
  EXPECT_EQ(server_("EXISTS none"), "(integer) 0");
}

TEST_P(Bitmap, BitfieldOverflows) {
  EXPECT_EQ(server_("BITFIELD k SET u8 0 250 INCRBY u8 0 10 OVERFLOW SAT INCRBY u8 0 300 INCRBY "
                    "u8 0 -1000 OVERFLOW FAIL INCRBY u8 0 -1 INCRBY u8 0 5"),
            "[(integer) 0, (integer) 4, (integer) 255, (integer) 0, (nil), (integer) 5]");
  EXPECT_EQ(server_("BITFIELD k SET i64 0 9223372036854775807 INCRBY i64 0 1"),
            "[(integer) 360287970189639680, (integer) -9223372036854775808]");
  server_.caller.protocol = 3;
  EXPECT_EQ(server_("BITFIELD k OVERFLOW FAIL SET u2 0 9"), "[(null)]");
}

TEST_P(Bitmap, BitfieldWithoutChangeIsNone) {
  server_("BITFIELD k SET u8 0 7");
  quiet();
  EXPECT_EQ(server_("BITFIELD k SET u8 0 7 INCRBY u8 0 0 GET u8 0"),
            "[(integer) 7, (integer) 7, (integer) 7]");
  EXPECT_EQ(server_("BITFIELD k OVERFLOW FAIL INCRBY u8 0 1000"), "[(nil)]");
  EXPECT_EQ(server_.effects(), Texts{});
  EXPECT_EQ(server_.events(), Texts{});
  server_("BITFIELD k SET u8 0 8");
  EXPECT_EQ(server_.effects(), Texts{"BITFIELD k SET u8 0 8"});
  EXPECT_EQ(server_.events(), Texts{"setbit k"});
}

TEST_P(Bitmap, BitfieldGrammar) {
  constexpr std::string_view kBadType =
      "(error) ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not "
      "supported but i64 is.";
  EXPECT_EQ(server_("BITFIELD k GET u64 0"), kBadType);
  EXPECT_EQ(server_("BITFIELD k SET x8 x x"), kBadType);
  EXPECT_EQ(server_("BITFIELD k GET u8 -1"), kBadOffset);
  EXPECT_EQ(server_("BITFIELD k GET u8 #-1"), kBadOffset);
  EXPECT_EQ(server_("BITFIELD k GET u8 #99999999999999999"), kBadOffset);
  EXPECT_EQ(server_("BITFIELD k SET u8 #536870912 1"), kBadOffset);
  EXPECT_EQ(server_("BITFIELD k SET u8 0 x"), kBadInteger);
  EXPECT_EQ(server_("BITFIELD k GET u8"), kSyntax);
  EXPECT_EQ(server_("BITFIELD k SET u8 0"), kSyntax);
  EXPECT_EQ(server_("BITFIELD k OVERFLOW"), kSyntax);
  EXPECT_EQ(server_("BITFIELD k OVERFLOW NEVER"), "(error) ERR Invalid OVERFLOW type specified");
  EXPECT_EQ(server_("BITFIELD_RO k SET u8 0 1"),
            "(error) ERR BITFIELD_RO only supports the GET subcommand");
  EXPECT_EQ(server_("BITFIELD_RO k GET u8 0 GET u8 8"), "[(integer) 0, (integer) 0]");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
}

INSTANTIATE_TEST_SUITE_P(Shapes, Bitmap, ::testing::Values(kOneWorker, kFourWorkers), ShapeName{});

}  // namespace
}  // namespace sorrel::commands
