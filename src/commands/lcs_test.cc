#include "commands/lcs.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

namespace sorrel::commands {
namespace {

// The textbook's whole table, walked back the way Redis does: diagonal on equal bytes, else up when
// the cell above is larger, else left.
struct Whole {
  std::vector<std::vector<uint32_t>> cell;
  std::string text;
};

Whole whole_table(const std::string& a, const std::string& b) {
  Whole whole;
  auto& cell = whole.cell;
  cell.assign(a.size() + 1, std::vector<uint32_t>(b.size() + 1, 0));
  for (size_t i = 1; i <= a.size(); i++) {
    for (size_t j = 1; j <= b.size(); j++) {
      cell[i][j] =
          a[i - 1] == b[j - 1] ? cell[i - 1][j - 1] + 1 : std::max(cell[i - 1][j], cell[i][j - 1]);
    }
  }
  for (size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
    if (a[i - 1] == b[j - 1]) {
      whole.text.insert(whole.text.begin(), a[i - 1]);
      i--;
      j--;
    } else if (cell[i - 1][j] > cell[i][j - 1]) {
      i--;
    } else {
      j--;
    }
  }
  return whole;
}

TEST(Lcs, FindsWhatTheWholeTableFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; round++) {
    const auto text = [&] {
      std::string out(random() % 90, 'x');
      const unsigned letters = 1 + random() % 4;
      for (char& c : out) c = static_cast<char>('a' + random() % letters);
      return out;
    };
    const std::string a = text();
    const std::string b = text();
    const Whole whole = whole_table(a, b);
    const auto found = lcs_of(a, b);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->length, whole.text.size());
    EXPECT_EQ(found->text, whole.text);
    EXPECT_EQ(lcs_length(a, b)->length, found->length);

    std::string joined;
    for (auto match = found->matches.rbegin(); match != found->matches.rend(); match++) {
      const auto part = [&](const std::string& from, uint32_t first, uint32_t last) {
        return from.substr(first, last - first + 1);
      };
      EXPECT_EQ(part(a, match->a_first, match->a_last), part(b, match->b_first, match->b_last));
      joined += part(a, match->a_first, match->a_last);
    }
    EXPECT_EQ(joined, found->text);
  }
}

TEST(Lcs, MatchesComeLastFirstAndAreAsLongAsCanBe) {
  const auto found = lcs_of("ohmytext", "mynewtext");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "mytext");
  ASSERT_EQ(found->matches.size(), 2u);
  EXPECT_EQ(found->matches[0].a_first, 4u);
  EXPECT_EQ(found->matches[0].a_last, 7u);
  EXPECT_EQ(found->matches[0].b_first, 5u);
  EXPECT_EQ(found->matches[0].b_last, 8u);
  EXPECT_EQ(found->matches[0].length(), 4u);
  EXPECT_EQ(found->matches[1].a_first, 2u);
  EXPECT_EQ(found->matches[1].b_last, 1u);
}

TEST(Lcs, NothingInCommon) {
  for (const auto& [a, b] :
       {std::pair{"", ""}, std::pair{"", "abc"}, std::pair{"abc", ""}, std::pair{"abc", "xyz"}}) {
    const auto found = lcs_of(a, b);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->length, 0u);
    EXPECT_TRUE(found->text.empty());
    EXPECT_TRUE(found->matches.empty());
  }
}

TEST(Lcs, TheSizeOfTheTableIsCheckedArithmetic) {
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(lcs_table_bytes(0, 0), 4u);
  EXPECT_EQ(lcs_table_bytes(1, 2), 24u);
  EXPECT_EQ(lcs_table_bytes((1u << 31) - 1, (1u << 30) - 1), uint64_t{1} << 63);
  EXPECT_EQ(lcs_table_bytes((1u << 31) - 1, (1u << 31) - 1), std::nullopt) << "2^64 bytes";
  EXPECT_EQ(lcs_table_bytes(kHuge, 1), std::nullopt);
  EXPECT_EQ(lcs_table_bytes(1, kHuge), std::nullopt);
  EXPECT_EQ(lcs_table_bytes(kHuge / 8, 8), std::nullopt);
  EXPECT_EQ(lcs_table_bytes(0xfffffffe, 0xfffffffe), std::nullopt);
}

}  // namespace
}  // namespace sorrel::commands
