#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dispatch/blocked_clients.h"
#include "dispatch/caller.h"
#include "dispatch/command_table.h"
#include "dispatch/executor.h"
#include "dispatch/transaction.h"
#include "io/loop.h"
#include "resp/request_parser.h"
#include "session/held_bytes.h"
#include "session/piece.h"
#include "session/topics.h"
#include "session/tracking.h"

namespace sorrel {

class Session;
class SessionHost;
struct Request;

struct SessionCaller : Caller {
  Session* session = nullptr;
};

// One connection: bytes in, requests run, bytes out. Belongs to one worker and stays there.
//
//   on_data ──> parse a window of requests ──> prepare all, prefetch all, execute in order
//                                              └─ replies go to the host's scratch buffer, which is
//                                                 sent at the end of the turn
//
//              ┌────────── resume (the pause is over) ───────────┐
//              v                                                 │
//   open: reads and runs ── a request must wait ──> suspended: reads nothing, keeps the rest
//     │
//     ├── replies tell of what is not durable yet ──> kept back: reads nothing until they are sent
//     ├── used up its share of the loop iteration ──> throttled: runs nothing until its next share
//     ├── takes none of what it was answered ──> rests: runs nothing; both: see resting.cc
//     ├── close_soon(true): runs nothing more, ends once what it was answered has been taken
//     └── close_soon(false), kill: runs nothing more, ends with this turn
//
// An idle session holds no buffer at all: bytes are parsed where the loop read them, and only an
// unfinished request is kept.
//
// Thread rule: everything belongs to the session's worker, inside its batch; under the gate other
// workers may look at it, and kill() it.
class Session final : public io::StreamHandler {
 public:
  enum class ReplyMode : uint8_t { kOn, kOff };

  Session(SessionHost& host, uint64_t id, int64_t now_ms);

  // StreamHandler
  void on_data(std::string_view bytes) override;
  void on_drained() override;
  void on_close(io::CloseReason reason) override;
  // A user of one of these names is logged in without a password.
  void on_peer_named(std::span<const std::string> names) override;

  void attach(io::Stream* stream);
  // The command it waited in has been answered by somebody: sends that and goes on.
  void answer_waiting(const BlockedClients::Handle& waiter, std::string_view reply);
  // Ends the wait with a null (or an error, for CLIENT UNBLOCK). False: it does not wait, or is
  // just being served. Under the gate, from any worker.
  bool end_wait(bool with_error);
  bool waits_for_keys() const { return waiter_ != nullptr; }
  // Goes on with what was held back while the server was paused.
  void resume();
  // Ends the connection once what it was answered has been sent (`flush`), or at once. It is not
  // freed before the loop's next turn.
  void close_soon(bool flush);
  // Under the gate, from any worker: ends the connection at once, wherever it lives. From now on it
  // runs nothing and is not listed.
  void kill();
  bool closing() const { return closing_; }
  // Closing, and what it was answered last is dropped.
  bool killed() const { return closing_ && !close_flush_; }

  // Sends at the end of the turn, behind everything it was answered before; for messages that are
  // no reply (MONITOR).
  void send(std::string_view bytes);
  // Sends what has been written for many at the end of the turn; behind the answer of the request
  // that it is running itself, if any, so that no message lies within an answer.
  void push(const Piece& piece);
  // Asked before every push and line for MONITOR. False: the client is over its output limit and is
  // closed at the end of the loop iteration; the message is dropped.
  bool admits_push(size_t bytes);
  // Asked before every invalidation. False: without a configured limit, the client has left so many
  // unread that the message is dropped; an invalidation of all keys follows once it has read them.
  bool admits_invalidation();
  // For what its own command has caused: behind the answer too when somebody else has run it,
  // because it waited.
  void push_own(const Piece& piece);

  // Pub/sub; see PubSub, which keeps these. Null: it listens to nothing.
  Listening* listening() const { return listening_.get(); }
  Listening& start_listening();
  void stop_listening_to_nothing();
  size_t subscriptions(TopicKind kind) const {
    return listening_ == nullptr ? 0 : listening_->count(kind);
  }

  // Both protocols: the caller's and the writer's.
  void set_protocol(int protocol);
  // As after connecting: database 0, RESP2, no name, replies on, no monitor. Under the gate.
  void reset_state();
  // A password was shown, or none is needed.
  void log_in(acl::AccountHandle account);
  // Its user is no more, or the connection starts anew: the default user, who may have to log in.
  void become_default();
  // What its user may do, or whether a password is needed, has changed. Under the gate.
  void refresh_rights();

  // Client-side caching; see Tracking, which keeps it. Null: it does not track.
  TrackingState* tracking() const { return tracking_.get(); }
  void set_tracking(std::unique_ptr<TrackingState> state);
  // CLIENT CACHING: to the next request the other rule applies.
  void make_next_an_exception();

  const Transaction& transaction() const { return transaction_; }

  // What CLIENT LIST and its filters show. Units in the names; memory in bytes.
  SessionCaller& caller() { return caller_; }
  const SessionCaller& caller() const { return caller_; }
  io::Stream* stream() const { return stream_; }
  SessionHost& host() const { return host_; }
  uint64_t id() const { return caller_.id; }
  int64_t created_ms() const { return created_ms_; }
  int64_t last_use_ms() const { return last_use_ms_; }
  // Bytes that were read and are not done with, those of running requests included.
  size_t query_bytes() const;
  // Room for more of them in memory of its own.
  size_t query_free_bytes() const { return held_.free_bytes(); }
  // The arguments of the running request and what is noted of an unfinished one.
  size_t argument_bytes() const;
  size_t output_bytes() const;
  size_t output_memory_bytes() const;
  size_t memory_bytes() const;
  // Notes how much that is now, for all clients together; returns it.
  size_t count_memory();
  // The same while that is limited; clients are closed when it is too much.
  void watch_memory();
  bool suspended() const { return suspended_; }
  bool monitoring() const { return monitoring_; }
  void set_monitoring(bool on);  // under the gate
  // The one that runs now, or else the last that ran.
  const Command* last_command() const;

  // kOn is heard at once: even the request that says so is answered.
  void set_reply_mode(ReplyMode mode);
  ReplyMode reply_mode() const { return reply_mode_; }
  // Is the running request not answered?
  bool silent() const { return (afterwards_ & kSilent) != 0; }
  void skip_next_reply() { skip_next_reply_ = true; }

  std::string name;
  std::string library_name;
  std::string library_version;

  // The host's cron: idle time, soft output limits, ends that nobody takes. True: it was closed.
  bool check_limits(int64_t now_ms);

 private:
  friend class SessionHost;

  size_t process(std::string_view bytes);
  size_t run_window(std::string_view bytes, size_t at);
  bool parse_window(std::string_view bytes, size_t& end);
  size_t parse_short_ones(std::string_view bytes, size_t& end, size_t parsed, size_t window);
  size_t run_requests(std::span<const Request> requests, size_t at, bool& goes_on);
  // `mark`: where its reply will begin.
  Executor::Outcome execute_one(const Request& request, size_t mark);
  // What the connection has asked for in general, after what held for one request.
  void be_heard_again() {
    if (reply_mode_ == ReplyMode::kOn) {
      afterwards_ &= ~unsigned{kSilent};
    } else {
      afterwards_ |= kSilent;
    }
  }
  void finish_request(size_t mark);
  // Messages that have waited for the end of its request.
  void push_held();
  void end_exception();
  // Tells COMMANDLOG.
  void note_large(ExecutionObserver::Large what, const Request& request, size_t bytes);
  void note_large_requests(std::span<const Request> requests, size_t begin, size_t end);
  void note_subscribed();
  void suspend();
  // Why it runs nothing although it could.
  enum class Rest : uint8_t {
    kNone,
    kUntilNextTurn,  // throttled: it used up its share
    kUntilTaken,     // until its peer has taken what it was answered
  };
  // From within its requests or behind them.
  void rest(Rest until);
  void go_on();
  void run_last_input();
  void read_or_not();
  void start_waiting();
  void time_is_up();
  void write_end_of_wait(resp::ReplySink& reply) const;
  void stop_waiting();
  // No transaction, no watched keys.
  void leave_transaction();
  // Goes on with what was kept, unless something else stands in the way.
  void run_held();
  void protocol_error();
  bool refuse_web_request(const Request& request);
  size_t unparsed_bytes() const;
  // Closes it when so much input is more than it may send ahead.
  void enforce_query_limit(size_t unparsed);
  bool check_flush(int64_t now_ms);

  SessionHost& host_;
  io::Stream* stream_ = nullptr;
  SessionCaller caller_;
  Transaction transaction_;
  resp::RequestParser parser_;
  HeldBytes held_;  // an unfinished or postponed request and what came behind it
  std::unique_ptr<Listening> listening_;
  std::unique_ptr<TrackingState> tracking_;
  const Command* last_command_ = nullptr;
  BlockedClients::Handle waiter_;  // waits for keys; runs nothing until then
  io::TimerId wait_timer_ = 0;     // 0: none
  int64_t created_ms_;
  int64_t last_use_ms_;
  int64_t over_soft_limit_since_ms_ = 0;
  size_t counted_bytes_ = 0;  // of world's client_bytes
  std::string after_wait_;    // messages that its own command has caused, while it waits
  size_t flush_bytes_ = 0;    // closing: what was still to be taken at the last look
  ReplyMode reply_mode_ = ReplyMode::kOn;
  bool skip_next_reply_ = false;
  // What is to be done behind the running request.
  enum Afterwards : unsigned {
    kSilent = 1,     // it is not answered; between requests, those to come are not
    kPushed = 2,     // messages wait for its end
    kException = 4,  // CLIENT CACHING was said, for the request behind that
  };
  unsigned afterwards_ = 0;
  uint32_t last_slice_ = 0;  // the last of its slices of this turn, counted from 1; 0: none
  bool over_limit_ = false;  // a message was refused; it is in SessionHost::over_limit_
  bool missed_invalidations_ = false;
  size_t unsent_pushes_ = 0;  // bytes of messages in this turn's slices
  size_t unread_pushes_ = 0;  // of messages sent since the peer last had taken everything
  uint64_t needs_ = 0;        // the effect that must be durable before its replies go; 0: none
  // Replies that wait for that; null: none. While there are some it is not read.
  std::unique_ptr<std::string> kept_replies_;
  bool goes_first_ = false;  // in a turn, since its replies have had to wait for the disk
  bool closing_ = false;
  bool close_flush_ = false;
  bool suspended_ = false;
  Rest rest_ = Rest::kNone;
  bool queued_ = false;        // its id is in SessionHost::throttled_
  bool others_first_ = false;  // its command lets others be served meanwhile; see nested_turn.cc
  bool monitoring_ = false;
  // Stays true when a password is asked for later on.
  bool logged_in_ = false;
};

}  // namespace sorrel
