#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/access_log.h"
#include "base/clock.h"
#include "base/cycles.h"
#include "dispatch/call.h"
#include "dispatch/change_hub.h"
#include "dispatch/command_stats.h"
#include "dispatch/memory_limit.h"
#include "dispatch/node_state.h"
#include "dispatch/waiters.h"
#include "dispatch/world_gate.h"
#include "keyspace/eviction.h"

namespace sorrel {

// Who looks on: MONITOR, the slow log.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  // After a command ran, when somebody monitors; no latch is held, and the caller's database is the
  // one it has now.
  virtual void on_execute(const Caller& caller, const Command& command,
                          std::span<const std::string_view> args) = 0;
  // After a command that took longer than the slow log's limit.
  virtual void on_slow(const Caller& caller, const Command& command,
                       std::span<const std::string_view> args, uint64_t duration_us) = 0;
  // After a command whose request or reply was at least as large as somebody wants to know of.
  enum class Large : uint8_t { kRequest, kReply };
  virtual void on_large(Large, const Caller&, const Command&, std::span<const std::string_view>,
                        uint64_t /*bytes*/) {}
  // After a command, when latency events are watched and it took that long.
  virtual void on_latency(const Command& command, uint64_t duration_us) = 0;
  // A command was not allowed for the caller's user; `object` is what it may not touch.
  virtual void on_denied(const Caller& caller, acl::Reason reason, acl::Context context,
                         std::string object) {
    (void)caller, (void)reason, (void)context, (void)object;
  }
  // The caller handed in a serialized value that is damaged, and this is how.
  virtual void on_damaged(const Caller& /*caller*/, std::string_view /*damage*/) {}
};

// Who notes what is read: client-side caching.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // After a command that reads, for a caller that has kTracking; `command` may have run inside
  // another one of that caller. What it has locked still is, so nothing has changed since.
  virtual void on_read(Caller& caller, const Command& command,
                       std::span<const std::string_view> args) = 0;
};

// Everything that executors of all workers share.
struct ExecutorWorld {
  const CommandTable& commands;
  Keyspace& keyspace;
  EffectStream& effects;
  WorldGate& gate;
  const NodeState& node;
  CycleScale cycles;
  ExecutionObserver* observer = nullptr;
  Waiters* waiters = nullptr;  // null: nobody can wait
  ChangeHub* hub = nullptr;    // null: nobody hears of changes
  ReadObserver* readers = nullptr;
  const Clock* clock = nullptr;   // null: time stands still within a batch
  MemoryLimit* memory = nullptr;  // null: NodeState never says that there is a limit
};

// One worker's way of running commands: gates, locks, the handler, bookkeeping. Belongs to its
// thread.
class Executor {
 public:
  enum class Outcome : uint8_t {
    kDone,       // answered
    kDoneLate,   // answered, and that took at least NodeState::watch_from_ns
    kPostponed,  // not run: CLIENT PAUSE; to be tried again later
    kWaiting,    // ran, found nothing and waits; see take_waiter()
  };

  Executor(ExecutorWorld& world, unsigned worker, uint64_t random_seed);

  // Finds the commands of a window of requests and, where they have a first key at a fixed place,
  // hashes that and, if wanted, asks for its bucket. Step one of the window.
  enum class Look : uint8_t { kAhead, kNot };
  void prepare(std::span<Request> requests, int db, Look look = Look::kAhead);
  // The second half of that, for one request whose command is known.
  void look_ahead(Request& request, int db);
  // Step two: asks for the record.
  static void prefetch(Request& request) {
    if (request.guess.stamp != 0) Table::prefetch_entry(request.guess, request.hash);
  }
  // Step three.
  Outcome execute(const Request& request, Caller& caller, resp::ReplySink& reply);

  // May the caller's user run this, with these arguments, in the caller's database? Empty: yes. Or
  // else the whole error to answer, and it has been noted for ACL LOG. Asked at the gate, when a
  // request is queued, again when EXEC runs it, and for everything that a script calls.
  // Precondition: the arity fits; `command` is the subcommand when there is one.
  enum class AskedFor : uint8_t { kRequest, kQueue, kExec, kScript };
  std::string permission_error(const Caller& caller, const Command& command,
                               std::span<const std::string_view> args, AskedFor what);
  // The same question without a trace, for who only wants to know.
  bool is_permitted(const Caller& caller, const Command& command,
                    std::span<const std::string_view> args);

  // The turn's clock: set at the start of every batch.
  void begin_batch(int64_t now_ms) {
    now_ms_ = now_ms;
    last_cycles_ = cycles_now();
    heed_node();
  }
  // Whether keys rest now. Also for who changes that in the middle of batches, under the gate.
  void heed_node() { door_.set_may_expire(!world_.node.keys_rest(now_ms_)); }
  int64_t now_ms() const { return now_ms_; }
  // cycles_now() when the last command ended, or when the batch began if that was later: a
  // timestamp that costs nothing. And how long before it `began_cycles` was.
  uint64_t last_cycles() const { return last_cycles_; }
  uint64_t ns_from(uint64_t began_cycles) const {
    return world_.cycles.to_ns(began_cycles, last_cycles_);
  }
  int64_t ns_since(uint64_t began_cycles) const;
  // For a command that lets others in between and goes on in its own time.
  void set_now_ms(int64_t now_ms) { now_ms_ = now_ms; }
  void enter() { world_.gate.enter(worker_); }
  void leave() { world_.gate.leave(worker_); }
  void pause() { world_.gate.pause(worker_); }

  // Commands that run inside another one, under what that has locked: EXEC, scripts. What they
  // leave as effects is one unit, none of them waits, and who waits for what they change is served
  // after the outer command. Of the gates only permissions are asked. Precondition: `call` is the
  // one that runs, and it has locked whatever the others need. A caller other than the outer one's
  // may not wait.
  class Inside {
   public:
    explicit Inside(Call& call);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    void run(const Command& command, const Request& request, Caller& caller,
             resp::ReplySink& reply);
    // The same, unless the caller's user may not: then that is the answer.
    void run_if_allowed(const Command& command, const Request& request, Caller& caller,
                        resp::ReplySink& reply, AskedFor what);
    // Answers that the command may not run, and counts that. Null: there is none of that name.
    void refuse(const Command* command, std::string_view text, resp::ReplySink& reply);

   private:
    Executor& executor_;
    Call& call_;
    uint64_t began_cycles_;
    uint64_t drawn_before_;
    bool may_wait_;
  };

  // Runs `act` alone in the process. Precondition: in a batch, no latch held.
  template <class Act>
  void exclusively(Act&& act) {
    world_.gate.begin_exclusive(worker_);
    act();
    world_.gate.end_exclusive(worker_);
  }

  // For changes made past commands (expiry): those who wait for such keys are served. Precondition:
  // in a batch, no latch held.
  void serve_touched() {
    if (door_.has_touched() && inside_depth_ == 0) [[unlikely]]
      serve_waiters();
  }
  // Evicts keys while there is too much memory in use; for as long as a round may take, and then
  // MemoryLimit's hook says that more is to be done. Precondition: in a batch, no latch held, and
  // there is a limit.
  enum class Room : uint8_t {
    kEnough,
    kStillMaking,
    kNone,  // memory is over the limit and nothing can go
  };
  Room make_room();
  // Was there none when the command that runs began?
  bool out_of_memory() const { return limited() && out_of_memory_; }
  // After kWaiting: who waits.
  Waiters::Handle take_waiter() { return std::move(waiter_); }
  // Answers to those who waited, for whoever has their connections; to be handed on after the
  // effects of the turn.
  struct Served {
    Waiters::Handle waiter;
    std::string reply;
  };
  // A wait ended without the command being run again: its time was up, or CLIENT UNBLOCK. `error`:
  // the code word of what was answered; empty when that was no error.
  void count_ended_wait(const Waiter& waiter, std::string_view error);
  std::vector<Served> take_served() { return std::exchange(served_, {}); }
  bool has_served() const { return !served_.empty(); }

  // The last effect that the answers to these requests may tell of; 0: they tell of no key. Asked
  // after they ran, while replies wait for the disk; see Durability. Precondition: they are what
  // was prepared last.
  uint64_t needed_for(std::span<const Request> requests);

  Door& door() { return door_; }
  EffectLog& effects() { return effects_; }
  ExecutorStats& stats() { return stats_; }
  const ExecutorStats& stats() const { return stats_; }
  // Changes made by commands since the start; a snapshot remembers how many it holds.
  uint64_t changes() const { return changes_; }
  unsigned worker() const { return worker_; }
  Random& random() { return random_; }
  const ExecutorWorld& world() const { return world_; }
  // The command that this worker runs right now, for crash reports; null: none.
  const Call* current() const { return current_; }

 private:
  // Why a request may not run, in words; empty: it may.
  bool refused(const Request& request, const Command*& command, Caller& caller,
               resp::ReplySink& reply);
  bool limited() const { return (world_.node.reasons & NodeState::kMemoryLimited) != 0; }
  bool refuse_out_of_memory(const Command& command, uint64_t acts, const Caller& caller,
                            resp::ReplySink& reply);
  bool may_evict() const;
  Room evict_round();
  bool evict_one();
  Room wait_for_reclaimer(uint64_t began_cycles);
  void note_latency(std::string_view event, uint64_t began_cycles);
  bool refuse_restricted(const Command& command, const Request& request, const Caller& caller,
                         resp::ReplySink& reply);
  Outcome execute_carefully(const Request& request, Caller& caller, resp::ReplySink& reply);
  Outcome execute_queued(const Request& request, Caller& caller, resp::ReplySink& reply);
  Outcome run_shown(const Command& command, const Request& request, Caller& caller,
                    resp::ReplySink& reply);
  Outcome run(const Command& command, const Request& request, Caller& caller,
              resp::ReplySink& reply);
  const Database* database_ahead(int db) const;
  void find_first_key(Request& request, const Database* ahead);
  void run_locked(Call& call);
  void run_alone(Call& call);
  void prepare_alone(const Call& call);
  void note_read(Caller& reader, const Call& call);
  void run_under_latches(Call& call);
  void run_queued(Call& call);
  // Adds the partitions of the keys to latched_. False: which keys those are cannot be told.
  bool add_latches(const catalog::CommandSpec& spec, std::span<const std::string_view> args);
  void run_latched(Call& call);
  bool finish(const Command& command, const Request& request, const Caller& caller, bool failed,
              bool waits);
  void show(const Command& command, const Request& request, const Caller& caller);
  void report_slow(const Command& command, const Request& request, const Caller& caller,
                   uint64_t ns);
  void start_waiting(const Call& call);
  void serve_waiters();
  bool run_for(const Waiters::Handle& waiter);
  bool is_there(int db, std::string_view key);
  void run_again(const Request& request, Caller& caller, resp::ReplySink& reply);
  void leave_effects(const Call& call);
  void leave_other_effects(const Call& call);
  void leave_as_rewritten(const Call& call);
  void leave_commands();
  void tell_changed_keys(const Call& call);
  uint64_t needed_for_one(const Request& request);
  bool count_failure(resp::ReplySink& reply, uint64_t errors);
  void count_error(resp::ReplySink& reply, uint64_t errors);
  void count_error(std::string_view code, uint64_t replies);
  void unknown_command(const Request& request, resp::ReplySink& reply);

  ExecutorWorld& world_;
  unsigned worker_;
  Random random_;
  EffectLog effects_;
  Door door_;
  Evictor evictor_;
  bool out_of_memory_ = false;
  Rewrite rewrite_;
  ExecutorStats stats_;
  int64_t now_ms_ = 0;
  uint64_t last_cycles_ = 0;
  uint64_t changes_ = 0;
  const Call* current_ = nullptr;
  int inside_depth_ = 0;       // of Inside: what it changed is not to be seen yet
  uint64_t inner_errors_ = 0;  // answered by commands inside the one that runs
  // The last one that left an effect whose keys were told; only compared with those at hand.
  const Request* changed_by_ = nullptr;
  CommandTable::Recent recent_;
  Waiting waiting_;
  Waiters::Handle waiter_;
  bool serving_ = false;
  std::vector<Served> served_;
  std::vector<catalog::KeyPosition> key_positions_;
  std::vector<unsigned> latched_;
};

}  // namespace sorrel
