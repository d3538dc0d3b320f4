// The reply of a script: the conversion of its return value from Lua to RESP.

#include "script/lua_reply.h"

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

namespace sorrel::script {
namespace {

class ReplyBuilder {
 public:
  ReplyBuilder(lua_State* state, int protocol, resp::ReplySink& reply)
      : state_(state), protocol_(protocol), reply_(reply) {}

  // Writes the value on top of the stack and pops it.
  void value() {
    // The Lua stack is exhausted before the C stack, so a table that contains itself ends here.
    if (depth_ >= kDeepest || lua_checkstack(state_, kSlots) == 0) {
      reply_.error("ERR reached lua stack limit");
    } else {
      depth_++;
      known();
      depth_--;
    }
    lua_pop(state_, 1);
  }

 private:
  static constexpr int kSlots = 6;
  static constexpr int kDeepest = 1000;

  void known() {
    switch (lua_type(state_, -1)) {
      case LUA_TSTRING:
        reply_.bulk(text(-1));
        return;
      case LUA_TBOOLEAN:
        boolean(lua_toboolean(state_, -1) != 0);
        return;
      case LUA_TNUMBER:
        reply_.integer(whole(lua_tonumber(state_, -1)));
        return;
      case LUA_TTABLE:
        table();
        return;
      default:
        reply_.null();
    }
  }

  std::string_view text(int index) const {
    size_t size;
    const char* bytes = lua_tolstring(state_, index, &size);
    return {bytes, size};
  }

  void boolean(bool value) {
    if (protocol_ == 3) {
      reply_.boolean(value);
    } else if (value) {
      reply_.integer(1);
    } else {
      reply_.null();
    }
  }

  // Truncated towards zero; out of 64 bits becomes INT64_MIN, as on x86-64.
  static int64_t whole(double number) {
    constexpr double kTwo63 = 9223372036854775808.0;
    if (!(number >= -kTwo63 && number < kTwo63)) return INT64_MIN;
    return static_cast<int64_t>(number);
  }

  // Pushes the field. False, and nothing is pushed, when it has another type.
  bool push_field(const char* name, int type) {
    lua_pushstring(state_, name);
    lua_rawget(state_, -2);
    if (lua_type(state_, -1) == type) return true;
    lua_pop(state_, 1);
    return false;
  }

  void table() {
    if (push_field("err", LUA_TSTRING)) {
      error();
    } else if (push_field("ok", LUA_TSTRING)) {
      // Up to the first zero byte, as Redis reads it.
      reply_.simple(lua_tostring(state_, -1));
    } else if (push_field("double", LUA_TNUMBER)) {
      reply_.real(lua_tonumber(state_, -1));
    } else if (push_field("big_number", LUA_TSTRING)) {
      big_number();
    } else if (push_field("verbatim_string", LUA_TTABLE)) {
      if (verbatim()) {
        lua_pop(state_, 1);
        return;
      }
      lua_pop(state_, 1);
      return aggregate();
    } else {
      return aggregate();
    }
    lua_pop(state_, 1);
  }

  // Precondition: the table, with its "err" field above it.
  void error() {
    const std::string_view message = lua_tostring(state_, -1);
    lua_pushliteral(state_, "ignore_error_stats_update");
    lua_rawget(state_, -3);
    const bool counted = lua_toboolean(state_, -1) != 0;
    lua_pop(state_, 1);
    if (counted) {
      reply_.error_again(message);
    } else {
      reply_.error(message);
    }
  }

  // RESP3 sends it as one line, so line breaks are replaced.
  void big_number() {
    std::string digits(text(-1));
    for (char& c : digits) {
      if (c == '\r' || c == '\n') c = ' ';
    }
    reply_.big_number(digits);
  }

  bool verbatim() {
    if (!push_field("format", LUA_TSTRING)) return false;
    lua_pushliteral(state_, "string");
    lua_rawget(state_, -3);
    const bool whole = lua_type(state_, -1) == LUA_TSTRING;
    if (whole) {
      // The format is always three letters, whatever length the script gave.
      char format[4] = "   ";
      const std::string_view given = text(-2);
      std::memcpy(format, given.data(), given.size() < 3 ? given.size() : 3);
      reply_.verbatim({format, 3}, text(-1));
    }
    lua_pop(state_, 2);
    return whole;
  }

  void aggregate() {
    if (push_field("map", LUA_TTABLE)) {
      reply_.map(count_pairs());
      lua_pushnil(state_);
      while (lua_next(state_, -2) != 0) {
        lua_pushvalue(state_, -2);
        value();
        value();
      }
      lua_pop(state_, 1);
    } else if (push_field("set", LUA_TTABLE)) {
      reply_.set(count_pairs());
      lua_pushnil(state_);
      while (lua_next(state_, -2) != 0) {
        lua_pop(state_, 1);
        lua_pushvalue(state_, -1);
        value();
      }
      lua_pop(state_, 1);
    } else {
      array();
    }
  }

  int64_t count_pairs() {
    int64_t count = 0;
    lua_pushnil(state_);
    while (lua_next(state_, -2) != 0) {
      lua_pop(state_, 1);
      count++;
    }
    return count;
  }

  // Up to the first nil.
  void array() {
    int count = 0;
    for (;; count++) {
      lua_rawgeti(state_, -1, count + 1);
      const bool end = lua_isnil(state_, -1);
      lua_pop(state_, 1);
      if (end) break;
    }
    reply_.array(count);
    for (int i = 1; i <= count; i++) {
      lua_rawgeti(state_, -1, i);
      value();
    }
  }

  lua_State* state_;
  int protocol_;
  resp::ReplySink& reply_;
  int depth_ = 0;
};

}  // namespace

void send_reply(lua_State* state, int protocol, resp::ReplySink& reply) {
  ReplyBuilder(state, protocol, reply).value();
}

}  // namespace sorrel::script
