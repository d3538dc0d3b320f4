#include "io/process_title.h"

#include <gtest/gtest.h>

namespace sorrel::io {
namespace {

// In the kernel's layout: arguments, then the environment, contiguous.
struct Memory {
  char bytes[32] = "server\0--port\0A=1\0B=22\0rest";
  char* arguments[3] = {bytes, bytes + 7, nullptr};
  char* environment[3] = {bytes + 14, bytes + 18, nullptr};
};

TEST(ProcessTitle, WritesOverArgumentsAndKeepsTheEnvironment) {
  Memory memory;
  ProcessTitle title(2, memory.arguments, memory.environment);
  EXPECT_STREQ(memory.environment[0], "A=1");
  EXPECT_STREQ(memory.environment[1], "B=22");
  title.set("a title that is longer");
  EXPECT_STREQ(memory.bytes, "a title that is longer");
  EXPECT_STREQ(memory.bytes + 23, "rest");
  EXPECT_STREQ(memory.environment[1], "B=22");
}

TEST(ProcessTitle, CutsWhatDoesNotFitAndClearsWhatIsLeft) {
  Memory memory;
  ProcessTitle title(2, memory.arguments, memory.environment);
  title.set(std::string(100, 'x'));
  EXPECT_EQ(std::string(memory.bytes), std::string(22, 'x'));
  EXPECT_STREQ(memory.bytes + 23, "rest");
  title.set("short");
  EXPECT_STREQ(memory.bytes, "short");
  for (size_t i = 5; i < 23; i++) EXPECT_EQ(memory.bytes[i], '\0');
}

TEST(ProcessTitle, KeepsStringsThatAreNotContiguous) {
  Memory memory;
  char elsewhere[] = "C=3";
  memory.environment[0] = elsewhere;
  ProcessTitle title(2, memory.arguments, memory.environment);
  title.set(std::string(100, 'x'));
  EXPECT_EQ(std::string(memory.bytes), std::string(13, 'x'));
  EXPECT_STREQ(memory.bytes + 14, "A=1");
}

TEST(ProcessTitle, DoesNothingWithoutArguments) {
  char* none[] = {nullptr};
  ProcessTitle title(0, none, none);
  title.set("x");
}

}  // namespace
}  // namespace sorrel::io
