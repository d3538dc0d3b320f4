// INCREX: bounds, saturation, options and effects.

#include <gtest/gtest.h>

#include <string>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

constexpr std::string_view kIncrexSyntax = "(error) ERR syntax error";
constexpr std::string_view kTop = "9223372036854775807";
constexpr std::string_view kBottom = "-9223372036854775808";

class Increx : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  // SET to `old`, then INCREX with these options; the reply as "value added".
  std::string from(std::string_view old, std::string_view options) {
    server_("SET k " + std::string(old));
    return run(options);
  }
  std::string run(std::string_view options) {
    std::string answer = server_("INCREX k " + std::string(options));
    if (answer.front() != '[') return answer;
    std::string out;
    for (size_t at = 0; at < answer.size(); at++) {
      if (std::string_view("0123456789-.inf").find(answer[at]) != std::string_view::npos) {
        out += answer[at];
      } else if (answer[at] == ',') {
        out += ' ';
      } else if (answer.compare(at, 9, "(integer)") == 0) {
        at += 9;
      }
    }
    return out;
  }
  std::string value() { return server_("GET k"); }
  std::string deadline() { return server_("PEXPIRETIME k"); }
  std::string after_ms(int64_t ms) { return "(integer) " + to_text(server_.now_ms() + ms); }

  TestServer server_{{string_bindings(), string_set_bindings(), string_counter_bindings(),
                      string_increx_bindings(), keys_bindings()},
                     GetParam()};
};

TEST_P(Increx, AddsOneOrWhatIsSaid) {
  EXPECT_EQ(server_("INCREX k"), "[(integer) 1, (integer) 1]");
  EXPECT_EQ(run("BYINT 5"), "6 5");
  EXPECT_EQ(run("BYINT -10"), "-4 -10");
  EXPECT_EQ(run("BYINT 0"), "-4 0");
  EXPECT_EQ(server_("OBJECT ENCODING k"), R"("int")");
  EXPECT_EQ(server_("INCREX k BYFLOAT 0.25"), R"(["-3.75", "0.25"])");
  EXPECT_EQ(run("BYFLOAT 3.75"), "0 3.75");
  EXPECT_EQ(run("byint 1"), "1 1");
}

TEST_P(Increx, FloatsAreDoublesInResp3) {
  server_.caller.protocol = 3;
  EXPECT_EQ(server_.resp("INCREX k BYFLOAT 0.1"), "*2\r\n,0.1\r\n,0.1\r\n");
  EXPECT_EQ(server_.resp("INCREX k BYFLOAT 0.2"), "*2\r\n,0.3\r\n,0.2\r\n");
  EXPECT_EQ(server_.resp("INCREX n BYINT 2"), "*2\r\n:2\r\n:2\r\n");
  server_.caller.protocol = 2;
  EXPECT_EQ(server_.resp("INCREX k BYFLOAT 0.2"), "*2\r\n$3\r\n0.5\r\n$3\r\n0.2\r\n");
}

TEST_P(Increx, OutsideTheBoundsNothingHappens) {
  EXPECT_EQ(from("10", "BYINT 10 UBOUND 15"), "10 0");
  EXPECT_EQ(from("10", "BYINT -10 LBOUND 5 EX 100"), "10 0");
  EXPECT_EQ(deadline(), "(integer) -1");
  EXPECT_EQ(from("10", "BYINT 5 UBOUND 15"), "15 5") << "the bound itself is inside";
  EXPECT_EQ(from("50", "BYINT -25 UBOUND 30"), "25 -25") << "back into the bounds";
  EXPECT_EQ(from("50", "BYINT -5 UBOUND 30"), "50 0") << "still outside";
  EXPECT_EQ(from("50", "BYINT 5 UBOUND 30 EXAT 1"), "50 0");
  EXPECT_EQ(value(), R"("50")") << "an end that has passed does not delete what was refused";
  EXPECT_EQ(from("10.5", "BYFLOAT 10 UBOUND 15.5"), "10.5 0");
  server_("DEL k");
  EXPECT_EQ(run("BYINT 15 UBOUND 10"), "0 0");
  EXPECT_EQ(run("LBOUND 10"), "0 0");
  EXPECT_EQ(run("BYFLOAT -0.5 UBOUND -1.5"), "0 0");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
}

TEST_P(Increx, SaturateStopsAtTheBound) {
  EXPECT_EQ(from("50", "BYINT 100 UBOUND 80 SATURATE"), "80 30");
  EXPECT_EQ(from("10", "BYINT -100 LBOUND 0 SATURATE"), "0 -10");
  EXPECT_EQ(from("50", "BYINT 5 UBOUND 30 SATURATE"), "30 -20") << "even backwards";
  EXPECT_EQ(from("10", "BYINT -5 LBOUND 20 SATURATE"), "20 10");
  EXPECT_EQ(from("10", "BYINT 5 LBOUND 10 UBOUND 10 SATURATE"), "10 0");
  EXPECT_EQ(from("10", "BYFLOAT 100 UBOUND 42.5 SATURATE"), "42.5 32.5");
  EXPECT_EQ(from("10", "BYINT 100 UBOUND 15 SATURATE EX 200"), "15 5");
  EXPECT_EQ(deadline(), after_ms(200'000));
  server_("DEL k");
  EXPECT_EQ(run("UBOUND 0 SATURATE"), "0 0");
  EXPECT_EQ(value(), R"("0")") << "created";
}

TEST_P(Increx, TheTypesEndsAreBounds) {
  const std::string top(kTop);
  const std::string bottom(kBottom);
  EXPECT_EQ(from("9223372036854775800", "BYINT 9223372036854775800"), "9223372036854775800 0");
  EXPECT_EQ(from("9223372036854775800", "BYINT 10 SATURATE"), top + " 7");
  EXPECT_EQ(from("-9223372036854775800", "BYINT -10 SATURATE"), bottom + " -8");
  EXPECT_EQ(from("5", "BYINT " + top + " UBOUND 10 SATURATE"), "10 5");
  EXPECT_EQ(from("-5", "BYINT " + bottom + " LBOUND -10 SATURATE"), "-10 -5");
  EXPECT_EQ(from("0", "BYINT " + bottom), bottom + " " + bottom);
  constexpr std::string_view kOverflow = "(error) ERR applied increment would overflow";
  EXPECT_EQ(from(top, "BYINT -5 UBOUND " + bottom + " SATURATE"), kOverflow);
  EXPECT_EQ(value(), '"' + top + '"');
  EXPECT_EQ(from(bottom, "BYINT 1 LBOUND " + top + " SATURATE"), kOverflow);
}

TEST_P(Increx, FloatsNeverBecomeInfinite) {
  constexpr std::string_view kInfinite = "(error) ERR applied increment would be Infinity";
  EXPECT_EQ(from("10", "BYFLOAT inf"), "(error) ERR BYFLOAT increment cannot be Infinity");
  EXPECT_EQ(from("10", "BYFLOAT -inf"), "(error) ERR BYFLOAT increment cannot be Infinity");
  EXPECT_EQ(from("10", "BYFLOAT nan"), "(error) ERR Increment is not a valid float");
  EXPECT_EQ(from("inf", "BYFLOAT 1"), "(error) ERR value cannot be Infinity");
  EXPECT_EQ(from("-inf", "BYFLOAT 0 LBOUND -100"), "(error) ERR value cannot be Infinity");
  EXPECT_EQ(from("10", "BYFLOAT 1.1e4932 UBOUND 100"), "10 0");
  EXPECT_EQ(from("1.1e4932", "BYFLOAT 1.1e4932 UBOUND 100 SATURATE").substr(0, 5), "100 -");
  server_("SET k 1.1e4932");
  EXPECT_EQ(server_("INCREX k BYFLOAT 1.1e4932").find("\"0\""), 4933u + 5)
      << "refused: the old value's 4933 digits, and nothing added";
  EXPECT_EQ(server_("INCREX k BYFLOAT 1.1e4932 SATURATE").substr(0, 7), "[\"11897")
      << "the largest long double is 1.18973e4932";
  EXPECT_EQ(run("BYFLOAT 1 LBOUND -inf UBOUND -1e4932 SATURATE"), kInfinite)
      << "down by more than the largest long double";
  EXPECT_EQ(from("10", "BYFLOAT 1 LBOUND inf UBOUND inf"), "10 0");
  EXPECT_EQ(from("10", "BYFLOAT 1 LBOUND inf UBOUND inf SATURATE"), kInfinite);
  EXPECT_EQ(from("10", "BYFLOAT 1 LBOUND -inf UBOUND +inf"), "11 1");
}

TEST_P(Increx, BoundsMustNotCross) {
  constexpr std::string_view kCrossed = "(error) ERR LBOUND can't be greater than UBOUND";
  EXPECT_EQ(run("LBOUND 10 UBOUND 5"), kCrossed);
  EXPECT_EQ(run("LBOUND 10 UBOUND 5 SATURATE"), kCrossed);
  EXPECT_EQ(run("BYFLOAT 1 LBOUND 10.5 UBOUND 1.5"), kCrossed);
  EXPECT_EQ(run("BYFLOAT 1 UBOUND -inf"), kCrossed) << "the other one is the type's end";
  EXPECT_EQ(run("BYFLOAT 1 LBOUND inf"), kCrossed);
}

TEST_P(Increx, NumbersAreOfTheKindAskedFor) {
  for (const char* name : {"BYINT", "LBOUND", "UBOUND"}) {
    for (const char* bad : {"abc", "1.5", "''", "+1", "inf", "9223372036854775808",
                            "-9223372036854775809", "18446744073709551616", "0x10"}) {
      const std::string shown = name == std::string("BYINT") ? "Increment" : name;
      EXPECT_EQ(run(std::string(name) + " " + bad),
                "(error) ERR " + shown + " is not an integer or out of range");
    }
    for (const char* good : {"0", "1", "-1", "2147483647", "2147483648", "4294967296"}) {
      EXPECT_NE(run(std::string(name) + " " + good).substr(0, 7), "(error)") << name << good;
    }
  }
  for (const char* name : {"LBOUND", "UBOUND"}) {
    EXPECT_EQ(run("BYFLOAT 1 " + std::string(name) + " abc"),
              "(error) ERR " + std::string(name) + " is not a valid float");
  }
  EXPECT_EQ(from("1.5", "BYINT 1"), "(error) ERR value is not an integer or out of range");
  EXPECT_EQ(from("hello", ""), "(error) ERR value is not an integer or out of range");
  EXPECT_EQ(from("hello", "BYFLOAT 1"), "(error) ERR value is not a valid float");
}

TEST_P(Increx, EachOptionOnce) {
  for (const char* options : {"BYINT 1 BYINT 2",
                              "BYINT 1 BYFLOAT 2",
                              "BYFLOAT 1 BYINT 2",
                              "LBOUND 0 LBOUND 1",
                              "UBOUND 9 UBOUND 8",
                              "SATURATE SATURATE",
                              "ENX ENX EX 10",
                              "PERSIST PERSIST",
                              "EX 10 EX 20",
                              "EX 10 PX 20",
                              "PX 1 PXAT 2",
                              "EX 10 PERSIST",
                              "PERSIST EX 10",
                              "PERSIST ENX",
                              "ENX PERSIST",
                              "JUNK",
                              "BYINT 1 JUNK",
                              "BYINT",
                              "LBOUND",
                              "UBOUND",
                              "EX",
                              "KEEPTTL",
                              "SAT"}) {
    EXPECT_EQ(run(options), kIncrexSyntax) << options;
  }
  EXPECT_EQ(run("ENX"), "(error) ERR ENX flag requires an expiration");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
}

TEST_P(Increx, DeadlinesAreSetKeptAndTakenAway) {
  EXPECT_EQ(run("EX 100"), "1 1");
  EXPECT_EQ(deadline(), after_ms(100'000));
  EXPECT_EQ(run(""), "2 1");
  EXPECT_EQ(deadline(), after_ms(100'000));
  EXPECT_EQ(run("PX 5000"), "3 1");
  EXPECT_EQ(deadline(), after_ms(5000));
  EXPECT_EQ(run("EX 900 ENX"), "4 1");
  EXPECT_EQ(deadline(), after_ms(5000)) << "it had one";
  EXPECT_EQ(run("PERSIST"), "5 1");
  EXPECT_EQ(deadline(), "(integer) -1");
  EXPECT_EQ(run("ENX EX 900"), "6 1");
  EXPECT_EQ(deadline(), after_ms(900'000));
  EXPECT_EQ(run("EXAT 1 ENX"), "7 1");
  EXPECT_EQ(value(), R"("7")") << "an end that is not to be set cannot be over";
  EXPECT_EQ(run("PXAT 9223372036854775807"), "8 1");
  EXPECT_EQ(deadline(), "(integer) 9223372036854775807");
  EXPECT_EQ(run("EXAT 1"), "9 1");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
  EXPECT_EQ(run("EXAT 1"), "1 1");
  EXPECT_EQ(server_("EXISTS k"), "(integer) 0");
  for (const char* bad : {"EX 0", "EX -1", "PX 0", "EXAT 0", "PXAT -1", "EX 9223372036854775807",
                          "PX 9223372036854775807", "EXAT 9223372036854775807"}) {
    EXPECT_EQ(run(bad), "(error) ERR invalid expire time in 'increx' command") << bad;
  }
  EXPECT_EQ(run("EX 9223372036854775808"), "(error) ERR value is not an integer or out of range");
}

TEST_P(Increx, Events) {
  const auto heard = [&](std::string_view options) {
    server_.events();
    run(options);
    return server_.events();
  };
  EXPECT_EQ(heard("BYINT 5"), Texts{"incrby k"});
  EXPECT_EQ(heard("BYFLOAT 0.5"), Texts{"incrbyfloat k"});
  EXPECT_EQ(heard("BYFLOAT 0.5 EX 10"), (Texts{"incrbyfloat k", "expire k"}));
  EXPECT_EQ(heard("EX 20 ENX"), Texts{"incrby k"});
  EXPECT_EQ(heard("PERSIST"), (Texts{"incrby k", "persist k"}));
  EXPECT_EQ(heard("PERSIST"), Texts{"incrby k"});
  EXPECT_EQ(heard("UBOUND 0"), Texts{});
  EXPECT_EQ(heard("EXAT 1"), Texts{"del k"});
}

INSTANTIATE_TEST_SUITE_P(Shapes, Increx, ::testing::Values(kOneWorker, kFourWorkers), ShapeName{});

}  // namespace
}  // namespace sorrel::commands
