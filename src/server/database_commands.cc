#include "server/database_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/bytes.h"
#include "dispatch/option_parser.h"
#include "server/lolwut.h"
#include "server/version.h"
#include "session/session.h"

namespace sorrel::server {
namespace {

DatabaseCommands& database_commands_of(const Call& call) {
  return call.context<DatabaseCommands>();
}

void dbsize(Call& call) {
  call.reply.integer(static_cast<int64_t>(call.keys.keyspace().key_count(call.keys.db())));
}

// In the background or not, as asked or as configured; nullopt after a syntax error.
std::optional<bool> flush_in_background(Call& call) {
  if (call.argc() == 1) return database_commands_of(call).options.memory.lazy_user_flush;
  if (call.argc() == 2 && iequals(call.arg(1), "sync")) return false;
  if (call.argc() == 2 && iequals(call.arg(1), "async")) return true;
  answer::syntax_error(call);
  return std::nullopt;
}

// An empty database is flushed too: who repeats the stream may hold keys that are gone here.
void count_flush(Call& call, size_t keys) {
  call.keys.count_changes(std::max<uint64_t>(keys, 1));
}

void flushdb(Call& call) {
  const std::optional<bool> in_background = flush_in_background(call);
  if (!in_background) return;
  call.keys.note_flush(call.keys.db());
  count_flush(call, call.keys.keyspace().flush(call.keys.db(), *in_background));
  call.reply.ok();
}

void flushall(Call& call) {
  const std::optional<bool> in_background = flush_in_background(call);
  if (!in_background) return;
  Keyspace& keyspace = call.keys.keyspace();
  call.keys.note_flush(ChangeObserver::kEveryDatabase);
  size_t keys = 0;
  for (int db = 0; db < keyspace.database_count(); db++) keys += keyspace.flush(db, *in_background);
  const uint64_t before = call.keys.changes();
  count_flush(call, keys);
  if (persist::Persistence* persistence = database_commands_of(call).persistence) {
    persistence->after_flush_all(call.keys.changes() - before);
  }
  call.reply.ok();
}

// Numbers that do not even fit the type of an index are no numbers.
std::optional<int64_t> parse_index(std::string_view text) {
  const std::optional<int64_t> index = parse_int64(text);
  using Limits = std::numeric_limits<int>;
  if (!index || *index < Limits::min() || *index > Limits::max()) return std::nullopt;
  return index;
}

void swapdb(Call& call) {
  const std::optional<int64_t> first = parse_index(call.arg(1));
  if (!first) return call.reply.error("ERR invalid first DB index");
  const std::optional<int64_t> second = parse_index(call.arg(2));
  if (!second) return call.reply.error("ERR invalid second DB index");
  Keyspace& keyspace = call.keys.keyspace();
  const auto exists = [&](int64_t db) { return db >= 0 && db < keyspace.database_count(); };
  if (!exists(*first) || !exists(*second)) {
    return call.reply.error("ERR DB index is out of range");
  }
  const int a = static_cast<int>(*first);
  const int b = static_cast<int>(*second);
  call.keys.note_swap(a, b);
  keyspace.swap(a, b);
  call.keys.count_changes(1);
  call.reply.ok();
}

void time(Call& call) {
  constexpr int64_t kUsPerSecond = 1'000'000;
  const Clock& clock = database_commands_of(call).clock;
  int64_t now_us = 0;
  if (call.caller.kind == Caller::Kind::kScript) {
    // A script is one moment.
    if (call.caller.time_us == 0) call.caller.time_us = clock.wall_us();
    now_us = call.caller.time_us;
  } else {
    now_us = clock.wall_us();
  }
  call.reply.array(2);
  call.reply.bulk_integer(now_us / kUsPerSecond);
  call.reply.bulk_integer(now_us % kUsPerSecond);
}

void lolwut(Call& call) {
  size_t at = 1;
  if (call.argc() > 2 && iequals(call.arg(1), "version")) {
    if (!parse_int64(call.arg(2))) return answer::not_an_integer(call);
    at = 3;
  }
  int64_t plants = kDefaultPlants;
  if (at < call.argc()) {
    const std::optional<int64_t> asked = parse_int64(call.arg(at));
    if (!asked) return answer::not_an_integer(call);
    plants = std::clamp<int64_t>(*asked, 1, kMostPlants);
  }
  std::string text = draw_meadow(static_cast<int>(plants), call.keys.random());
  text += fmt::format("\nA meadow of sorrel. Redis ver. {} (Sorrel {})\n", kRedisVersion,
                      kSorrelVersion);
  call.reply.verbatim("txt", text);
}

struct Shutdown {
  bool save = false;
  bool nosave = false;
  bool abort = false;
  bool now = false;
  bool force = false;
};

// NOW is about replicas that lag; there are none yet.
std::optional<Shutdown> parse_shutdown(const Call& call) {
  Shutdown asked;
  for (std::string_view word : call.args.subspan(1)) {
    if (iequals(word, "nosave")) {
      asked.nosave = true;
    } else if (iequals(word, "save")) {
      asked.save = true;
    } else if (iequals(word, "abort")) {
      asked.abort = true;
    } else if (iequals(word, "now")) {
      asked.now = true;
    } else if (iequals(word, "force")) {
      asked.force = true;
    } else {
      return std::nullopt;
    }
  }
  if (asked.abort && call.argc() != 2) return std::nullopt;
  if (asked.save && asked.nosave) return std::nullopt;
  return asked;
}

void shutdown(Call& call) {
  const std::optional<Shutdown> asked = parse_shutdown(call);
  if (!asked) return answer::syntax_error(call);
  DatabaseCommands& commands = database_commands_of(call);
  if (asked->abort) {
    if (commands.abort_stop && commands.abort_stop()) return call.reply.ok();
    return call.reply.error("ERR No shutdown in progress.");
  }
  const NodeState* node = commands.node;
  if (!asked->nosave && node != nullptr && (node->reasons & NodeState::kBusy) != 0) {
    return call.reply.error(fmt::format(
        "BUSY Redis is busy running a script. You can only call {} KILL or SHUTDOWN NOSAVE.",
        node->busy_with_function ? "FUNCTION" : "SCRIPT"));
  }
  commands.log.notice("User requested shutdown...");
  if (commands.persistence != nullptr) {
    const Status prepared = commands.persistence->prepare_shutdown(
        {.save = asked->save, .nosave = asked->nosave, .force = asked->force});
    if (!prepared) return call.reply.error("ERR Errors trying to SHUTDOWN. Check logs.");
  }
  // There is no answer: the connection ends, which is how clients know that it worked.
  if (call.caller.kind == Caller::Kind::kSession) {
    static_cast<SessionCaller&>(call.caller).session->close_soon(true);
  }
  commands.stop(0);
}

}  // namespace

std::vector<Binding> database_bindings(DatabaseCommands& commands) {
  return {
      {"dbsize", &dbsize, &commands},   {"flushall", &flushall, &commands},
      {"flushdb", &flushdb, &commands}, {"lolwut", &lolwut, &commands},
      {"swapdb", &swapdb, &commands},   {"shutdown", &shutdown, &commands},
      {"time", &time, &commands},
  };
}

}  // namespace sorrel::server
