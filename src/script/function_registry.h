#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "script/interpreter.h"

namespace sorrel::script {

struct Function {
  std::string name;
  std::string description;
  bool described = false;
  uint32_t flags = 0;  // ScriptFlag
  Interpreter::Ref callback = LUA_NOREF;
};

struct Library {
  std::string name;
  std::string code;  // as it was sent, first line included
  std::map<std::string, Function, std::less<>> functions;
};

// The libraries of a node and their functions. Function names are unique over all libraries,
// without regard to case.
//
// Thread rule: in an exclusive section.
class FunctionRegistry {
 public:
  // `clock` and `log` must outlive the registry.
  FunctionRegistry(std::string_view version, const Clock& clock, Logger& log);

  using Libraries = std::map<std::string, std::unique_ptr<Library>, std::less<>>;

  // FUNCTION LOAD; the result is the library's name. Its text may run for `limit_ms` (0: no limit).
  // Nothing changes when it fails; the Error has no error code.
  Result<std::string> load(std::string_view code, bool replace, int64_t limit_ms);
  // False: there is no such library.
  bool remove(std::string_view library);
  void flush();

  // Null: there is no such function.
  const Function* find(std::string_view name) const;
  const Libraries& libraries() const { return libraries_; }

  // FUNCTION DUMP and RESTORE: every library after an opcode, then version and checksum as in DUMP.
  std::string dump() const;
  enum class Policy : uint8_t { kAppend, kReplace, kFlush };
  // All or nothing. An Error has no error code.
  Status restore(std::string_view payload, Policy policy);

  Interpreter& interpreter() { return *interpreter_; }
  size_t function_count() const { return functions_.size(); }
  size_t memory_bytes() const;
  size_t heap_bytes() const { return interpreter_->memory_bytes(); }

  static constexpr int64_t kLoadLimitMs = 500;

 private:
  Result<std::unique_ptr<Library>> compile(std::string_view code, int64_t limit_ms);
  void release(const Library& library);
  void release(Libraries& libraries);
  void link(std::unique_ptr<Library> library);
  std::unique_ptr<Library> unlink(std::string_view name);
  // The name of a function of `libraries` that a library other than `replaced` has already; or
  // empty.
  Status join(Libraries& libraries, Policy policy);
  Result<Libraries> read_payload(std::string_view opened);
  bool in_use(std::string_view function) const;

  std::string version_;
  const Clock& clock_;
  Logger& log_;
  std::unique_ptr<Interpreter> interpreter_;
  Libraries libraries_;
  std::map<std::string, const Function*, std::less<>> functions_;  // by name in lower case
};

}  // namespace sorrel::script
