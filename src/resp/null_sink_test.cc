#include "resp/null_sink.h"

#include <gtest/gtest.h>

namespace sorrel::resp {
namespace {

TEST(NullSink, RepliesAreDroppedAndErrorsCounted) {
  NullSink sink;
  sink.array(2);
  sink.bulk("text");
  sink.integer(1);
  EXPECT_EQ(sink.errors(), 0u);
  EXPECT_EQ(sink.last_error(), "");
  sink.error("WRONGTYPE no");
  sink.error("ERR syntax error");
  EXPECT_EQ(sink.errors(), 2u);
  EXPECT_EQ(sink.last_error_code(), "ERR");
  EXPECT_EQ(sink.last_error(), "ERR syntax error");
}

}  // namespace
}  // namespace sorrel::resp
