#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/caller.h"
#include "dispatch/command_table.h"
#include "keyspace/door.h"
#include "resp/reply_sink.h"

namespace sorrel {

class Executor;

// How a change is repeated elsewhere, when the request itself is not suitable.
class Rewrite {
 public:
  enum class Kind : uint8_t { kVerbatim, kNothing, kCommands };

  void reset() {
    if (kind_ == Kind::kVerbatim) [[likely]]
      return;  // and without commands
    kind_ = Kind::kVerbatim;
    commands_.clear();
  }
  // The change needs no effect, or has left it already.
  void nothing() { kind_ = Kind::kNothing; }
  // Instead of the request; several calls make several commands, kept together.
  void as(std::vector<std::string> args) {
    kind_ = Kind::kCommands;
    commands_.push_back(std::move(args));
  }

  Kind kind() const { return kind_; }
  const std::vector<std::vector<std::string>>& commands() const { return commands_; }

 private:
  Kind kind_ = Kind::kVerbatim;
  std::vector<std::vector<std::string>> commands_;
};

// A parsed request, prepared for execution: its command, and the hash of its first key.
struct Request {
  std::span<const std::string_view> args;
  const Command* command = nullptr;  // nullptr: unknown
  uint32_t hashed = 0;               // position of the key whose hash is known; 0: none
  // It was rejected or queued, so that its reply tells nothing about keys; or it is an EXEC that
  // did not run.
  mutable bool tells_nothing = false;
  bool as_sent = false;  // `args` lie in one request as read_short_request() reads them
  uint64_t hash = 0;
  KeyHint hint;    // for that key
  size_t end = 0;  // for the session: where the next request begins
};

// How a handler blocks its client: see Call::wait().
struct Waiting {
  bool asked = false;
  bool retrying = false;  // the client is blocked, and the command runs again: a key has changed
  bool null_array = true;
  bool needs_key = false;  // it also has a reply when one of its keys is deleted
  int64_t deadline_ms = 0;
  uint64_t log_sequence = 0;  // for WAITAOF; see BlockedClient
  bool for_replicas = false;
  std::vector<size_t> keys;  // positions
  // Arguments with another text when the command runs again.
  std::vector<std::pair<size_t, std::string>> replaced;
};

// One running command, as its handler sees it: parse args, act on keys, answer.
struct Call {
  const Command& command;
  std::span<const std::string_view> args;  // args[0] is the name as it was sent
  Caller& caller;
  resp::ReplySink& reply;
  Door& keys;
  Rewrite& rewrite;
  const Request& request;
  Waiting& waiting;
  Executor& executor;  // for commands that run other commands; see NestedExecution

  size_t argc() const { return args.size(); }
  std::string_view arg(size_t at) const { return args[at]; }

  // The key at this position, with its hash (carried from prepare() where that computed it).
  [[gnu::always_inline]] Key key(size_t at) const {
    if (at == request.hashed) return {args[at], request.hash, &request.hint};
    return keys.key(args[at]);
  }

  int64_t now_ms() const { return keys.now_ms(); }

  // Blocks the client on the keys at these positions: the command runs again when one of them
  // changes, until `deadline_ms` (0: for ever). The handler answers nothing now. A caller that may
  // not block is answered as at the timeout, by a null or a null array.
  void wait(std::vector<size_t> positions, int64_t deadline_ms, bool null_array);
  // The same for a command that fails without its keys: it also runs again when one is deleted.
  void wait_needing_keys(std::vector<size_t> positions, int64_t deadline_ms, bool null_array);
  // Blocks the client until that effect is durable, and until replicas have it if `for_replicas`.
  // Its session answers. Precondition: the caller may block.
  void wait_for_log(uint64_t sequence, bool for_replicas, int64_t deadline_ms);
  // The client is blocked already: a key of the wrong type is no error, it may change again.
  bool retrying() const { return waiting.retrying; }

  // The component's own object, as given in its Binding.
  template <class T>
  T& context() const {
    return *static_cast<T*>(command.context);
  }

  // Are effects written at all? Ask before building an expensive rewrite.
  bool wants_effect() const { return keys.effects().active(); }
  // Elsewhere the request only deletes the key at this position.
  void rewrite_as_deletion(size_t at, Freeing why);
};

// Replies that many handlers share.
namespace answer {
void syntax_error(Call& call);
void wrong_type(Call& call);
void not_an_integer(Call& call);
void wrong_arity(Call& call);  // of the command (or subcommand) itself
void unknown_subcommand(Call& call);
// Of a subcommand that checks its arguments itself.
void subcommand_syntax(Call& call);
// The HELP of a container: the lines given, framed as Redis frames them.
void help(Call& call, std::span<const std::string_view> lines);
inline void help(Call& call, std::initializer_list<std::string_view> lines) {
  help(call, std::span<const std::string_view>(lines.begin(), lines.size()));
}
}  // namespace answer

}  // namespace sorrel
