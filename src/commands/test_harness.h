#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/numbers.h"
#include "commands/families.h"
#include "dispatch/executor.h"
#include "resp/inline_split.h"
#include "resp/reply_writer.h"

namespace sorrel::commands {

using Texts = std::vector<std::string>;

// Formats replies as transcripts do, on one line: OK, "bytes", (integer) 1, (nil), (error) ERR
// text, ["a", (integer) 1], {"k" => "v"}.
class NotationSink final : public resp::ReplySink {
 public:
  explicit NotationSink(int protocol = 2) : protocol_(protocol) {}

  const std::string& text() const { return text_; }
  // All aggregates were filled, and exactly one reply was given.
  bool complete() const { return open_.empty() && answers_ == 1; }

  void simple(std::string_view text) override { element(text); }
  void integer(int64_t value) override { element("(integer) " + to_text(value)); }
  void bulk(std::string_view bytes) override { element(quoted(bytes)); }
  void bulk_integer(int64_t value) override { element('"' + to_text(value) + '"'); }
  void null() override { element(protocol_ == 3 ? "(null)" : "(nil)"); }
  void null_array() override { element(protocol_ == 3 ? "(null)" : "(nil array)"); }
  void real(double value) override { element("(double) " + format_double(value)); }
  void boolean(bool value) override { element(value ? "(true)" : "(false)"); }
  void big_number(std::string_view digits) override { element("(bignum) " + std::string(digits)); }
  void verbatim(std::string_view format, std::string_view text) override {
    element("(verbatim " + std::string(format) + ") " + quoted(text));
  }
  void array(int64_t count) override { open("[", "]", count, false); }
  void map(int64_t pairs) override { open("{", "}", 2 * pairs, true); }
  void set(int64_t count) override { open("~[", "]", count, false); }
  void push(int64_t count) override { open(">[", "]", count, false); }
  void attribute(int64_t pairs) override { open("|{", "}", 2 * pairs, true); }
  int protocol() const override { return protocol_; }

 private:
  struct Open {
    std::string_view closing;
    int64_t left;
    bool is_map;
    bool first = true;
  };

  void write_error(std::string_view text) override { element("(error) " + std::string(text)); }

  void element(std::string_view text) {
    separate();
    text_ += text;
    close_filled();
  }
  void open(std::string_view opening, std::string_view closing, int64_t count, bool is_map) {
    separate();
    text_ += opening;
    open_.push_back({closing, count, is_map});
    close_filled();
  }
  void separate() {
    if (open_.empty()) {
      answers_++;
      return;
    }
    Open& in = open_.back();
    if (!in.first) text_ += in.is_map && in.left % 2 == 1 ? " => " : ", ";
    in.first = false;
    in.left--;
  }
  void close_filled() {
    while (!open_.empty() && open_.back().left == 0) {
      text_ += open_.back().closing;
      open_.pop_back();
    }
  }

  int protocol_;
  int answers_ = 0;
  std::string text_;
  std::vector<Open> open_;
};

// A whole server without connections: the commands of the given families, a keyspace, executors,
// and a clock that only moves on request. Lines go to the workers in turn. One thread at a time may
// use it, except for execute_on().
//
//   TestServer server({string_bindings()}, {.workers = 4, .partitions = 16});
//   EXPECT_EQ(server("SET k v EX 10"), "OK");
//   EXPECT_EQ(server.effects(), Texts{"SET k v PXAT 1700000010000"});
class TestServer final : public EffectSink, public ChangeObserver {
 public:
  struct Shape {
    unsigned workers = 1;
    unsigned partitions = 1;
    int databases = 16;
  };
  using Families = std::initializer_list<std::span<const Binding>>;

  explicit TestServer(Families families) : TestServer(families, Shape{}) {}
  TestServer(Families families, const Shape& shape)
      : table_(build(families)),
        keyspace_({.databases = shape.databases, .partitions = shape.partitions}, nullptr),
        gate_(shape.workers),
        world_{*table_, keyspace_, stream_, gate_, node_, CycleScale{}, nullptr, &waiters_, &hub_} {
    world_.memory = &memory_;
    stream_.attach(this);
    hub_.set_notifications(this);
    hub_.interest().add(ChangeInterest::kNotifications);
    for (unsigned i = 0; i < shape.workers; i++) {
      workers_.push_back(std::make_unique<Executor>(world_, i, i + 1));
    }
  }

  // Runs one line (quotes as in inline requests) and returns the reply in transcript notation.
  std::string operator()(std::string_view line) {
    NotationSink sink(caller.protocol);
    run(line, sink);
    return sink.complete() ? sink.text() : "(incomplete) " + sink.text();
  }
  // The same, as the RESP bytes a client would see.
  std::string resp(std::string_view line) {
    resp::OutputBuffer out;
    resp::ReplyWriter writer(out, caller.protocol);
    run(line, writer);
    return std::string(out.view());
  }
  Executor::Outcome execute(std::span<const std::string_view> args, resp::ReplySink& reply) {
    return execute_on(*workers_[turn_++ % workers_.size()], caller, args, reply);
  }
  // For tests with threads: each has its own worker and caller. Precondition: no_observers().
  Executor::Outcome execute_on(Executor& worker, Caller& who,
                               std::span<const std::string_view> args, resp::ReplySink& reply) {
    worker.enter();
    worker.begin_batch(clock.wall_ms());
    Request request;
    request.args = args;
    worker.requests().prepare({&request, 1}, who.db);
    const auto outcome = worker.execute(request, who, reply);
    worker.effects().flush();
    worker.leave();
    return outcome;
  }
  void no_observers() { hub_.interest().remove(ChangeInterest::kNotifications); }

  // The effects since the last call, one text per command, "[2] DEL k" for database 2.
  Texts effects() { return std::exchange(effects_, {}); }
  // The events since the last call: "set k", "[2] del k".
  Texts events() { return std::exchange(events_, {}); }

  void advance_ms(int64_t ms) { clock.advance_ms(ms); }
  int64_t now_ms() const { return clock.wall_ms(); }

  // maxmemory for the keys; 0: no limit.
  void limit_memory(uint64_t bytes, EvictionPolicy policy) {
    keyspace_.eviction().policy = policy;
    memory_.max_bytes = bytes;
    node_.reasons &= ~uint32_t{NodeState::kMemoryLimited};
    if (bytes != 0) node_.reasons |= NodeState::kMemoryLimited;
    keyspace_.count_all_memory();
  }
  MemoryLimit& memory() { return memory_; }
  // The observer from now on; null: none.
  void set_observer(ExecutionObserver* observer) { world_.observer = observer; }

  Keyspace& keyspace() { return keyspace_; }
  NodeState& node() { return node_; }
  Executor& worker(unsigned index) { return *workers_[index]; }
  const CommandTable& table() const { return *table_; }

  Caller caller;
  ManualClock clock;

 private:
  // A binding with a name that the catalog does not have is an error of the test, which aborts.
  static std::unique_ptr<CommandTable> build(Families families) {
    std::vector<Binding> all;
    for (auto family : families) all.insert(all.end(), family.begin(), family.end());
    auto table = CommandTable::build(all);
    if (!table) std::abort();
    return std::move(*table);
  }

  void run(std::string_view line, resp::ReplySink& reply) {
    resp::ArgList words;
    std::vector<std::unique_ptr<std::string>> quoted_words;
    if (!resp::split_inline(line, words, quoted_words) || words.empty()) {
      reply.error("TEST the line has no words, or an open quote");
      return;
    }
    const Executor::Outcome outcome = execute(words, reply);
    if (outcome == Executor::Outcome::kPostponed) reply.simple("(postponed)");
    if (outcome == Executor::Outcome::kWaiting) reply.simple("(waits)");
  }

  static std::string of_database(int db) {
    return db == 0 ? std::string() : "[" + to_text(db) + "] ";
  }
  // The body is our own encoding, so it is not validated: *N, then N times $length, bytes.
  void on_effect(const Effect& effect) override {
    std::string_view rest = effect.body;
    const auto number = [&rest] {
      const size_t end = rest.find("\r\n");
      const auto value = parse_int64(rest.substr(1, end - 1)).value_or(0);
      rest.remove_prefix(end + 2);
      return static_cast<size_t>(value);
    };
    while (!rest.empty()) {
      std::string text = of_database(effect.db);
      const size_t words = number();
      for (size_t i = 0; i < words; i++) {
        const size_t length = number();
        text.append(i == 0 ? "" : " ").append(rest.substr(0, length));
        rest.remove_prefix(length + 2);
      }
      // Atomic groups are covered by the AOF's own tests.
      if (text != of_database(effect.db) + "MULTI" && text != of_database(effect.db) + "EXEC") {
        effects_.push_back(std::move(text));
      }
    }
  }
  // The events "new" and "keymiss" come in addition to the command's own event.
  void on_change(const Change& change) override {
    const EventClass kind = change.event.kind;
    if (kind == EventClass::kNew || kind == EventClass::kMiss) return;
    events_.push_back(of_database(change.db) + std::string(change.event.name) + " " +
                      std::string(change.key));
  }
  void on_flush(int, Door&) override {}
  void on_swap(int, int, Door&) override {}

  std::unique_ptr<CommandTable> table_;
  Keyspace keyspace_;
  MemoryLimit memory_{keyspace_};
  EffectStream stream_;
  WorldGate gate_;
  NodeState node_;
  ChangeHub hub_;
  BlockedClients waiters_{hub_.interest()};
  ExecutorWorld world_;
  std::vector<std::unique_ptr<Executor>> workers_;
  size_t turn_ = 0;
  Texts effects_;
  Texts events_;
};

// The shapes that every family is tested with.
inline constexpr TestServer::Shape kOneWorker{1, 1};
inline constexpr TestServer::Shape kFourWorkers{4, 16};

// For INSTANTIATE_TEST_SUITE_P over shapes.
struct ShapeName {
  template <class Info>
  std::string operator()(const Info& info) const {
    return "Workers" + std::to_string(info.param.workers);
  }
};

}  // namespace sorrel::commands
