#include "script/pattern.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace sorrel::script {
namespace {

// The first match anywhere, as string.match has it without captures.
std::optional<std::string> found(std::string_view subject, std::string_view pattern,
                                 const char** error = nullptr) {
  PatternMatcher matcher(subject, pattern);
  for (size_t at = 0; at <= subject.size(); at++) {
    const size_t end = matcher.match_at(at);
    if (error != nullptr) *error = matcher.error();
    if (end != PatternMatcher::kNoMatch) return std::string(subject.substr(at, end - at));
    if (matcher.error() != nullptr) break;
  }
  return std::nullopt;
}

const char* error_of(std::string_view subject, std::string_view pattern) {
  const char* error = nullptr;
  found(subject, pattern, &error);
  return error;
}

TEST(Pattern, Classes) {
  EXPECT_EQ(found("hello 123 world", "%d+"), "123");
  EXPECT_EQ(found("hello", "%D+"), "hello");
  EXPECT_EQ(found("  x", "%S"), "x");
  EXPECT_EQ(found("a.b", "%."), ".");
  EXPECT_EQ(found("key=value", "[^=]*"), "key");
  EXPECT_EQ(found("x-y", "[a-c%-]"), "-");
  EXPECT_EQ(found("]x", "[]]"), "]");
  EXPECT_EQ(found("q^", "[%^]"), "^");
  EXPECT_EQ(found(std::string_view("a\0b", 3), "%z"), std::string(1, '\0'));
  EXPECT_EQ(found("a-z", "[a-]*"), "a-");
}

TEST(Pattern, Repetitions) {
  EXPECT_EQ(found("aaab", "a*b"), "aaab");
  EXPECT_EQ(found("<a><b>", "<.->"), "<a>");
  EXPECT_EQ(found("<a><b>", "<.*>"), "<a><b>");
  EXPECT_EQ(found("colour", "colou?r"), "colour");
  EXPECT_EQ(found("color", "colou?r"), "color");
  EXPECT_EQ(found("b", "a+"), std::nullopt);
  EXPECT_EQ(found("abc$", "c$$"), "c$");
  EXPECT_EQ(found("abc", "c$"), "c");
}

TEST(Pattern, BalancedFrontierAndBackReference) {
  EXPECT_EQ(found("f(a(b)c)d", "%b()"), "(a(b)c)");
  EXPECT_EQ(found("THE (quick) fox", "%f[%a]%a+%f[%A]"), "THE");
  EXPECT_EQ(found("say \"it\" now", "([\"'])(.-)%1"), "\"it\"");
}

TEST(Pattern, Captures) {
  PatternMatcher matcher("key = value", "(%a+)%s*=%s*()(%a+)");
  ASSERT_EQ(matcher.match_at(0), 11u);
  ASSERT_EQ(matcher.capture_count(), 3u);
  EXPECT_EQ(matcher.capture(0).length, 3u);
  EXPECT_EQ(matcher.capture(1).begin, 6u);
  EXPECT_EQ(matcher.capture(1).length, PatternMatcher::kPosition);
  EXPECT_EQ(matcher.capture(2).begin, 6u);
  EXPECT_TRUE(matcher.check_closed());
}

TEST(Pattern, Mistakes) {
  EXPECT_STREQ(error_of("a", "%"), "malformed pattern (ends with '%')");
  EXPECT_STREQ(error_of("a", "[a"), "malformed pattern (missing ']')");
  EXPECT_STREQ(error_of("a", "[%"), "malformed pattern (missing ']')");
  EXPECT_STREQ(error_of("a", "[]"), "malformed pattern (missing ']')");
  EXPECT_STREQ(error_of("a", "[^"), "malformed pattern (missing ']')");
  EXPECT_STREQ(error_of("a", "a)"), "invalid pattern capture");
  EXPECT_STREQ(error_of("a", "%1"), "invalid capture index");
  EXPECT_STREQ(error_of("a", "%0"), "invalid capture index");
  EXPECT_STREQ(error_of("a", "(a%1)"), "invalid capture index");
  EXPECT_STREQ(error_of("a", "%b"), "unbalanced pattern");
  EXPECT_STREQ(error_of("a", "%bx"), "unbalanced pattern");
  EXPECT_STREQ(error_of("a", "%f"), "missing '[' after '%f' in pattern");
  EXPECT_STREQ(error_of("a", "%fa"), "missing '[' after '%f' in pattern");
  std::string many;
  for (int i = 0; i < 33; i++) many += "()";
  EXPECT_STREQ(error_of("a", many), "too many captures");
  PatternMatcher open("a", "(a");
  EXPECT_EQ(open.match_at(0), 1u);
  EXPECT_FALSE(open.check_closed());
}

TEST(Pattern, BlowUpsEnd) {
  const std::string subject(100'000, 'a');
  std::string stars;
  for (int i = 0; i < 20; i++) stars += "a*";
  EXPECT_STREQ(error_of(subject, stars + "b"), "pattern too complex");
  std::string deep;
  for (int i = 0; i < 1'000'000; i++) deep += "a?";
  EXPECT_STREQ(error_of(subject, deep), "pattern too complex");
  EXPECT_STREQ(error_of(subject, std::string(1'000'000, '(')), "too many captures");
  // A million brackets and an equally long set are accepted, since matching is linear.
  EXPECT_EQ(found("x", "[" + std::string(1'000'000, 'y') + "x]"), "x");
}

TEST(Pattern, PollsWhileItMatches) {
  const std::string subject(4'000'000, 'a');
  PatternMatcher matcher(subject, "a*b");
  int asked = 0;
  matcher.set_poll([&] { asked++; });
  EXPECT_EQ(matcher.match_at(0), PatternMatcher::kNoMatch);
  EXPECT_GE(asked, 3);
}

}  // namespace
}  // namespace sorrel::script
