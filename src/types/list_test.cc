#include "types/list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sorrel {
namespace {

class ListTest : public testing::Test {
 protected:
  ~ListTest() override { list_ops().free(value_); }

  void push(const ListLimits& limits, std::string_view text) {
    List list(value_, limits);
    list.grow(text.size(), 1);
    list.push(ListEnd::kTail, text);
  }
  void erase(const ListLimits& limits, size_t count) {
    List list(value_, limits);
    list.erase_range(0, count);
    list.shrink();
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    const ListReader list(value_);
    IntegerText scratch;
    for (ListCursor at = list.first(); at; at = list.next(at)) {
      all.emplace_back(list.get(at).text(scratch));
    }
    return all;
  }

  Collection value_ = list_ops().make();
};

TEST(ListLimitsTest, TheDirectiveInBothReadings) {
  EXPECT_EQ(ListLimits(-1).chunk.bytes, 4096u);
  EXPECT_EQ(ListLimits(-2).chunk.bytes, 8192u);
  EXPECT_EQ(ListLimits(-5).chunk.bytes, 65536u);
  EXPECT_EQ(ListLimits(-6).chunk.bytes, 65536u);
  EXPECT_EQ(ListLimits(INT64_MIN).chunk.bytes, 65536u);
  EXPECT_EQ(ListLimits(0).chunk.count, 1u);
  EXPECT_EQ(ListLimits(128).chunk.count, 128u);
  EXPECT_EQ(ListLimits(128).chunk.bytes, 8192u);
}

TEST_F(ListTest, GrowsIntoAQuicklistAndBackBelowHalfOfTheBound) {
  const ListLimits limits(4);
  for (const char* text : {"1", "b", "3", "d"}) push(limits, text);
  EXPECT_EQ(value_.encoding, Encoding::kListpack);
  push(limits, "e");
  EXPECT_EQ(value_.encoding, Encoding::kQuicklist);
  EXPECT_EQ(texts(), (std::vector<std::string>{"1", "b", "3", "d", "e"}));
  erase(limits, 2);
  EXPECT_EQ(value_.encoding, Encoding::kQuicklist);
  erase(limits, 2);
  EXPECT_EQ(value_.encoding, Encoding::kListpack);
  EXPECT_EQ(texts(), (std::vector<std::string>{"e"}));
}

TEST_F(ListTest, BytesBoundItToo) {
  const ListLimits limits(-1);
  push(limits, std::string(4000, 'x'));
  EXPECT_EQ(value_.encoding, Encoding::kListpack);
  push(limits, std::string(200, 'y'));
  EXPECT_EQ(value_.encoding, Encoding::kQuicklist);
  EXPECT_GT(list_ops().memory(value_), 4200u);
  erase(limits, 1);
  EXPECT_EQ(value_.encoding, Encoding::kListpack);
}

TEST_F(ListTest, ManyEmptyTextsDoNotStayInOneBlock) {
  const ListLimits limits(-2);
  List list(value_, limits);
  list.grow(0, 1'000'000);
  EXPECT_EQ(value_.encoding, Encoding::kQuicklist);
}

TEST_F(ListTest, AnEmptyQuicklistIsEmpty) {
  const ListLimits limits(-2);
  push(limits, std::string(20'000, 'x'));
  EXPECT_EQ(value_.encoding, Encoding::kQuicklist);
  erase(limits, 1);
  EXPECT_EQ(list_ops().size(value_), 0u);
}

TEST_F(ListTest, AClonedListIsAnother) {
  const ListLimits limits(2);
  for (const char* text : {"a", "b", "c", "d", "e"}) push(limits, text);
  const Collection copy = list_ops().clone(value_);
  erase(limits, 1);
  EXPECT_EQ(list_ops().size(copy), 5u);
  EXPECT_EQ(copy.encoding, Encoding::kQuicklist);
  list_ops().free(copy);
}

}  // namespace
}  // namespace sorrel
