#include "script/debug_text.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "base/bytes.h"
#include "base/numbers.h"
#include "script/read_only.h"

namespace sorrel::script {
namespace {

// Nested tables are shown down to this depth.
constexpr int kDeepestTable = LUA_MINSTACK / 2;
// Stack slots per level: the real table of a view, a key and a value.
constexpr int kSlotsPerTable = 3;

void append_table(std::string& out, lua_State* state, int index, int depth);

// `index` counts from the bottom.
void append_nested(std::string& out, lua_State* state, int index, int depth) {
  if (depth == kDeepestTable) {
    out += "<max recursion level reached! Nested table?>";
    return;
  }
  switch (lua_type(state, index)) {
    case LUA_TSTRING: {
      size_t size = 0;
      const char* text = lua_tolstring(state, index, &size);
      out += quoted(std::string_view(text, size).substr(0, kMostDebugText));
      return;
    }
    case LUA_TBOOLEAN:
      out += lua_toboolean(state, index) != 0 ? "true" : "false";
      return;
    case LUA_TNUMBER: {
      std::array<char, 32> text;
      (void)std::snprintf(text.data(), text.size(), "%g", lua_tonumber(state, index));
      out += text.data();
      return;
    }
    case LUA_TNIL:
      out += "nil";
      return;
    case LUA_TTABLE:
      return append_table(out, state, index, depth + 1);
    case LUA_TLIGHTUSERDATA:
      out += fmt::format("\"light-userdata@{}\"", lua_topointer(state, index));
      return;
    default:
      out += fmt::format("\"{}@{}\"", luaL_typename(state, index), lua_topointer(state, index));
  }
}

// Are its keys 1, 2, 3 and so on, in the order of lua_next()?
bool is_list(lua_State* state, int table) {
  lua_Number expected = 1;
  lua_pushnil(state);
  while (lua_next(state, table) != 0) {
    lua_pop(state, 1);
    if (lua_type(state, -1) != LUA_TNUMBER || lua_tonumber(state, -1) != expected) {
      lua_pop(state, 1);
      return false;
    }
    expected++;
  }
  return true;
}

void append_table(std::string& out, lua_State* state, int index, int depth) {
  if (lua_checkstack(state, kSlotsPerTable) == 0) {
    out += "{...}";
    return;
  }
  const int top = lua_gettop(state);
  const int table = push_real(state, index) ? lua_gettop(state) : index;
  const bool list = is_list(state, table);
  bool first = true;
  out += '{';
  lua_pushnil(state);
  while (lua_next(state, table) != 0) {
    const int value = lua_gettop(state);
    if (!first) out += "; ";
    first = false;
    if (out.size() > kMostDebugText) {
      out += "...";
      break;
    }
    if (!list) {
      out += '[';
      append_nested(out, state, value - 1, depth);
      out += "]=";
    }
    append_nested(out, state, value, depth);
    lua_pop(state, 1);
  }
  lua_settop(state, top);
  out += '}';
}

}  // namespace

void append_value(std::string& out, lua_State* state, int index) {
  append_nested(out, state, index > 0 ? index : lua_gettop(state) + 1 + index, 0);
}

// ---------------------------------------------------------------- answers

void ShowingSink::add(std::string_view text) {
  if (text_.size() < kMostDebugText) text_ += text;
}

// After a value: closes every aggregate that is complete with it, then appends the separator.
void ShowingSink::between() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.remaining > 0) frame.remaining--;
    if (frame.remaining > 0) {
      const bool behind_key = frame.pairs && frame.remaining % 2 == 1;
      return add(behind_key ? " => " : ",");
    }
    add({&frame.closing, 1});
    frames_.pop_back();
  }
}

void ShowingSink::open(std::string_view opening, Frame frame) {
  add(opening);
  if (frame.remaining > 0) {
    frames_.push_back(frame);
    return;
  }
  add({&frame.closing, 1});
  between();
}

void ShowingSink::value(std::string_view text) {
  add(text);
  between();
}

void ShowingSink::quote(std::string_view text) {
  value(quoted(text.substr(0, kMostDebugText)));
}

void ShowingSink::simple(std::string_view text) {
  quote("+" + std::string(text));
  to_.simple(text);
}
void ShowingSink::write_error(std::string_view text) {
  quote("-" + std::string(text));
  error_text_ = text;
  to_.error(text);
}
void ShowingSink::integer(int64_t number) {
  value(std::to_string(number));
  to_.integer(number);
}
void ShowingSink::bulk(std::string_view bytes) {
  quote(bytes);
  to_.bulk(bytes);
}
void ShowingSink::bulk_integer(int64_t number) {
  quote(std::to_string(number));
  to_.bulk_integer(number);
}
void ShowingSink::null() {
  value(is_3() ? "(null)" : "NULL");
  to_.null();
}
void ShowingSink::null_array() {
  value(is_3() ? "(null)" : "NULL");
  to_.null_array();
}
void ShowingSink::real(double number) {
  const std::string text = format_double(number);
  is_3() ? value("(double) " + text) : quote(text);
  to_.real(number);
}
void ShowingSink::real_text(std::string_view decimal) {
  is_3() ? value("(double) " + std::string(decimal)) : quote(decimal);
  to_.real_text(decimal);
}
void ShowingSink::boolean(bool yes) {
  if (is_3()) {
    value(yes ? "#true" : "#false");
  } else {
    value(yes ? "1" : "0");
  }
  to_.boolean(yes);
}
void ShowingSink::big_number(std::string_view digits) {
  is_3() ? value("(big number) " + std::string(digits)) : quote(digits);
  to_.big_number(digits);
}
void ShowingSink::verbatim(std::string_view format, std::string_view text) {
  quote(text);
  to_.verbatim(format, text);
}
void ShowingSink::array(int64_t count) {
  open("[", {count, false, ']'});
  to_.array(count);
}
void ShowingSink::map(int64_t pairs) {
  if (is_3()) {
    open("{", {2 * pairs, true, '}'});
  } else {
    open("[", {2 * pairs, false, ']'});
  }
  to_.map(pairs);
}
void ShowingSink::set(int64_t count) {
  if (is_3()) {
    open("~(", {count, false, ')'});
  } else {
    open("[", {count, false, ']'});
  }
  to_.set(count);
}
void ShowingSink::push(int64_t count) {
  open("[", {count, false, ']'});
  to_.push(count);
}
// Attributes: no command that scripts may call has one, so this would count as a value.
void ShowingSink::attribute(int64_t pairs) {
  open("|{", {2 * pairs, true, '}'});
  to_.attribute(pairs);
}

}  // namespace sorrel::script
