// The effects of every writing command for the AOF and replicas: absolute times, results instead of
// computations, deletions of expired keys, and nothing for a command that changed nothing.

#include <gtest/gtest.h>

#include <string>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class Effects : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  // The effects of this line, without those of the preparing commands.
  Texts left(std::initializer_list<std::string_view> setting, std::string_view line) {
    clear();
    for (std::string_view before : setting) server_(before);
    server_.effects();
    const std::string answer = server_(line);
    EXPECT_EQ(answer.find("ERR unknown"), std::string::npos) << answer;
    return server_.effects();
  }
  Texts left(std::string_view line) { return left({}, line); }

  // "... PXAT 1700000010000", that many milliseconds from now.
  std::string at(int64_t ms) { return to_text(server_.now_ms() + ms); }

  void clear() {
    for (const char* db : {"1", "0"}) {
      server_.caller.db = db[0] - '0';
      server_("DEL k a b c n f {t}a {t}b");
    }
  }

  TestServer server_{
      {string_bindings(), string_set_bindings(), string_many_bindings(), string_compare_bindings(),
       string_counter_bindings(), string_increx_bindings(), string_lcs_bindings(),
       bitmap_bindings(), keys_bindings()},
      GetParam()};
};

const Texts kNothing;

TEST_P(Effects, Set) {
  EXPECT_EQ(left("SET k v"), Texts{"SET k v"});
  EXPECT_EQ(left("set k v"), Texts{"set k v"});
  EXPECT_EQ(left("SET k v EX 10"), Texts{"SET k v PXAT " + at(10'000)});
  EXPECT_EQ(left("SET k v PX 10"), Texts{"SET k v PXAT " + at(10)});
  EXPECT_EQ(left("SET k v EXAT 33177117420"), Texts{"SET k v PXAT 33177117420000"});
  EXPECT_EQ(left("SET k v PXAT 33177117420123"), Texts{"SET k v PXAT 33177117420123"});
  EXPECT_EQ(left("SET k v NX"), Texts{"SET k v"});
  EXPECT_EQ(left("SET k v GET"), Texts{"SET k v"});
  EXPECT_EQ(left("SET k v NX GET EX 10"), Texts{"SET k v PXAT " + at(10'000)});
  EXPECT_EQ(left("SET k v IFNE w"), Texts{"SET k v"});
  EXPECT_EQ(left({"SET k v EX 10"}, "SET k w KEEPTTL"), Texts{"SET k w KEEPTTL"});
  EXPECT_EQ(left({"SET k v"}, "SET k w XX"), Texts{"SET k w"});
  EXPECT_EQ(left({"SET k v"}, "SET k w IFEQ v"), Texts{"SET k w"});
  EXPECT_EQ(left({"SET k v"}, "SET k w EXAT 1"), Texts{"DEL k"});
  EXPECT_EQ(left({"SET k v"}, "SET k w GET PXAT 1"), Texts{"DEL k"});
  EXPECT_EQ(left("SET k w EXAT 1"), kNothing);
  EXPECT_EQ(left({"SET k v"}, "SET k w NX"), kNothing);
  EXPECT_EQ(left("SET k w XX"), kNothing);
  EXPECT_EQ(left("SET k w XX GET"), kNothing);
  EXPECT_EQ(left({"SET k v"}, "SET k w IFEQ x"), kNothing);
  EXPECT_EQ(left("SET k w EX 0"), kNothing);
  EXPECT_EQ(left("SET k w JUNK"), kNothing);
}

TEST_P(Effects, OlderFormsOfSet) {
  EXPECT_EQ(left("SETNX k v"), Texts{"SET k v"});
  EXPECT_EQ(left({"SET k v"}, "SETNX k w"), kNothing);
  EXPECT_EQ(left("SETEX k 10 v"), Texts{"SET k v PXAT " + at(10'000)});
  EXPECT_EQ(left("PSETEX k 10 v"), Texts{"SET k v PXAT " + at(10)});
  EXPECT_EQ(left("SETEX k 0 v"), kNothing);
  EXPECT_EQ(left("GETSET k v"), Texts{"SET k v"});
}

TEST_P(Effects, ReadingAndChanging) {
  EXPECT_EQ(left({"SET k v"}, "GETDEL k"), Texts{"DEL k"});
  EXPECT_EQ(left("GETDEL k"), kNothing);
  EXPECT_EQ(left({"SET k v"}, "GETEX k"), kNothing);
  EXPECT_EQ(left({"SET k v"}, "GETEX k EX 10"), Texts{"PEXPIREAT k " + at(10'000)});
  EXPECT_EQ(left({"SET k v"}, "GETEX k PX 10"), Texts{"PEXPIREAT k " + at(10)});
  EXPECT_EQ(left({"SET k v"}, "GETEX k EXAT 33177117420"), Texts{"PEXPIREAT k 33177117420000"});
  EXPECT_EQ(left({"SET k v"}, "GETEX k PXAT 1"), Texts{"DEL k"});
  EXPECT_EQ(left({"SET k v EX 10"}, "GETEX k PERSIST"), Texts{"PERSIST k"});
  EXPECT_EQ(left({"SET k v"}, "GETEX k PERSIST"), kNothing);
  EXPECT_EQ(left("GETEX k EX 10"), kNothing);
  EXPECT_EQ(left({"SET k v"}, "GETEX k EX 0"), kNothing);
}

TEST_P(Effects, Many) {
  EXPECT_EQ(left("MSET a 1 b 2"), Texts{"MSET a 1 b 2"});
  EXPECT_EQ(left("MSET a 1 b"), kNothing);
  EXPECT_EQ(left("MSETNX a 1 b 2"), Texts{"MSETNX a 1 b 2"});
  EXPECT_EQ(left({"SET b x"}, "MSETNX a 1 b 2"), kNothing);
  EXPECT_EQ(left("MSETEX 2 a 1 b 2"), Texts{"MSET a 1 b 2"});
  EXPECT_EQ(left("MSETEX 2 a 1 b 2 NX"), Texts{"MSET a 1 b 2"});
  EXPECT_EQ(left("MSETEX 2 a 1 b 2 EX 10"),
            (Texts{"SET a 1 PXAT " + at(10'000), "SET b 2 PXAT " + at(10'000)}));
  EXPECT_EQ(left({"SET a 0 EX 10"}, "MSETEX 2 a 1 b 2 KEEPTTL"),
            (Texts{"SET a 1 KEEPTTL", "SET b 2 KEEPTTL"}));
  EXPECT_EQ(left({"SET a 0"}, "MSETEX 2 a 1 b 2 PXAT 1"), Texts{"DEL a b"});
  EXPECT_EQ(left("MSETEX 2 a 1 b 2 PXAT 1"), kNothing);
  EXPECT_EQ(left("MSETEX 2 a 1 b 2 XX"), kNothing);
  EXPECT_EQ(left({"SET a 0"}, "MSETEX 2 a 1 b 2 NX"), kNothing);
}

TEST_P(Effects, Numbers) {
  EXPECT_EQ(left("INCR n"), Texts{"INCR n"});
  EXPECT_EQ(left("DECR n"), Texts{"DECR n"});
  EXPECT_EQ(left("INCRBY n 5"), Texts{"INCRBY n 5"});
  EXPECT_EQ(left("DECRBY n 5"), Texts{"DECRBY n 5"});
  EXPECT_EQ(left({"SET n x"}, "INCR n"), kNothing);
  EXPECT_EQ(left({"SET n 9223372036854775807"}, "INCR n"), kNothing);
  EXPECT_EQ(left({"SET f 10.5"}, "INCRBYFLOAT f 0.1"), Texts{"SET f 10.6 KEEPTTL"});
  EXPECT_EQ(left("INCRBYFLOAT f 3.0e3"), Texts{"SET f 3000 KEEPTTL"});
  EXPECT_EQ(left("INCRBYFLOAT f x"), kNothing);
}

TEST_P(Effects, Increx) {
  EXPECT_EQ(left("INCREX n"), Texts{"SET n 1 KEEPTTL"});
  EXPECT_EQ(left({"SET n 10 EX 5"}, "INCREX n BYINT 5"), Texts{"SET n 15 KEEPTTL"});
  EXPECT_EQ(left({"SET n 10"}, "INCREX n BYFLOAT 0.5"), Texts{"SET n 10.5 KEEPTTL"});
  EXPECT_EQ(left({"SET n 10"}, "INCREX n EX 10"), Texts{"SET n 11 PXAT " + at(10'000)});
  EXPECT_EQ(left({"SET n 10"}, "INCREX n PXAT 33177117420123"),
            Texts{"SET n 11 PXAT 33177117420123"});
  EXPECT_EQ(left({"SET n 10"}, "INCREX n EX 10 ENX"), Texts{"SET n 11 PXAT " + at(10'000)});
  EXPECT_EQ(left({"SET n 10 EX 5"}, "INCREX n EX 10 ENX"), Texts{"SET n 11 KEEPTTL"});
  EXPECT_EQ(left({"SET n 10 EX 5"}, "INCREX n PERSIST"), Texts{"SET n 11"});
  EXPECT_EQ(left({"SET n 50"}, "INCREX n BYINT 100 UBOUND 80 SATURATE"), Texts{"SET n 80 KEEPTTL"});
  EXPECT_EQ(left({"SET n 50"}, "INCREX n BYINT 100 UBOUND 80"), kNothing);
  EXPECT_EQ(left({"SET n 50"}, "INCREX n EXAT 1"), Texts{"DEL n"});
  EXPECT_EQ(left("INCREX n EXAT 1"), kNothing);
}

TEST_P(Effects, PartsOfStrings) {
  EXPECT_EQ(left("APPEND k x"), Texts{"APPEND k x"});
  EXPECT_EQ(left({"SET k v"}, "APPEND k x"), Texts{"APPEND k x"});
  EXPECT_EQ(left("SETRANGE k 3 x"), Texts{"SETRANGE k 3 x"});
  EXPECT_EQ(left({"SET k v"}, "SETRANGE k 3 ''"), kNothing);
  EXPECT_EQ(left("SETRANGE k 3 ''"), kNothing);
  EXPECT_EQ(left("SETRANGE k -1 x"), kNothing);
}

TEST_P(Effects, ComparedDeletions) {
  EXPECT_EQ(left({"SET k v"}, "DELEX k"), Texts{"DEL k"});
  EXPECT_EQ(left({"SET k v"}, "DELEX k IFEQ v"), Texts{"DEL k"});
  EXPECT_EQ(left({"SET k v"}, "DELEX k IFNE v"), kNothing);
  EXPECT_EQ(left("DELEX k"), kNothing);
  EXPECT_EQ(left({"SET k v"}, "DELIFEQ k v"), Texts{"DEL k"});
  EXPECT_EQ(left({"SET k v"}, "DELIFEQ k w"), kNothing);
}

TEST_P(Effects, Readers) {
  for (const char* line :
       {"GET k", "MGET k a", "STRLEN k", "GETRANGE k 0 -1", "SUBSTR k 0 1", "LCS k a", "DIGEST k",
        "GETBIT k 1", "BITCOUNT k", "BITPOS k 1", "BITFIELD_RO k GET u8 0", "BITFIELD k GET u8 0",
        "EXISTS k", "TYPE k", "TTL k", "TOUCH k", "KEYS *", "SCAN 0", "RANDOMKEY"}) {
    EXPECT_EQ(left({"SET k v"}, line), kNothing) << line;
  }
}

TEST_P(Effects, Bits) {
  EXPECT_EQ(left("SETBIT k 7 1"), Texts{"SETBIT k 7 1"});
  EXPECT_EQ(left({"SETBIT k 7 1"}, "SETBIT k 7 1"), kNothing);
  EXPECT_EQ(left({"SET a x"}, "BITOP NOT k a"), Texts{"BITOP NOT k a"});
  EXPECT_EQ(left({"SET k x"}, "BITOP AND k a b"), Texts{"BITOP AND k a b"});
  EXPECT_EQ(left("BITOP AND k a b"), kNothing);
  EXPECT_EQ(left("BITFIELD k INCRBY u8 0 1"), Texts{"BITFIELD k INCRBY u8 0 1"});
}

TEST_P(Effects, WholeKeys) {
  EXPECT_EQ(left({"SET a 1"}, "DEL a b"), Texts{"DEL a b"});
  EXPECT_EQ(left("DEL a b"), kNothing);
  EXPECT_EQ(left({"SET a 1"}, "RENAME a b"), Texts{"RENAME a b"});
  EXPECT_EQ(left({"SET a 1"}, "RENAME a a"), kNothing);
  EXPECT_EQ(left("RENAME a b"), kNothing);
  EXPECT_EQ(left({"MSET a 1 b 2"}, "RENAMENX a b"), kNothing);
  EXPECT_EQ(left({"SET a 1"}, "COPY a b"), Texts{"COPY a b"});
  EXPECT_EQ(left({"MSET a 1 b 2"}, "COPY a b"), kNothing);
  EXPECT_EQ(left({"SET a 1"}, "MOVE a 1"), Texts{"MOVE a 1"});
  EXPECT_EQ(left("MOVE a 1"), kNothing);
  EXPECT_EQ(left({"SET a 1"}, "EXPIRE a 10"), Texts{"PEXPIREAT a " + at(10'000)});
  EXPECT_EQ(left({"SET a 1"}, "PEXPIRE a -1"), Texts{"DEL a"});
  EXPECT_EQ(left("EXPIRE a 10"), kNothing);
  EXPECT_EQ(left({"SET a 1 EX 10"}, "PERSIST a"), Texts{"PERSIST a"});
  EXPECT_EQ(left({"SET a 1"}, "PERSIST a"), kNothing);
}

TEST_P(Effects, ExpiredKeysAreDeletedFirst) {
  const auto over = [&](std::string_view line) {
    clear();
    server_("SET k v PX 10");
    server_.advance_ms(10);
    server_.effects();
    server_(line);
    return server_.effects();
  };
  EXPECT_EQ(over("GET k"), Texts{"DEL k"});
  EXPECT_EQ(over("STRLEN k"), Texts{"DEL k"});
  EXPECT_EQ(over("INCR k"), (Texts{"DEL k", "INCR k"}));
  EXPECT_EQ(over("APPEND k x"), (Texts{"DEL k", "APPEND k x"}));
  EXPECT_EQ(over("SET k w"), (Texts{"DEL k", "SET k w"}));
  EXPECT_EQ(over("SET k w KEEPTTL"), (Texts{"DEL k", "SET k w KEEPTTL"}));
  EXPECT_EQ(over("SET k w XX"), Texts{"DEL k"});
  EXPECT_EQ(over("GETDEL k"), Texts{"DEL k"});
  EXPECT_EQ(over("DEL k"), Texts{"DEL k"});
  EXPECT_EQ(over("MSETNX a 1 k 2"), (Texts{"DEL k", "MSETNX a 1 k 2"}));
  EXPECT_EQ(over("RENAME k a"), Texts{"DEL k"});
  EXPECT_EQ(over("INCREX k"), (Texts{"DEL k", "SET k 1 KEEPTTL"}));
}

TEST_P(Effects, NameTheirDatabase) {
  server_.caller.db = 1;
  server_("SET k v PX 10");
  EXPECT_EQ(server_.effects(), Texts{"[1] SET k v PXAT " + at(10)});
  server_.advance_ms(10);
  server_("GET k");
  EXPECT_EQ(server_.effects(), Texts{"[1] DEL k"});
  server_("SET k v");
  server_.effects();
  server_("COPY k k DB 2");
  EXPECT_EQ(server_.effects(), Texts{"[1] COPY k k DB 2"});
}

INSTANTIATE_TEST_SUITE_P(Shapes, Effects, ::testing::Values(kOneWorker, kFourWorkers), ShapeName{});

}  // namespace
}  // namespace sorrel::commands
