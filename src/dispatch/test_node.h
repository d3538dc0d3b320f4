#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/executor.h"
#include "dispatch/transaction.h"
#include "dispatch/transaction_commands.h"
#include "resp/reply_writer.h"
#include "types/string.h"

namespace sorrel {

// A node for tests of dispatch, with simple handlers for a few names of the catalog:
//
//   GET, SET, MSET, PING, PUBLISH, SPUBLISH   as one expects
//   BLPOP                                     takes the string at its first key, or blocks
//   MULTI, EXEC, DISCARD, WATCH               the real ones
//
//   TestNode node;
//   EXPECT_EQ(node.run({"set", "k", "v"}), "+OK");
struct TestNode final : EffectSink {
  struct Shape {
    unsigned workers = 1;
    unsigned partitions = 1;
    SlotGate* slots = nullptr;
    std::vector<Binding> more = {};
  };
  TestNode() : TestNode(Shape{}) {}
  explicit TestNode(const Shape& shape)
      : keyspace({.databases = 16, .partitions = shape.partitions}, nullptr),
        table(build(shape.more)),
        gate(shape.workers),
        world{*table, keyspace, stream, gate, state, CycleScale{}, nullptr, &waiters, &hub} {
    world.memory = &memory;
    world.slots = shape.slots;
    stream.attach(this);
    if (shape.slots != nullptr) state.set(NodeState::kCluster, true);
    for (unsigned i = 0; i < shape.workers; i++) {
      workers.push_back(std::make_unique<Executor>(world, i, i + 1));
    }
    caller.transaction = &transaction;
    caller.may_wait = true;
  }
  ~TestNode() override { hub.watches().clear(transaction.watcher); }

  using Words = std::vector<std::string_view>;
  // The reply as RESP2, without the last line break; "" when there was none yet.
  std::string run(const Words& words) { return run_as(caller, words); }
  std::string run_as(Caller& client, const Words& words, unsigned worker = 0) {
    resp::OutputBuffer out;
    resp::ReplyWriter reply(out, 2);
    Executor& executor = *workers[worker];
    executor.enter();
    executor.begin_batch(now_ms);
    Request request;
    request.args = words;
    executor.requests().prepare({&request, 1}, client.db);
    last_outcome = executor.execute(request, client, reply);
    executor.effects().flush();
    executor.leave();
    const std::string text(out.view());
    return text.empty() ? text : text.substr(0, text.size() - 2);
  }

  Executor& worker(unsigned index = 0) { return *workers[index]; }
  const Command& command(std::string_view name) const { return *table->find(name); }
  const CommandStats& stats(std::string_view name, unsigned worker = 0) const {
    return workers[worker]->stats().commands[command(name).index];
  }
  // maxmemory, with the policy that evicts any key at random, or noeviction.
  void limit_memory(uint64_t bytes, EvictionPolicy policy) {
    keyspace.eviction().policy = policy;
    memory.max_bytes = bytes;
    state.set(NodeState::kMemoryLimited, bytes != 0);
    keyspace.count_all_memory();
  }

  int64_t now_ms = 1'700'000'000'000;
  Executor::Outcome last_outcome = Executor::Outcome::kDone;
  std::string effects;  // propagated since the test cleared it, in RESP
  NodeState state;
  Keyspace keyspace;
  MemoryLimit memory{keyspace};
  EffectStream stream;
  Transaction transaction;
  Caller caller;
  ChangeHub hub;
  BlockedClients waiters{hub.interest()};
  std::unique_ptr<CommandTable> table;
  WorldGate gate;
  ExecutorWorld world;
  std::vector<std::unique_ptr<Executor>> workers;

 private:
  static void answer(Call& call, const Record& record) {
    IntegerText scratch;
    call.reply.bulk(string_bytes(record, scratch));
  }
  static void get(Call& call) {
    const Record* record = call.keys.read(call.key(1));
    if (record == nullptr) return call.reply.null();
    answer(call, *record);
  }
  static void put(Call& call, size_t at) {
    constexpr Event kSet{EventClass::kString, "set"};
    call.keys.put_string(call.key(at), call.arg(at + 1), kNoExpiry, kSet);
  }
  static void set(Call& call) {
    put(call, 1);
    call.reply.ok();
  }
  static void mset(Call& call) {
    for (size_t i = 1; i + 1 < call.argc(); i += 2) put(call, i);
    call.reply.ok();
  }
  static void blpop(Call& call) {
    Entry entry = call.keys.open(call.key(1));
    if (!entry) return call.wait({1}, 0, true);
    answer(call, *entry.record());
    entry.erase({EventClass::kGeneric, "del"});
    call.rewrite.as({"DEL", std::string(call.arg(1))});
  }
  static void ping(Call& call) { call.reply.simple("PONG"); }
  static void publish(Call& call) { call.reply.integer(0); }

  std::unique_ptr<CommandTable> build(const std::vector<Binding>& more) {
    std::vector<Binding> bindings = {
        {"get", &get},   {"set", &set},         {"mset", &mset},        {"blpop", &blpop},
        {"ping", &ping}, {"publish", &publish}, {"spublish", &publish},
    };
    bindings.insert(bindings.end(), more.begin(), more.end());
    for (const Binding& binding : transaction_bindings(hub)) bindings.push_back(binding);
    auto built = CommandTable::build(bindings);
    if (!built) std::abort();
    return std::move(*built);
  }
  void on_effect(const Effect& effect) override { effects += effect.body; }
};

}  // namespace sorrel
