#pragma once

#include <cstdint>
#include <lua5.1/lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "script/debug_link.h"
#include "script/debug_source.h"
#include "script/lua_memory.h"

namespace sorrel::script {

// One debugging session: stops a script before its lines, shows the position and executes the
// client's commands until the script may continue.
//
//   Lua ── a line begins ──> look() ── nothing to stop for ──> goes on
//                              │
//                              └─ stopped: sends what was noted, then command by command
//                                   step, next, continue ──> goes on
//                                   abort, nonsense on the line ──> verdict(): the script ends
//                                   connection closed ──> goes on, without stopping again
//
// Events in between (commands and their replies, redis.debug) are recorded and sent with the next
// stop or the end. Every message is an array of simple strings.
//
// Invariant: no Lua error propagates through this class, so every call into Lua uses a lenient heap
// or a protected call.
class Debugger {
 public:
  struct Limits {
    int64_t run_ms = 5000;  // without a stop; the debugger stops the script after that
  };
  // These objects outlive the debugger; `text` is the script's.
  Debugger(DebugLink& link, std::string_view text, const Clock& clock, const Limits& limits);

  // From the hook of `state`: a line begins (`line`), or many instructions have passed. `heap` is
  // the one of `state`.
  void look(lua_State* state, LuaMemory& heap, bool line);
  // The error that ends the script; null: it continues.
  const char* verdict() const { return verdict_; }
  // The same for code that was typed in and ran for too long, as measured by look().
  bool fragment_is_over() const { return stopped_ && fragment_over_; }

  // Are commands and errors to be recorded now?
  bool stepping() const { return step_; }
  void note_command(std::span<const std::string_view> args);
  void note_answer(std::string_view shown);
  void note_error(std::string_view text);
  // redis.breakpoint()
  void stop_at_next_line() { asked_to_stop_ = true; }
  // redis.debug(): records every value on the stack.
  void note_values(lua_State* state);

  // The script has ended: sends the remaining messages.
  void end();

 private:
  using Args = std::span<const std::string_view>;
  enum class Next : uint8_t { kAskAgain, kGoOn };

  bool run_for_too_long() const;
  void stop(lua_State* state, std::string_view reason);
  bool converse(lua_State* state);
  Next obey(lua_State* state, Args args);
  void show_help();
  void list(Args args);
  void change_breakpoints(Args args);
  void change_breakpoint(std::string_view arg);
  void change_longest(Args args);
  void print(lua_State* state, Args args);
  void print_one(lua_State* state, std::string_view name);
  void print_all(lua_State* state);
  void trace(lua_State* state);
  void run_fragment(lua_State* state, Args args);
  void run_command(lua_State* state, Args args);
  void note(std::string line);
  void note_cut(std::string line);
  void note_line(int64_t line) { note(source_.show(line, current_)); }
  void send_notes();

  DebugLink& link_;
  DebugSource source_;
  const Clock& clock_;
  Limits limits_;
  LuaMemory* heap_ = nullptr;  // while it is stopped
  std::string input_;
  std::vector<std::string> notes_;
  size_t noted_bytes_ = 0;
  bool notes_full_ = false;
  int64_t current_ = 0;  // line
  int64_t goes_since_ns_;
  size_t longest_ = 256;  // bytes shown of a value; 0: all
  bool hinted_ = false;
  bool step_ = true;
  bool asked_to_stop_ = false;
  bool alone_ = false;  // the connection is closed
  bool stopped_ = false;
  bool fragment_over_ = false;
  const char* verdict_ = nullptr;
};

}  // namespace sorrel::script
