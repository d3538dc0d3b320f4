#include "resp/reply_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sorrel::resp {
namespace {

std::string written(int protocol, void (*answer)(ReplySink&)) {
  OutputBuffer out;
  ReplyWriter writer(out, protocol);
  answer(writer);
  return std::string(out.view());
}

TEST(ReplyWriterTest, BothProtocols) {
  const auto map = [](ReplySink& r) {
    r.map(1);
    r.bulk("k");
    r.real(1.5);
  };
  EXPECT_EQ(written(2, map), "*2\r\n$1\r\nk\r\n$3\r\n1.5\r\n");
  EXPECT_EQ(written(3, map), "%1\r\n$1\r\nk\r\n,1.5\r\n");
  EXPECT_EQ(written(2, [](ReplySink& r) { r.null(); }), "$-1\r\n");
  EXPECT_EQ(written(3, [](ReplySink& r) { r.null(); }), "_\r\n");
  EXPECT_EQ(written(2, [](ReplySink& r) { r.null_array(); }), "*-1\r\n");
  EXPECT_EQ(written(2, [](ReplySink& r) { r.boolean(true); }), ":1\r\n");
  EXPECT_EQ(written(3, [](ReplySink& r) { r.boolean(true); }), "#t\r\n");
  EXPECT_EQ(written(2, [](ReplySink& r) { r.verbatim("txt", "hi"); }), "$2\r\nhi\r\n");
  EXPECT_EQ(written(3, [](ReplySink& r) { r.verbatim("txt", "hi"); }), "=6\r\ntxt:hi\r\n");
  EXPECT_EQ(written(3, [](ReplySink& r) { r.big_number("123"); }), "(123\r\n");
  EXPECT_EQ(written(2, [](ReplySink& r) { r.integer(std::numeric_limits<int64_t>::min()); }),
            ":-9223372036854775808\r\n");
  EXPECT_EQ(written(3, [](ReplySink& r) { r.real(std::numeric_limits<double>::infinity()); }),
            ",inf\r\n");
}

TEST(ReplyWriterTest, LinesCannotBeForged) {
  EXPECT_EQ(written(2, [](ReplySink& r) { r.error("ERR a\r\n+OK"); }), "-ERR a  +OK\r\n");
  EXPECT_EQ(written(2, [](ReplySink& r) { r.simple("a\nb"); }), "+a b\r\n");
}

}  // namespace
}  // namespace sorrel::resp
