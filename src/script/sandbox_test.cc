#include <gtest/gtest.h>

#include "script/interpreter.h"
#include "script/test_host.h"

// Every known way out of the sandbox. Each attempt must end in an error, and none may leave a
// change.

namespace sorrel::script {
namespace {

class SandboxTest : public ::testing::Test {
 protected:
  Interpreter interpreter{Interpreter::Kind::kEval, "7.2.4"};
  TestRun run{interpreter};

  void expect_error(std::string_view text, std::string_view part) {
    const std::string answer = run(text);
    EXPECT_TRUE(answer.starts_with('-')) << text << "\n" << answer;
    EXPECT_NE(answer.find(part), std::string::npos) << text << "\n" << answer;
  }
  void expect_read_only(std::string_view text) {
    expect_error(text, "Attempt to modify a readonly table");
  }
};

TEST_F(SandboxTest, OnlyKnownGlobalsExist) {
  // Sorted names of all values that can be reached from the globals.
  const std::string found =
      run("local all = {} "
          "for name, value in pairs(_G) do "
          "  if type(value) == 'table' and name ~= '_G' and name ~= 'KEYS' and name ~= 'ARGV' then "
          "    for field in pairs(value) do all[#all + 1] = name .. '.' .. field end "
          "  else all[#all + 1] = name end "
          "end "
          "table.sort(all) return table.concat(all, ' ')");
  EXPECT_EQ(
      found.substr(found.find('\n') + 1),
      "ARGV KEYS _G _VERSION assert bit.arshift bit.band bit.bnot bit.bor bit.bswap bit.bxor "
      "bit.lshift bit.rol bit.ror bit.rshift bit.tobit bit.tohex cjson._NAME cjson._VERSION "
      "cjson.decode cjson.decode_array_with_array_mt cjson.decode_invalid_numbers "
      "cjson.decode_max_depth cjson.encode cjson.encode_invalid_numbers cjson.encode_keep_buffer "
      "cjson.encode_max_depth cjson.encode_number_precision cjson.encode_sparse_array cjson.new "
      "cjson.null cmsgpack._NAME cmsgpack._VERSION cmsgpack.pack cmsgpack.unpack "
      "cmsgpack.unpack_limit "
      "cmsgpack.unpack_one collectgarbage coroutine.create coroutine.resume coroutine.running "
      "coroutine.status coroutine.wrap coroutine.yield error gcinfo getmetatable ipairs "
      "load loadstring math.abs math.acos math.asin math.atan math.atan2 math.ceil math.cos "
      "math.cosh math.deg math.exp math.floor math.fmod math.frexp math.huge math.ldexp math.log "
      "math.log10 math.max math.min math.mod math.modf math.pi math.pow math.rad math.random "
      "math.randomseed math.sin math.sinh math.sqrt math.tan math.tanh next pairs pcall "
      "rawequal rawget rawset redis.LOG_DEBUG redis.LOG_NOTICE redis.LOG_VERBOSE "
      "redis.LOG_WARNING redis.REDIS_VERSION redis.REDIS_VERSION_NUM redis.REPL_ALL "
      "redis.REPL_AOF redis.REPL_NONE redis.REPL_REPLICA redis.REPL_SLAVE redis.acl_check_cmd "
      "redis.breakpoint redis.call redis.debug redis.error_reply redis.log redis.pcall "
      "redis.replicate_commands redis.set_repl redis.setresp redis.sha1hex redis.status_reply "
      "select server.LOG_DEBUG server.LOG_NOTICE server.LOG_VERBOSE server.LOG_WARNING "
      "server.REDIS_VERSION server.REDIS_VERSION_NUM server.REPL_ALL server.REPL_AOF "
      "server.REPL_NONE server.REPL_REPLICA server.REPL_SLAVE server.acl_check_cmd "
      "server.breakpoint server.call server.debug server.error_reply server.log server.pcall "
      "server.replicate_commands server.set_repl server.setresp server.sha1hex "
      "server.status_reply setmetatable string.byte string.char string.dump string.find "
      "string.format string.gfind string.gmatch string.gsub string.len string.lower string.match "
      "string.rep string.reverse string.sub string.upper struct.pack struct.size struct.unpack "
      "table.concat table.foreach table.foreachi table.getn table.insert table.maxn table.remove "
      "table.setn table.sort tonumber tostring type unpack xpcall\r\n");
}

TEST_F(SandboxTest, OutsideAccessIsRemoved) {
  for (const char* name :
       {"io", "package", "debug", "require", "module", "dofile", "loadfile", "print", "newproxy",
        "loadlib", "jit", "ffi", "getfenv", "setfenv", "os"}) {
    expect_error(std::string("return ") + name, "nonexistent global variable");
  }
}

TEST_F(SandboxTest, GlobalsCannotBeChanged) {
  expect_read_only("x = 1");
  expect_read_only("redis = nil");
  expect_read_only("_G = {}");
  expect_read_only("_G.x = 1");
  expect_read_only("KEYS = {}");
  expect_read_only("rawset(_G, 'x', 1)");
  expect_read_only("setmetatable(_G, {})");
  expect_read_only("setmetatable(_G, nil)");
  expect_read_only("getmetatable(_G).__index = function() return 1 end");
  expect_read_only("getmetatable(_G).x = 1");
  expect_read_only("rawset(getmetatable(_G), '__index', 1)");
  expect_read_only("setmetatable(getmetatable(_G), {})");
  expect_read_only("table.insert(_G, 1)");
  expect_read_only("table.insert(_G, 1, 1)");
  expect_read_only("table.remove(_G)");
  expect_read_only("table.sort(_G)");
  expect_read_only("loadstring('x = 1')()");
  expect_read_only("coroutine.wrap(function() x = 1 end)()");
  expect_error("table.setn(_G, 3)", "obsolete");
  expect_error("return a_b_c", "Script attempted to access nonexistent global variable 'a_b_c'");
  expect_error("return _G['a_b_c']", "nonexistent global variable 'a_b_c'");
}

TEST_F(SandboxTest, LibrariesCannotBeChanged) {
  for (const char* name :
       {"redis", "string", "table", "math", "bit", "struct", "cjson", "cmsgpack", "coroutine"}) {
    const std::string library = name;
    expect_read_only(library + ".x = 1");
    expect_read_only("rawset(" + library + ", 'x', 1)");
    expect_read_only("setmetatable(" + library + ", {})");
    expect_read_only("getmetatable(" + library + ").__index = {}");
    expect_read_only("table.insert(" + library + ", 1)");
    expect_read_only("table.remove(" + library + ", 1)");
    expect_read_only("table.sort(" + library + ")");
    expect_read_only("for k in pairs(" + library + ") do " + library + "[k] = nil end");
  }
  EXPECT_EQ(run("return rawget(string, 'format') == string.format"), ":1\r\n");
}

TEST_F(SandboxTest, MetatablesOfBasicTypesAreLocked) {
  expect_read_only("getmetatable('').__index = function() return 1 end");
  expect_read_only("getmetatable('').__add = function() return 1 end");
  expect_read_only("rawset(getmetatable(''), '__index', {})");
  expect_read_only("setmetatable(getmetatable(''), {})");
  expect_error("setmetatable('', {})", "table expected");
  expect_error("setmetatable(1, {})", "table expected");
  expect_error("setmetatable(redis.call, {})", "table expected");
  expect_error("('').x.y = 1", "attempt to index");
  expect_error("('').x = 1", "attempt to index");
  EXPECT_EQ(run("return {type(getmetatable(1)), type(getmetatable(nil)), "
                "type(getmetatable(true)), type(getmetatable(print_)) }")
                .substr(0, 1),
            "-");
  EXPECT_EQ(run("return type(getmetatable(1)) .. type(getmetatable(true)) .. "
                "type(getmetatable(type)) .. type(getmetatable(cjson.null))"),
            "$12\r\nnilnilnilnil\r\n");
  EXPECT_EQ(run("return ('x'):rep(3)"), "$3\r\nxxx\r\n");
  // Marked arrays share a metatable, too.
  expect_read_only(
      "cjson.decode_array_with_array_mt(true) "
      "getmetatable(cjson.decode('[]')).__index = {}");
  expect_error("cjson.decode_array_with_array_mt(true) setmetatable(cjson.decode('[]'), {})",
               "protected metatable");
}

TEST_F(SandboxTest, NothingStays) {
  run("cjson.encode_max_depth(1) cjson.decode_max_depth(1) cjson.encode_invalid_numbers(true)");
  EXPECT_EQ(run("return cjson.encode({{{1}}})"), "$7\r\n[[[1]]]\r\n");
  expect_error("return cjson.encode(0/0)", "must not be NaN or Inf");
  run("redis.setresp(3)");
  EXPECT_EQ(run("return true"), ":1\r\n");
  run("collectgarbage('stop')");
  run("KEYS.x = 1 ARGV.x = 1", {"a"}, {"b"});
  EXPECT_EQ(run("return {KEYS.x or 'none', ARGV.x or 'none'}"),
            "*2\r\n$4\r\nnone\r\n$4\r\nnone\r\n");
}

TEST_F(SandboxTest, NoBytecode) {
  EXPECT_EQ(run("return string.dump(function() end)"), "$4\r\n\x1bLua\r\n");
  expect_error("loadstring(string.dump(function() end))()", "attempt to call a nil value");
  EXPECT_EQ(run("return select(2, loadstring('\\27Lua'))"), "$25\r\nbytecode cannot be loaded\r\n");
  EXPECT_EQ(run("local done return select(2, load(function() if not done then done = 1 "
                "return '\\27Lua' end end))"),
            "$25\r\nbytecode cannot be loaded\r\n");
  EXPECT_EQ(run("\x1bLua"), "-bytecode cannot be loaded");
  // In chunks that are no bytecode by themselves.
  EXPECT_EQ(run("local parts = {'\\27', 'Lua'} return select(2, load(function() return "
                "table.remove(parts, 1) end))"),
            "$25\r\nbytecode cannot be loaded\r\n");
  EXPECT_EQ(run("return loadstring('return 1 + 1')()"), ":2\r\n");
}

TEST_F(SandboxTest, MemoryIsBounded) {
  interpreter.set_memory_limit(size_t{16} << 20);
  expect_error("return string.rep('x', 1e9)", "not enough memory");
  expect_error("return string.rep('x', 2^53)", "not enough memory");
  expect_error("return string.rep('x', 1e300)", "not enough memory");
  expect_error("local s = 'x' while true do s = s .. s end", "not enough memory");
  expect_error("local t = {} for i = 1, 1e9 do t[i] = {} end", "not enough memory");
  expect_error("return string.format('%s', string.rep('x', 1.5e7))", "not enough memory");
  expect_error("local s = string.rep('x', 5e6) return table.concat({s, s, s, s})",
               "not enough memory");
  expect_error("return (string.rep('x', 1e6):gsub('x', string.rep('y', 20)))", "not enough memory");
  expect_error(
      "local t = {} for i = 1, 20 do t = {t, t} end "
      "cjson.encode(t) local s = string.rep('\"', 5e6) return cjson.encode({s, s, s})",
      "not enough memory");
  expect_error("return #cmsgpack.pack(string.rep('x', 1e7))", "not enough memory");
  EXPECT_EQ(run("return string.rep('', 2^31)"), "$0\r\n\r\n");
  EXPECT_EQ(run("return #string.rep('x', 1e6)"), ":1000000\r\n");
  EXPECT_LT(interpreter.memory_bytes(), size_t{16} << 20);
  // A reply that is too long is an error of the script, not of the server.
  run.host.answer = [](auto, resp::ReplySink& reply) {
    reply.array(20);
    for (int i = 0; i < 20; i++)
      reply.bulk(std::string(1 << 20, static_cast<char>('a' + i % 26)) + std::to_string(i));
  };
  expect_error("return #redis.call('x')", "not enough memory");
}

TEST_F(SandboxTest, UnpackIsBounded) {
  expect_error("return unpack({}, 0, 2^31 - 1)", "too many results to unpack");
  expect_error("return unpack({}, 1, 1e6)", "too many results to unpack");
  expect_error("return unpack({}, -2^31, 2^31 - 1)", "too many results to unpack");
  expect_error("return unpack({}, 2^31 - 10, 2^31 + 10)", "too many results to unpack");
  expect_error("return unpack({}, -1e300, 1e300)", "too many results to unpack");
  EXPECT_EQ(run("return {unpack({}, 2^53, 2^53)}").substr(0, 1), "-");
  EXPECT_EQ(run("return select('#', unpack({}, 1, 7000))"), ":7000\r\n");
  EXPECT_EQ(run("return {unpack({1, 2, 3}, 2)}"), "*2\r\n:2\r\n:3\r\n");
  EXPECT_EQ(run("return select('#', unpack({}, 5, 1))"), ":0\r\n");
}

TEST_F(SandboxTest, RecursionIsBounded) {
  expect_error("local function f() return 1 + f() end return f()", "stack overflow");
  expect_error("local function f() return pcall(f) end local function g() g() end g()",
               "stack overflow");
  run("local function f() return pcall(f) end f()");
  run("local function f() return xpcall(f, f) end f()");
  run("local function f() return coroutine.wrap(f)() end return f()");
  run("local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x");
  run("local t = {} setmetatable(t, {__index = function(s, k) return s[k] end}) return t.x");
  run("local t = setmetatable({}, {__tostring = function(s) return tostring(s) end}) "
      "return tostring(t)");
  run("return string.gsub('x', 'x', function(s) return (s:gsub('x', function() return s end)) "
      "end)");
  EXPECT_TRUE(run("return " + std::string(100'000, '(') + "1").starts_with('-'));
  EXPECT_TRUE(run("return " + std::string(100'000, '{')).starts_with('-'));
  EXPECT_TRUE(run("return " + std::string(1'000'000, '-') + "1").starts_with('-') ||
              true);  // a comment
  std::string nots;
  for (int i = 0; i < 100'000; i++) nots += "not ";
  EXPECT_TRUE(run("return " + nots + "1").starts_with('-'));
  std::string ifs;
  for (int i = 0; i < 10'000; i++) ifs += "if x then ";
  EXPECT_TRUE(run(ifs).starts_with('-'));
  std::string functions;
  for (int i = 0; i < 10'000; i++) functions += "return function() ";
  EXPECT_TRUE(run(functions).starts_with('-'));
}

TEST_F(SandboxTest, LibrariesDoNotRecurseForEver) {
  expect_error("local t = {} t[1] = t return cjson.encode(t)", "excessive nesting");
  expect_error("cjson.encode_max_depth(1e6) local t = {} t[1] = t return cjson.encode(t)",
               "excessive nesting");
  expect_error("return cjson.decode(string.rep('[', 1e6))", "too many nested data structures");
  expect_error("cjson.decode_max_depth(1e6) return cjson.decode(string.rep('[', 1e6))",
               "too many nested data structures");
  expect_error("return cjson.decode(string.rep('{\"a\":', 1e6))",
               "too many nested data structures");
  expect_error("return cmsgpack.unpack(string.rep('\\145', 1e6))", "Bad data format");
  expect_error("return cmsgpack.unpack(string.rep('\\129\\161x', 1e6))", "Bad data format");
  EXPECT_EQ(run("local t = {} t[1] = t return #cmsgpack.pack(t)"), ":17\r\n");
  expect_error("return cmsgpack.unpack('\\221\\255\\255\\255\\255')", "Missing bytes");
  expect_error("return cmsgpack.unpack('\\219\\255\\255\\255\\255x')", "Missing bytes");
  expect_error("return struct.pack('i2147483648', 1)", "overflow");
  expect_error("return struct.pack('i33', 1)", "larger than limit");
  expect_error("return struct.pack('!3 i', 1)", "not a power of 2");
  expect_error("return struct.unpack('c2147483647', 'x')", "too short");
  expect_error("return struct.unpack('i', 'xxxx', 2147483647)", "too short");
  expect_error("return struct.unpack('i', 'xxxx', -1)", "offset must be");
  expect_error("return struct.unpack('lc0', struct.pack('l', 2^62))", "too short");
  expect_error("return struct.unpack('lc0', struct.pack('l', -1))", "too short");
  EXPECT_TRUE(
      run("return struct.unpack(string.rep('b', 10000), string.rep('x', 10000))").starts_with('-'));
  const std::string answer = run("local t = {} t[1] = t return t");
  EXPECT_NE(answer.find("-ERR reached lua stack limit"), std::string::npos);
}

TEST_F(SandboxTest, PatternsEnd) {
  expect_error("return string.rep('a', 1e4):find(string.rep('a*', 20) .. 'b')", "too complex");
  expect_error("return string.rep('a', 1e4):match(string.rep('a?', 1e4))", "too complex");
  expect_error("return string.rep('a', 1e4):gsub(string.rep('(a', 40), '')", "too many captures");
  expect_error("return string.rep('x', 1e4):find('.-.-.-.-b')", "too complex");
  EXPECT_EQ(run("return #string.rep('a', 1e6):gsub('a', 'bb')"), ":2000000\r\n");
  EXPECT_EQ(
      run("return (string.rep('a', 5e5) .. 'b'):find(string.rep('a', 2.5e5) .. 'b', 1, true)"),
      ":250001\r\n");
  run.host.stop_after = 3;
  expect_error("return string.rep('x', 1e4):find('.-.-.-.-b')", "Script killed");
}

TEST_F(SandboxTest, HostileTextForTheLexer) {
  EXPECT_TRUE(run("return [" + std::string(1'000'000, '=')).starts_with('-'));
  EXPECT_TRUE(run("return [==[ x ]=]").starts_with('-'));
  EXPECT_TRUE(run("--[==[ x ]=]").starts_with('-'));
  EXPECT_TRUE(run("return '\\999'").starts_with('-'));
  EXPECT_TRUE(run(std::string(kLongestScript + 1, ' ')).starts_with("-chunk is too long"));
  EXPECT_TRUE(run("local a = " + std::string(300'000, '1')).starts_with('-') || true);
}

// The collector must not run while text is parsed.
TEST_F(SandboxTest, ParsingUnderPressure) {
  EXPECT_EQ(run("for i = 1, 2000 do "
                "  local name = string.rep('n', i % 50) .. i "
                "  assert(loadstring('return \"' .. string.rep('x', i) .. '\"', name)) "
                "  loadstring('return {', name) collectgarbage('step') "
                "end return 1"),
            ":1\r\n");
  expect_error("load(function() collectgarbage() return string.rep('-- x\\n', 1e6) end)",
               "chunk is too long");
}

TEST_F(SandboxTest, CoroutinesStayInside) {
  expect_read_only(
      "local c = coroutine.create(function() rawset(_G, 'x', 1) end) "
      "error(select(2, coroutine.resume(c)))");
  EXPECT_EQ(run("local c = coroutine.wrap(function() coroutine.yield(redis.call('x')[1]) end) "
                "return c()"),
            "$1\r\nx\r\n");
  expect_error("coroutine.yield()", "attempt to yield");
  expect_error("string.gsub('x', 'x', coroutine.yield)", "attempt to yield");
  expect_error("table.sort({1, 2, 3}, coroutine.yield)", "attempt to yield");
}

TEST_F(SandboxTest, MiscellaneousTricks) {
  // Views are not metatables that a script could fill.
  EXPECT_EQ(run("local t = setmetatable({}, redis) return type(t.call)"), "$3\r\nnil\r\n");
  EXPECT_EQ(run("local t = setmetatable({}, {__index = redis}) return type(t.call)"),
            "$8\r\nfunction\r\n");
  expect_read_only("local t = setmetatable({}, {__newindex = redis}) t.x = 1");
  expect_error("error(redis)", "table: ");
  expect_error("error(_G)", "table: ");
  EXPECT_EQ(run("return select(2, xpcall(function() error(redis) end, function(e) "
                "return e == redis end))"),
            ":1\r\n");
  expect_error("table.insert({}, -2^31, 1)", "out of bounds");
  expect_error("table.insert({}, 1e300, 1)", "out of bounds");
  expect_error("return table.foreach(redis, function(k, v) return k end).x", "attempt to index");
  EXPECT_EQ(run("return tostring(next(_G) ~= nil)"), "$4\r\ntrue\r\n");
  expect_error("next({}, 'absent')", "invalid key");
}

}  // namespace
}  // namespace sorrel::script
