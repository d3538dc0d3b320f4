#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "script/libraries.h"

// cmsgpack: MessagePack. Tables are packed up to a depth of 16; deeper ones, and types without a
// MessagePack form, are packed as nil.

namespace sorrel::script {
namespace {

constexpr int kDeepestPacked = 16;
constexpr int kDeepestUnpacked = 1000;

// ---------------------------------------------------------------- pack

class Packer {
 public:
  explicit Packer(lua_State* state) : state_(state) {}

  // Packs the value on top of the stack and pops it.
  void pack(int depth) {
    luaL_checkstack(state_, 4, "in function mp_encode_lua_type");
    switch (lua_type(state_, -1)) {
      case LUA_TSTRING:
        string();
        break;
      case LUA_TBOOLEAN:
        byte(lua_toboolean(state_, -1) != 0 ? 0xc3 : 0xc2);
        break;
      case LUA_TNUMBER:
        number(lua_tonumber(state_, -1));
        break;
      case LUA_TTABLE:
        if (depth == kDeepestPacked) {
          byte(0xc0);
        } else {
          table(depth + 1);
        }
        break;
      default:
        byte(0xc0);
    }
    lua_pop(state_, 1);
  }

  const std::string& bytes() const { return out_; }

 private:
  void byte(unsigned value) { out_.push_back(static_cast<char>(value)); }

  template <class T>
  void big_endian(unsigned mark, T value) {
    byte(mark);
    for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
      byte(static_cast<unsigned>(value >> shift) & 0xff);
    }
  }

  void integer(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    if (value >= 0) {
      if (value < 128) return byte(static_cast<unsigned>(value));
      if (value <= 0xff) return big_endian(0xcc, static_cast<uint8_t>(bits));
      if (value <= 0xffff) return big_endian(0xcd, static_cast<uint16_t>(bits));
      if (value <= 0xffffffff) return big_endian(0xce, static_cast<uint32_t>(bits));
      return big_endian(0xcf, bits);
    }
    if (value >= -32) return byte(static_cast<unsigned>(bits) & 0xff);
    if (value >= INT8_MIN) return big_endian(0xd0, static_cast<uint8_t>(bits));
    if (value >= INT16_MIN) return big_endian(0xd1, static_cast<uint16_t>(bits));
    if (value >= INT32_MIN) return big_endian(0xd2, static_cast<uint32_t>(bits));
    big_endian(0xd3, bits);
  }

  void number(double value) {
    constexpr double kTwo63 = 9223372036854775808.0;
    if (value >= -kTwo63 && value < kTwo63 && std::trunc(value) == value) {
      return integer(static_cast<int64_t>(value));
    }
    // A float out of range is not converted: the result would be undefined.
    const bool fits = std::isnan(value) || std::isinf(value) || std::fabs(value) < 3.4e38;
    if (fits && static_cast<double>(static_cast<float>(value)) == value) {
      big_endian(0xca, std::bit_cast<uint32_t>(static_cast<float>(value)));
    } else {
      big_endian(0xcb, std::bit_cast<uint64_t>(value));
    }
  }

  void string() {
    size_t size;
    const char* text = lua_tolstring(state_, -1, &size);
    if (size < 32) {
      byte(0xa0 | static_cast<unsigned>(size));
    } else if (size <= 0xff) {
      big_endian(0xd9, static_cast<uint8_t>(size));
    } else if (size <= 0xffff) {
      big_endian(0xda, static_cast<uint16_t>(size));
    } else {
      big_endian(0xdb, static_cast<uint32_t>(size));
    }
    check_room(size);
    out_.append(text, size);
  }

  void check_room(size_t more) {
    if (more > kMostOutput || out_.size() > kMostOutput - more) {
      luaL_error(state_, "not enough memory");
    }
  }

  void header(size_t count, unsigned few, unsigned mark16, unsigned mark32) {
    check_room(count);
    if (count < 16) return byte(few | static_cast<unsigned>(count));
    if (count <= 0xffff) return big_endian(mark16, static_cast<uint16_t>(count));
    big_endian(mark32, static_cast<uint32_t>(count));
  }

  // The number of pairs, and whether the keys are 1, 2, 3 and so on.
  size_t count_pairs(bool& array) {
    size_t count = 0;
    double greatest = 0;
    array = true;
    lua_pushnil(state_);
    while (lua_next(state_, -2) != 0) {
      lua_pop(state_, 1);
      count++;
      if (!array || lua_type(state_, -1) != LUA_TNUMBER) {
        array = false;
        continue;
      }
      const double key = lua_tonumber(state_, -1);
      if (key < 1 || std::floor(key) != key || std::isinf(key)) array = false;
      if (key > greatest) greatest = key;
    }
    array = array && greatest == static_cast<double>(count);
    return count;
  }

  void table(int depth) {
    bool array;
    const size_t count = count_pairs(array);
    if (array) {
      header(count, 0x90, 0xdc, 0xdd);
      for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(state_, -1, static_cast<int>(i));
        pack(depth);
      }
      return;
    }
    header(count, 0x80, 0xde, 0xdf);
    lua_pushnil(state_);
    while (lua_next(state_, -2) != 0) {
      lua_pushvalue(state_, -2);
      pack(depth);
      pack(depth);
    }
  }

  lua_State* state_;
  std::string out_;
};

int pack(lua_State* state) {
  const int count = lua_gettop(state);
  if (count == 0) return luaL_argerror(state, 0, "MessagePack pack needs input.");
  luaL_checkstack(state, 1, "Too many arguments for MessagePack pack.");
  Packer packer(state);
  for (int i = 1; i <= count; i++) {
    lua_pushvalue(state, i);
    packer.pack(0);
  }
  lua_pushlstring(state, packer.bytes().data(), packer.bytes().size());
  return 1;
}

// ---------------------------------------------------------------- unpack

class Unpacker {
 public:
  Unpacker(lua_State* state, std::string_view bytes) : state_(state), bytes_(bytes) {}

  size_t left() const { return bytes_.size() - at_; }

  // Unpacks and pushes one value.
  void unpack(int depth) {
    luaL_checkstack(state_, 2, "too many return values at once; use unpack_one or unpack_limit.");
    const unsigned mark = static_cast<unsigned char>(take(1)[0]);
    if (mark < 0x80) return lua_pushnumber(state_, mark);
    if (mark >= 0xe0) return lua_pushnumber(state_, static_cast<int8_t>(mark));
    if (mark < 0x90) return map(mark & 15, depth);
    if (mark < 0xa0) return array(mark & 15, depth);
    if (mark < 0xc0) return string(mark & 31);
    scalar_or_long(mark, depth);
  }

 private:
  void scalar_or_long(unsigned mark, int depth) {
    switch (mark) {
      case 0xc0:
        return lua_pushnil(state_);
      case 0xc2:
      case 0xc3:
        return lua_pushboolean(state_, mark == 0xc3);
      case 0xca:
        return lua_pushnumber(state_, std::bit_cast<float>(number<uint32_t>()));
      case 0xcb:
        return lua_pushnumber(state_, std::bit_cast<double>(number<uint64_t>()));
      case 0xcc:
        return lua_pushnumber(state_, number<uint8_t>());
      case 0xcd:
        return lua_pushnumber(state_, number<uint16_t>());
      case 0xce:
        return lua_pushnumber(state_, number<uint32_t>());
      case 0xcf:
      case 0xd3:
        // Both are read as signed, as Redis does: 2^63 and more come out negative.
        return lua_pushnumber(state_,
                              static_cast<double>(static_cast<int64_t>(number<uint64_t>())));
      case 0xd0:
        return lua_pushnumber(state_, static_cast<int8_t>(number<uint8_t>()));
      case 0xd1:
        return lua_pushnumber(state_, static_cast<int16_t>(number<uint16_t>()));
      case 0xd2:
        return lua_pushnumber(state_, static_cast<int32_t>(number<uint32_t>()));
      case 0xd9:
        return string(number<uint8_t>());
      case 0xda:
        return string(number<uint16_t>());
      case 0xdb:
        return string(number<uint32_t>());
      case 0xdc:
        return array(number<uint16_t>(), depth);
      case 0xdd:
        return array(number<uint32_t>(), depth);
      case 0xde:
        return map(number<uint16_t>(), depth);
      case 0xdf:
        return map(number<uint32_t>(), depth);
      default:
        bad_format();
    }
  }

  void bad_format() { luaL_error(state_, "Bad data format in input."); }

  const char* take(size_t count) {
    if (count > left()) luaL_error(state_, "Missing bytes in input.");
    const char* begin = bytes_.data() + at_;
    at_ += count;
    return begin;
  }

  template <class T>
  T number() {
    const char* bytes = take(sizeof(T));
    T value = 0;
    for (size_t i = 0; i < sizeof(T); i++) {
      value = static_cast<T>(uint64_t{value} << 8 | static_cast<unsigned char>(bytes[i]));
    }
    return value;
  }

  void string(size_t size) {
    const char* text = take(size);
    lua_pushlstring(state_, text, size);
  }

  // The table grows with its elements: the announced count allocates nothing.
  void array(size_t count, int depth) {
    if (depth >= kDeepestUnpacked) bad_format();
    if (count > left()) luaL_error(state_, "Missing bytes in input.");
    lua_newtable(state_);
    for (size_t i = 1; i <= count; i++) {
      unpack(depth + 1);
      lua_rawseti(state_, -2, static_cast<int>(i));
    }
  }

  void map(size_t count, int depth) {
    if (depth >= kDeepestUnpacked) bad_format();
    if (count > left() / 2) luaL_error(state_, "Missing bytes in input.");
    lua_newtable(state_);
    for (size_t i = 0; i < count; i++) {
      unpack(depth + 1);
      unpack(depth + 1);
      lua_settable(state_, -3);  // raises for keys that Lua does not have: nil and NaN
    }
  }

  lua_State* state_;
  std::string_view bytes_;
  size_t at_ = 0;
};

// limit 0: no limit. Otherwise the offset of the next value is the first result, -1 at the end.
int unpack_some(lua_State* state, int64_t limit, int64_t offset) {
  size_t size;
  const char* text = luaL_checklstring(state, 1, &size);
  if (offset < 0 || limit < 0) {
    return luaL_error(state, "Invalid request to unpack with offset of %d and limit of %d.",
                      static_cast<int>(offset), static_cast<int>(limit));
  }
  if (static_cast<uint64_t>(offset) > size) {
    return luaL_error(state, "Start offset %d greater than input length %d.",
                      static_cast<int>(offset), static_cast<int>(size));
  }
  lua_settop(state, 1);
  const bool all = limit == 0 && offset == 0;
  Unpacker unpacker(state, {text + offset, size - static_cast<size_t>(offset)});
  int count = 0;
  while (unpacker.left() > 0 && (all || count < limit)) {
    unpacker.unpack(0);
    count++;
  }
  if (!all) {
    const double next = unpacker.left() == 0 ? -1 : static_cast<double>(size - unpacker.left());
    luaL_checkstack(state, 1, "in function mp_unpack_full");
    lua_pushnumber(state, next);
    lua_insert(state, 2);
    count++;
  }
  return count;
}

int unpack_message(lua_State* state) {
  return unpack_some(state, 0, 0);
}
int unpack_one(lua_State* state) {
  return unpack_some(state, 1, optional_index(state, 2, 0));
}
int unpack_limit(lua_State* state) {
  const int64_t limit = check_index(state, 2);
  return unpack_some(state, limit, optional_index(state, 3, 0));
}

constexpr LibraryFunction kCmsgpackFunctions[] = {{"pack", pack},
                                                  {"unpack", unpack_message},
                                                  {"unpack_one", unpack_one},
                                                  {"unpack_limit", unpack_limit}};

}  // namespace

void open_cmsgpack_library(lua_State* state) {
  lua_newtable(state);
  add_functions(state, kCmsgpackFunctions);
  lua_pushliteral(state, "cmsgpack");
  lua_setfield(state, -2, "_NAME");
  lua_pushliteral(state, "lua-cmsgpack 0.4.0");
  lua_setfield(state, -2, "_VERSION");
}

}  // namespace sorrel::script
