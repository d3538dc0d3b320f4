#include "script/function_registry.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "rdb/format.h"
#include "rdb/payload.h"
#include "rdb/reader.h"
#include "rdb/writer.h"
#include "script/script_flags.h"

namespace sorrel::script {
namespace {

// Opcodes in RDB files and payloads.
constexpr uint8_t kOpcodeFunction = 245;
constexpr uint8_t kOpcodeOldFunction = 246;

constexpr const char* kNameRule =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one "
    "character long";

// Collects what a library registers while it is loaded.
class Collector final : public Interpreter::Registrar {
 public:
  explicit Collector(Library& library) : library_(library) {}

  Status register_function(Interpreter::Registration registration) override {
    if (!is_library_name(registration.name)) return Error{kNameRule};
    if (library_.functions.contains(registration.name)) {
      return Error{"Function already exists in the library"};
    }
    Function function{registration.name, std::move(registration.description),
                      registration.described, registration.flags, registration.callback};
    library_.functions.emplace(registration.name, std::move(function));
    return {};
  }

 private:
  Library& library_;
};

}  // namespace

FunctionRegistry::FunctionRegistry(std::string_view version, const Clock& clock, Logger& log)
    : version_(version),
      clock_(clock),
      log_(log),
      interpreter_(std::make_unique<Interpreter>(Interpreter::Kind::kFunctions, version)) {}

const Function* FunctionRegistry::find(std::string_view name) const {
  const auto at = functions_.find(lower_copy(name));
  return at == functions_.end() ? nullptr : at->second;
}

bool FunctionRegistry::in_use(std::string_view function) const {
  return functions_.contains(lower_copy(function));
}

void FunctionRegistry::release(const Library& library) {
  for (const auto& [name, function] : library.functions) interpreter_->release(function.callback);
}

void FunctionRegistry::release(Libraries& libraries) {
  for (const auto& [name, library] : libraries) release(*library);
  libraries.clear();
}

void FunctionRegistry::link(std::unique_ptr<Library> library) {
  for (const auto& [name, function] : library->functions) {
    functions_[lower_copy(name)] = &function;
  }
  std::string name = library->name;
  libraries_[std::move(name)] = std::move(library);
}

// Null: there is no such library.
std::unique_ptr<Library> FunctionRegistry::unlink(std::string_view name) {
  const auto at = libraries_.find(name);
  if (at == libraries_.end()) return nullptr;
  std::unique_ptr<Library> library = std::move(at->second);
  libraries_.erase(at);
  for (const auto& [function, unused] : library->functions) functions_.erase(lower_copy(function));
  return library;
}

Result<std::unique_ptr<Library>> FunctionRegistry::compile(std::string_view code,
                                                           int64_t limit_ms) {
  const auto shebang = read_library_shebang(code);
  if (!shebang) return shebang.error();
  if (!is_library_name(shebang->name)) return Error{kNameRule};
  if (!iequals(shebang->engine, "lua")) {
    return Error{fmt::format("Engine '{}' not found", shebang->engine)};
  }
  auto library = std::make_unique<Library>();
  library->name = shebang->name;
  library->code = code;
  Collector collector(*library);
  Status done =
      interpreter_->load_library(code.substr(shebang->length), {collector, clock_, limit_ms, log_});
  if (done && library->functions.empty()) done = Error{"No functions registered"};
  if (!done) {
    release(*library);
    return done.error();
  }
  return library;
}

Result<std::string> FunctionRegistry::load(std::string_view code, bool replace, int64_t limit_ms) {
  const auto shebang = read_library_shebang(code);
  if (shebang && is_library_name(shebang->name) && !replace && libraries_.contains(shebang->name) &&
      iequals(shebang->engine, "lua")) {
    return Error{fmt::format("Library '{}' already exists", shebang->name)};
  }
  auto library = compile(code, limit_ms);
  if (!library) return library.error();
  std::string name = (*library)->name;
  std::unique_ptr<Library> old = unlink(name);
  for (const auto& [function, unused] : (*library)->functions) {
    if (!in_use(function)) continue;
    Error error{fmt::format("Function {} already exists", function)};
    release(**library);
    if (old != nullptr) link(std::move(old));
    return error;
  }
  if (old != nullptr) release(*old);
  link(std::move(*library));
  return name;
}

bool FunctionRegistry::remove(std::string_view library) {
  const std::unique_ptr<Library> old = unlink(library);
  if (old == nullptr) return false;
  release(*old);
  return true;
}

// The globals that libraries left in the interpreter are deleted with it.
void FunctionRegistry::flush() {
  functions_.clear();
  libraries_.clear();
  interpreter_ = std::make_unique<Interpreter>(Interpreter::Kind::kFunctions, version_);
}

std::string FunctionRegistry::dump() const {
  std::string payload;
  rdb::Writer writer(payload, true);
  for (const auto& [name, library] : libraries_) {
    writer.byte(kOpcodeFunction);
    writer.string(library->code);
  }
  rdb::seal_payload(payload, rdb::kCompatibleVersion);
  return payload;
}

Result<FunctionRegistry::Libraries> FunctionRegistry::read_payload(std::string_view opened) {
  Libraries libraries;
  const auto give_up = [&](std::string text) {
    release(libraries);
    return Error{std::move(text)};
  };
  rdb::Reader reader(opened);
  std::string scratch;
  while (reader.left() > 0) {
    const uint8_t opcode = reader.byte();
    if (opcode == kOpcodeOldFunction) return give_up("Pre-GA function format not supported");
    if (opcode != kOpcodeFunction) return give_up("given type is not a function");
    const std::string_view code = reader.string(scratch);
    if (reader.failed()) return give_up("failed loading the given functions payload");
    auto library = compile(code, 0);
    if (!library) return give_up(library.error().text);
    std::string name = (*library)->name;
    if (libraries.contains(name)) {
      release(**library);
      return give_up(fmt::format("Library '{}' already exists", name));
    }
    libraries[std::move(name)] = std::move(*library);
  }
  return libraries;
}

// Adds all `libraries`, or changes nothing.
Status FunctionRegistry::join(Libraries& libraries, Policy policy) {
  Status done;
  std::vector<std::unique_ptr<Library>> replaced;
  for (const auto& [name, library] : libraries) {
    if (!libraries_.contains(name)) continue;
    if (policy != Policy::kReplace) {
      done = Error{fmt::format("Library {} already exists", name)};
      break;
    }
    replaced.push_back(unlink(name));
  }
  std::map<std::string, bool> seen;
  for (auto at = libraries.begin(); done && at != libraries.end(); ++at) {
    for (const auto& [function, unused] : at->second->functions) {
      if (in_use(function) || !seen.emplace(lower_copy(function), true).second) {
        done = Error{fmt::format("Function {} already exists", function)};
        break;
      }
    }
  }
  if (!done) {
    for (auto& old : replaced) link(std::move(old));
    release(libraries);
    return done;
  }
  for (const auto& old : replaced) release(*old);
  for (auto& [name, library] : libraries) link(std::move(library));
  return {};
}

Status FunctionRegistry::restore(std::string_view payload, Policy policy) {
  const auto opened = rdb::opened_payload(payload, rdb::Checksum::kVerify);
  if (!opened) return Error{"DUMP payload version or checksum are wrong"};
  auto libraries = read_payload(*opened);
  if (!libraries) return libraries.error();
  if (policy != Policy::kFlush) return join(*libraries, policy);
  // Names must be unique within the payload, too; checked before any library is deleted for it.
  Libraries old = std::exchange(libraries_, {});
  auto old_functions = std::exchange(functions_, {});
  if (Status joined = join(*libraries, Policy::kAppend); !joined) {
    libraries_ = std::move(old);
    functions_ = std::move(old_functions);
    return joined;
  }
  release(old);
  return {};
}

size_t FunctionRegistry::memory_bytes() const {
  constexpr size_t kPerEntry = 8 * sizeof(void*);
  size_t bytes = sizeof *this;
  for (const auto& [name, library] : libraries_) {
    bytes += sizeof(Library) + library->code.size() + 2 * name.size() + kPerEntry;
    for (const auto& [function, facts] : library->functions) {
      bytes += sizeof(Function) + 3 * function.size() + facts.description.size() + 2 * kPerEntry;
    }
  }
  return bytes;
}

}  // namespace sorrel::script
