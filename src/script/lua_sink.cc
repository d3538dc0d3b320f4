// Replies of commands in scripts: the conversion from RESP types to Lua values on the stack.

#include "script/lua_sink.h"

#include <algorithm>
#include <climits>

#include "base/numbers.h"

namespace sorrel::script {

bool LuaSink::begin(lua_State* state, int protocol) {
  state_ = state;
  protocol_ = protocol;
  base_ = lua_gettop(state);
  failed_ = false;
  frames_.clear();
  return lua_checkstack(state, static_cast<int>(kDeepest) * kSlotsPerLevel + 8) != 0;
}

bool LuaSink::end() {
  // A handler that violates the contract of ReplySink must not corrupt the stack.
  if (!frames_.empty() || lua_gettop(state_) != base_ + 1) {
    lua_settop(state_, base_);
    lua_pushboolean(state_, 0);
    return false;
  }
  return failed_;
}

void LuaSink::done() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    switch (frame.shape) {
      case Shape::kArray:
        lua_rawseti(state_, -2, ++frame.index);
        break;
      case Shape::kMap:
        if (frame.remaining % 2 == 0) {
          // The key waits for its value. A Lua table has no key nil.
          if (lua_isnil(state_, -1)) {
            lua_pop(state_, 1);
            lua_pushboolean(state_, 0);
          }
          frame.remaining--;
          return;
        }
        lua_rawset(state_, -3);
        break;
      case Shape::kSet:
        if (lua_isnil(state_, -1)) {
          lua_pop(state_, 1);
          lua_pushboolean(state_, 0);
        }
        lua_pushboolean(state_, 1);
        lua_rawset(state_, -3);
        break;
      case Shape::kDropped:
        lua_pop(state_, 1);
        break;
    }
    if (--frame.remaining > 0) return;
    const Shape shape = frame.shape;
    frames_.pop_back();
    if (shape == Shape::kDropped) return;
    // The table around the completed one is the value.
    if (shape != Shape::kArray) lua_pop(state_, 1);
  }
}

void LuaSink::open(Shape shape, int64_t values) {
  if (frames_.size() >= kDeepest) shape = Shape::kDropped;
  if (shape == Shape::kDropped) {
    if (values > 0) frames_.push_back({shape, values});
    return;
  }
  const int size = static_cast<int>(std::clamp<int64_t>(values, 0, INT_MAX / 2));
  if (shape == Shape::kArray) {
    lua_createtable(state_, size, 0);
  } else {
    lua_createtable(state_, 0, 1);
    lua_createtable(state_, 0, shape == Shape::kMap ? size / 2 : size);
    lua_pushvalue(state_, -1);
    lua_setfield(state_, -3, shape == Shape::kMap ? "map" : "set");
  }
  if (values > 0) {
    frames_.push_back({shape, values});
    return;
  }
  if (shape != Shape::kArray) lua_pop(state_, 1);
  done();
}

// A table with this one field.
void LuaSink::field(const char* name, std::string_view text) {
  lua_createtable(state_, 0, 1);
  push_text(text);
  lua_setfield(state_, -2, name);
  done();
}

void LuaSink::simple(std::string_view text) {
  field("ok", text);
}

void LuaSink::write_error(std::string_view text) {
  failed_ = frames_.empty();
  lua_createtable(state_, 0, 2);
  push_text(text);
  lua_setfield(state_, -2, "err");
  // The executor has counted the error.
  lua_pushboolean(state_, 1);
  lua_setfield(state_, -2, "ignore_error_stats_update");
  done();
}

void LuaSink::integer(int64_t value) {
  lua_pushnumber(state_, static_cast<lua_Number>(value));
  done();
}

void LuaSink::bulk(std::string_view bytes) {
  push_text(bytes);
  done();
}

void LuaSink::bulk_integer(int64_t value) {
  char text[kMaxIntegerText];
  push_text({text, static_cast<size_t>(format_int64(value, text))});
  done();
}

void LuaSink::null() {
  if (protocol_ == 2) {
    lua_pushboolean(state_, 0);
  } else {
    lua_pushnil(state_);
  }
  done();
}

void LuaSink::null_array() {
  null();
}

void LuaSink::real(double value) {
  if (protocol_ == 2) return bulk(format_double(value));
  lua_createtable(state_, 0, 1);
  lua_pushnumber(state_, value);
  lua_setfield(state_, -2, "double");
  done();
}

void LuaSink::real_text(std::string_view decimal) {
  if (protocol_ == 2) return bulk(decimal);
  real(parse_double(decimal).value_or(0));
}

void LuaSink::boolean(bool value) {
  if (protocol_ == 2) return integer(value ? 1 : 0);
  lua_pushboolean(state_, value);
  done();
}

void LuaSink::big_number(std::string_view digits) {
  if (protocol_ == 2) return bulk(digits);
  field("big_number", digits);
}

void LuaSink::verbatim(std::string_view format, std::string_view text) {
  if (protocol_ == 2) return bulk(text);
  lua_createtable(state_, 0, 1);
  lua_createtable(state_, 0, 2);
  push_text(text);
  lua_setfield(state_, -2, "string");
  push_text(format);
  lua_setfield(state_, -2, "format");
  lua_setfield(state_, -2, "verbatim_string");
  done();
}

void LuaSink::array(int64_t count) {
  open(Shape::kArray, count);
}

void LuaSink::map(int64_t pairs) {
  open(protocol_ == 2 ? Shape::kArray : Shape::kMap, 2 * pairs);
}

void LuaSink::set(int64_t count) {
  open(protocol_ == 2 ? Shape::kArray : Shape::kSet, count);
}

void LuaSink::push(int64_t count) {
  open(Shape::kArray, count);
}

// Attributes are dropped: scripts do not see them.
void LuaSink::attribute(int64_t pairs) {
  open(Shape::kDropped, 2 * pairs);
}

}  // namespace sorrel::script
