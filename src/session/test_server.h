#pragma once

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/executor.h"
#include "dispatch/transaction_commands.h"
#include "io/fake_loop.h"
#include "session/access.h"
#include "session/monitor.h"
#include "session/session_commands.h"
#include "session/session_host.h"

// A server of sessions without a kernel, for tests: workers with fake loops, the commands of this
// room, and a few stand-ins for those of others. Workers take turns on one thread, so a test with
// several of them is as repeatable as one with one.
namespace sorrel::testing {

class MemoryLog final : public Logger {
 public:
  void write(LogLevel, std::string_view message) override { text += std::string(message) + '\n'; }
  void write_raw(std::string_view message) override { text += message; }
  std::string text;
};

// What a stand-in is told: at most a million, 0 for what is no number.
inline int64_t stand_in_number(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::clamp<int64_t>(number, 0, 1'000'000);
}

// Stand-ins, under names of the catalog.
//   SET key value [ms]   stores nothing but the key; it is gone after so many milliseconds
//   GET n                answers n bytes
//   EXISTS key           1 or 0
//   TOUCH key            calls TestServer::during
inline void stand_in_set(Call& call) {
  const int64_t deadline =
      call.argc() > 3 ? call.now_ms() + stand_in_number(call.arg(3)) : kNoExpiry;
  call.keys.open(call.key(1)).set_string("x", deadline, {EventClass::kString, "set"});
  call.reply.ok();
}
inline void stand_in_get(Call& call) {
  call.reply.bulk(std::string(static_cast<size_t>(stand_in_number(call.arg(1))), 'x'));
}
inline void stand_in_exists(Call& call) {
  call.reply.integer(call.keys.read(call.key(1)) != nullptr ? 1 : 0);
}

class Observer final : public ExecutionObserver {
 public:
  explicit Observer(SessionWorld& world) : world_(world), monitors_(world) {}
  void on_execute(const Caller& caller, const Command& command,
                  std::span<const std::string_view> args) override {
    monitors_.on_execute(caller, command, args);
  }
  void on_slow(const Caller&, const Command&, std::span<const std::string_view>,
               uint64_t) override {}
  void on_latency(const Command&, uint64_t) override {}
  void on_denied(const Caller& caller, acl::Reason reason, acl::Context context,
                 std::string object) override {
    acl::AccessEntry entry;
    entry.reason = reason;
    entry.context = context;
    entry.object = std::move(object);
    note_denial(world_, caller, std::move(entry));
  }

 private:
  SessionWorld& world_;
  MonitorFeed monitors_;
};

struct TestWorker final : io::AcceptHandler {
  TestWorker(ExecutorWorld& executors, SessionWorld& sessions, unsigned index)
      : executor(executors, index, index + 1), host(sessions, loop, executor) {
    loop.set_batch_hooks(
        [this] {
          executor.enter();
          host.begin_turn(loop.clock().wall_ms());
        },
        [this] {
          host.flush_effects();
          host.release_replies();
          host.serve_throttled();
          executor.leave();
        });
    loop.set_wake_handler([this] { host.run_posted(); });
    io::Endpoint at;
    at.port = 6379;
    auto listening = loop.listen(at, *this);
    listener = std::move(*listening);
  }
  void on_accept(std::unique_ptr<io::Accepted> connection) override {
    host.adopt(std::move(connection));
  }

  io::FakeLoop loop;
  Executor executor;
  SessionHost host;
  std::unique_ptr<io::Listener> listener;
};

class TestServer {
 public:
  using Client = std::unique_ptr<io::FakeClient>;

  static void stand_in_touch(Call& call) {
    call.context<TestServer>().during(call);
    call.reply.integer(0);
  }

  // No share is ever used up, since commands take real time; tests of that set share_ns to 0.
  TestServer() {
    sessions.options.share_ns = UINT64_MAX;
    start(1);
  }

  void start(unsigned workers) {
    workers_.clear();
    sessions.hosts.clear();
    std::vector<Binding> bindings = session_bindings(sessions);
    for (const Binding& binding : transaction_bindings(hub)) bindings.push_back(binding);
    bindings.push_back({"set", &stand_in_set});
    bindings.push_back({"get", &stand_in_get});
    bindings.push_back({"exists", &stand_in_exists});
    bindings.push_back({"touch", &stand_in_touch, this});
    commands_ = std::move(*CommandTable::build(bindings));
    gate_ = std::make_unique<WorldGate>(workers);
    executors_ = std::make_unique<ExecutorWorld>(
        ExecutorWorld{*commands_, keyspace, effects, *gate_, node, CycleScale{}, &observer_,
                      nullptr, &hub, &sessions.tracking});
    hub.set_notifications(&sessions.notifications);
    hub.set_tracking(&sessions.tracking);
    sessions.tracking.set_interest(&hub.interest());
    for (unsigned i = 0; i < workers; i++) {
      workers_.push_back(std::make_unique<TestWorker>(*executors_, sessions, i));
      sessions.hosts.push_back(&workers_.back()->host);
    }
    effects.durability().set_workers(workers, [this](unsigned index) {
      SessionHost* host = &worker(index).host;
      host->post([host] { host->release_kept(); });
    });
  }

  TestWorker& worker(size_t index = 0) { return *workers_[index]; }
  SessionHost& host() { return worker().host; }

  // Every worker's turns, until none has anything to do.
  void run() {
    for (int happened = 1; happened > 0;) {
      happened = 0;
      for (auto& one : workers_) happened += one->loop.run();
    }
  }
  // Time passes for everybody; whatever is due happens.
  void advance(int64_t ms) {
    for (auto& one : workers_) one->loop.advance(ms);
    run();
  }
  // As the server does every tenth of a second.
  void cron() {
    for (auto& one : workers_) {
      one->executor.enter();
      one->host.begin_turn(one->loop.clock().wall_ms());
      one->host.cron(one->loop.clock().wall_ms());
      one->host.release_replies();
      one->host.serve_throttled();
      one->executor.leave();
    }
    run();
  }

  // Without a `peer` it gets an address that nobody else has.
  Client connect(size_t index = 0, std::string peer = {}) {
    if (peer.empty()) peer = "127.0.0.1:" + std::to_string(next_port_++);
    Client client = worker(index).loop.connect(6379, std::move(peer));
    run();
    return client;
  }
  // Sends, lets everything happen, gives what came back.
  std::string ask(const Client& client, std::string_view bytes) {
    client->push(bytes);
    run();
    return client->take();
  }
  // The number of the connection, asked without leaving a trace.
  uint64_t id_of(const Client& client) {
    uint64_t id = 0;
    for (auto& one : workers_) {
      one->host.for_each([&](Session& session) {
        if (session.stream()->peer_address() == client->address()) id = session.id();
      });
    }
    return id;
  }
  Session* session_of(const Client& client) {
    for (auto& one : workers_) {
      if (Session* session = one->host.find(id_of(client))) return session;
    }
    return nullptr;
  }

  // requirepass.
  void require_password(std::string_view password) {
    sessions.users.set_default_password(password);
    refresh_rights(sessions);
  }
  // ACL SETUSER.
  void set_user(std::string_view name, const std::vector<std::string_view>& rules) {
    sessions.users.put(std::move(*sessions.users.with_rules(name, rules)));
    refresh_rights(sessions);
  }

  std::function<void(Call&)> during;  // what TOUCH does before it answers 0

  ChangeHub hub;
  NodeState node;
  MemoryLog log;
  SessionWorld sessions{.options = {}, .node = node, .log = log, .hosts = {}};
  Keyspace keyspace{KeyspaceOptions{}, nullptr};
  EffectStream effects;

 private:
  Observer observer_{sessions};
  std::unique_ptr<CommandTable> commands_;
  std::unique_ptr<WorldGate> gate_;
  std::unique_ptr<ExecutorWorld> executors_;
  std::vector<std::unique_ptr<TestWorker>> workers_;
  int next_port_ = 40'000;
};

}  // namespace sorrel::testing
