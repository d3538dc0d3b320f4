#pragma once

#include <cstdint>
#include <lua5.1/lua.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "script/libraries.h"
#include "script/lua_memory.h"
#include "script/lua_sink.h"
#include "script/script_host.h"

namespace sorrel::script {

class Debugger;

// One sandboxed Lua state: its heap is capped, its libraries are read-only, running code can be
// interrupted, and a script's changes to the state are discarded at its end. A node has two: one
// for EVAL, one for functions.
//
// Thread rule: one thread at a time; guaranteed by callers (commands that use it run in an
// exclusive section).
class Interpreter : private Watchdog {
 public:
  enum class Kind : uint8_t {
    kEval,       // keys and arguments are the globals KEYS and ARGV
    kFunctions,  // they are parameters
  };
  // `version` is the server version that scripts see: "7.2.4".
  Interpreter(Kind kind, std::string_view version);
  ~Interpreter() override;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // A compiled function, kept until release().
  using Ref = int;
  // `name` is the chunk name in error texts: "@user_script".
  Result<Ref> compile(std::string_view text, const char* name);
  void release(Ref function);

  // Runs `function` and writes its result, or its error with source and line, as the reply. `name`
  // is the script's name in the error. Precondition: no script runs.
  void call(Ref function, std::string_view name, std::span<const std::string_view> keys,
            std::span<const std::string_view> args, ScriptHost& host, resp::ReplySink& reply);

  // Attaches a debugger to the following calls; null: none.
  void debug_with(Debugger* debugger) { debugger_ = debugger; }

  // A function that a library registers while it is loaded.
  struct Registration {
    std::string name;
    std::string description;
    bool described = false;
    uint32_t flags = 0;
    Ref callback = LUA_NOREF;
  };
  // Receives registered functions; an Error aborts the loading.
  class Registrar {
   public:
    virtual ~Registrar() = default;
    // Takes ownership of the callback on success.
    virtual Status register_function(Registration registration) = 0;
  };
  // Runs a library's text, which may do little else than register functions, for at most `limit_ms`
  // (0: no limit). Precondition: kFunctions.
  struct Loading {
    Registrar& registrar;
    const Clock& clock;
    int64_t limit_ms;
    Logger& log;
  };
  Status load_library(std::string_view text, const Loading& loading);

  bool running() const { return host_ != nullptr; }
  size_t memory_bytes() const { return heap_.used; }
  // Tests only: the capacity of the heap.
  void set_memory_limit(size_t bytes) { heap_.limit = bytes; }

 private:
  friend struct RedisLibrary;
  friend struct LibraryLoader;
  struct Heap : LuaMemory {
    Interpreter* owner = nullptr;
  };

  void open();
  void push_globals();
  void push_loading_globals();
  void lock_string_metatable();
  void choose_globals(int index);
  void poll(lua_State* state) override;
  static void on_count(lua_State* state, lua_Debug* event);
  void look_with_debugger(lua_State* state, bool line);
  void push_array(std::span<const std::string_view> texts);
  void clean_up();
  void answer_error(int status, std::string_view name, resp::ReplySink& reply);

  Kind kind_;
  std::string version_;
  Heap heap_;
  LibraryState shared_;
  lua_State* state_ = nullptr;
  LuaSink sink_;
  ScriptHost* host_ = nullptr;        // while a script runs
  const Loading* loading_ = nullptr;  // while a library is loaded
  Debugger* debugger_ = nullptr;
  int64_t loading_until_ns_ = 0;
  int protocol_ = 2;
  bool stopped_ = false;  // the script must end
  // Scratch of redis.call.
  std::vector<std::string_view> args_;
  std::string numbers_;
  std::vector<std::string> copies_;
};

}  // namespace sorrel::script
