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

// How a change is to be repeated elsewhere, when the request itself is not fit for it.
class Rewrite {
 public:
  enum class Kind : uint8_t { kVerbatim, kNothing, kCommands };

  void reset() {
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

// A request that was parsed ahead: what to run, on what, with the first key's hash if it has one.
struct Request {
  std::span<const std::string_view> args;
  const Command* command = nullptr;  // nullptr: unknown
  uint32_t hashed = 0;               // position of the key whose hash is known; 0: none
  // Its answer tells of no key: it was refused or queued, or the transaction was that it was to
  // run.
  mutable bool tells_nothing = false;
  bool as_sent = false;  // `args` lie in one request as read_short_request() reads them
  uint64_t hash = 0;
  Table::Guess guess;  // where that key's record may be
  size_t end = 0;      // for the session: where the next request begins
};

// What a handler says that finds nothing yet: see Call::wait().
struct Waiting {
  bool asked = false;
  bool retrying = false;  // it waited, and is run again because one of its keys has changed
  bool null_array = true;
  bool needs_key = false;  // it has an answer when a key of it goes away, too
  int64_t deadline_ms = 0;
  uint64_t log_sequence = 0;  // for WAITAOF; see Waiter
  bool for_replicas = false;
  std::vector<size_t> keys;  // positions
  std::vector<std::pair<size_t, std::string>>
      replaced;  // arguments that are to read otherwise then
};

// One running command, as its handler sees it: parse args, act through the door, answer.
struct Call {
  const Command& command;
  std::span<const std::string_view> args;  // args[0] is the name as it was sent
  Caller& caller;
  resp::ReplySink& reply;
  Door& keys;
  Rewrite& rewrite;
  const Request& request;
  Waiting& waiting;
  Executor& executor;  // for the few that run other commands; see Executor::Inside

  size_t argc() const { return args.size(); }
  std::string_view arg(size_t at) const { return args[at]; }

  // The key at this position, with its hash (carried from parsing where that computed it).
  [[gnu::always_inline]] Key key(size_t at) const {
    if (at == request.hashed) return {args[at], request.hash, &request.guess};
    return keys.key(args[at]);
  }

  int64_t now_ms() const { return keys.now_ms(); }

  // There is nothing yet in the keys at these positions: the command is run again when one of them
  // changes, until `deadline_ms` (0: for ever). Nothing is to be answered now. Who may not wait is
  // answered as if the time were up, by a null or a null array.
  void wait(std::vector<size_t> positions, int64_t deadline_ms, bool null_array);
  // The same for a command that is wrong without its keys: it hears when one of them goes away.
  void wait_needing_keys(std::vector<size_t> positions, int64_t deadline_ms, bool null_array);
  // Until that effect is durable, instead of for keys; and for replicas too, if so. It is answered
  // by the session that waits. Precondition: the caller may wait.
  void wait_for_log(uint64_t sequence, bool for_replicas, int64_t deadline_ms);
  // A key of the wrong type is no error then: it may change again.
  bool retrying() const { return waiting.retrying; }

  // The room's own object, as given in its Binding.
  template <class T>
  T& context() const {
    return *static_cast<T*>(command.context);
  }

  // Is an effect wanted at all? Ask before building an expensive rewrite.
  bool wants_effect() const { return keys.effects().active(); }
  // Elsewhere the request only deletes the key at this position.
  void rewrite_as_deletion(size_t at, Freeing why);
};

// Answers that many handlers share.
namespace answer {
void syntax_error(Call& call);
void wrong_type(Call& call);
void not_an_integer(Call& call);
void wrong_arity(Call& call);  // of the command (or subcommand) itself
void unknown_subcommand(Call& call);
// Of a subcommand that looks at its arguments itself.
void subcommand_syntax(Call& call);
// The HELP of a container: the lines given, framed as Redis frames them.
void help(Call& call, std::span<const std::string_view> lines);
inline void help(Call& call, std::initializer_list<std::string_view> lines) {
  help(call, std::span<const std::string_view>(lines.begin(), lines.size()));
}
}  // namespace answer

}  // namespace sorrel
