#include "resp/request_parser.h"

#include <gtest/gtest.h>

namespace sorrel::resp {
namespace {

using Words = std::vector<std::string>;

// Feeds `wire` in pieces of `step` bytes as a session does, and collects requests; a protocol error
// is added as a request of one word.
std::vector<Words> parse_all(std::string_view wire, size_t step, RequestLimits limits = {}) {
  RequestParser parser;
  std::string pending;
  std::vector<Words> out;
  for (size_t at = 0; at < wire.size(); at += step) {
    pending += wire.substr(at, step);
    for (;;) {
      ArgList args;
      std::vector<std::unique_ptr<std::string>> store;
      const auto outcome = parser.next(pending, limits, args, store);
      if (outcome == RequestParser::Outcome::kNeedMore) break;
      if (outcome == RequestParser::Outcome::kError) {
        out.push_back({std::string(parser.error())});
        return out;
      }
      out.emplace_back(args.begin(), args.end());
      pending.erase(0, parser.consumed());
    }
  }
  return out;
}

void expect_in_any_pieces(std::string_view wire, const std::vector<Words>& wanted,
                          RequestLimits limits = {}) {
  for (size_t step = 1; step <= wire.size(); step++) {
    ASSERT_EQ(parse_all(wire, step, limits), wanted) << "in pieces of " << step;
  }
}

TEST(RequestParserTest, MultibulkSplitAnywhere) {
  expect_in_any_pieces("*2\r\n$4\r\nECHO\r\n$5\r\nh\r\nlo\r\n*1\r\n$4\r\nPING\r\n",
                       {{"ECHO", "h\r\nlo"}, {"PING"}});
  expect_in_any_pieces("*0\r\n*-1\r\n*1\r\n$0\r\n\r\n", {{}, {}, {""}});
}

TEST(RequestParserTest, InlineWithQuotes) {
  expect_in_any_pieces("PING\r\nSET a \"x\\n\\x41 \\\"y\" 'it\\'s'\n\r\n",
                       {{"PING"}, {"SET", "a", "x\nA \"y", "it's"}, {}});
  expect_in_any_pieces("  GET   key  \n", {{"GET", "key"}});
}

TEST(RequestParserTest, Errors) {
  const auto error = [](std::string_view wire, RequestLimits limits = {}) {
    return parse_all(wire, wire.size(), limits).back().at(0);
  };
  EXPECT_EQ(error("*3000000000\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(error("*x\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(error("*1\r\nfoo\r\n"), "Protocol error: expected '$', got 'f'");
  EXPECT_EQ(error("*1\r\n$-10\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(error("*1\r\n$2000000000\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(error("*1\r\n$9999999999999999999\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(error("set \"a b\r\n"), "Protocol error: unbalanced quotes in request");
  EXPECT_EQ(error(std::string(70'000, 'a')), "Protocol error: too big inline request");
  EXPECT_EQ(error("*" + std::string(70'000, '1')), "Protocol error: too big mbulk count string");
  EXPECT_EQ(error("*1\r\n$" + std::string(70'000, '1')),
            "Protocol error: too big bulk count string");
  RequestLimits anonymous;
  anonymous.authenticated = false;
  EXPECT_EQ(error("*11\r\n", anonymous), "Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(error("*1\r\n$16385\r\n", anonymous), "Protocol error: unauthenticated bulk length");
}

// A request after an empty one must not inherit its state.
TEST(RequestParserTest, StateIsFreshAfterEmptyRequest) {
  expect_in_any_pieces("*0\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n", {{}, {"GET", "a"}});
}

TEST(RequestParserTest, ManySmallReadsAreParsedOnce) {
  std::string wire = "*100000\r\n";
  for (int i = 0; i < 100'000; i++) wire += "$1\r\nx\r\n";
  const auto requests = parse_all(wire, 777);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].size(), 100'000u);
}

}  // namespace
}  // namespace sorrel::resp
