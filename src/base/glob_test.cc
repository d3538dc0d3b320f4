#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace sorrel {
namespace {

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("h?llo", "hello"));
  EXPECT_FALSE(glob_match("h?llo", "hllo"));
  EXPECT_TRUE(glob_match("h*llo", "hllo"));
  EXPECT_TRUE(glob_match("a**b*c", "axxbyyc"));
  EXPECT_TRUE(glob_match("*aab", "aaaaab")) << "needs a second attempt";
  EXPECT_FALSE(glob_match("*aab", "aaaaba"));
}

TEST(Glob, Classes) {
  EXPECT_TRUE(glob_match("h[ae]llo", "hallo"));
  EXPECT_FALSE(glob_match("h[ae]llo", "hillo"));
  EXPECT_TRUE(glob_match("h[^e]llo", "hallo"));
  EXPECT_FALSE(glob_match("h[^e]llo", "hello"));
  EXPECT_TRUE(glob_match("[a-c]", "b"));
  EXPECT_TRUE(glob_match("[c-a]", "b")) << "either way round";
  EXPECT_TRUE(glob_match("[\\]]", "]"));
  EXPECT_TRUE(glob_match("[a", "a")) << "a class that is not closed ends with the pattern";
}

TEST(Glob, EscapesAndCase) {
  EXPECT_TRUE(glob_match("a\\*b", "a*b"));
  EXPECT_FALSE(glob_match("a\\*b", "axb"));
  EXPECT_FALSE(glob_match("ABC", "abc"));
  EXPECT_TRUE(glob_match("ABC[D-F]", "abce", true));
}

TEST(Glob, ManyStarsTakeBoundedTime) {
  std::string pattern;
  for (int i = 0; i < 1000; i++) pattern += "*?";
  EXPECT_TRUE(glob_match(pattern, std::string(1000, 'a')));
  pattern += "*?";
  EXPECT_FALSE(glob_match(pattern, std::string(1001, 'a')));
  std::string slow(5000, 'a');
  EXPECT_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", slow));
}

}  // namespace
}  // namespace sorrel
