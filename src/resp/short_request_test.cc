#include "resp/short_request.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "resp/output_buffer.h"
#include "resp/reply_writer.h"

namespace sorrel::resp {
namespace {

std::string encoded(const std::vector<std::string>& words) {
  OutputBuffer out;
  append_array_header(out, words.size());
  for (const std::string& word : words) append_bulk(out, word);
  return std::string(out.view());
}

// The text located for the first request in `bytes` after parsing it.
std::string text_in(std::string bytes) {
  bytes += "*1\r\n$4\r\nPING\r\n";
  std::array<std::string_view, kShortArguments> args;
  size_t count = 0;
  if (read_short_request(bytes.data(), bytes.data() + bytes.size(), args.data(), count) ==
      nullptr) {
    return "unusual";
  }
  return std::string(text_of_short_request({args.data(), count}));
}

TEST(ShortRequestTest, ItsTextIsLocatedFromItsArguments) {
  for (const size_t name : {1u, 3u, 9u, 10u, 99u, 100u, 999u}) {
    for (const size_t value : {1u, 9u, 10u, 32u, 99u, 100u, 5'000u}) {
      const std::vector<std::string> words{std::string(name, 'n'), "key", std::string(value, 'v')};
      EXPECT_EQ(text_in(encoded(words)), encoded(words)) << name << " " << value;
    }
  }
  EXPECT_EQ(text_in(encoded({"PING"})), encoded({"PING"}));
  EXPECT_EQ(text_in(encoded({"SET", "", ""})), encoded({"SET", "", ""}));
  const std::vector<std::string> nine(9, "MSET");
  EXPECT_EQ(text_in(encoded(nine)), encoded(nine));
}

TEST(ShortRequestTest, RequestsThatCannotBeForwardedHaveNoText) {
  EXPECT_EQ(text_in(encoded({std::string(1000, 'n'), "key"})), "");
}

TEST(ShortRequestTest, OtherBytesWhereALineEndsAreUnusual) {
  for (const size_t value : {1u, 12u, 100u}) {
    const std::string whole = encoded({"SET", "key", std::string(value, 'v')});
    ASSERT_EQ(text_in(whole), whole);
    for (size_t i = 0; i < whole.size(); i++) {
      if (whole[i] != '\r' && whole[i] != '\n') continue;
      std::string odd = whole;
      odd[i] = 'x';
      EXPECT_EQ(text_in(odd), "unusual") << odd;
    }
  }
}

// Placed at the end of an allocation, so that AddressSanitizer detects reads beyond it.
TEST(ShortRequestTest, APartOfARequestIsUnusual) {
  for (const size_t value : {0u, 1u, 12u, 100u, 1'234u}) {
    const std::string whole = encoded({"SET", "", std::string(value, 'v')});
    for (size_t size = 0; size < whole.size(); size++) {
      const std::vector<char> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      std::array<std::string_view, kShortArguments> args;
      size_t count = 0;
      EXPECT_EQ(read_short_request(part.data(), part.data() + size, args.data(), count), nullptr);
    }
  }
}

}  // namespace
}  // namespace sorrel::resp
