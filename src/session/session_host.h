#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "acl/access_log.h"
#include "acl/users.h"
#include "base/log.h"
#include "dispatch/executor.h"
#include "io/loop.h"
#include "resp/output_buffer.h"
#include "resp/reply_writer.h"
#include "session/invalidation_queue.h"
#include "session/notifications.h"
#include "session/pubsub.h"
#include "session/session.h"
#include "session/session_options.h"

namespace sorrel {

class SessionHost;

// What one worker counts of its connections. Read under the gate.
struct SessionStats {
  uint64_t connections_received = 0;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t query_limit_closes = 0;
  uint64_t output_limit_closes = 0;
  uint64_t evicted = 0;

  void add(const SessionStats& other) {
    connections_received += other.connections_received;
    input_bytes += other.input_bytes;
    output_bytes += other.output_bytes;
    reads += other.reads;
    writes += other.writes;
    query_limit_closes += other.query_limit_closes;
    output_limit_closes += other.output_limit_closes;
    evicted += other.evicted;
  }
};

// Shared by the hosts of all workers.
struct SessionWorld {
  SessionOptions options;
  NodeState& node;
  Logger& log;
  std::vector<SessionHost*> hosts;  // fixed after start
  std::atomic<uint64_t> next_id{1};
  std::atomic<int64_t> connected{0};
  std::atomic<uint64_t> rejected{0};
  int64_t monitors = 0;  // changed under the gate
  // Memory that clients hold, as last counted; kept while it is limited.
  std::atomic<uint64_t> client_bytes{0};
  PubSub pubsub{hosts};
  Notifications notifications{pubsub, hosts};
  Tracking tracking{*this};
  acl::Users users{};  // changed under the gate; then refresh_rights() of access.h
  acl::AccessLog access_log{};
};

// One worker's sessions: takes connections in, runs their requests, sends their replies at the end
// of the turn, frees them when they are gone.
class SessionHost {
 public:
  SessionHost(SessionWorld& world, io::Loop& loop, Executor& executor);
  ~SessionHost();

  // Whether a connection is in SessionWorld::connected already. One that is on its way to another
  // worker is, so that a burst never gets more places than there are.
  enum class Place : uint8_t { kNew, kTaken };
  // This worker's thread only.
  void adopt(std::unique_ptr<io::Accepted> connection, Place place = Place::kNew);

  // The phases of the turn; see server/turn.cc.
  void begin_turn(int64_t now_ms);
  void flush_effects() {
    if (!executor_.effects().flush()) [[unlikely]]
      return hold_unwritten();
    flush_messages(0);
  }
  // Messages and answers to clients of other workers that result from it. `needed`: the effect that
  // must be durable before such an answer leaves; 0: none.
  void flush_messages(uint64_t needed) {
    if (!broadcasts_.empty()) [[unlikely]]
      world_.tracking.flush_broadcasts(*this);
    if (executor_.blocked().has_served()) [[unlikely]]
      send_served(needed);
  }
  void release_replies();
  // After that: clients that used up their share of this loop iteration have another one, in the
  // order of waiting, until together they have run for as long as one of them may. Replies are
  // released again. While clients are left, the loop does not sleep. See resting.cc.
  void serve_throttled() {
    if (!throttled_.empty()) [[unlikely]]
      run_throttled();
  }
  // Between two sessions, the first of which is told. While replies wait for the disk, a long turn
  // is released in parts. Else the turn's end is soon enough for replies, and costs the clients
  // fewer wake-ups; only effects are handed over.
  void release_in_passing(const Session& session) {
    if (!durability_.holds()) [[likely]]
      return executor_.effects().flush_much();
    release_part(session);
  }
  // Every so often: idle clients, soft limits, the end of a pause. Looks at a share of the
  // sessions.
  void cron(int64_t now_ms);
  // Tries every request that was held back again; those that still must wait stay. Sessions that
  // wait for the end of a pause are resumed by a timer of their own, so calling this is only needed
  // when it ends early.
  void resume_postponed();

  // From within a command that takes long: reads and answers the other connections for a moment.
  // The one that waits for the command is left alone. Precondition: a request runs, under no latch.
  void serve_others();
  // The command is at its end: its connection is read again.
  void end_serving_others();

  // From within a command that will hold everybody up: whatever has been answered so far goes on
  // its way, to the one that runs the command, too. Precondition: a request runs, and it has not
  // been answered at all yet.
  void send_early();
  // Has the one that runs a command been answered something that it cannot have got yet?
  bool has_unsent_answers() const;

  // Some effects are durable now: replies that have waited for them are sent. This worker only.
  void release_kept();

  // Any thread: `task` runs on this worker, inside its batch.
  void post(std::function<void()> task);
  void run_posted();

  // Everything below up to evict(): also under the gate, from any worker.
  Session* find(uint64_t id) const;
  void for_each(const std::function<void(Session&)>& visit) const;
  size_t session_count() const { return sessions_.size(); }
  size_t suspended_count() const { return suspended_; }
  size_t waiting_count() const { return waiting_; }
  size_t monitor_count() const { return monitors_.size(); }
  size_t listening_count() const { return listening_; }
  size_t throttled_count() const { return throttled_.size(); }
  size_t kept_back_count() const { return kept_back_.size(); }
  size_t memory_bytes() const;
  // Closes a session because clients hold too much memory; see client_eviction.h.
  void evict(Session& session);

  // Sends a line to every monitor of this worker.
  void send_to_monitors(std::string_view line);

  // A push of these parts (an array in RESP2), or whatever is written, in the turn's scratch for
  // whoever is to get it.
  Piece write_push(int protocol, std::initializer_list<std::string_view> parts);
  template <class Write>
  Piece write_piece(int protocol, Write&& write) {
    resp::OutputBuffer& buffer = pushed_[protocol == 3 ? 1 : 0];
    const size_t begin = buffer.size();
    resp::ReplyWriter writer(buffer, protocol);
    write(writer);
    return {&buffer, begin, buffer.size()};
  }
  // Between two messages: sends early when much has been gathered and no request is running.
  void bound_pushed();
  // One request has caused so many messages that further invalidations must collapse.
  bool pushed_too_much() const { return pushed_[0].size() + pushed_[1].size() > kMostPushed; }

  // See PubSub, which keeps them.
  TopicTable& topics() { return topics_; }
  const TopicTable& topics() const { return topics_; }
  MessageQueue& message_queue() { return message_queue_; }
  // Any thread: do other workers have something for sessions of this one?
  bool has_messages() const { return messages_.load(std::memory_order_acquire) != 0; }
  enum MessageBit : uint32_t { kPublished = 1, kInvalidated = 2 };
  bool has(MessageBit bit) const { return (messages_.load(std::memory_order_acquire) & bit) != 0; }
  void set_message_bit(MessageBit bit) { messages_.fetch_or(bit, std::memory_order_acq_rel); }
  void clear_message_bit(MessageBit bit) {
    messages_.fetch_and(~uint32_t{bit}, std::memory_order_acq_rel);
  }
  // By this worker, inside its batch: hands them to the sessions.
  void deliver_messages();

  // See Tracking.
  PendingBroadcasts& broadcasts() { return broadcasts_; }
  void post_invalidation(const Invalidation& word);  // any thread
  // While a session runs a command that is about messages, those that are there already go before
  // its answer.
  void let_messages_first(bool first) { running_.in_request = !first; }
  bool runs(const Request& request) const { return running_.request == &request; }

  SessionWorld& world() { return world_; }
  Executor& executor() { return executor_; }
  io::Loop& loop() { return loop_; }
  SessionStats& stats() { return stats_; }
  int64_t now_ms() const { return executor_.now_ms(); }

 private:
  friend class Session;

  static constexpr size_t kWindow = 32;  // requests parsed ahead
  // An answer up to this size does not count towards the limits of what may wait: Redis has a
  // buffer of this size for each connection.
  static constexpr size_t kReplyBuffer = 16 * 1024;
  static constexpr size_t kMostPushed = 64 * 1024 * 1024;
  // Commands, see release_part(): who does not wait for the disk is answered more often than the
  // disk gets something to do, which costs a sync each time.
  static constexpr uint64_t kAnsweredTogether = 1024;
  static constexpr uint64_t kReleasedTogether = 2048;
  // A share is not shorter than this, however many clients wait for theirs: an ordinary pipeline is
  // over by then, and what a share costs beside commands (a send, a wait in the kernel) is little.
  static constexpr uint64_t kLeastShareNs = 100'000;

  void release_part(const Session& session);
  void put_first(Session& session, bool first);

  // A part of a scratch buffer that goes to one session. Those of one session are chained, so that
  // all it gets in a turn is sent at once.
  struct Slice {
    Session* session;  // null: it has ended
    Piece piece;
    uint32_t next = 0;  // of the same session, counted from 1; 0: none
    bool first = true;  // of its session
  };
  // Whose requests run right now; replies are written behind `unsent_begin`.
  struct Running {
    Session* session = nullptr;
    size_t bytes = 0;  // that were read and are being run
    const Request* request = nullptr;
    size_t unsent_begin = 0;
    bool in_request = true;  // messages to it wait for the end of its request
  };

  // What the session that ran last has had of this loop iteration.
  struct Share {
    uint64_t session = 0;  // 0: none has run yet
    uint64_t began_cycles = 0;
  };
  // Has the running session used up its share?
  bool share_is_used() const {
    const uint64_t had_ns = executor_.recorder().ns_from(share_.began_cycles);
    return had_ns > std::min(kLeastShareNs, world_.options.share_ns) && had_ns > share_ns();
  }
  // The more clients wait, the shorter: new input of many of them would be as long as one pipeline.
  uint64_t share_ns() const {
    const uint64_t least_ns = std::min(kLeastShareNs, world_.options.share_ns);
    return std::max(least_ns, world_.options.share_ns / (1 + throttled_.size()));
  }
  void throttle(Session& session);
  void run_throttled();

  struct Turn;
  void swap_turn(Turn& other);
  Session* take_in(std::unique_ptr<io::Accepted> connection);
  void begin_running(Session& session, size_t bytes);
  void end_running();
  void add_slice(Session& session, const Piece& piece);
  void send_all_slices();
  void send_slices(const Slice& first);
  void send_now(Session& session, std::string_view bytes);
  // Cuts what the running session was answered so far into a slice.
  void queue_running();
  // Takes back what was answered since out_ had this size.
  void drop_replies(size_t mark);
  // Behind a request, when bound_at_ has been reached: sends early when the turn has gathered much,
  // tells of a large reply. The reply of the request began at `mark`.
  void bound_scratch(size_t mark);
  void reset_bound();
  // Hands the answers of those who waited to the workers that have them.
  void send_served(uint64_t needed);
  void end_soon(Session& session) { ending_.push_back(&session); }
  void forget(Session& session);
  void enforce_output_limit(Session& session, size_t more);
  const OutputLimit& output_bound(const Session& session) const;
  void close_over_output_limit(Session& session);
  // Its peer has taken everything.
  void note_output_empty(Session& session) {
    session.over_soft_limit_since_ms_ = 0;
    session.unread_pushes_ = 0;
    if (session.missed_invalidations_) [[unlikely]]
      make_up_invalidations(session);
  }
  void make_up_invalidations(Session& session);
  // What the window of requests that this session has just run makes its replies wait for.
  void note_needs(Session& session);
  // It is told of something that may be as late as the latest effect.
  void note_needs_of_latest(Session& session);
  void note_needs_of_messages();
  void hold_unwritten();
  // True: the session's replies stay here until they may go.
  bool keep_back(const Slice& first);
  void let_go(Session& session);
  void add_log_waiter(const BlockedClients::Handle& waiter);
  void answer_log_waiters();
  void wait_for_pause_end();
  void end_pause_when_over(int64_t now_ms);

  SessionWorld& world_;
  io::Loop& loop_;
  Executor& executor_;
  Durability& durability_;
  SessionStats stats_;
  std::unordered_map<uint64_t, std::unique_ptr<Session>> sessions_;
  std::vector<uint64_t> cron_round_;  // ids still to be looked at in this round
  std::vector<Session*> monitors_;    // changed under the gate
  size_t suspended_ = 0;
  size_t waiting_ = 0;           // for keys
  size_t listening_ = 0;         // to channels
  io::TimerId pause_timer_ = 0;  // 0: not armed
  int64_t web_request_logged_ms_ = 0;

  // Scratch of the turn: every session's replies one after the other, and messages that are no
  // replies, which come up while another session's reply is being written. Messages have a buffer
  // per protocol: what one session gets of a busy channel is one piece then.
  resp::OutputBuffer out_;
  // How many commands had run when that was done last.
  uint64_t released_at_ = 0;
  uint64_t answered_at_ = 0;
  bool first_ones_ = false;  // those who go first are being served
  size_t turn_bytes_ = 0;    // sent in this turn by bound_scratch()
  size_t bound_at_ = 0;      // from this size of out_ on bound_scratch() has something to do
  std::array<resp::OutputBuffer, 2> pushed_;
  resp::OutputBuffer joined_;  // what one session gets, when that is in several pieces
  resp::ReplyWriter writer_;
  Running running_;
  Share share_;
  std::deque<uint64_t> throttled_;  // ids, each once; some may have gone
  // Sessions are freed only inside poll(), when no slice is left, so plain pointers are safe.
  std::vector<Slice> slices_;
  std::vector<Piece> held_pieces_;                   // for the running session, behind its request
  std::vector<Session*> ending_;                     // closed behind the turn's slices
  std::vector<Session*> over_limit_;                 // refused a message; closed before any is sent
  std::vector<BlockedClients::Handle> log_waiters_;  // of WAITAOF; some may have gone
  uint64_t kept_until_ = UINT64_MAX;  // nobody can be let go before this effect is durable
  std::vector<Session*> kept_back_;   // their replies wait until what they tell of is durable

  // Scratch of one window.
  resp::ArgList args_;
  std::vector<std::unique_ptr<std::string>> inline_store_;
  std::array<Request, kWindow> requests_;
  size_t window_ = 0;  // how many of them

  TopicTable topics_;
  std::atomic<uint32_t> messages_{0};  // bits of MessageBit
  MessageQueue message_queue_;
  PendingBroadcasts broadcasts_;

  std::mutex mailbox_mutex_;
  std::vector<std::function<void()>> mailbox_;  // guarded by mailbox_mutex_
  InvalidationQueue invalidations_;             // guarded by mailbox_mutex_
};

}  // namespace sorrel
