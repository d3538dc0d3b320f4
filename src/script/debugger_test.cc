#include "script/debugger.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/clock.h"
#include "script/debugged_host.h"
#include "script/test_host.h"

namespace sorrel::script {
namespace {

// Sends scripted input to the debugger, and records the output.
class FakeLink final : public DebugLink {
 public:
  std::deque<std::string> lines;  // one request each; the connection closes after the last
  std::string output;

  bool receive(std::string& into) override {
    if (lines.empty()) return false;
    into += lines.front();
    lines.pop_front();
    return true;
  }
  void send(std::string_view bytes) override { output += bytes; }
};

class TestClock final : public Clock {
 public:
  int64_t now_ns = 0;
  int64_t step_ns = 0;  // added to the clock at each reading
  int64_t wall_us() const override { return 0; }
  int64_t monotonic_ns() const override {
    auto& self = const_cast<TestClock&>(*this);
    return self.now_ns += step_ns;
  }
};

class DebuggerTest : public ::testing::Test {
 protected:
  // Each command is words with blanks between them.
  std::string debug(std::string_view text, const std::vector<std::string>& commands,
                    std::vector<std::string_view> keys = {}) {
    for (const std::string& command : commands) link.lines.push_back(encode(command));
    return run(text, keys);
  }

  std::string run(std::string_view text, std::vector<std::string_view> keys = {}) {
    link.output.clear();
    Debugger debugger(link, text, clock, {.run_ms = 1000});
    DebuggedHost debugged(host, debugger);
    resp::OutputBuffer out;
    resp::ReplyWriter reply(out, 2);
    auto function = interpreter.compile(text, "@user_script");
    if (!function) return function.error().text;
    interpreter.debug_with(&debugger);
    interpreter.call(*function, "NAME", keys, {}, debugged, reply);
    interpreter.debug_with(nullptr);
    interpreter.release(*function);
    debugger.end();
    return std::string(out.view());
  }

  static std::string encode(const std::string& command) {
    std::string body;
    size_t count = 0;
    for (size_t at = 0; at <= command.size(); count++) {
      const size_t end = std::min(command.find(' ', at), command.size());
      body += "$" + std::to_string(end - at) + "\r\n" + command.substr(at, end - at) + "\r\n";
      at = end + 1;
    }
    return "*" + std::to_string(count) + "\r\n" + body;
  }

  // How many lines begin with this text.
  int lines_with(const std::string& line) const {
    int count = 0;
    const std::string wanted = "+" + line;
    for (size_t at = 0; (at = link.output.find(wanted, at)) != std::string::npos; at++) count++;
    return count;
  }

  TestClock clock;
  FakeLink link;
  TestHost host;
  Interpreter interpreter{Interpreter::Kind::kEval, "7.2.4"};
};

TEST_F(DebuggerTest, StepsLineByLine) {
  EXPECT_EQ(debug("local a = 1\nlocal b = 2\nreturn a + b\n", {"step", "n", "next"}), ":3\r\n");
  EXPECT_EQ(link.output,
            "*2\r\n+* Stopped at 1, stop reason = step over\r\n+-> 1   local a = 1\r\n"
            "*2\r\n+* Stopped at 2, stop reason = step over\r\n+-> 2   local b = 2\r\n"
            "*2\r\n+* Stopped at 3, stop reason = step over\r\n+-> 3   return a + b\r\n"
            "*1\r\n+<endsession>\r\n");
}

TEST_F(DebuggerTest, ContinuesToBreakpoints) {
  const std::string text = "local a = 0\nfor i = 1, 2 do\na = a + i\nend\nreturn a";
  EXPECT_EQ(debug(text, {"b 3", "c", "b", "b -3", "b -3", "c"}), ":3\r\n");
  EXPECT_EQ(lines_with("* Stopped at 3, stop reason = break point"), 1);
  EXPECT_EQ(lines_with("  #3   a = a + i"), 1);
  EXPECT_EQ(lines_with("1 breakpoints set:"), 1);
  EXPECT_EQ(lines_with("->#3   a = a + i"), 2);
  EXPECT_EQ(lines_with("Breakpoint removed."), 1);
  EXPECT_EQ(lines_with("No breakpoint in the specified line."), 1);
}

TEST_F(DebuggerTest, BreakpointsAreChecked) {
  std::vector<std::string> commands = {"b", "b 0 9 x -9223372036854775808", "b 1", "b 1"};
  EXPECT_EQ(debug("return 1", commands), ":1\r\n");
  EXPECT_EQ(lines_with("No breakpoints set."), 1);
  EXPECT_EQ(lines_with("All breakpoints removed."), 1);
  EXPECT_EQ(lines_with("Wrong line number."), 2);
  EXPECT_EQ(lines_with("Invalid argument:'x'"), 1);
  EXPECT_EQ(lines_with("No breakpoint in the specified line."), 1);

  std::string text;
  std::string all = "b";
  for (int i = 1; i <= 65; i++) {
    text += "local x = 1\n";
    all += " " + std::to_string(i);
  }
  debug(text, {all});
  EXPECT_EQ(lines_with("Too many breakpoints set."), 1);
}

TEST_F(DebuggerTest, ShowsValues) {
  const std::string text =
      "local a, t = 'x\\n', {1, {k = true}}\nlocal function f(z)\nreturn z\nend\nlocal r = "
      "f(1.5)\nreturn r";
  EXPECT_EQ(debug(text, {"s", "p", "p a", "p t", "p nothing", "p KEYS", "b 3", "c", "p a", "p z"},
                  {"key"}),
            ":1\r\n");
  EXPECT_EQ(lines_with("<value> a = \"x\\n\""), 1);
  EXPECT_EQ(lines_with("<value> \"x\\n\""), 2);
  EXPECT_EQ(lines_with("<value> {1; {[\"k\"]=true}}"), 1);
  EXPECT_EQ(lines_with("No such variable."), 1);
  EXPECT_EQ(lines_with("<value> {\"key\"}"), 1);
  EXPECT_EQ(lines_with("<value> 1.5"), 1);
}

TEST_F(DebuggerTest, TablesInThemselvesEndSomewhere) {
  EXPECT_EQ(debug("local t = {}\nfor i = 1, 9 do t[i] = t end\nreturn 1",
                  {"maxlen 0", "b 3", "c", "p t"}),
            ":1\r\n");
  EXPECT_GE(link.output.find("max recursion level reached"), 0u);
  EXPECT_LT(link.output.size(), 2u << 20);
}

TEST_F(DebuggerTest, LongValuesAreCut) {
  EXPECT_EQ(debug("local t = string.rep('x', 1000)\nreturn 1",
                  {"s", "p t", "p t", "maxlen 10", "p t", "m 0", "m", "p t"}),
            ":1\r\n");
  EXPECT_EQ(lines_with("<hint> The above reply was trimmed."), 1);
  EXPECT_EQ(lines_with("<value> replies are truncated at 60 bytes."), 1);
  EXPECT_EQ(lines_with("<value> replies are unlimited."), 2);
  EXPECT_NE(link.output.find("<value> \"" + std::string(247, 'x') + " ...\r\n"), std::string::npos);
  EXPECT_NE(link.output.find("<value> \"" + std::string(51, 'x') + " ...\r\n"), std::string::npos);
  EXPECT_NE(link.output.find("<value> \"" + std::string(1000, 'x') + "\"\r\n"), std::string::npos);
}

TEST_F(DebuggerTest, CommandsAreShownWhileStepping) {
  host.answer = [](auto args, resp::ReplySink& sink) {
    if (args[0] == "bad") return sink.error("ERR no");
    sink.array(3);
    sink.simple("OK");
    sink.null();
    sink.map(1);
    sink.bulk("k");
    sink.integer(7);
  };
  const std::string text = "redis.call('x', 1)\nredis.call('y')\nreturn 1";
  EXPECT_EQ(debug(text, {"s", "r bad a b c d e f g h i j k l", "c"}), ":1\r\n");
  EXPECT_EQ(lines_with("<redis> x 1"), 1);
  EXPECT_EQ(lines_with("<reply> [\"+OK\",NULL,[\"k\",7]]"), 1);
  EXPECT_EQ(lines_with("<redis> bad a b c d e f g h i ... (2 more)"), 1);
  EXPECT_EQ(lines_with("<error> -ERR no"), 1);
  EXPECT_EQ(lines_with("<reply> \"-ERR no\""), 1);
  EXPECT_EQ(lines_with("<redis> y"), 0) << "it only continued";
}

TEST_F(DebuggerTest, RepliesOfResp3AreShown) {
  host.answer = [](auto, resp::ReplySink& sink) {
    sink.set(2);
    sink.map(1);
    sink.bulk("k");
    sink.null();
    sink.array(2);
    sink.boolean(true);
    sink.real(1.5);
  };
  EXPECT_EQ(debug("redis.setresp(3)\nredis.call('x')\nreturn 1", {"s", "s"}), ":1\r\n");
  EXPECT_EQ(lines_with("<reply> ~({\"k\" => (null)},[#true,(double) 1.5])"), 1);
}

TEST_F(DebuggerTest, CodeCanBeTypedIn) {
  EXPECT_EQ(debug("return 1", {"e 1 + 2", "e", "eval return {1, 'x'}", "e error('no')", "e (",
                               "e redis.call('x')", "e local a = 1"}),
            ":1\r\n");
  EXPECT_EQ(lines_with("<retval> 3"), 1);
  EXPECT_EQ(lines_with("<retval> {1; \"x\"}"), 1);
  EXPECT_EQ(lines_with("<retval> {\"x\"}"), 1);
  EXPECT_EQ(lines_with("<retval> nil"), 2);
  EXPECT_EQ(lines_with("<error> ldb_eval:1: no"), 1);
  EXPECT_EQ(lines_with("<error> ldb_eval:1:"), 2);
}

TEST_F(DebuggerTest, CodeThatIsTypedInEnds) {
  clock.step_ns = 100'000'000;
  EXPECT_EQ(
      debug("return 1", {"e while true do pcall(function() while true do end end) end",
                         "e local c = coroutine.wrap(function() while true do end end) c()", "c"}),
      ":1\r\n");
  EXPECT_EQ(lines_with("<error> "), 2);
}

TEST_F(DebuggerTest, NothingTypedInChangesTheServer) {
  debug("return 1", {"e redis.call = nil", "e string.rep = 1", "e x = 1", "c"});
  EXPECT_EQ(lines_with("<error> "), 3);
}

TEST_F(DebuggerTest, RedisDebugAndBreakpoint) {
  EXPECT_EQ(debug("redis.debug('a', {1}, nil)\nlocal s = redis.breakpoint()\nlocal x = 1\nreturn s",
                  {"c", "c"}),
            ":1\r\n");
  EXPECT_EQ(lines_with("<debug> line 1: \"a\", {1}, nil"), 1);
  EXPECT_EQ(lines_with("* Stopped at 3, stop reason = redis.breakpoint() called"), 1);
}

TEST_F(DebuggerTest, Traces) {
  debug("local function inner()\nreturn 1\nend\nlocal r = inner()\nreturn r", {"b 2", "c", "t"});
  EXPECT_NE(link.output.find("*4\r\n+In inner:\r\n+->#2   return 1\r\n+From top level:\r\n"
                             "+   4   local r = inner()\r\n"),
            std::string::npos);
}

TEST_F(DebuggerTest, Lists) {
  std::string text;
  for (int i = 1; i <= 20; i++) text += "local a" + std::to_string(i) + " = 1\n";
  debug(text, {"l", "l 10", "list 15 1", "l x", "l 1 -1", "w", "l 99999999999 99999999999"});
  EXPECT_EQ(lines_with("   6   local a6"), 5);
  EXPECT_EQ(lines_with("   16  local a16"), 3);
  EXPECT_EQ(lines_with("   20  local a20"), 2);
  EXPECT_NE(link.output.find("*0\r\n"), std::string::npos);
}

TEST_F(DebuggerTest, UnknownCommands) {
  debug("return 1", {"hello", "r", "redis"});
  EXPECT_EQ(lines_with("<error> Unknown Redis Lua debugger command or wrong number of arguments."),
            3);
}

TEST_F(DebuggerTest, AbortEndsTheScript) {
  EXPECT_EQ(debug("while true do pcall(function() local x = 1 end) end", {"s", "a"}),
            "-ERR script aborted for user request script: NAME, on @user_script:1.\r\n");
  EXPECT_EQ(debug("return 1", {}), ":1\r\n") << "the next one is not hurt";
}

TEST_F(DebuggerTest, NonsenseEndsTheScript) {
  link.lines.push_back("nonsense");
  EXPECT_EQ(run("return 1"), "-ERR protocol error script: NAME, on @user_script:1.\r\n");
  for (int i = 0; i < 1200; i++) link.lines.push_back("*1" + std::string(1024, 'x'));
  EXPECT_EQ(run("return 1"), "-ERR max client buffer reached script: NAME, on @user_script:1.\r\n");
}

TEST_F(DebuggerTest, WithoutAPeerItRunsToItsEndOrItsTime) {
  EXPECT_EQ(debug("local a = 1\nredis.breakpoint()\nreturn a", {"b 3"}), ":1\r\n");
  EXPECT_EQ(lines_with("* Stopped at"), 1);
  clock.step_ns = 100'000'000;
  EXPECT_EQ(debug("while true do pcall(function() while true do end end) end", {}),
            "-ERR timeout during Lua debugging with client closing connection script: NAME, on "
            "@user_script:1.\r\n");
}

TEST_F(DebuggerTest, EndlessLoopsAreStopped) {
  clock.step_ns = 100'000'000;
  EXPECT_EQ(debug("local i = 0\nwhile true do\ni = i + 1\nend", {"c", "a"}),
            "-ERR script aborted for user request script: NAME, on @user_script:3.\r\n");
  EXPECT_EQ(lines_with("* Stopped at 3, stop reason = timeout reached, infinite loop?"), 1);
}

TEST_F(DebuggerTest, CoroutinesAreDebugged) {
  EXPECT_EQ(debug("local c = coroutine.wrap(function()\nlocal x = 5\nreturn x\nend)\nreturn c()",
                  {"b 3", "c", "p x", "c"}),
            ":5\r\n");
  EXPECT_EQ(lines_with("* Stopped at 3, stop reason = break point"), 1);
  EXPECT_EQ(lines_with("<value> 5"), 1);
}

TEST_F(DebuggerTest, ManyArgumentsFitTheStack) {
  std::string command = "r";
  for (int i = 0; i < 1023; i++) command += " x";
  EXPECT_EQ(debug("return 1", {command, "c"}), ":1\r\n");
  EXPECT_EQ(lines_with("<redis> x x x x x x x x x x ... (1012 more)"), 1);
}

}  // namespace
}  // namespace sorrel::script
