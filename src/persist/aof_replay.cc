#include "persist/aof_replay.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/excerpt.h"
#include "base/numbers.h"
#include "io/child_process.h"
#include "persist/aof_reader.h"
#include "resp/null_sink.h"

namespace sorrel::persist {
namespace {

// SHUTDOWN, CONFIG SET, DEBUG LOADAOF: no server writes them into its log.
bool rules_the_server(const Command& command, std::span<const std::string_view> args) {
  const Command* sub = args.size() > 1 ? command.subcommand(args[1]) : nullptr;
  const Command& runs = sub == nullptr ? command : *sub;
  return runs.has(catalog::kAdmin) && !runs.has(catalog::kWrite);
}

}  // namespace

AofReplay::AofReplay(const ExecutorWorld& server, unsigned worker, LoadProgress& progress)
    : world_{server.commands, server.keyspace, nobody_, gate_, server.node, server.cycles},
      executor_(world_, worker, 1),
      select_(server.commands.find("select")),
      progress_(progress) {
  world_.memory = server.memory;
  caller_.set_repeats_history();
  caller_.transaction = &transaction_;
}

// What follows would go to the keys of another database. Also in a transaction, where it is only
// queued.
bool AofReplay::selects_beyond(const Command& command,
                               std::span<const std::string_view> args) const {
  if (&command != select_ || args.size() != 2) return false;
  const auto db = parse_int64(args[1]);
  return db && (*db < 0 || *db >= world_.keyspace.database_count());
}

void AofReplay::count_error(std::string_view name, std::string_view text) {
  if (errors_++ > 0) return;
  first_error_ = fmt::format("{}: {}", excerpt(name), trim(text.substr(0, 2 * kShownBytes)));
}

// kWhole: it was run, or refused.
AofReplay::End AofReplay::run_one(std::span<const std::string_view> args) {
  Request request;
  request.args = args;
  executor_.requests().prepare({&request, 1}, caller_.db, RequestPreparer::Look::kNot);
  if (request.command == nullptr) return End::kUnknown;
  if (selects_beyond(*request.command, args)) return End::kForeign;
  if (rules_the_server(*request.command, args)) {
    count_error(args[0], "it changes no keys, and the log has no say in anything else");
    return End::kWhole;
  }
  resp::NullSink reply;
  executor_.execute(request, caller_, reply);
  if (reply.errors() > 0) count_error(args[0], "-" + reply.last_error());
  return End::kWhole;
}

AofReplay::Outcome AofReplay::run(std::string_view bytes, uint64_t begin,
                                  const LoadOptions& options, const LoadHooks& hooks) {
  caller_.db = 0;
  Outcome outcome{.good = begin};
  AofReader reader(bytes, begin);
  uint64_t stepped = begin;
  for (bool more = true; more;) {
    const uint64_t before = reader.position();
    const AofReader::Found found = reader.next();
    switch (found) {
      case AofReader::Found::kTimestamp:
        break;
      case AofReader::Found::kCommand:
        outcome.end = run_one(reader.args());
        if (outcome.end != End::kWhole) {
          outcome.offset = before;
          const size_t told = outcome.end == End::kForeign ? 1 : 0;
          outcome.problem = std::string(excerpt(reader.args()[told]));
          more = false;
        }
        if (options.delays()) io::sleep_us(*options.key_delay_us);
        break;
      case AofReader::Found::kEnd:
        more = false;
        if (!transaction_.open()) break;
        outcome.end = End::kTorn;
        outcome.problem = fmt::format("offset {}: a transaction without its end", outcome.good);
        break;
      case AofReader::Found::kTorn:
      case AofReader::Found::kDamaged:
        more = false;
        outcome.end = found == AofReader::Found::kTorn ? End::kTorn : End::kDamaged;
        outcome.problem = reader.problem();
        break;
    }
    progress_.position = reader.position();
    if (more && !transaction_.open()) outcome.good = reader.position();
    if (more && hooks.step &&
        reader.position() - stepped >= static_cast<uint64_t>(options.step_bytes)) {
      stepped = reader.position();
      if (const Status step = hooks.step(); !step) {
        outcome.end = End::kStopped;
        outcome.problem = step.error().text;
        more = false;
      }
    }
  }
  // What was begun and not finished has not happened.
  transaction_.close();
  caller_.set_reason(Caller::kInTransaction, false);
  return outcome;
}

}  // namespace sorrel::persist
