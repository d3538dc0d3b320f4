#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class SortTest : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  TestServer server{
      {string_bindings(), string_set_bindings(), string_many_bindings(), keys_bindings(),
       list_bindings(), set_bindings(), zset_bindings(), hash_bindings(), sort_bindings()},
      GetParam()};

  void expect(std::string_view line, const std::string& answer, const Texts& events) {
    EXPECT_EQ(server(line), answer) << line;
    EXPECT_EQ(server.events(), events) << line;
    EXPECT_EQ(server.effects(), events.empty() ? Texts{} : Texts{std::string(line)}) << line;
  }
  void quiet(std::string_view line, const std::string& answer) { expect(line, answer, {}); }
  void given(std::initializer_list<std::string_view> lines) {
    for (const std::string_view line : lines) server(line);
    server.events(), server.effects();
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, SortTest, ::testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

TEST_P(SortTest, ReadingNotifiesNothing) {
  given({"RPUSH l 3 1 2"});
  quiet("SORT l", R"(["1", "2", "3"])");
  quiet("SORT_RO l DESC LIMIT 0 1", R"(["3"])");
  quiet("SORT l BY nosort", R"(["3", "1", "2"])");
  quiet("SORT l GET # GET none", R"(["1", (nil), "2", (nil), "3", (nil)])");
}

TEST_P(SortTest, StoresReplaceAndDelete) {
  given({"RPUSH l 3 1 2", "SET d text EX 100"});
  expect("SORT l STORE d", "(integer) 3", {"sortstore d"});
  quiet("LRANGE d 0 -1", R"(["1", "2", "3"])");
  quiet("TTL d", "(integer) -1");
  expect("SORT l DESC STORE l", "(integer) 3", {"sortstore l"});
  quiet("LRANGE l 0 -1", R"(["3", "2", "1"])");
  expect("SORT none STORE d", "(integer) 0", {"del d"});
  quiet("SORT none STORE d", "(integer) 0");
  given({"RPUSH words x"});
  quiet("SORT words STORE l", "(error) ERR One or more scores can't be converted into double");
  quiet("LLEN l", "(integer) 3");
}

// Expired keys are absent for SORT, and their expiry is notified.
TEST_P(SortTest, ExpiredWeights) {
  given({"RPUSH l 1 2 3", "MSET w_1 9 w_2 5 w_3 1", "SET w_3 7 PX 10"});
  quiet("SORT l BY w_* GET w_*", R"(["5", "7", "9"])");
  server.advance_ms(20);
  EXPECT_EQ(server("SORT l BY w_* GET w_*"), R"([(nil), "5", "9"])");
  EXPECT_EQ(server.effects(), Texts{"DEL w_3"});
}

// The stored result of a set, or of equal weights, is always the same.
TEST_P(SortTest, NothingIsLeftToChance) {
  std::vector<int> numbers(300);
  for (size_t i = 0; i < numbers.size(); i++) numbers[i] = static_cast<int>(i);
  std::mt19937 random(5);
  std::string first;
  for (int turn = 0; turn < 3; turn++) {
    std::shuffle(numbers.begin(), numbers.end(), random);
    server("DEL s");
    for (const int number : numbers) server("SADD s member:" + std::to_string(number));
    server("SORT s BY weight_* ALPHA STORE by");
    server("SORT s BY nosort STORE unsorted");
    const std::string now = server("LRANGE by 0 -1") + server("LRANGE unsorted 0 -1");
    if (turn == 0) first = now;
    EXPECT_EQ(now, first);
  }
}

TEST_P(SortTest, LimitSelectsAPart) {
  std::mt19937 random(6);
  std::vector<int> numbers;
  for (int i = 0; i < 200; i++) {
    numbers.push_back(static_cast<int>(random() % 100));
    server("RPUSH l " + std::to_string(numbers.back()));
  }
  std::sort(numbers.begin(), numbers.end());
  for (const int from : {0, 1, 50, 150, 199}) {
    for (const int count : {1, 3, 60, 300}) {
      std::string expected = "[";
      for (int i = from; i < std::min(from + count, 200); i++) {
        expected += (i == from ? "\"" : ", \"") + std::to_string(numbers[i]) + "\"";
      }
      EXPECT_EQ(server("SORT l LIMIT " + std::to_string(from) + " " + std::to_string(count)),
                expected + "]");
    }
  }
}

}  // namespace
}  // namespace sorrel::commands
