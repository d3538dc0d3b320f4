#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/bytes.h"
#include "base/numbers.h"
#include "script/debug_text.h"
#include "script/debugger.h"
#include "script/libraries.h"

// The commands of a stopped debugging session, and their dispatch.

namespace sorrel::script {
namespace {

constexpr int64_t kLinesAround = 5;
constexpr size_t kShortestLongest = 60;
constexpr int64_t kAnyNumber = int64_t{1} << 30;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return iequals(word, name); });
}

// The number at the start of the text, at most kAnyNumber; 0 when it is none.
int64_t number_at_front(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') break;
    number = std::min(number * 10 + (c - '0'), kAnyNumber);
  }
  return negative ? -number : number;
}

// Pops the error on top of the stack and returns its text.
std::string take_error(lua_State* state) {
  if (lua_istable(state, -1)) {
    lua_pushliteral(state, "err");
    lua_rawget(state, -2);
    lua_replace(state, -2);
  }
  std::string text = "(error object is not a string)";
  if (lua_type(state, -1) == LUA_TSTRING) {
    size_t size = 0;
    const char* bytes = lua_tolstring(state, -1, &size);
    text.assign(bytes, std::min(size, kMostDebugText));
  }
  lua_pop(state, 1);
  return text;
}

// A script may have replaced its globals by any value, so they are read in a protected call.
int push_global(lua_State* state) {
  lua_gettable(state, LUA_GLOBALSINDEX);
  return 1;
}

int call_redis(lua_State* state) {
  lua_getglobal(state, "redis");
  lua_getfield(state, -1, "call");
  lua_replace(state, -2);
  lua_insert(state, 1);
  lua_call(state, lua_gettop(state) - 1, 1);
  return 1;
}

}  // namespace

Debugger::Next Debugger::obey(lua_State* state, Args args) {
  const std::string_view word = args[0];
  if (is_one_of(word, {"s", "step", "n", "next"})) {
    step_ = true;
    return Next::kGoOn;
  }
  if (is_one_of(word, {"c", "continue"})) return Next::kGoOn;
  if (is_one_of(word, {"a", "abort"})) {
    verdict_ = "script aborted for user request";
    return Next::kGoOn;
  }
  if (is_one_of(word, {"h", "help"})) {
    show_help();
  } else if (is_one_of(word, {"t", "trace"})) {
    trace(state);
  } else if (is_one_of(word, {"m", "maxlen"})) {
    change_longest(args);
  } else if (is_one_of(word, {"b", "break"})) {
    change_breakpoints(args);
  } else if (is_one_of(word, {"e", "eval"})) {
    run_fragment(state, args);
  } else if (args.size() > 1 && is_one_of(word, {"r", "redis"})) {
    run_command(state, args);
  } else if (is_one_of(word, {"p", "print"})) {
    print(state, args);
  } else if (is_one_of(word, {"l", "list"})) {
    list(args);
  } else if (is_one_of(word, {"w", "whole"})) {
    source_.list(1, kAnyNumber, current_, [this](std::string line) { note(std::move(line)); });
  } else {
    note_error("Unknown Redis Lua debugger command or wrong number of arguments.");
  }
  return Next::kAskAgain;
}

void Debugger::show_help() {
  for (const char* line : {
           "Lua debugger help:",
           "[h]elp               Show these lines.",
           "[s]tep               Run this line and stop at the next one.",
           "[n]ext               The same as step.",
           "[c]ontinue           Run until a breakpoint or the end.",
           "[l]ist               Show the lines around the current one.",
           "[l]ist <line>        Show those around another; 0 is the current one.",
           "[l]ist <line> <ctx>  The same with so many lines before and after it.",
           "[w]hole              Show the whole script.",
           "[p]rint              Show all local variables.",
           "[p]rint <var>        Show one variable; KEYS and ARGV, too.",
           "[b]reak              Show all breakpoints.",
           "[b]reak <line>       Set a breakpoint in that line.",
           "[b]reak -<line>      Remove the breakpoint of that line.",
           "[b]reak 0            Remove all breakpoints.",
           "[t]race              Show which functions are being called.",
           "[e]val <code>        Run Lua code, outside of the script's functions.",
           "[r]edis <cmd>        Run a command.",
           "[m]axlen [len]       Show or set where long values are cut; 0 is nowhere.",
           "[a]bort              End the script. In sync mode its changes stay.",
           "",
           "What scripts can call:",
           "redis.debug(...)     Shows values here.",
           "redis.breakpoint()   Stops at the next line.",
       }) {
    note(line);
  }
}

void Debugger::list(Args args) {
  int64_t around = current_;
  int64_t context = kLinesAround;
  if (args.size() > 1) {
    const int64_t wanted = number_at_front(args[1]);
    if (wanted > 0) around = wanted;
  }
  if (args.size() > 2) context = number_at_front(args[2]);
  source_.list(around, context, current_, [this](std::string line) { note(std::move(line)); });
}

// ---------------------------------------------------------------- breakpoints

void Debugger::change_breakpoints(Args args) {
  for (const std::string_view arg : args.subspan(1)) change_breakpoint(arg);
  if (args.size() > 1) return;
  const std::vector<int64_t>& all = source_.breakpoints();
  if (all.empty()) return note("No breakpoints set. Use 'b <line>' to add one.");
  note(fmt::format("{} breakpoints set:", all.size()));
  for (const int64_t line : all) note_line(line);
}

void Debugger::change_breakpoint(std::string_view arg) {
  const auto line = parse_int64(arg);
  if (!line) return note(fmt::format("Invalid argument:'{}'", arg));
  if (*line == 0) {
    source_.remove_all_breakpoints();
    return note("All breakpoints removed.");
  }
  if (*line < 0) {
    const bool removed = *line > -kAnyNumber && source_.remove_breakpoint(-*line);
    return note(removed ? "Breakpoint removed." : "No breakpoint in the specified line.");
  }
  switch (source_.add_breakpoint(*line)) {
    case DebugSource::Added::kYes:
      return source_.list(*line, 1, current_, [this](std::string text) { note(std::move(text)); });
    case DebugSource::Added::kTooMany:
      return note("Too many breakpoints set.");
    case DebugSource::Added::kNoSuchLine:
      return note("Wrong line number.");
  }
}

// ---------------------------------------------------------------- values

void Debugger::change_longest(Args args) {
  if (args.size() == 2) {
    hinted_ = true;  // the client knows the hint
    const int64_t wanted = number_at_front(args[1]);
    longest_ = wanted == 0
                   ? 0
                   : std::max(kShortestLongest, static_cast<size_t>(std::max<int64_t>(wanted, 0)));
  }
  note(longest_ == 0 ? "<value> replies are unlimited."
                     : fmt::format("<value> replies are truncated at {} bytes.", longest_));
}

void Debugger::print(lua_State* state, Args args) {
  // A value and the stack slots that append_value() needs.
  if (lua_checkstack(state, LUA_MINSTACK) == 0) return note_error("the stack of Lua is full");
  if (args.size() == 2) {
    print_one(state, args[1]);
  } else {
    print_all(state);
  }
}

// The innermost function that has a variable of that name decides.
void Debugger::print_one(lua_State* state, std::string_view name) {
  const auto show = [&] {
    std::string line = "<value> ";
    append_value(line, state, -1);
    lua_pop(state, 1);
    note_cut(std::move(line));
  };
  lua_Debug place{};
  for (int level = 0; lua_getstack(state, level, &place) != 0; level++) {
    const char* local = nullptr;
    for (int i = 1; (local = lua_getlocal(state, &place, i)) != nullptr; i++) {
      if (name == local) return show();
      lua_pop(state, 1);
    }
  }
  if (name != "KEYS" && name != "ARGV") return note("No such variable.");
  lua_pushcfunction(state, push_global);
  lua_pushlstring(state, name.data(), name.size());
  (void)lua_pcall(state, 1, 1, 0);
  show();
}

void Debugger::print_all(lua_State* state) {
  bool any = false;
  lua_Debug place{};
  if (lua_getstack(state, 0, &place) != 0) {
    const char* local = nullptr;
    for (int i = 1; (local = lua_getlocal(state, &place, i)) != nullptr; i++) {
      const std::string_view name(local);
      if (name.find("(*temporary)") == std::string_view::npos) {
        std::string line = fmt::format("<value> {} = ", name);
        append_value(line, state, -1);
        note_cut(std::move(line));
        any = true;
      }
      lua_pop(state, 1);
    }
  }
  if (!any) note("No local variables in the current context.");
}

void Debugger::trace(lua_State* state) {
  lua_Debug place{};
  for (int level = 0; lua_getstack(state, level, &place) != 0; level++) {
    lua_getinfo(state, "Snl", &place);
    if (std::string_view(place.short_src).find("user_script") == std::string_view::npos) continue;
    note(fmt::format("{} {}:", level == 0 ? "In" : "From",
                     place.name != nullptr ? place.name : "top level"));
    note_line(place.currentline);
  }
}

// ---------------------------------------------------------------- code and commands

// Runs in a coroutine with hooks: while a hook runs, hooks are disabled on its thread, and an
// endless loop that was typed in would never end.
void Debugger::run_fragment(lua_State* state, Args args) {
  std::string code;
  for (const std::string_view arg : args.subspan(1)) {
    if (!code.empty()) code += ' ';
    code += arg;
  }
  if (lua_checkstack(state, 1) == 0) return note_error("the stack of Lua is full");
  lua_State* thread = lua_newthread(state);
  const std::string expression = "return " + code;
  constexpr const char* kName = "@ldb_eval";
  int status = load_text(thread, expression.data(), expression.size(), kName);
  if (status != 0) {
    lua_pop(thread, 1);
    status = load_text(thread, code.data(), code.size(), kName);
  }
  if (status == 0) {
    goes_since_ns_ = clock_.monotonic_ns();
    fragment_over_ = false;
    heap_->lenient = false;
    status = lua_pcall(thread, 0, 1, 0);
    heap_->lenient = true;
    fragment_over_ = false;
  }
  if (status != 0) {
    note_error(take_error(thread));
  } else {
    std::string line = "<retval> ";
    append_value(line, thread, -1);
    note_cut(std::move(line));
  }
  lua_pop(state, 1);
}

// Calls the script's own redis.call, so that the same restrictions apply as to the script.
void Debugger::run_command(lua_State* state, Args args) {
  constexpr int kSlotsBesideArguments = 3;
  const auto count = static_cast<int>(args.size() - 1);
  if (lua_checkstack(state, count + kSlotsBesideArguments) == 0) {
    return note_answer("max lua stack reached");
  }
  lua_pushcfunction(state, call_redis);
  for (const std::string_view arg : args.subspan(1)) {
    lua_pushlstring(state, arg.data(), arg.size());
  }
  const size_t noted = notes_.size();
  step_ = true;  // the reply is recorded
  heap_->lenient = false;
  const int status = lua_pcall(state, count, 1, 0);
  heap_->lenient = true;
  step_ = false;
  // The reply has been recorded already.
  if (status != 0 && notes_.size() == noted) return note_error(take_error(state));
  lua_pop(state, 1);
}

}  // namespace sorrel::script
