// cjson.encode: Lua values to JSON text, with the options and error texts of Redis's cjson library.

#include "script/cjson.h"

#include <climits>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace sorrel::script {
namespace {

constexpr size_t kKeptBuffer = size_t{64} << 10;

class JsonWriter {
 public:
  JsonWriter(lua_State* state, const JsonOptions& options, std::string& out)
      : state_(state), options_(options), out_(out) {}

  // Encodes the value on top of the stack, which stays.
  void value(int depth) {
    switch (lua_type(state_, -1)) {
      case LUA_TSTRING:
        string(-1);
        return;
      case LUA_TNUMBER:
        number(-1);
        return;
      case LUA_TBOOLEAN:
        out_ += lua_toboolean(state_, -1) != 0 ? "true" : "false";
        return;
      case LUA_TTABLE:
        table(depth + 1);
        return;
      case LUA_TNIL:
        out_ += "null";
        return;
      case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(state_, -1) == nullptr) {
          out_ += "null";
          return;
        }
        break;
      default:
        break;
    }
    cannot(-1, "type not supported");
  }

 private:
  void cannot(int index, const char* reason) {
    luaL_error(state_, "Cannot serialise %s: %s", luaL_typename(state_, index), reason);
  }

  void check_room(size_t more) {
    if (more > kMostOutput || out_.size() > kMostOutput - more) {
      luaL_error(state_, "not enough memory");
    }
  }

  // The slash is escaped, too, as in Redis.
  void string(int index) {
    size_t size;
    const char* text = lua_tolstring(state_, index, &size);
    check_room(size);
    out_.push_back('"');
    for (const char c : std::string_view(text, size)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && c != '"' && c != '\\' && c != '/' && byte != 0x7f) {
        out_.push_back(c);
      } else {
        escape(byte);
      }
    }
    out_.push_back('"');
    check_room(0);
  }

  void escape(unsigned char byte) {
    out_.push_back('\\');
    switch (byte) {
      case '"':
      case '\\':
      case '/':
        out_.push_back(static_cast<char>(byte));
        return;
      case '\b':
        out_.push_back('b');
        return;
      case '\t':
        out_.push_back('t');
        return;
      case '\n':
        out_.push_back('n');
        return;
      case '\f':
        out_.push_back('f');
        return;
      case '\r':
        out_.push_back('r');
        return;
      default: {
        constexpr std::string_view kDigits = "0123456789abcdef";
        out_ += "u00";
        out_.push_back(kDigits[byte >> 4]);
        out_.push_back(kDigits[byte & 15]);
      }
    }
  }

  void number(int index) {
    const double number = lua_tonumber(state_, index);
    if (std::isnan(number) || std::isinf(number)) {
      if (options_.encode_invalid_numbers == 0) cannot(index, "must not be NaN or Inf");
      if (options_.encode_invalid_numbers == 2) {
        out_ += "null";
        return;
      }
      if (std::isnan(number)) {
        out_ += "nan";
        return;
      }
    }
    char text[64];
    const int length = std::snprintf(text, sizeof text, "%.*g", options_.precision, number);
    out_.append(text, static_cast<size_t>(length));
  }

  // The length when the table is an array, which may have holes; -1: it is not.
  int64_t array_length() {
    double greatest = 0;
    double items = 0;
    lua_pushnil(state_);
    while (lua_next(state_, -2) != 0) {
      lua_pop(state_, 1);
      const double key = lua_type(state_, -1) == LUA_TNUMBER ? lua_tonumber(state_, -1) : 0;
      if (!(key >= 1) || std::floor(key) != key || key > INT_MAX) {
        lua_pop(state_, 1);
        return -1;
      }
      if (key > greatest) greatest = key;
      items++;
    }
    if (options_.sparse_ratio > 0 && greatest > items * options_.sparse_ratio &&
        greatest > options_.sparse_safe) {
      if (!options_.sparse_convert) cannot(-1, "excessively sparse array");
      return -1;
    }
    return static_cast<int64_t>(greatest);
  }

  bool marked_as_array() {
    if (lua_getmetatable(state_, -1) == 0) return false;
    push_array_mark(state_);
    const bool is = lua_rawequal(state_, -1, -2) != 0;
    lua_pop(state_, 2);
    return is;
  }

  void table(int depth) {
    // Stack slots for a key, a value and, below it, an error.
    if (depth > options_.encode_depth || lua_checkstack(state_, 4) == 0) {
      luaL_error(state_, "Cannot serialise, excessive nesting (%d)", depth);
    }
    const int64_t length = array_length();
    if (length > 0 || (length == 0 && marked_as_array())) {
      array(length, depth);
    } else {
      object(depth);
    }
  }

  void array(int64_t length, int depth) {
    out_.push_back('[');
    for (int64_t i = 1; i <= length; i++) {
      if (i > 1) out_.push_back(',');
      check_room(0);
      lua_rawgeti(state_, -1, static_cast<int>(i));
      value(depth);
      lua_pop(state_, 1);
    }
    out_.push_back(']');
  }

  void object(int depth) {
    out_.push_back('{');
    bool first = true;
    lua_pushnil(state_);
    while (lua_next(state_, -2) != 0) {
      if (!first) out_.push_back(',');
      first = false;
      const int type = lua_type(state_, -2);
      if (type == LUA_TNUMBER) {
        out_.push_back('"');
        number(-2);
        out_.push_back('"');
      } else if (type == LUA_TSTRING) {
        string(-2);
      } else {
        cannot(-2, "table key must be a number or string");
      }
      out_.push_back(':');
      check_room(0);
      value(depth);
      lua_pop(state_, 1);
    }
    out_.push_back('}');
  }

  lua_State* state_;
  const JsonOptions& options_;
  std::string& out_;
};

}  // namespace

int json_encode(lua_State* state) {
  LibraryState& shared = shared_of(state);
  luaL_argcheck(state, lua_gettop(state) == 1, 1, "expected 1 argument");
  // A buffer that grew large is freed, also when encoding ends with an error: it is moved out of
  // the state first and put back only when it is small.
  std::string out = std::move(shared.json_buffer);
  out.clear();
  const JsonOptions& options = json_options_of(state);
  JsonWriter(state, options, out).value(0);
  lua_pushlstring(state, out.data(), out.size());
  if (out.capacity() <= kKeptBuffer) shared.json_buffer = std::move(out);
  return 1;
}

}  // namespace sorrel::script
