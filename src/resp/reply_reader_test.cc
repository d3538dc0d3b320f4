// Replies of every type at every split, limits and invalid bytes.

#include "resp/reply_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "resp/reply_fixture.h"

namespace sorrel::resp {
namespace {

using testing::described;
using testing::encoded;
using testing::read_in_pieces;

std::string read_one(std::string_view bytes, const ReplyLimits& limits = {}) {
  ReplyReader reader(limits);
  switch (reader.next(bytes)) {
    case ReplyReader::Outcome::kReply:
      EXPECT_EQ(reader.consumed(), bytes.size());
      return described(reader.reply());
    case ReplyReader::Outcome::kNeedMore:
      return "need more";
    case ReplyReader::Outcome::kKeepAlive:
      return "keep alive";
    case ReplyReader::Outcome::kError:
      return reader.error();
  }
  return "";
}

// All types, consecutive and nested.
const std::string kAllTypes =
    "+OK\r\n+\r\n-ERR no such "
    "thing\r\n:0\r\n:-9223372036854775808\r\n:+7\r\n$5\r\nhe\r\no\r\n$0\r\n\r\n"
    "$-1\r\n*-1\r\n_\r\n#t\r\n#f\r\n,1.5\r\n,-inf\r\n,nan\r\n,1e-300\r\n"
    "(3492890328409238509324850943850943825024385\r\n!9\r\nERR a\r\nb \r\n=7\r\ntxt:a\r\n\r\n"
    "*0\r\n%0\r\n~0\r\n>0\r\n*2\r\n*1\r\n:1\r\n%1\r\n$1\r\nk\r\n~2\r\n+a\r\n+b\r\n"
    ">3\r\n+message\r\n$1\r\nc\r\n$2\r\n\r\n\r\n|1\r\n+ttl\r\n:5\r\n$1\r\nv\r\n"
    "*2\r\n|0\r\n|1\r\n+x\r\n*1\r\n:9\r\n:1\r\n:2\r\n";

TEST(ReplyReader, EveryTypeIsRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"+OK\r\n", "simple OK"},
      {"+\r\n", "simple "},
      {"-ERR no\r\n", "error ERR no"},
      {":12\r\n", "int 12"},
      {":+12\r\n", "int 12"},
      {":-9223372036854775808\r\n", "int -9223372036854775808"},
      {"$5\r\nhe\r\no\r\n", "bulk he\r\no"},
      {"$0\r\n\r\n", "bulk "},
      {"$-1\r\n", "null"},
      {"*-1\r\n", "null array"},
      {"_\r\n", "null"},
      {"#t\r\n", "true"},
      {"#f\r\n", "false"},
      {",1.25\r\n", "double 1.25"},
      {"(-12345678901234567890123\r\n", "big -12345678901234567890123"},
      {"!8\r\nERR a\r\nb\r\n", "bulk error ERR a\r\nb"},
      {"=6\r\nmkd:hi\r\n", "mkd hi"},
      {"=4\r\ntxt:\r\n", "txt "},
      {"*0\r\n", "array()"},
      {"*3\r\n:1\r\n*1\r\n+a\r\n:2\r\n", "array(int 1, array(simple a), int 2)"},
      {"~2\r\n:1\r\n:2\r\n", "set(int 1, int 2)"},
      {"%1\r\n+k\r\n*0\r\n", "map(simple k, array())"},
      {">2\r\n+pong\r\n$0\r\n\r\n", "push(simple pong, bulk )"},
      {"|1\r\n+ttl\r\n:3\r\n+v\r\n", "{simple ttl;int 3;}simple v"},
      {"|0\r\n+v\r\n", "{}simple v"},
      {"*1\r\n|1\r\n+a\r\n:3\r\n:1\r\n", "array({simple a;int 3;}int 1)"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(read_one(bytes), text) << bytes;
    // Incomplete when cut at any position.
    for (size_t size = 0; size < std::string_view(bytes).size(); size++) {
      EXPECT_EQ(read_one(std::string_view(bytes).substr(0, size)), "need more") << bytes << size;
    }
  }
}

TEST(ReplyReader, SplitsDoNotChangeReplies) {
  const auto whole = read_in_pieces(kAllTypes, kAllTypes.size());
  EXPECT_EQ(whole.size(), 29u);
  EXPECT_EQ(whole.back(), "end");
  for (size_t piece = 1; piece < kAllTypes.size(); piece++) {
    ASSERT_EQ(read_in_pieces(kAllTypes, piece), whole) << piece;
  }
  for (size_t cut = 0; cut < kAllTypes.size(); cut++) {
    const std::string_view front = std::string_view(kAllTypes).substr(0, cut);
    ASSERT_EQ(read_in_pieces(front, 1), read_in_pieces(front, cut + 1)) << cut;
  }
}

TEST(ReplyReader, OnlyTheReplyIsConsumed) {
  ReplyReader reader;
  const std::string_view bytes = "+FULLRESYNC x 1\r\n$EOF:0123";
  ASSERT_EQ(reader.next(bytes), ReplyReader::Outcome::kReply);
  EXPECT_EQ(bytes.substr(reader.consumed()), "$EOF:0123");
  EXPECT_FALSE(reader.unfinished());
  ASSERT_EQ(reader.next("*2\r\n:1"), ReplyReader::Outcome::kNeedMore);
  EXPECT_TRUE(reader.unfinished());
  reader.reset();
  ASSERT_EQ(reader.next(":1\r\n"), ReplyReader::Outcome::kReply);
  EXPECT_EQ(reader.reply().integer(), 1);
}

TEST(ReplyReader, LineFeedsBetweenRepliesAreOptionallyReported) {
  const ReplyLimits limits{.keep_alives = true};
  ReplyReader reader(limits);
  ASSERT_EQ(reader.next("\n\n+OK\r\n"), ReplyReader::Outcome::kKeepAlive);
  EXPECT_EQ(reader.consumed(), 2u);
  ASSERT_EQ(reader.next("\n"), ReplyReader::Outcome::kKeepAlive);
  EXPECT_EQ(reader.consumed(), 1u);
  EXPECT_EQ(read_one("*1\r\n\n", limits), "offset 4: no reply begins with byte 0x0a");
  EXPECT_EQ(read_one("\n+OK\r\n"), "offset 0: no reply begins with byte 0x0a");
}

TEST(ReplyReader, ViewsShowValuesAndBytes) {
  const std::string bytes =
      "*5\r\n|1\r\n+a\r\n:1\r\n,2.5\r\n-MOVED 1 host\r\n%1\r\n+k\r\n_\r\n,inf\r\n=5\r\ntxt:x\r\n";
  ReplyReader reader;
  ASSERT_EQ(reader.next(bytes), ReplyReader::Outcome::kReply);
  const Reply reply = reader.reply();
  EXPECT_EQ(reply.size(), 5u);
  EXPECT_EQ(reply.bytes(), bytes);
  auto at = reply.begin();
  EXPECT_EQ((*at).real(), 2.5);
  EXPECT_EQ((*at).bytes(), "|1\r\n+a\r\n:1\r\n,2.5\r\n");
  ASSERT_TRUE((*at).attribute());
  EXPECT_EQ((*at).attribute()->size(), 1u);
  EXPECT_EQ((*at).attribute()->bytes(), "|1\r\n+a\r\n:1\r\n");
  ++at;
  EXPECT_TRUE((*at).is_error());
  EXPECT_EQ((*at).error_code(), "MOVED");
  EXPECT_FALSE((*at).attribute());
  ++at;
  EXPECT_EQ((*at).bytes(), "%1\r\n+k\r\n_\r\n");
  auto inner = (*at).begin();
  EXPECT_EQ((*inner++).text(), "k");
  EXPECT_TRUE((*inner++).is_null());
  EXPECT_TRUE(inner == (*at).end());
  ++at;
  EXPECT_EQ((*at).real(), std::numeric_limits<double>::infinity());
  ++at;
  EXPECT_EQ((*at).format(), "txt");
  EXPECT_EQ((*at).text(), "x");
  ++at;
  EXPECT_TRUE(at == reply.end());
  // Accessors of other types return empty values.
  EXPECT_EQ(reply.text(), "");
  EXPECT_EQ(reply.integer(), 0);
  EXPECT_EQ((*reply.begin()).size(), 0u);
  EXPECT_TRUE((*reply.begin()).begin() == (*reply.begin()).end());
}

// A copy of bytes and tokens is a complete reply.
TEST(ReplyReader, ARepliesCopyOutlivesIt) {
  ReplyReader reader;
  std::string bytes = "*2\r\n$3\r\none\r\n:2\r\n";
  ASSERT_EQ(reader.next(bytes), ReplyReader::Outcome::kReply);
  const std::string kept = bytes;
  const std::vector<ReplyToken> tokens(reader.tokens().begin(), reader.tokens().end());
  bytes.assign(bytes.size(), 'x');
  ASSERT_EQ(reader.next("+OK\r\n"), ReplyReader::Outcome::kReply);
  EXPECT_EQ(described(Reply(kept, tokens)), "array(bulk one, int 2)");
}

TEST(ReplyReader, RepliesAreForwardedInEitherProtocol) {
  ReplyReader reader;
  const std::string bytes =
      "|1\r\n+ttl\r\n:5\r\n%1\r\n+k\r\n*3\r\n|1\r\n:1\r\n:2\r\n_\r\n#t\r\n,1.50\r\n";
  ASSERT_EQ(reader.next(bytes), ReplyReader::Outcome::kReply);
  EXPECT_EQ(encoded(reader.reply(), 3), bytes);
  EXPECT_EQ(encoded(reader.reply(), 2), "*2\r\n+k\r\n*3\r\n$-1\r\n:1\r\n$4\r\n1.50\r\n");
  EXPECT_EQ(encoded(*++(reader.reply().begin()), 3),
            "*3\r\n|1\r\n:1\r\n:2\r\n_\r\n#t\r\n,1.50\r\n");
}

TEST(ReplyReader, ErrorsGiveReasonAndOffset) {
  const std::pair<const char*, const char*> cases[] = {
      {"hello\r\n", "offset 0: no reply begins with 'h'"},
      {"\r\n", "offset 0: no reply begins with byte 0x0d"},
      {"*2\r\n:1\r\n?\r\n", "offset 8: no reply begins with '?'"},
      {":\r\n", "offset 0: an integer is none, or does not fit into 64 bits"},
      {":1 \r\n", "offset 0: an integer is none, or does not fit into 64 bits"},
      {":+-1\r\n", "offset 0: an integer is none, or does not fit into 64 bits"},
      {":9223372036854775808\r\n", "offset 0: an integer is none, or does not fit into 64 bits"},
      {":0000000000000000000000000000001\r\n", "offset 0: a line is longer than 21 bytes"},
      {"*1\r\n$3\r\nabcd\r\n", "offset 4: no CR LF follows the 3 bytes of a string"},
      {"$3\r\nab\r\n\r\n", "offset 0: no CR LF follows the 3 bytes of a string"},
      {"$-2\r\n", "offset 0: a length is negative"},
      {"!-1\r\n", "offset 0: a length is negative"},
      {"%-1\r\n", "offset 0: a length is negative"},
      {"*x\r\n", "offset 0: a length is no number"},
      {"*\r\n", "offset 0: a length is no number"},
      {"$?\r\n", "offset 0: streamed strings and aggregates are not supported"},
      {"%?\r\n", "offset 0: streamed strings and aggregates are not supported"},
      {"+a\nb\r\n", "offset 0: a line has a LF within it"},
      {"+a\rb\r\n", "offset 0: a CR is followed by 'b' instead of a LF"},
      {"_x\r\n", "offset 0: something stands behind a null"},
      {"#x\r\n", "offset 0: a boolean is neither 't' nor 'f'"},
      {",1.5x\r\n", "offset 0: a double is no number"},
      {",\r\n", "offset 0: a double is no number"},
      {"(12a\r\n", "offset 0: a big number has other things in it than digits"},
      {"(-\r\n", "offset 0: a big number has other things in it than digits"},
      {"=3\r\ntxt\r\n", "offset 0: a verbatim string has no format"},
      {"=5\r\ntxtxx\r\n", "offset 0: a verbatim string has no format"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(read_one(bytes), text) << bytes;
    EXPECT_EQ(read_in_pieces(bytes, 1), (std::vector<std::string>{std::string("0: ") + text}));
  }
}

TEST(ReplyReader, LimitsDoNotDependOnHowBytesAreSplit) {
  const ReplyLimits limits{
      .max_depth = 3, .max_bulk = 10, .max_line = 12, .max_elements = 6, .max_bytes = 60};
  const auto bulk = [](size_t size) {
    return "$" + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
  };
  const std::pair<std::string, std::string> cases[] = {
      {"*1\r\n*1\r\n*1\r\n:1\r\n", ""},
      {"*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "offset 12: aggregates lie more than 3 deep"},
      {"*1\r\n*1\r\n*1\r\n|1\r\n", "offset 12: aggregates lie more than 3 deep"},
      {bulk(10), ""},
      {bulk(11), "offset 0: a string of 11 bytes is longer than 10 bytes"},
      {"$99999999999999\r\n", "offset 0: a string of 99999999999999 bytes is longer than 10 bytes"},
      {"+" + std::string(12, 'x') + "\r\n", ""},
      {"+" + std::string(13, 'x') + "\r\n", "offset 0: a line is longer than 12 bytes"},
      {"*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", ""},
      {"*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", "offset 24: a reply has more than 6 elements"},
      {"*7\r\n", "offset 0: a reply has more than 6 elements"},
      {"%4\r\n", "offset 0: a reply has more than 6 elements"},
      {"|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n", "offset 24: a reply has more than 6 elements"},
      {"*4\r\n" + bulk(10) + bulk(10) + bulk(10) + "+" + std::string(4, 'x') + "\r\n", ""},
      {"*4\r\n" + bulk(10) + bulk(10) + bulk(10) + "+" + std::string(12, 'x') + "\r\n",
       "offset 55: a reply is longer than 60 bytes"},
      {"*5\r\n" + bulk(10) + bulk(10) + bulk(10) + bulk(10),
       "offset 55: a reply is longer than 60 bytes"},
  };
  for (const auto& [bytes, text] : cases) {
    for (const size_t piece : {size_t{1}, size_t{3}, bytes.size()}) {
      const auto seen = read_in_pieces(bytes, piece, limits);
      EXPECT_EQ(seen.back(), text.empty() ? "end" : "0: " + text) << bytes << " by " << piece;
    }
  }
}

// An announced count allocates nothing, and nesting uses no stack.
TEST(ReplyReader, AnnouncedSizesAreNotAllocated) {
  ReplyReader reader;
  ASSERT_EQ(reader.next("*16777215\r\n%8000000\r\n$500000000\r\n"),
            ReplyReader::Outcome::kNeedMore);
  EXPECT_LT(reader.memory_bytes(), 1000u);
  ReplyLimits deep;
  deep.max_depth = 1 << 20;
  std::string nested;
  for (int i = 0; i < 1 << 20; i++) nested += "*1\r\n";
  ReplyReader deep_reader(deep);
  nested += ":1\r\n";
  ASSERT_EQ(deep_reader.next(nested), ReplyReader::Outcome::kReply);
  EXPECT_EQ(encoded(deep_reader.reply(), 2), nested);
  deep_reader.reset();
  EXPECT_LT(deep_reader.memory_bytes(), size_t{64} << 10);
}

// A long line is scanned once, not once for each received byte.
TEST(ReplyReader, ALineInSingleBytesIsScannedOnce) {
  ReplyReader reader;
  const std::string line = "+" + std::string(1'000'000, 'x') + "\r\n";
  for (size_t size = 1; size < line.size(); size++) {
    ASSERT_EQ(reader.next(std::string_view(line).substr(0, size)), ReplyReader::Outcome::kNeedMore);
  }
  EXPECT_EQ(reader.next(line), ReplyReader::Outcome::kReply);
}

TEST(ReplyReader, InvalidBytesFailIndependentlyOfSplits) {
  Random random(3);
  constexpr std::string_view kBytes = "+-:$_#,(!=*~>%|0123?tfaxin\r\n\r\n\r\n";
  for (int round = 0; round < 3000; round++) {
    std::string bytes = kAllTypes.substr(random.below(kAllTypes.size()));
    for (uint64_t n = random.below(6); n > 0; n--) {
      bytes[random.below(bytes.size())] = kBytes[random.below(kBytes.size())];
    }
    const auto whole = read_in_pieces(bytes, bytes.size());
    ASSERT_EQ(read_in_pieces(bytes, 1), whole) << bytes;
    ASSERT_EQ(read_in_pieces(bytes, 1 + random.below(20)), whole) << bytes;
  }
}

}  // namespace
}  // namespace sorrel::resp
