#include "script/interpreter.h"

#include <fmt/format.h>

#include "script/debugger.h"
#include "script/lua_reply.h"
#include "script/read_only.h"
#include "script/redis_library.h"

namespace sorrel::script {
namespace {

// VM instructions between two checks of the clock.
constexpr int kInstructionsPerPoll = 100'000;

// Permanent stack slots, at the bottom.
enum Bottom : int {
  kErrorHandler = 1,
  kGlobals,
  kLoadingGlobals,
  kKeysName,
  kArgsName,
  kBottomSize = kArgsName,
};

// Outside of protected calls Lua aborts the process when an allocation fails, so that these calls
// run with a lenient heap. Their allocations are bounded by the sizes of requests.
class Lenient {
 public:
  explicit Lenient(LuaMemory& memory) : memory_(memory) { memory_.lenient = true; }
  ~Lenient() { memory_.lenient = false; }
  Lenient(const Lenient&) = delete;
  Lenient& operator=(const Lenient&) = delete;

 private:
  LuaMemory& memory_;
};

// The message handler: turns every error into a table with its text and its source and line.
int describe_error(lua_State* state) {
  if (!lua_istable(state, 1) || is_read_only(state, 1)) {
    if (lua_isstring(state, 1) == 0) {
      if (lua_isnoneornil(state, 1) || lua_isboolean(state, 1)) {
        const bool is_true = lua_toboolean(state, 1) != 0;
        lua_pushstring(state, lua_isboolean(state, 1) ? (is_true ? "true" : "false") : "nil");
      } else {
        lua_pushfstring(state, "%s: %p", luaL_typename(state, 1), lua_topointer(state, 1));
      }
      lua_replace(state, 1);
    }
    lua_pushliteral(state, "ERR ");
    lua_pushvalue(state, 1);
    lua_concat(state, 2);
    lua_createtable(state, 0, 3);
    lua_insert(state, -2);
    lua_setfield(state, -2, "err");
    lua_replace(state, 1);
  }
  lua_settop(state, 1);
  // The function that raised it; for a C function of ours, the line that called it.
  lua_Debug place;
  for (int level = 1; level <= 2; level++) {
    if (lua_getstack(state, level, &place) == 0) return 1;
    lua_getinfo(state, "Sl", &place);
    if (std::string_view(place.what) != "C") break;
  }
  lua_pushliteral(state, "source");
  lua_pushstring(state, place.source);
  lua_rawset(state, 1);
  lua_pushliteral(state, "line");
  lua_pushnumber(state, place.currentline);
  lua_rawset(state, 1);
  return 1;
}

// A text field of the table on top of the stack, or nothing.
std::string text_field(lua_State* state, const char* name) {
  lua_pushstring(state, name);
  lua_rawget(state, -2);
  std::string text;
  if (lua_isstring(state, -1) != 0) text = lua_tostring(state, -1);
  lua_pop(state, 1);
  return text;
}

}  // namespace

Interpreter::Interpreter(Kind kind, std::string_view version) : kind_(kind), version_(version) {
  heap_.owner = this;
  shared_.watchdog = this;
  open();
}

Interpreter::~Interpreter() {
  lua_close(state_);
}

void Interpreter::open() {
  const Lenient lenient(heap_);
  state_ = lua_newstate(LuaMemory::allocate, static_cast<LuaMemory*>(&heap_));
  constexpr LibraryFunction kLibraries[] = {{"", luaopen_base},
                                            {LUA_TABLIBNAME, luaopen_table},
                                            {LUA_STRLIBNAME, luaopen_string},
                                            {LUA_MATHLIBNAME, luaopen_math}};
  for (const auto& [name, function] : kLibraries) {
    lua_pushcfunction(state_, function);
    lua_pushstring(state_, name);
    lua_call(state_, 1, 0);
  }
  lua_settop(state_, 0);
  lua_pushcfunction(state_, describe_error);
  push_globals();
  push_loading_globals();
  lua_pushliteral(state_, "KEYS");
  lua_pushliteral(state_, "ARGV");
  lock_string_metatable();

  // From here on scripts cannot reach Lua's own tables: their globals are a read-only view, and the
  // list of loaded libraries is deleted.
  lua_pushvalue(state_, kGlobals);
  make_read_only(state_);
  lua_pushvalue(state_, -1);
  lua_setfield(state_, kGlobals, "_G");
  lua_replace(state_, LUA_GLOBALSINDEX);
  lua_pushnil(state_);
  lua_setfield(state_, LUA_REGISTRYINDEX, "_LOADED");
  lua_settop(state_, kBottomSize);
  lua_sethook(state_, on_count, LUA_MASKCOUNT, kInstructionsPerPoll);
}

void Interpreter::push_globals() {
  lua_newtable(state_);
  fill_base_library(state_);
  const auto add = [&](const char* name) {
    make_read_only(state_);
    lua_setfield(state_, -2, name);
  };
  open_coroutine_library(state_);
  add("coroutine");
  open_table_library(state_);
  add("table");
  open_string_library(state_, shared_);
  add("string");
  open_math_library(state_, shared_);
  add("math");
  open_bit_library(state_);
  add("bit");
  open_struct_library(state_);
  add("struct");
  open_cjson_library(state_, shared_);
  add("cjson");
  open_cmsgpack_library(state_);
  add("cmsgpack");
  open_redis_library(state_, *this);
  add("redis");
  lua_getfield(state_, -1, "redis");
  lua_setfield(state_, -2, "server");
  refuse_absent_fields(state_);
}

void Interpreter::push_loading_globals() {
  lua_newtable(state_);
  open_loading_library(state_, *this);
  refuse_absent_fields(state_);
  make_read_only(state_);
  lua_pushvalue(state_, -1);
  lua_setfield(state_, -3, "redis");
  lua_setfield(state_, -2, "server");
  refuse_absent_fields(state_);
}

// Methods of strings come from the real library, not from the view.
void Interpreter::lock_string_metatable() {
  lua_pushliteral(state_, "");
  lua_createtable(state_, 0, 2);
  lua_getfield(state_, kGlobals, "string");
  push_real(state_, -1);
  lua_setfield(state_, -3, "__index");
  lua_pop(state_, 1);
  push_locked_metatable(state_);
  lua_setfield(state_, -2, "__metatable");
  lua_setmetatable(state_, -2);
  lua_pop(state_, 1);
}

// Debugged scripts call this hook for every line as well.
void Interpreter::on_count(lua_State* state, lua_Debug* event) {
  void* memory = nullptr;
  lua_getallocf(state, &memory);
  Interpreter& self = *static_cast<Heap*>(static_cast<LuaMemory*>(memory))->owner;
  if (event->event == LUA_HOOKLINE) {
    self.look_with_debugger(state, true);
  } else {
    self.poll(state);
  }
}

void Interpreter::look_with_debugger(lua_State* state, bool line) {
  debugger_->look(state, heap_, line);
  if (debugger_->fragment_is_over()) {
    lua_sethook(state, on_count, LUA_MASKCOUNT, 1);
    raise_error(state, "what was typed in ran for too long");
  }
  if (debugger_->verdict() == nullptr) return;
  stopped_ = true;
  // As in poll().
  lua_sethook(state, on_count, LUA_MASKCOUNT, 1);
  raise_error(state, debugger_->verdict());
}

void Interpreter::poll(lua_State* state) {
  if (debugger_ != nullptr) return look_with_debugger(state, false);
  const char* reason = nullptr;
  if (loading_ != nullptr) {
    stopped_ =
        stopped_ || (loading_until_ns_ != 0 && loading_->clock.monotonic_ns() > loading_until_ns_);
    reason = "FUNCTION LOAD timeout";
  } else if (host_ != nullptr) {
    stopped_ = stopped_ || host_->interrupted();
    reason = "Script killed by user with SCRIPT KILL...";
  }
  if (!stopped_) return;
  // A script may catch the error with pcall, so that from now on every instruction raises it again.
  lua_sethook(state, on_count, LUA_MASKCOUNT, 1);
  raise_error(state, reason);
}

Result<Interpreter::Ref> Interpreter::compile(std::string_view text, const char* name) {
  const Lenient lenient(heap_);
  if (load_text(state_, text.data(), text.size(), name) != 0) {
    Error error{lua_tostring(state_, -1)};
    lua_pop(state_, 1);
    return error;
  }
  return luaL_ref(state_, LUA_REGISTRYINDEX);
}

void Interpreter::release(Ref function) {
  const Lenient lenient(heap_);
  luaL_unref(state_, LUA_REGISTRYINDEX, function);
}

void Interpreter::push_array(std::span<const std::string_view> texts) {
  lua_createtable(state_, static_cast<int>(texts.size()), 0);
  int at = 0;
  for (const std::string_view text : texts) {
    lua_pushlstring(state_, text.data(), text.size());
    lua_rawseti(state_, -2, ++at);
  }
}

void Interpreter::call(Ref function, std::string_view name, std::span<const std::string_view> keys,
                       std::span<const std::string_view> args, ScriptHost& host,
                       resp::ReplySink& reply) {
  heap_.lenient = true;
  host_ = &host;
  protocol_ = 2;
  lua_rawgeti(state_, LUA_REGISTRYINDEX, function);
  int parameters = 0;
  if (kind_ == Kind::kEval) {
    lua_pushvalue(state_, kKeysName);
    push_array(keys);
    lua_rawset(state_, kGlobals);
    lua_pushvalue(state_, kArgsName);
    push_array(args);
    lua_rawset(state_, kGlobals);
  } else {
    push_array(keys);
    push_array(args);
    parameters = 2;
  }
  if (debugger_ != nullptr) [[unlikely]] {
    lua_sethook(state_, on_count, LUA_MASKLINE | LUA_MASKCOUNT, kInstructionsPerPoll);
  }
  heap_.lenient = false;
  const int status = lua_pcall(state_, parameters, 1, kErrorHandler);
  heap_.lenient = true;
  if (status == 0) {
    send_reply(state_, protocol_, reply);
  } else {
    answer_error(status, name, reply);
  }
  clean_up();
  heap_.lenient = false;
}

void Interpreter::answer_error(int status, std::string_view name, resp::ReplySink& reply) {
  if (!lua_istable(state_, -1)) {
    const char* text = lua_tostring(state_, -1);
    reply.error(
        fmt::format("ERR Error running script {}, {}", name,
                    std::string_view(text == nullptr ? "execution failure" : text).substr(0, 100)));
    // Much of the heap may be garbage now, and the next script needs room.
    if (status == LUA_ERRMEM) lua_gc(state_, LUA_GCCOLLECT, 0);
    return;
  }
  std::string message = text_field(state_, "err");
  if (message.empty()) message = "ERR unknown error";
  const std::string source = text_field(state_, "source");
  const std::string line = text_field(state_, "line");
  if (!source.empty() && !line.empty()) {
    message += fmt::format(" script: {}, on {}:{}.", name, source, line);
  }
  lua_pushliteral(state_, "ignore_error_stats_update");
  lua_rawget(state_, -2);
  if (lua_toboolean(state_, -1) != 0) {
    reply.error_again(message);
  } else {
    reply.error(message);
  }
}

// Resets what a script may have changed: the stack, the options of cjson, and the hook.
void Interpreter::clean_up() {
  host_ = nullptr;
  lua_settop(state_, kBottomSize);
  shared_.json = {};
  if (stopped_ || debugger_ != nullptr) [[unlikely]] {
    stopped_ = false;
    lua_sethook(state_, on_count, LUA_MASKCOUNT, kInstructionsPerPoll);
  }
}

// The contents of the view of the globals.
void Interpreter::choose_globals(int index) {
  lua_getmetatable(state_, LUA_GLOBALSINDEX);
  lua_pushvalue(state_, index);
  lua_setfield(state_, -2, "__index");
  lua_pop(state_, 1);
}

Status Interpreter::load_library(std::string_view text, const Loading& loading) {
  const Lenient lenient(heap_);
  if (load_text(state_, text.data(), text.size(), "@user_function") != 0) {
    Error error{fmt::format("Error compiling function: {}", lua_tostring(state_, -1))};
    lua_settop(state_, kBottomSize);
    return error;
  }
  loading_ = &loading;
  loading_until_ns_ =
      loading.limit_ms == 0 ? 0 : loading.clock.monotonic_ns() + loading.limit_ms * 1'000'000;
  choose_globals(kLoadingGlobals);
  heap_.lenient = false;
  const int status = lua_pcall(state_, 0, 0, 0);
  heap_.lenient = true;
  choose_globals(kGlobals);
  loading_ = nullptr;
  Status done;
  if (status != 0) {
    std::string message;
    if (lua_istable(state_, -1)) {
      message = text_field(state_, "err");
    } else if (lua_isstring(state_, -1) != 0) {
      message = std::string("ERR ") + lua_tostring(state_, -1);
    }
    if (message.empty()) message = "ERR unknown error";
    done = Error{"Error registering functions: " + message};
  }
  stopped_ = false;
  lua_settop(state_, kBottomSize);
  lua_sethook(state_, on_count, LUA_MASKCOUNT, kInstructionsPerPoll);
  return done;
}

}  // namespace sorrel::script
