#include "script/debug_request.h"

#include <gtest/gtest.h>

namespace sorrel::script {
namespace {

using State = DebugRequest::State;

TEST(DebugRequest, WholeOnes) {
  const DebugRequest request = read_debug_request("junk*1\r\n$4\r\nstep\r\nrest");
  ASSERT_EQ(request.state, State::kWhole);
  ASSERT_EQ(request.args.size(), 1u);
  EXPECT_EQ(request.args[0], "step");
  EXPECT_EQ(request.used, 18u);

  const std::string pair("*2\r\n$1\r\np\r\n$3\r\na\0b\r\n", 20);
  const std::string more = pair + "*1\r\n";
  const DebugRequest both = read_debug_request(more);
  ASSERT_EQ(both.state, State::kWhole);
  ASSERT_EQ(both.args.size(), 2u);
  EXPECT_EQ(both.args[1], std::string_view("a\0b", 3));
  EXPECT_EQ(both.used, pair.size());
}

TEST(DebugRequest, EveryPrefixIsUnfinished) {
  const std::string whole = "*2\r\n$5\r\nbreak\r\n$1\r\n3\r\n";
  for (size_t size = 0; size < whole.size(); size++) {
    EXPECT_EQ(read_debug_request(whole.substr(0, size)).state, State::kUnfinished) << size;
  }
  EXPECT_EQ(read_debug_request(whole).state, State::kWhole);
}

TEST(DebugRequest, BrokenOnes) {
  for (const char* bytes : {
           "help\r\n",
           "*0\r\n",
           "*-1\r\n",
           "*1025\r\n",
           "*x\r\n",
           "*1\r\n$0\r\n\r\n",
           "*1\r\n$-1\r\n",
           "*1\r\n$1025\r\n",
           "*1\r\n+OK\r\n",
           "*1\r\n$1\r\nabc\r\n",
           "*99999999999999999999\r\n",
           "*1\r\n$99999999999999999999\r\n",
       }) {
    EXPECT_EQ(read_debug_request(bytes).state, State::kBroken) << bytes;
  }
}

}  // namespace
}  // namespace sorrel::script
