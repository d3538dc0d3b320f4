#include "base/glob.h"

#include <cstddef>
#include <utility>

#include "base/bytes.h"

namespace sorrel {
namespace {

char fold(char c, bool ignore_case) {
  return ignore_case ? to_lower(c) : c;
}

// Matches one character against the class that starts after '[' at `at`; moves `at` after the ']'.
// A class that never closes ends with the pattern.
bool match_class(std::string_view pattern, size_t& at, char c, bool ignore_case) {
  bool negated = false;
  if (at < pattern.size() && pattern[at] == '^') {
    negated = true;
    at++;
  }
  bool matched = false;
  c = fold(c, ignore_case);
  while (at < pattern.size() && pattern[at] != ']') {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      at++;
      if (fold(pattern[at], ignore_case) == c) matched = true;
      at++;
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      auto low = static_cast<unsigned char>(fold(pattern[at], ignore_case));
      auto high = static_cast<unsigned char>(fold(pattern[at + 2], ignore_case));
      if (low > high) std::swap(low, high);
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= low && byte <= high) matched = true;
      at += 3;
    } else {
      if (fold(pattern[at], ignore_case) == c) matched = true;
      at++;
    }
  }
  if (at < pattern.size()) at++;
  return matched != negated;
}

// Matches one pattern element that is not '*' against `c` and moves `at` after the element.
bool match_one(std::string_view pattern, size_t& at, char c, bool ignore_case) {
  const char p = pattern[at++];
  if (p == '?') return true;
  if (p == '[') return match_class(pattern, at, c, ignore_case);
  if (p == '\\' && at < pattern.size()) {
    return fold(pattern[at++], ignore_case) == fold(c, ignore_case);
  }
  return fold(p, ignore_case) == fold(c, ignore_case);
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case) {
  constexpr int kMostStars = 1000;
  int stars = 0;
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // pattern position after the last '*'
  size_t star_text = 0;                  // end of its match in the text so far
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      while (p < pattern.size() && pattern[p] == '*') p++;
      if (p == pattern.size()) return true;
      if (++stars > kMostStars) return false;
      star = p;
      star_text = t;
      continue;
    }
    size_t next = p;
    if (p < pattern.size() && match_one(pattern, next, text[t], ignore_case)) {
      p = next;
      t++;
      continue;
    }
    if (star == std::string_view::npos) return false;
    p = star;
    t = ++star_text;
  }
  while (p < pattern.size() && pattern[p] == '*') p++;
  return p == pattern.size();
}

}  // namespace sorrel
