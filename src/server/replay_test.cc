// Replay equals: eight callers on four threads change one keyspace with every kind of command,
// while keys run out of time; the stream of effects, replayed into an empty keyspace by one worker,
// gives the same keys, values and deadlines in every database.
//
// SORREL_REPLAY_COMMANDS sets how many commands are run (a fast number by default),
// SORREL_REPLAY_SEED another seed.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/random.h"
#include "base/sanitizer.h"
#include "commands/families.h"
#include "dispatch/executor.h"
#include "dispatch/transaction.h"
#include "dispatch/transaction_commands.h"
#include "keyspace/active_expiry.h"
#include "resp/reply_writer.h"
#include "resp/request_parser.h"
#include "server/database_commands.h"
#include "session/session_commands.h"
#include "types/string.h"

namespace sorrel::server {
namespace {

constexpr int kDatabases = 4;
constexpr unsigned kThreads = 4;
constexpr unsigned kCallersPerThread = 2;
constexpr size_t kBatch = 16;
constexpr int64_t kStartMs = 1'700'000'000'000;

uint64_t from_environment(const char* name, uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : parse_uint64(text).value_or(usual);
}

uint64_t command_count() {
#if SORREL_TSAN
  return from_environment("SORREL_REPLAY_COMMANDS", 20'000);
#else
  return from_environment("SORREL_REPLAY_COMMANDS", 100'000);
#endif
}

// The stream as an AOF would keep it.
class Recorder final : public EffectSink {
 public:
  void on_effect(const Effect& effect) override {
    EXPECT_EQ(effect.sequence, last_ + 1);
    last_ = effect.sequence;
    effects_.emplace_back(effect.db, effect.body);
  }
  uint64_t last() const { return last_; }
  const std::vector<std::pair<int, std::string>>& effects() const { return effects_; }

 private:
  uint64_t last_ = 1;  // what was there before the first effect
  std::vector<std::pair<int, std::string>> effects_;
};

// A node without connections.
class Node {
 public:
  Node(unsigned workers, unsigned partitions)
      : keyspace_({.databases = kDatabases, .partitions = partitions}, &reclaimer_),
        gate_(workers),
        table_(build(database_commands_, hub_, sessions_)),
        world_{*table_, keyspace_, stream_, gate_, state_, CycleScale{}, nullptr, nullptr, &hub_} {
    for (unsigned i = 0; i < workers; i++) {
      executors_.push_back(std::make_unique<Executor>(world_, i, i + 1));
    }
  }

  Keyspace& keyspace() { return keyspace_; }
  EffectStream& stream() { return stream_; }
  Executor& executor(unsigned index) { return *executors_[index]; }

 private:
  static std::unique_ptr<CommandTable> build(DatabaseCommands& database_commands, ChangeHub& hub,
                                             SessionWorld& sessions) {
    std::vector<Binding> all;
    for (auto family : commands::families()) all.insert(all.end(), family.begin(), family.end());
    for (const Binding& binding : database_bindings(database_commands)) all.push_back(binding);
    for (const Binding& binding : transaction_bindings(hub)) all.push_back(binding);
    for (const Binding& binding : session_bindings(sessions)) all.push_back(binding);
    auto table = CommandTable::build(all);
    if (!table) std::abort();
    return std::move(*table);
  }

  Options options_;
  ManualClock clock_;
  NullLogger log_;
  DatabaseCommands database_commands_{options_, clock_, log_, [](int) {}};
  Reclaimer reclaimer_;
  ChangeHub hub_;
  Keyspace keyspace_;
  EffectStream stream_;
  WorldGate gate_;
  NodeState state_;
  SessionWorld sessions_{.options = {}, .node = state_, .log = log_, .hosts = {}};
  std::unique_ptr<CommandTable> table_;
  ExecutorWorld world_;
  std::vector<std::unique_ptr<Executor>> executors_;
};

// Random commands, mostly right ones, on few enough keys that they meet.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  using Words = std::vector<std::string>;

  Words next() {
    const uint64_t kind = random_.below(1000);
    if (kind < 1) return {"FLUSHALL"};
    if (kind < 2) return {"FLUSHDB", any({"SYNC", "ASYNC"})};
    if (kind < 4) return {"SWAPDB", number(kDatabases), number(kDatabases)};
    if (kind < 8) return {any({"RANDOMKEY", "DBSIZE"})};
    if (kind < 450) return one_key();
    if (kind < 650) return with_deadline();
    if (kind < 900) return several_keys();
    return numbers();
  }

  uint64_t below(uint64_t bound) { return random_.below(bound); }

 private:
  Words one_key() {
    switch (random_.below(16)) {
      case 0:
        return {"GET", key()};
      case 1:
        return {"SET", key(), value(), any({"NX", "XX", "GET", "KEEPTTL"})};
      case 2:
        return {"SET", key(), value(), any({"IFEQ", "IFNE"}), value()};
      case 3:
        return {"SETNX", key(), value()};
      case 4:
        return {"GETSET", key(), value()};
      case 5:
        return {"GETDEL", key()};
      case 6:
        return {"APPEND", key(), value()};
      case 7:
        return {"SETRANGE", key(), number(100), value()};
      case 8:
        return {"SETBIT", key(), number(500), number(2)};
      case 9:
        return {"BITFIELD", key(), "INCRBY", "i16", number(64), number(1000)};
      case 10:
        return {"DELEX", key(), any({"IFEQ", "IFNE"}), value()};
      case 11:
        return {"DELIFEQ", key(), value()};
      case 12:
        return {"STRLEN", key()};
      case 13:
        return {"UNLINK", key()};
      default:
        return {"SET", key(), value()};
    }
  }

  Words with_deadline() {
    switch (random_.below(12)) {
      case 0:
        return {"SET", key(), value(), "PX", soon()};
      case 1:
        return {"SET", key(), value(), any({"EXAT", "PXAT"}), "1"};
      case 2:
        return {"SETEX", key(), "1", value()};
      case 3:
        return {"PSETEX", key(), soon(), value()};
      case 4:
        return {"GETEX", key(), "PX", soon()};
      case 5:
        return {"GETEX", key(), "PERSIST"};
      case 6:
        return {"EXPIRE", key(), number(2)};
      case 7:
        return {"PERSIST", key()};
      case 8:
        return {"INCREX", key(), "PX", soon(), "ENX"};
      case 9:
        return {"PEXPIREAT", key(), any({"1", "33177117420123"}), any({"NX", "GT", "LT"})};
      default:
        return {"PEXPIRE", key(), soon()};
    }
  }

  Words several_keys() {
    switch (random_.below(14)) {
      case 0:
        return {"MSETNX", key(), value(), key(), value()};
      case 1:
        return {"MSETEX", "2", key(), value(), key(), value(), "PX", soon()};
      case 2:
        return {"MSETEX", "2", key(), value(), key(), value(), any({"NX", "XX", "KEEPTTL"})};
      case 3:
        return {"DEL", key(), key(), key()};
      case 4:
        return {"RENAMENX", key(), key()};
      case 5:
        return {"COPY", key(), key()};
      case 6:
        return {"COPY", key(), key(), "DB", number(kDatabases), "REPLACE"};
      case 7:
        return {"MOVE", key(), number(kDatabases)};
      case 8:
        return {"MGET", key(), key(), key()};
      case 9:
        return {"BITOP", any({"AND", "OR", "XOR"}), key(), key(), key()};
      case 10:
        return {"LCS", key(), key(), "LEN"};
      case 11:
        return {"MSET", key(), value(), key(), value(), key(), value()};
      default:
        return {"RENAME", key(), key()};
    }
  }

  Words numbers() {
    switch (random_.below(6)) {
      case 0:
        return {"INCR", key()};
      case 1:
        return {"DECRBY", key(), number(1000)};
      case 2:
        return {"INCRBYFLOAT", key(), number(1000) + "." + number(1000)};
      case 3:
        return {"INCREX", key(), "BYFLOAT", "0.1", "UBOUND", "50", "SATURATE"};
      case 4:
        return {"INCREX", key(), "BYINT", number(50), "UBOUND", "500"};
      default:
        return {"INCRBY", key(), number(1000)};
    }
  }

  std::string number(uint64_t bound) { return std::to_string(random_.below(bound)); }
  std::string soon() { return std::to_string(1 + random_.below(200)); }
  std::string any(std::initializer_list<const char*> words) {
    return words.begin()[random_.below(words.size())];
  }
  // Half of all picks fall on a few keys, so that threads meet there.
  std::string key() {
    const uint64_t which = random_.below(2) == 0 ? random_.below(6) : random_.below(120);
    return which < 20 ? "{tag" + std::to_string(which % 4) + "}" + std::to_string(which)
                      : "key" + std::to_string(which);
  }
  std::string value() {
    const uint64_t kind = random_.below(400);
    if (kind < 250) return number(100);
    if (kind < 390) return std::string(random_.below(60), static_cast<char>('a' + kind % 26));
    // Long enough to lie apart from its record, and some to be freed in the background.
    return std::string(kind < 399 ? 3000 : 70'000, 'x');
  }

  Random random_;
};

void run_words(Executor& executor, Caller& caller, const Maker::Words& words,
               resp::ReplySink& reply) {
  const std::vector<std::string_view> args(words.begin(), words.end());
  Request request;
  request.args = args;
  executor.requests().prepare({&request, 1}, caller.db);
  executor.execute(request, caller, reply);
}

// One thread: batches as a worker makes them.
void change(Node& node, unsigned index, uint64_t seed, uint64_t commands,
            std::atomic<int64_t>& clock) {
  Executor& executor = node.executor(index);
  Maker maker(seed + index);
  std::array<Caller, kCallersPerThread> callers;
  std::array<Transaction, kCallersPerThread> transactions;
  for (size_t i = 0; i < kCallersPerThread; i++) callers[i].transaction = &transactions[i];
  resp::OutputBuffer out;
  resp::ReplyWriter reply(out, 2);
  for (uint64_t done = 0; done < commands; done += kBatch) {
    const int64_t now = clock.fetch_add(static_cast<int64_t>(maker.below(3)));
    executor.enter();
    executor.begin_batch(now);
    for (size_t i = 0; i < kBatch; i++) {
      Caller& caller = callers[i % kCallersPerThread];
      if (maker.below(100) == 0) caller.db = static_cast<int>(maker.below(kDatabases));
      if (maker.below(12) == 0) {
        run_words(executor, caller, {caller.transaction->open() ? "EXEC" : "MULTI"}, reply);
      }
      run_words(executor, caller, maker.next(), reply);
      out.clear(4096);
      if (maker.below(4) == 0) executor.pause();
    }
    if (maker.below(8) == 0) {
      const auto partition = static_cast<unsigned>(maker.below(node.keyspace().partition_count()));
      Latch& latch = node.keyspace().partition(partition).latch;
      executor.door().begin(0, now, false);
      latch.lock();
      expire_slice(executor.door(), partition, [] { return true; });
      latch.unlock();
    }
    executor.effects().flush();
    executor.leave();
  }
}

// What one effect says, run as the reader of a log would: no key runs out of time meanwhile.
void repeat(Node& node, const Recorder& recorder) {
  Executor& executor = node.executor(0);
  Caller caller;
  caller.set_repeats_history();
  Transaction transaction;
  caller.transaction = &transaction;
  resp::OutputBuffer out;
  resp::ReplyWriter reply(out, 2);
  resp::RequestParser parser;
  resp::ArgList args;
  std::vector<std::unique_ptr<std::string>> inline_store;
  executor.begin_batch(1);
  for (const auto& [db, body] : recorder.effects()) {
    caller.db = db;
    std::string_view rest = body;
    while (!rest.empty()) {
      args.clear();
      ASSERT_EQ(parser.next(rest, {}, args, inline_store), resp::RequestParser::Outcome::kRequest);
      rest.remove_prefix(parser.consumed());
      Request request;
      request.args = args.from(0);
      executor.requests().prepare({&request, 1}, caller.db);
      const Executor::Outcome outcome = executor.execute(request, caller, reply);
      ASSERT_TRUE(outcome == Executor::Outcome::kDone || outcome == Executor::Outcome::kDoneLate);
      ASSERT_EQ(reply.errors(), 0u) << body << " answered " << out.view();
      out.clear(4096);
    }
  }
}

struct Held {
  std::string value;
  int64_t deadline;
  bool operator==(const Held&) const = default;
};
using Contents = std::map<std::pair<int, std::string>, Held>;

Contents contents_of(const Keyspace& keyspace) {
  Contents out;
  for (unsigned partition = 0; partition < keyspace.partition_count(); partition++) {
    for (int db = 0; db < kDatabases; db++) {
      const Database* database = keyspace.find_database(partition, db);
      if (database == nullptr) continue;
      database->table.for_each([&](void* entry) {
        const auto& record = *static_cast<const Record*>(entry);
        IntegerText scratch;
        out[{db, std::string(record.key())}] = {std::string(string_bytes(record, scratch)),
                                                record.expiry()};
      });
    }
  }
  return out;
}

TEST(Replay, GivesTheSameKeyspace) {
  const uint64_t seed = from_environment("SORREL_REPLAY_SEED", 1);
  const uint64_t commands = command_count();
  Node source(kThreads, 64);
  Recorder recorder;
  source.stream().attach(&recorder);
  std::atomic<int64_t> clock{kStartMs};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; i++) {
    threads.emplace_back([&, i] { change(source, i, seed * 1000, commands / kThreads, clock); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.last() + 1, source.stream().next_sequence()) << "every effect came out";
  EXPECT_GT(recorder.effects().size(), commands / 4) << "the commands must change something";
  EXPECT_GT(source.keyspace().stats().expired, commands / 1000) << "and keys must run out of time";

  Node copy(1, 1);
  repeat(copy, recorder);
  const Contents ours = contents_of(source.keyspace());
  const Contents theirs = contents_of(copy.keyspace());
  EXPECT_EQ(ours.size(), theirs.size());
  for (const auto& [name, held] : ours) {
    const auto found = theirs.find(name);
    ASSERT_NE(found, theirs.end()) << name.second << " is missing in database " << name.first;
    EXPECT_EQ(held.deadline, found->second.deadline) << name.second;
    EXPECT_EQ(held.value, found->second.value) << name.second;
  }
  EXPECT_EQ(ours, theirs);
  RecordProperty("commands", std::to_string(commands));
  RecordProperty("effects", std::to_string(recorder.effects().size()));
  RecordProperty("expired", std::to_string(source.keyspace().stats().expired));
  RecordProperty("keys", std::to_string(ours.size()));
}

}  // namespace
}  // namespace sorrel::server
