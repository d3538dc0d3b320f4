#include <cstdint>
#include <string>
#include <string_view>

#include "script/test_host.h"

// Passes the input to every library that parses bytes, to the pattern matcher as subject and
// pattern, and to the parser as a script. Every input must end in a value or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sorrel::script;
  static constexpr std::string_view kScripts[] = {
      "return pcall(cjson.decode, ARGV[1])",
      "local ok, v = pcall(cjson.decode, ARGV[1]) if ok then return pcall(cjson.encode, v) end",
      "return pcall(cmsgpack.unpack, ARGV[1])",
      "local ok, v = pcall(cmsgpack.unpack, ARGV[1]) if ok then return pcall(cmsgpack.pack, v) end",
      "return pcall(struct.unpack, ARGV[1], ARGV[2])",
      "return pcall(struct.pack, ARGV[1], 1, ARGV[2], -5, 0.5, ARGV[2])",
      "return pcall(struct.size, ARGV[1])",
      "return pcall(string.gsub, ARGV[2], ARGV[1], '%1%0')",
      "return pcall(string.find, ARGV[2], ARGV[1])",
      "return pcall(string.format, ARGV[1], 1, ARGV[2], 3.5)",
      "local f = loadstring(ARGV[1]) if f then return pcall(f) end",
  };
  if (size == 0) return 0;
  Interpreter interpreter(Interpreter::Kind::kEval, "7.2.4");
  interpreter.set_memory_limit(size_t{32} << 20);
  TestRun run(interpreter);
  run.host.stop_after = 20;
  const std::string_view script = kScripts[data[0] % std::size(kScripts)];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  run(script, {}, {bytes.substr(0, bytes.size() / 2), bytes.substr(bytes.size() / 2)});
  run(script, {}, {bytes, bytes});
  return 0;
}
