// string: Lua's functions, reimplemented where Lua's own could run or allocate without bound.

#include <algorithm>
#include <cstring>
#include <string_view>

#include "script/libraries.h"
#include "script/pattern.h"

namespace sorrel::script {
namespace {

constexpr std::string_view kSpecials = "^$*+?.([%-";

std::string_view check_text(lua_State* state, int argument) {
  size_t size;
  const char* text = luaL_checklstring(state, argument, &size);
  return {text, size};
}

void raise_if_wrong(lua_State* state, const PatternMatcher& matcher) {
  if (matcher.error() != nullptr) luaL_error(state, "%s", matcher.error());
}

// A capture, or the whole match when there are none and `which` is 0.
void push_capture(lua_State* state, const PatternMatcher& matcher, size_t which,
                  std::string_view subject, size_t begin, size_t end) {
  if (which >= matcher.capture_count()) {
    if (which != 0) luaL_error(state, "invalid capture index");
    lua_pushlstring(state, subject.data() + begin, end - begin);
    return;
  }
  const PatternMatcher::Capture& capture = matcher.capture(which);
  if (capture.length == PatternMatcher::kPosition) {
    lua_pushnumber(state, static_cast<double>(capture.begin + 1));
  } else {
    lua_pushlstring(state, subject.data() + capture.begin, capture.length);
  }
}

// All captures; or the whole match when there are none and `whole_if_none`.
int push_captures(lua_State* state, const PatternMatcher& matcher, std::string_view subject,
                  size_t begin, size_t end, bool whole_if_none) {
  const size_t count = matcher.capture_count() == 0 && whole_if_none ? 1 : matcher.capture_count();
  luaL_checkstack(state, static_cast<int>(count), "too many captures");
  for (size_t i = 0; i < count; i++) push_capture(state, matcher, i, subject, begin, end);
  return static_cast<int>(count);
}

void watch(lua_State* state, PatternMatcher& matcher, LibraryState& shared) {
  if (shared.watchdog == nullptr) return;
  matcher.set_poll([state, &shared] { shared.watchdog->poll(state); });
}

// The start position of string.find and string.match: negative from the end.
size_t start_of(lua_State* state, int argument, size_t size) {
  int64_t init = optional_index(state, argument, 1);
  if (init < 0) init += static_cast<int64_t>(size) + 1;
  if (init < 1) return 0;
  return std::min(static_cast<size_t>(init - 1), size);
}

int find_plain(lua_State* state, std::string_view subject, std::string_view text, size_t start) {
  const void* at = text.empty() ? subject.data() + start
                                : memmem(subject.data() + start, subject.size() - start,
                                         text.data(), text.size());
  if (at == nullptr) {
    lua_pushnil(state);
    return 1;
  }
  const size_t begin = static_cast<size_t>(static_cast<const char*>(at) - subject.data());
  lua_pushnumber(state, static_cast<double>(begin + 1));
  lua_pushnumber(state, static_cast<double>(begin + text.size()));
  return 2;
}

int search(lua_State* state, bool find) {
  const std::string_view subject = check_text(state, 1);
  std::string_view pattern = check_text(state, 2);
  const size_t start = start_of(state, 3, subject.size());
  if (find && (lua_toboolean(state, 4) != 0 ||
               pattern.find_first_of(kSpecials) == std::string_view::npos)) {
    return find_plain(state, subject, pattern, start);
  }
  const bool anchored = pattern.starts_with('^');
  if (anchored) pattern.remove_prefix(1);
  PatternMatcher matcher(subject, pattern);
  watch(state, matcher, shared_of(state));
  for (size_t begin = start; begin <= subject.size(); begin++) {
    const size_t end = matcher.match_at(begin);
    if (end != PatternMatcher::kNoMatch && matcher.check_closed()) {
      if (!find) return push_captures(state, matcher, subject, begin, end, true);
      lua_pushnumber(state, static_cast<double>(begin + 1));
      lua_pushnumber(state, static_cast<double>(end));
      return push_captures(state, matcher, subject, begin, end, false) + 2;
    }
    raise_if_wrong(state, matcher);
    if (anchored) break;
  }
  lua_pushnil(state);
  return 1;
}

int find(lua_State* state) {
  return search(state, true);
}
int match(lua_State* state) {
  return search(state, false);
}

// Upvalues: the shared state, subject, pattern, position.
int next_match(lua_State* state) {
  size_t size;
  const char* text = lua_tolstring(state, lua_upvalueindex(2), &size);
  const std::string_view subject(text, size);
  text = lua_tolstring(state, lua_upvalueindex(3), &size);
  PatternMatcher matcher(subject, {text, size});
  watch(state, matcher, shared_of(state));
  auto begin = static_cast<size_t>(lua_tonumber(state, lua_upvalueindex(4)));
  for (; begin <= subject.size(); begin++) {
    const size_t end = matcher.match_at(begin);
    if (end != PatternMatcher::kNoMatch && matcher.check_closed()) {
      lua_pushnumber(state, static_cast<double>(end == begin ? end + 1 : end));
      lua_replace(state, lua_upvalueindex(4));
      return push_captures(state, matcher, subject, begin, end, true);
    }
    raise_if_wrong(state, matcher);
  }
  return 0;
}

int matches(lua_State* state) {
  check_text(state, 1);
  check_text(state, 2);
  lua_settop(state, 2);
  lua_pushlightuserdata(state, &shared_of(state));
  lua_insert(state, 1);
  lua_pushnumber(state, 0);
  lua_pushcclosure(state, next_match, 4);
  return 1;
}

// Appends a replacement text, with %0 to %9 expanded.
void add_replacement_text(lua_State* state, luaL_Buffer& out, const PatternMatcher& matcher,
                          std::string_view subject, size_t begin, size_t end) {
  size_t size;
  const char* text = lua_tolstring(state, 3, &size);
  for (std::string_view rest(text, size); !rest.empty();) {
    const size_t plain = std::min(rest.find('%'), rest.size());
    luaL_addlstring(&out, rest.data(), plain);
    rest.remove_prefix(plain);
    if (rest.size() < 2) break;
    const char what = rest[1];
    rest.remove_prefix(2);
    if (what == '0') {
      luaL_addlstring(&out, subject.data() + begin, end - begin);
    } else if (what >= '1' && what <= '9') {
      push_capture(state, matcher, static_cast<size_t>(what - '1'), subject, begin, end);
      luaL_addvalue(&out);
    } else {
      luaL_addchar(&out, what);
    }
  }
}

void add_replacement(lua_State* state, luaL_Buffer& out, const PatternMatcher& matcher,
                     std::string_view subject, size_t begin, size_t end) {
  switch (lua_type(state, 3)) {
    case LUA_TFUNCTION: {
      lua_pushvalue(state, 3);
      const int count = push_captures(state, matcher, subject, begin, end, true);
      lua_call(state, count, 1);
      break;
    }
    case LUA_TTABLE:
      push_capture(state, matcher, 0, subject, begin, end);
      lua_gettable(state, 3);
      break;
    default:
      add_replacement_text(state, out, matcher, subject, begin, end);
      return;
  }
  if (lua_toboolean(state, -1) == 0) {
    lua_pop(state, 1);
    lua_pushlstring(state, subject.data() + begin, end - begin);
  } else if (lua_isstring(state, -1) == 0) {
    luaL_error(state, "invalid replacement value (a %s)", luaL_typename(state, -1));
  }
  luaL_addvalue(&out);
}

int substitute(lua_State* state) {
  const std::string_view subject = check_text(state, 1);
  std::string_view pattern = check_text(state, 2);
  const int type = lua_type(state, 3);
  luaL_argcheck(
      state,
      type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
      "string/function/table expected");
  const int64_t most = optional_index(state, 4, static_cast<int64_t>(subject.size()) + 1);
  const bool anchored = pattern.starts_with('^');
  if (anchored) pattern.remove_prefix(1);
  PatternMatcher matcher(subject, pattern);
  watch(state, matcher, shared_of(state));
  luaL_Buffer out;
  luaL_buffinit(state, &out);
  size_t begin = 0;
  int64_t count = 0;
  while (count < most) {
    const size_t end = matcher.match_at(begin);
    const bool matched = end != PatternMatcher::kNoMatch && matcher.check_closed();
    if (matched) {
      count++;
      add_replacement(state, out, matcher, subject, begin, end);
    }
    raise_if_wrong(state, matcher);
    if (matched && end > begin) {
      begin = end;
    } else if (begin < subject.size()) {
      luaL_addchar(&out, subject[begin]);
      begin++;
    } else {
      break;
    }
    if (anchored) break;
  }
  if (begin < subject.size()) {
    luaL_addlstring(&out, subject.data() + begin, subject.size() - begin);
  }
  luaL_pushresult(&out);
  lua_pushnumber(state, static_cast<double>(count));
  return 2;
}

int repeat(lua_State* state) {
  const std::string_view text = check_text(state, 1);
  const int64_t times = check_index(state, 2);
  if (times <= 0 || text.empty()) {
    lua_pushliteral(state, "");
    return 1;
  }
  constexpr uint64_t kFar = uint64_t{1} << 40;  // larger than any limit of the heap
  if (static_cast<uint64_t>(times) > kFar / text.size()) {
    return luaL_error(state, "not enough memory");
  }
  // Allocated as one block, which the heap refuses at once when it is too long.
  const size_t size = text.size() * static_cast<size_t>(times);
  auto* out = static_cast<char*>(lua_newuserdata(state, size));
  std::memcpy(out, text.data(), text.size());
  for (size_t done = text.size(); done < size;) {
    const size_t more = std::min(done, size - done);
    std::memcpy(out + done, out, more);
    done += more;
  }
  lua_pushlstring(state, out, size);
  return 1;
}

// string.dump: only the signature of bytecode, which load() rejects anyway.
int dump(lua_State* state) {
  luaL_checktype(state, 1, LUA_TFUNCTION);
  lua_pushliteral(state, LUA_SIGNATURE);
  return 1;
}

constexpr LibraryFunction kOwn[] = {
    {"find", find}, {"match", match}, {"gmatch", matches}, {"gfind", matches}, {"gsub", substitute},
};
constexpr LibraryFunction kOwnAlone[] = {{"rep", repeat}, {"dump", dump}};

// The time of these functions is bounded by the length of their arguments.
constexpr const char* kTaken[] = {"byte",  "char",    "format", "len",
                                  "lower", "reverse", "sub",    "upper"};

}  // namespace

// Precondition: Lua's own library is in the global table of `state`.
void open_string_library(lua_State* state, LibraryState& shared) {
  lua_newtable(state);
  lua_getfield(state, LUA_GLOBALSINDEX, LUA_STRLIBNAME);
  for (const char* name : kTaken) {
    lua_getfield(state, -1, name);
    lua_setfield(state, -3, name);
  }
  lua_pop(state, 1);
  add_functions(state, kOwn, &shared);
  add_functions(state, kOwnAlone);
}

}  // namespace sorrel::script
