// The table `redis`: call and pcall, logging, replication control, and the registration of
// functions.

#include "script/redis_library.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/numbers.h"
#include "script/debugger.h"
#include "script/interpreter.h"
#include "script/script_flags.h"
#include "script/sha1.h"

namespace sorrel::script {

void push_error(lua_State* state, const char* text) {
  std::string message;
  if (text[0] != '-') {
    message = std::string("ERR ") + text;
  } else {
    // A single word is no error code.
    message = std::strchr(text, ' ') == nullptr ? std::string("ERR ") + (text + 1) : text + 1;
  }
  while (!message.empty() && (message.back() == '\r' || message.back() == '\n')) message.pop_back();
  lua_createtable(state, 0, 1);
  lua_pushlstring(state, message.data(), message.size());
  lua_setfield(state, -2, "err");
}

int raise_error(lua_State* state, const char* text) {
  push_error(state, text);
  return lua_error(state);
}

struct RedisLibrary {
  static Interpreter& self(lua_State* state) {
    return *static_cast<Interpreter*>(lua_touserdata(state, lua_upvalueindex(1)));
  }

  // ---------------------------------------------------------------- commands

  // Lua prints numbers with 14 digits; commands get all digits, and integers as integers.
  static size_t print_number(double number, char* out) {
    constexpr double kExact = 4503599627370496.0;  // 2^52
    if (number > -kExact && number < kExact && std::trunc(number) == number) {
      return static_cast<size_t>(format_int64(static_cast<int64_t>(number), out));
    }
    const std::string text = format_double(number);
    std::memcpy(out, text.data(), text.size());
    return text.size();
  }

  // The arguments as strings: views of the strings on the stack, and numbers printed into scratch.
  // False: one of them is neither.
  static bool take_arguments(lua_State* state, Interpreter& self) {
    constexpr size_t kNumberText = 40;
    const int count = lua_gettop(state);
    self.args_.clear();
    self.numbers_.clear();
    for (int i = 1; i <= count; i++) {
      size_t size;
      const int type = lua_type(state, i);
      if (type == LUA_TSTRING) {
        const char* text = lua_tolstring(state, i, &size);
        self.args_.emplace_back(text, size);
      } else if (type == LUA_TNUMBER) {
        // Reserved once for all arguments: reallocation would invalidate the views.
        if (self.numbers_.empty()) {
          self.numbers_.reserve(kNumberText * static_cast<size_t>(count - i + 1));
        }
        char text[kNumberText];
        size = print_number(lua_tonumber(state, i), text);
        const size_t begin = self.numbers_.size();
        self.numbers_.append(text, size);
        self.args_.emplace_back(self.numbers_.data() + begin, size);
      } else {
        return false;
      }
    }
    return true;
  }

  // With this many arguments the stack has no room for the reply: they are copied off the stack.
  static void make_room(lua_State* state, Interpreter& self) {
    constexpr int kCrowded = LUAI_MAXCSTACK - 400;
    if (lua_gettop(state) < kCrowded) return;
    self.copies_.assign(self.args_.begin(), self.args_.end());
    self.args_.assign(self.copies_.begin(), self.copies_.end());
    lua_settop(state, 0);
  }

  // The error in the arguments; null: none.
  static const char* arguments_problem(lua_State* state, Interpreter& self) {
    if (lua_gettop(state) == 0) {
      return "Please specify at least one argument for this redis lib call";
    }
    if (!take_arguments(state, self)) {
      return "Lua redis lib command arguments must be strings or integers";
    }
    return nullptr;
  }

  static int run_command(lua_State* state, bool raise) {
    Interpreter& self = RedisLibrary::self(state);
    if (self.host_ == nullptr) {
      return raise_error(state, "redis.call can only be called inside a script invocation");
    }
    if (const char* problem = arguments_problem(state, self)) {
      if (self.debugger_ != nullptr && self.debugger_->stepping()) {
        self.debugger_->note_error(problem);
      }
      push_error(state, problem);
      return raise ? lua_error(state) : 1;
    }
    make_room(state, self);
    if (!self.sink_.begin(state, self.protocol_)) return luaL_error(state, "stack overflow");
    self.heap_.lenient = true;
    self.host_->run(self.args_, self.sink_);
    const bool failed = self.sink_.end();
    self.heap_.lenient = false;
    self.copies_.clear();
    if (self.heap_.over_limit()) {
      lua_gc(state, LUA_GCCOLLECT, 0);
      if (self.heap_.over_limit()) return luaL_error(state, "not enough memory");
    }
    return failed && raise ? lua_error(state) : 1;
  }

  static int call(lua_State* state) { return run_command(state, true); }
  static int protected_call(lua_State* state) { return run_command(state, false); }

  static int acl_check_cmd(lua_State* state) {
    Interpreter& self = RedisLibrary::self(state);
    if (self.host_ == nullptr) {
      return raise_error(state,
                         "redis.acl_check_cmd can only be called inside a script invocation");
    }
    if (const char* problem = arguments_problem(state, self)) return raise_error(state, problem);
    const auto permission = self.host_->permission(self.args_);
    if (permission == ScriptHost::Permission::kUnknownCommand) {
      return raise_error(state, "Invalid command passed to redis.acl_check_cmd()");
    }
    lua_pushboolean(state, permission == ScriptHost::Permission::kGranted);
    return 1;
  }

  // ---------------------------------------------------------------- answers

  static int error_reply(lua_State* state) {
    if (lua_gettop(state) != 1 || lua_type(state, 1) != LUA_TSTRING) {
      push_error(state, "wrong number or type of arguments");
      return 1;
    }
    const char* text = lua_tostring(state, 1);
    push_error(state, text[0] == '-' ? text : ("-" + std::string(text)).c_str());
    return 1;
  }

  static int status_reply(lua_State* state) {
    if (lua_gettop(state) != 1 || lua_type(state, 1) != LUA_TSTRING) {
      push_error(state, "wrong number or type of arguments");
      return 1;
    }
    lua_createtable(state, 0, 1);
    lua_pushvalue(state, 1);
    lua_setfield(state, -2, "ok");
    return 1;
  }

  // ---------------------------------------------------------------- the run

  static int set_resp(lua_State* state) {
    if (lua_gettop(state) != 1) return raise_error(state, "redis.setresp() requires one argument.");
    const double wanted = lua_tonumber(state, 1);
    if (wanted != 2 && wanted != 3) return raise_error(state, "RESP version must be 2 or 3.");
    self(state).protocol_ = static_cast<int>(wanted);
    return 0;
  }

  static int set_repl(lua_State* state) {
    Interpreter& self = RedisLibrary::self(state);
    if (lua_gettop(state) != 1) {
      return raise_error(state, "redis.set_repl() requires one argument.");
    }
    const double wanted = lua_tonumber(state, 1);
    if (!(wanted >= 0 && wanted <= unsigned{ScriptHost::kEverybody})) {
      return raise_error(
          state, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
    }
    if (self.host_ != nullptr) self.host_->set_replication(static_cast<unsigned>(wanted));
    return 0;
  }

  static int replicate_commands(lua_State* state) {
    lua_pushboolean(state, 1);
    return 1;
  }

  // Both do nothing unless the script is debugged.
  static int breakpoint(lua_State* state) {
    Debugger* debugger = self(state).debugger_;
    if (debugger != nullptr) debugger->stop_at_next_line();
    lua_pushboolean(state, debugger != nullptr ? 1 : 0);
    return 1;
  }
  static int debug(lua_State* state) {
    Interpreter& self = RedisLibrary::self(state);
    if (self.debugger_ == nullptr) return 0;
    self.heap_.lenient = true;
    self.debugger_->note_values(state);
    self.heap_.lenient = false;
    return 0;
  }

  static int log(lua_State* state) {
    Interpreter& self = RedisLibrary::self(state);
    const int count = lua_gettop(state);
    if (count < 2) return raise_error(state, "redis.log() requires two arguments or more.");
    if (lua_isnumber(state, 1) == 0) {
      return raise_error(state, "First argument must be a number (log level).");
    }
    const double level = lua_tonumber(state, 1);
    if (!(level >= 0 && level <= static_cast<double>(LogLevel::kWarning))) {
      return raise_error(state, "Invalid debug level.");
    }
    std::string message;
    for (int i = 2; i <= count; i++) {
      size_t size;
      const char* text = lua_tolstring(state, i, &size);
      if (text == nullptr) continue;
      if (i != 2) message.push_back(' ');
      message.append(text, size);
    }
    const auto wanted = static_cast<LogLevel>(static_cast<int>(level));
    if (self.host_ != nullptr) {
      self.host_->log(wanted, message);
    } else if (self.loading_ != nullptr) {
      self.loading_->log.write(wanted, message);
    }
    return 0;
  }

  static int sha1(lua_State* state) {
    if (lua_gettop(state) != 1) return raise_error(state, "wrong number of arguments");
    size_t size = 0;
    const char* text = lua_tolstring(state, 1, &size);
    const Sha1Text digest = sha1_hex({text == nullptr ? "" : text, size});
    lua_pushlstring(state, digest.data(), digest.size());
    return 1;
  }

  static void add(lua_State* state, Interpreter& interpreter, const char* name,
                  lua_CFunction function) {
    lua_pushlightuserdata(state, &interpreter);
    lua_pushcclosure(state, function, 1);
    lua_setfield(state, -2, name);
  }
  static void add(lua_State* state, const char* name, int number) {
    lua_pushnumber(state, number);
    lua_setfield(state, -2, name);
  }

  // A byte for each part of the version.
  static int version_number(const std::string& version) {
    int number = 0;
    for (size_t at = 0; at < version.size();) {
      const size_t dot = std::min(version.find('.', at), version.size());
      number =
          number << 8 | static_cast<int>(parse_int64(version.substr(at, dot - at)).value_or(0));
      at = dot + 1;
    }
    return number;
  }

  // For EVAL only: functions cannot be debugged.
  static void add_for_kind(lua_State* state, Interpreter& interpreter) {
    if (interpreter.kind_ != Interpreter::Kind::kEval) return;
    add(state, interpreter, "replicate_commands", replicate_commands);
    add(state, interpreter, "breakpoint", breakpoint);
    add(state, interpreter, "debug", debug);
  }

  // Available to libraries while they are loaded as well.
  static void add_common(lua_State* state, Interpreter& interpreter) {
    add(state, interpreter, "log", log);
    add(state, "LOG_DEBUG", 0);
    add(state, "LOG_VERBOSE", 1);
    add(state, "LOG_NOTICE", 2);
    add(state, "LOG_WARNING", 3);
    const std::string& version = interpreter.version_;
    add(state, "REDIS_VERSION_NUM", version_number(version));
    lua_pushlstring(state, version.data(), version.size());
    lua_setfield(state, -2, "REDIS_VERSION");
  }
};

// The named arguments of redis.register_function, field by field.
struct LibraryLoader {
  static std::string text_at(lua_State* state, int index) {
    size_t size;
    const char* text = lua_tolstring(state, index, &size);
    return {text, size};
  }

  // The value on top of the stack is a list of flag names; null: every one is known.
  static const char* read_flags(lua_State* state, uint32_t& flags) {
    for (int i = 1;; i++) {
      lua_rawgeti(state, -1, i);
      if (lua_isnil(state, -1)) break;
      const auto flag = lua_isstring(state, -1) != 0
                            ? script_flag(lua_tostring(state, -1), FlagSpelling::kAnyCase)
                            : std::nullopt;
      lua_pop(state, 1);
      if (!flag) return "unknown flag given";
      flags |= *flag;
    }
    lua_pop(state, 1);
    return nullptr;
  }

  // One named argument: its name and value are on top of the stack, and the value is popped.
  static const char* read_field(lua_State* state, Interpreter::Registration& out) {
    if (lua_type(state, -2) != LUA_TSTRING) {
      return "named argument key given to redis.register_function is not a string";
    }
    const std::string_view key = lua_tostring(state, -2);
    if (iequals(key, "function_name")) {
      if (lua_isstring(state, -1) == 0) {
        return "function_name argument given to redis.register_function must be a string";
      }
      out.name = text_at(state, -1);
    } else if (iequals(key, "description")) {
      if (lua_isstring(state, -1) == 0) {
        return "description argument given to redis.register_function must be a string";
      }
      out.description = text_at(state, -1);
      out.described = true;
    } else if (iequals(key, "callback")) {
      if (!lua_isfunction(state, -1)) {
        return "callback argument given to redis.register_function must be a function";
      }
      luaL_unref(state, LUA_REGISTRYINDEX, out.callback);
      out.callback = luaL_ref(state, LUA_REGISTRYINDEX);
      return nullptr;
    } else if (iequals(key, "flags")) {
      if (!lua_istable(state, -1)) {
        return "flags argument to redis.register_function must be a table representing function "
               "flags";
      }
      if (const char* problem = read_flags(state, out.flags)) return problem;
    } else {
      return "unknown argument given to redis.register_function";
    }
    lua_pop(state, 1);
    return nullptr;
  }

  static const char* read_named(lua_State* state, Interpreter::Registration& out) {
    if (!lua_istable(state, 1)) {
      return "calling redis.register_function with a single argument is only applicable to Lua "
             "table (representing named arguments).";
    }
    bool named = false;
    lua_pushnil(state);
    while (lua_next(state, 1) != 0) {
      named = named || (lua_type(state, -2) == LUA_TSTRING &&
                        iequals(lua_tostring(state, -2), "function_name"));
      if (const char* problem = read_field(state, out)) return problem;
    }
    if (!named) return "redis.register_function must get a function name argument";
    if (out.callback == LUA_NOREF) return "redis.register_function must get a callback argument";
    return nullptr;
  }

  static const char* read_positional(lua_State* state, Interpreter::Registration& out) {
    if (lua_isstring(state, 1) == 0) {
      return "first argument to redis.register_function must be a string";
    }
    if (!lua_isfunction(state, 2)) {
      return "second argument to redis.register_function must be a function";
    }
    out.name = text_at(state, 1);
    out.callback = luaL_ref(state, LUA_REGISTRYINDEX);
    return nullptr;
  }

  static int register_function(lua_State* state) {
    Interpreter& self = RedisLibrary::self(state);
    if (self.loading_ == nullptr) {
      return raise_error(state,
                         "redis.register_function can only be called on FUNCTION LOAD command");
    }
    const int count = lua_gettop(state);
    if (count < 1 || count > 2) {
      return raise_error(state, "wrong number of arguments to redis.register_function");
    }
    Interpreter::Registration registration;
    const char* problem =
        count == 1 ? read_named(state, registration) : read_positional(state, registration);
    const Interpreter::Ref callback = registration.callback;
    if (problem == nullptr) {
      const Status done = self.loading_->registrar.register_function(std::move(registration));
      if (done) return 0;
      luaL_unref(state, LUA_REGISTRYINDEX, callback);
      return raise_error(state, done.error().text.c_str());
    }
    luaL_unref(state, LUA_REGISTRYINDEX, callback);
    return raise_error(state, problem);
  }
};

void open_loading_library(lua_State* state, Interpreter& interpreter) {
  lua_newtable(state);
  RedisLibrary::add_common(state, interpreter);
  RedisLibrary::add(state, interpreter, "register_function", LibraryLoader::register_function);
}

void open_redis_library(lua_State* state, Interpreter& interpreter) {
  lua_newtable(state);
  RedisLibrary::add_common(state, interpreter);
  constexpr LibraryFunction kFunctions[] = {
      {"call", RedisLibrary::call},
      {"pcall", RedisLibrary::protected_call},
      {"setresp", RedisLibrary::set_resp},
      {"sha1hex", RedisLibrary::sha1},
      {"error_reply", RedisLibrary::error_reply},
      {"status_reply", RedisLibrary::status_reply},
      {"set_repl", RedisLibrary::set_repl},
      {"acl_check_cmd", RedisLibrary::acl_check_cmd},
  };
  for (const auto& [name, function] : kFunctions) {
    RedisLibrary::add(state, interpreter, name, function);
  }
  RedisLibrary::add_for_kind(state, interpreter);
  RedisLibrary::add(state, "REPL_NONE", static_cast<int>(ScriptHost::kNobody));
  RedisLibrary::add(state, "REPL_AOF", static_cast<int>(ScriptHost::kAof));
  RedisLibrary::add(state, "REPL_SLAVE", static_cast<int>(ScriptHost::kReplicas));
  RedisLibrary::add(state, "REPL_REPLICA", static_cast<int>(ScriptHost::kReplicas));
  RedisLibrary::add(state, "REPL_ALL", static_cast<int>(ScriptHost::kEverybody));
}

}  // namespace sorrel::script
