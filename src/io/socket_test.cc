#include "io/socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "io/loop.h"

namespace sorrel::io {
namespace {

uint32_t mark_of(const Descriptor& descriptor) {
  uint32_t mark = 0;
  socklen_t length = sizeof mark;
  EXPECT_EQ(0, getsockopt(descriptor.get(), SOL_SOCKET, SO_MARK, &mark, &length));
  return mark;
}

TEST(Socket, AListenerIsMarkedAsAskedOrNotAtAll) {
  const auto plain = open_listener({.host = "127.0.0.1"});
  ASSERT_TRUE(plain) << plain.error().text;
  EXPECT_EQ(0u, mark_of(plain->descriptor));
  const auto marked = open_listener({.host = "127.0.0.1", .mark = 4'000'000'000});
  if (marked) {
    EXPECT_EQ(4'000'000'000, mark_of(marked->descriptor));
  } else {
    EXPECT_EQ("setsockopt SO_MARK: Operation not permitted", marked.error().text);
  }
}

}  // namespace
}  // namespace sorrel::io
