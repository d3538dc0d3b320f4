#include "script/script_cache.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "script/script_flags.h"

namespace sorrel::script {
namespace {

constexpr size_t kLongestRemembered = 64 << 10;

}  // namespace

size_t ScriptCache::Hash::operator()(const Sha1Text& sha) const {
  // Sixteen digits: of each byte four bits count.
  return sorrel::load<uint64_t>(sha.data()) * 31 + sorrel::load<uint64_t>(sha.data() + 8);
}

ScriptCache::ScriptCache(std::string_view version)
    : version_(version),
      interpreter_(std::make_unique<Interpreter>(Interpreter::Kind::kEval, version)) {}

const ScriptCache::Script* ScriptCache::find(std::string_view sha) {
  const Script* script = peek(sha);
  // Moved to the most recently used end.
  if (script != nullptr && !script->loaded) {
    of_eval_.splice(of_eval_.end(), of_eval_, script->used);
  }
  return script;
}

const ScriptCache::Script* ScriptCache::peek(std::string_view sha) const {
  Sha1Text folded;
  if (sha.size() != folded.size()) return nullptr;
  // Letters become lower case; other characters then match no digit.
  for (size_t i = 0; i < folded.size(); i++) folded[i] = to_lower(sha[i]);
  const auto at = scripts_.find(folded);
  return at == scripts_.end() ? nullptr : at->second.get();
}

Result<const ScriptCache::Script*> ScriptCache::load(std::string_view text, Origin origin) {
  const bool same = text == last_text_ && !text.empty();
  const Sha1Text sha = same ? last_sha_ : sha1_hex(text);
  if (!same && text.size() <= kLongestRemembered) {
    last_text_ = text;
    last_sha_ = sha;
  }
  if (const auto at = scripts_.find(sha); at != scripts_.end()) {
    note_use(*at->second, origin);
    return at->second.get();
  }
  const auto shebang = read_script_shebang(text);
  if (!shebang) return shebang.error();
  const auto function = interpreter_->compile(text.substr(shebang->length), "@user_script");
  if (!function) {
    return Error{fmt::format("Error compiling script (new function): {}", function.error().text)};
  }
  auto script = std::make_unique<Script>();
  script->sha = sha;
  script->function = *function;
  script->flags = shebang->flags;
  script->text = text;
  script->loaded = origin == Origin::kLoad;
  if (origin == Origin::kEval) {
    if (of_eval_.size() >= kMostOfEval) evict();
    script->used = of_eval_.insert(of_eval_.end(), script.get());
  }
  text_bytes_ += text.size();
  return (scripts_[sha] = std::move(script)).get();
}

void ScriptCache::note_use(Script& script, Origin origin) {
  if (script.loaded) return;
  if (origin == Origin::kEval) {
    of_eval_.splice(of_eval_.end(), of_eval_, script.used);
    return;
  }
  of_eval_.erase(script.used);
  script.loaded = true;
}

void ScriptCache::evict() {
  const Script* oldest = of_eval_.front();
  of_eval_.pop_front();
  interpreter_->release(oldest->function);
  text_bytes_ -= oldest->text.size();
  const Sha1Text sha = oldest->sha;
  scripts_.erase(sha);
  evicted_++;
}

void ScriptCache::flush() {
  scripts_.clear();
  of_eval_.clear();
  text_bytes_ = 0;
  interpreter_ = std::make_unique<Interpreter>(Interpreter::Kind::kEval, version_);
}

size_t ScriptCache::memory_bytes() const {
  constexpr size_t kPerEntry = sizeof(Script) + sizeof(Sha1Text) + 4 * sizeof(void*);
  return text_bytes_ + scripts_.size() * kPerEntry;
}

}  // namespace sorrel::script
