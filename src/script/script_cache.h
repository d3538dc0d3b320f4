#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "script/interpreter.h"
#include "script/sha1.h"

namespace sorrel::script {

// The scripts that EVALSHA finds: compiled, by the digest of their text. Scripts of EVAL are
// evicted above a limit, least recently used first; those of SCRIPT LOAD stay.
//
// Thread rule: in an exclusive section.
class ScriptCache {
 public:
  // `version` is the server version that scripts see.
  explicit ScriptCache(std::string_view version);

  struct Script {
    Sha1Text sha;
    Interpreter::Ref function;
    uint32_t flags;  // ScriptFlag
    std::string text;
    bool loaded = false;                      // by SCRIPT LOAD, never evicted
    std::list<const Script*>::iterator used;  // unless loaded: the position in the LRU list
  };

  // Case-insensitive. Null: unknown. Valid until the next load() or flush().
  const Script* find(std::string_view sha);
  // The same without counting as a use: allowed in a worker's critical section, too.
  const Script* peek(std::string_view sha) const;
  // The script of this text, compiled when it is new. The Error is EVAL's reply.
  enum class Origin : uint8_t { kEval, kLoad };
  Result<const Script*> load(std::string_view text, Origin origin);
  // Deletes all scripts and the interpreter's heap. Precondition: no script runs.
  void flush();

  Interpreter& interpreter() { return *interpreter_; }

  size_t count() const { return scripts_.size(); }
  size_t memory_bytes() const;  // of texts and entries
  size_t heap_bytes() const { return interpreter_->memory_bytes(); }
  uint64_t evicted() const { return evicted_; }
  void reset_statistics() { evicted_ = 0; }

  // Limit of cached scripts of EVAL.
  static constexpr size_t kMostOfEval = 500;

 private:
  // The first bytes of a digest are as good as any hash of it.
  struct Hash {
    size_t operator()(const Sha1Text& sha) const;
  };
  void note_use(Script& script, Origin origin);
  void evict();

  std::string version_;
  std::unique_ptr<Interpreter> interpreter_;
  std::unordered_map<Sha1Text, std::unique_ptr<Script>, Hash> scripts_;
  std::list<const Script*> of_eval_;  // least recently used first
  size_t text_bytes_ = 0;
  uint64_t evicted_ = 0;
  // The last text: clients that send EVAL repeat the same one.
  std::string last_text_;
  Sha1Text last_sha_{};
};

}  // namespace sorrel::script
