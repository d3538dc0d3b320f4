// cjson.decode: JSON text to Lua values, with the options and error texts of Redis's cjson library.
// Nesting is bounded, and numbers are accepted in the same forms.

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "script/cjson.h"

namespace sorrel::script {
namespace {

enum class Token : uint8_t {
  kObjectBegin,
  kObjectEnd,
  kArrayBegin,
  kArrayEnd,
  kString,
  kNumber,
  kBoolean,
  kNull,
  kColon,
  kComma,
  kEnd,
  kError,
};

// Token names in error texts, as in the cjson library of Redis.
constexpr const char* kTokenNames[] = {
    "T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_NUMBER",
    "T_BOOLEAN",   "T_NULL",    "T_COLON",     "T_COMMA",   "T_END",    "T_ERROR",
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = to_lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void append_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](int shift) {
    out.push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3f)));
  };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0 | code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | code >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xf0 | code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

class JsonReader {
 public:
  // A zero byte follows `text`, as in every string of Lua.
  JsonReader(lua_State* state, const JsonOptions& options, std::string_view text)
      : state_(state), options_(options), text_(text) {}

  void document() {
    next();
    value();
    next();
    if (token_ != Token::kEnd) expected("the end");
  }

 private:
  char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  bool follows(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void expected(const char* what) {
    const char* found =
        token_ == Token::kError ? problem_ : kTokenNames[static_cast<size_t>(token_)];
    luaL_error(state_, "Expected %s but found %s at character %d", what, found,
               static_cast<int>(begin_ + 1));
  }

  void fail(const char* problem) {
    token_ = Token::kError;
    begin_ = at_;
    problem_ = problem;
  }

  void next() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      at_++;
    }
    begin_ = at_;
    // A zero byte ends the text, as in Redis, where it is a C string.
    const char c = at(at_);
    constexpr std::string_view kSingles = "{}[]:,";
    constexpr Token kSingleTokens[] = {Token::kObjectBegin, Token::kObjectEnd, Token::kArrayBegin,
                                       Token::kArrayEnd,    Token::kColon,     Token::kComma};
    if (c == '\0') {
      token_ = Token::kEnd;
    } else if (const size_t which = kSingles.find(c); which != std::string_view::npos) {
      token_ = kSingleTokens[which];
      at_++;
    } else if (c == '"') {
      at_++;
      string();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      if (!options_.decode_invalid_numbers && odd_number()) {
        fail("invalid number");
      } else {
        number();
      }
    } else {
      word();
    }
  }

  void word() {
    const auto take = [&](std::string_view spelling, Token token) {
      if (!follows(spelling)) return false;
      at_ += spelling.size();
      token_ = token;
      boolean_ = spelling == "true";
      return true;
    };
    if (take("true", Token::kBoolean) || take("false", Token::kBoolean) ||
        take("null", Token::kNull)) {
      return;
    }
    if (options_.decode_invalid_numbers && odd_number()) return number();
    fail("invalid token");
  }

  // strtod() accepts forms that JSON does not have: +1, 0x1, 01, inf, nan.
  bool odd_number() const {
    if (at(at_) == '+') return true;
    const size_t place = at(at_) == '-' ? at_ + 1 : at_;
    if (at(place) == '0') {
      const char second = at(place + 1);
      return to_lower(second) == 'x' || (second >= '0' && second <= '9');
    }
    const std::string_view rest = text_.substr(place, 3);
    return iequals(rest, "inf") || iequals(rest, "nan");
  }

  void number() {
    char* end = nullptr;
    const char* begin = text_.data() + at_;
    number_ = std::strtod(begin, &end);
    // strtod() skips blanks, which cannot occur here, and stops at the zero byte at the end.
    if (end == begin) return fail("invalid number");
    at_ += static_cast<size_t>(end - begin);
    token_ = Token::kNumber;
  }

  // `at_` is after the opening quote.
  void string() {
    string_.clear();
    for (;;) {
      const char c = at(at_);
      if (c == '\0') return fail("unexpected end of string");
      if (c == '"') break;
      if (c == '\\') {
        if (!escape()) return;
        continue;
      }
      string_.push_back(c);
      at_++;
    }
    at_++;
    token_ = Token::kString;
  }

  bool escape() {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = at(at_ + 1);
    if (letter == 'u') {
      if (unicode()) return true;
      fail("invalid unicode escape code");
      return false;
    }
    const size_t which = letter == '\0' ? std::string_view::npos : kLetters.find(letter);
    if (which == std::string_view::npos) {
      fail("invalid escape code");
      return false;
    }
    string_.push_back(kMeanings[which]);
    at_ += 2;
    return true;
  }

  // The four digits of \uXXXX at `place`; -1: there are none.
  int unit(size_t place) const {
    if (at(place) != '\\' || at(place + 1) != 'u') return -1;
    int code = 0;
    for (size_t i = 2; i < 6; i++) {
      const int digit = hex_digit(at(place + i));
      if (digit < 0) return -1;
      code = code << 4 | digit;
    }
    return code;
  }

  bool unicode() {
    constexpr size_t kLength = 6;
    int code = unit(at_);
    if (code < 0) return false;
    size_t length = kLength;
    if ((code & 0xf800) == 0xd800) {
      // A surrogate: the first must be a high one, and a low one must follow.
      if ((code & 0x400) != 0) return false;
      const int second = unit(at_ + kLength);
      if (second < 0 || (second & 0xfc00) != 0xdc00) return false;
      code = (((code & 0x3ff) << 10) | (second & 0x3ff)) + 0x10000;
      length = 2 * kLength;
    }
    append_utf8(string_, static_cast<uint32_t>(code));
    at_ += length;
    return true;
  }

  void descend() {
    depth_++;
    if (depth_ > options_.decode_depth || lua_checkstack(state_, 3) == 0) {
      luaL_error(state_, "Found too many nested data structures (%d) at character %d", depth_,
                 static_cast<int>(at_));
    }
  }

  void value() {
    switch (token_) {
      case Token::kString:
        lua_pushlstring(state_, string_.data(), string_.size());
        break;
      case Token::kNumber:
        lua_pushnumber(state_, number_);
        break;
      case Token::kBoolean:
        lua_pushboolean(state_, boolean_);
        break;
      case Token::kObjectBegin:
        object();
        break;
      case Token::kArrayBegin:
        array();
        break;
      case Token::kNull:
        lua_pushlightuserdata(state_, nullptr);
        break;
      default:
        expected("value");
    }
  }

  void object() {
    descend();
    lua_newtable(state_);
    next();
    while (token_ != Token::kObjectEnd) {
      if (token_ != Token::kString) expected("object key string");
      lua_pushlstring(state_, string_.data(), string_.size());
      next();
      if (token_ != Token::kColon) expected("colon");
      next();
      value();
      lua_rawset(state_, -3);
      next();
      if (token_ == Token::kObjectEnd) break;
      if (token_ != Token::kComma) expected("comma or object end");
      next();
      if (token_ == Token::kObjectEnd) expected("object key string");
    }
    depth_--;
  }

  void array() {
    descend();
    lua_newtable(state_);
    if (options_.arrays_marked) {
      push_array_mark(state_);
      lua_setmetatable(state_, -2);
    }
    next();
    for (int i = 1; token_ != Token::kArrayEnd; i++) {
      value();
      lua_rawseti(state_, -2, i);
      next();
      if (token_ == Token::kArrayEnd) break;
      if (token_ != Token::kComma) expected("comma or array end");
      next();
      if (token_ == Token::kArrayEnd) expected("value");
    }
    depth_--;
  }

  lua_State* state_;
  const JsonOptions& options_;
  std::string_view text_;
  size_t at_ = 0;
  size_t begin_ = 0;  // of the token
  Token token_ = Token::kEnd;
  const char* problem_ = "";
  std::string string_;
  double number_ = 0;
  bool boolean_ = false;
  int depth_ = 0;
};

}  // namespace

int json_decode(lua_State* state) {
  luaL_argcheck(state, lua_gettop(state) == 1, 1, "expected 1 argument");
  size_t size;
  const char* text = luaL_checklstring(state, 1, &size);
  // Of two bytes, one zero: UTF-16 or UTF-32 text, which is not supported.
  if (size >= 2 && (text[0] == '\0' || text[1] == '\0')) {
    return luaL_error(state, "JSON parser does not support UTF-16 or UTF-32");
  }
  JsonReader(state, json_options_of(state), {text, size}).document();
  return 1;
}

}  // namespace sorrel::script
