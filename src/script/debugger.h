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

// One debugging session: stops a script before its lines, shows where it stands and does what it is
// told, until it may go on.
//
//   Lua ── a line begins ──> look() ── nothing to stop for ──> goes on
//                              │
//                              └─ stopped: sends what was noted, then command by command
//                                   step, next, continue ──> goes on
//                                   abort, nonsense on the line ──> verdict(): the script ends
//                                   nobody there any more ──> goes on, without stopping again
//
// What happens meanwhile (commands and their answers, redis.debug) is noted and sent with the next
// stop or the end. Every message is an array of simple strings.
//
// Invariant: no Lua error passes through it, so whatever calls into Lua here does it with a lenient
// heap or protected.
class Debugger {
 public:
  struct Limits {
    int64_t run_ms = 5000;  // without a stop; then it stops by itself
  };
  // All of these outlive it; `text` is the script's.
  Debugger(DebugLink& link, std::string_view text, const Clock& clock, const Limits& limits);

  // From the hook of `state`: a line begins (`line`), or many instructions have passed. `heap` is
  // that of `state`.
  void look(lua_State* state, LuaMemory& heap, bool line);
  // Why the script must end; null: it need not.
  const char* verdict() const { return verdict_; }
  // The same for code that was typed in, which look() has seen to run for too long.
  bool fragment_is_over() const { return stopped_ && fragment_over_; }

  // Are commands and errors to be noted now?
  bool stepping() const { return step_; }
  void note_command(std::span<const std::string_view> args);
  void note_answer(std::string_view shown);
  void note_error(std::string_view text);
  // redis.breakpoint()
  void stop_at_next_line() { asked_to_stop_ = true; }
  // redis.debug(): everything that is on the stack.
  void note_values(lua_State* state);

  // The script has ended: sends the last of what was noted.
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
  size_t longest_ = 256;  // of what is shown of a value; 0: everything
  bool hinted_ = false;
  bool step_ = true;
  bool asked_to_stop_ = false;
  bool alone_ = false;  // nobody is there any more
  bool stopped_ = false;
  bool fragment_over_ = false;
  const char* verdict_ = nullptr;
};

}  // namespace sorrel::script
