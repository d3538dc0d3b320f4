#include "script/debugger.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "script/debug_request.h"
#include "script/debug_text.h"

// The debugging session: when it stops, and what it sends. The commands are in
// debugger_commands.cc.

namespace sorrel::script {
namespace {

// Bytes of messages kept for the next stop: a script may emit without bound in between.
constexpr size_t kMostNotes = size_t{16} << 20;
// Words of a command that are shown.
constexpr size_t kWordsShown = 10;

// The innermost function of the script itself, and its line. False: none.
bool find_script(lua_State* state, lua_Debug& place) {
  for (int level = 0; lua_getstack(state, level, &place) != 0; level++) {
    lua_getinfo(state, "Sl", &place);
    if (std::string_view(place.what) != "C") break;
  }
  return std::string_view(place.short_src).find("user_script") != std::string_view::npos;
}

}  // namespace

Debugger::Debugger(DebugLink& link, std::string_view text, const Clock& clock, const Limits& limits)
    : link_(link),
      source_(text),
      clock_(clock),
      limits_(limits),
      goes_since_ns_(clock.monotonic_ns()) {}

bool Debugger::run_for_too_long() const {
  return (clock_.monotonic_ns() - goes_since_ns_) / 1'000'000 >= limits_.run_ms;
}

void Debugger::look(lua_State* state, LuaMemory& heap, bool line) {
  if (verdict_ != nullptr) return;
  // Code that was typed in is not debugged itself.
  if (stopped_) {
    fragment_over_ = fragment_over_ || run_for_too_long();
    return;
  }
  lua_Debug place{};
  if (!find_script(state, place)) return;
  current_ = place.currentline;
  const bool breakpoint = !alone_ && (source_.stops_at(current_) || asked_to_stop_);
  const bool too_long = !line && run_for_too_long();
  if (!too_long && (!line || (!step_ && !breakpoint))) return;
  const char* reason = too_long ? "timeout reached, infinite loop?" : "step over";
  if (breakpoint) reason = asked_to_stop_ ? "redis.breakpoint() called" : "break point";
  heap_ = &heap;
  heap.lenient = true;
  stop(state, reason);
  heap.lenient = false;
  heap_ = nullptr;
  // The connection is closed: no client could end an endless loop.
  if (alone_ && too_long) {
    verdict_ = "timeout during Lua debugging with client closing connection";
  }
  goes_since_ns_ = clock_.monotonic_ns();
}

void Debugger::stop(lua_State* state, std::string_view reason) {
  step_ = false;
  asked_to_stop_ = false;
  if (alone_) return;
  note(fmt::format("* Stopped at {}, stop reason = {}", current_, reason));
  note_line(current_);
  send_notes();
  stopped_ = true;
  alone_ = !converse(state);
  stopped_ = false;
  if (alone_) step_ = false;
}

// False: the connection is closed.
bool Debugger::converse(lua_State* state) {
  while (true) {
    const DebugRequest request = read_debug_request(input_);
    switch (request.state) {
      case DebugRequest::State::kBroken:
        verdict_ = "protocol error";
        return true;
      case DebugRequest::State::kUnfinished:
        if (input_.size() > kMostDebugInput) {
          verdict_ = "max client buffer reached";
          return true;
        }
        if (!link_.receive(input_)) return false;
        break;
      case DebugRequest::State::kWhole: {
        const Next next = obey(state, request.args);
        input_.erase(0, request.used);
        if (next == Next::kGoOn) return true;
        send_notes();
        break;
      }
    }
  }
}

// ---------------------------------------------------------------- notes

void Debugger::note(std::string line) {
  if (alone_ || notes_full_) return;
  if (noted_bytes_ + line.size() > kMostNotes) {
    notes_full_ = true;
    notes_.emplace_back("<hint> More was said than is kept until the next stop.");
    return;
  }
  noted_bytes_ += line.size() + 1;
  notes_.push_back(std::move(line));
}

void Debugger::note_cut(std::string line) {
  const bool cut = longest_ != 0 && line.size() > longest_;
  if (cut) {
    line.resize(longest_);
    line += " ...";
  }
  note(std::move(line));
  if (!cut || hinted_) return;
  hinted_ = true;
  note("<hint> The above reply was trimmed. Use 'maxlen 0' to disable trimming.");
}

void Debugger::send_notes() {
  std::string bytes = fmt::format("*{}\r\n", notes_.size());
  for (std::string& line : notes_) {
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
    bytes += '+';
    bytes += line;
    bytes += "\r\n";
  }
  notes_.clear();
  noted_bytes_ = 0;
  notes_full_ = false;
  link_.send(bytes);
}

void Debugger::end() {
  if (alone_) return;
  notes_full_ = false;
  notes_.emplace_back("<endsession>");
  send_notes();
}

void Debugger::note_command(std::span<const std::string_view> args) {
  std::string line = "<redis>";
  for (const std::string_view arg : args.first(std::min(args.size(), kWordsShown))) {
    line += ' ';
    line += arg.substr(0, kMostDebugText);
  }
  // The count is one too low, as in Redis.
  if (args.size() > kWordsShown)
    line += fmt::format(" ... ({} more)", args.size() - kWordsShown - 1);
  note(std::move(line));
}

void Debugger::note_answer(std::string_view shown) {
  note_cut("<reply> " + std::string(shown));
}

void Debugger::note_error(std::string_view text) {
  note("<error> " + std::string(text));
}

void Debugger::note_values(lua_State* state) {
  std::string line = fmt::format("<debug> line {}: ", current_);
  const int count = lua_gettop(state);
  for (int i = 1; i <= count; i++) {
    if (i > 1) line += ", ";
    if (line.size() > kMostDebugText) {
      line += "...";
      break;
    }
    append_value(line, state, i);
  }
  note(std::move(line));
}

}  // namespace sorrel::script
