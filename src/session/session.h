#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dispatch/caller.h"
#include "dispatch/command_table.h"
#include "io/loop.h"
#include "resp/request_parser.h"

namespace sorrel {

class Session;
class SessionHost;

struct SessionCaller : Caller {
  Session* session = nullptr;
};

// One connection: bytes in, requests run, bytes out. Belongs to one worker and stays there.
//
//   on_data ──> parse a window of requests ──> prepare all, prefetch all, execute in order
//                                              └─ replies go to the host's scratch buffer, which is
//                                                 sent at the end of the turn
//
// An idle session holds no buffer at all: bytes are parsed where the loop read them, and only an
// unfinished request is kept.
//
// Other workers may look at a session, or mark it to be killed, under the gate.
class Session final : public io::StreamHandler {
 public:
  enum class ReplyMode : uint8_t { kOn, kOff };

  Session(SessionHost& host, uint64_t id, int64_t now_ms);

  // StreamHandler
  void on_data(std::string_view bytes) override;
  void on_drained() override;
  void on_close(io::CloseReason reason) override;

  void attach(io::Stream* stream);
  // Goes on with what was held back while the server was paused.
  void resume();
  // Ends the connection once what it was answered has been sent (`flush`), or at once.
  void close_soon(bool flush);
  bool closing() const { return closing_; }

  // Sends at the end of the turn; for messages that are no reply (MONITOR, push).
  void send(std::string_view bytes);

  // Both protocols: the caller's and the writer's.
  void set_protocol(int protocol);
  // As after connecting: database 0, RESP2, no name, replies on.
  void reset_state(bool authenticated);

  // What CLIENT LIST and its filters show. Units in the names; memory in bytes.
  SessionCaller& caller() { return caller_; }
  const SessionCaller& caller() const { return caller_; }
  io::Stream* stream() const { return stream_; }
  SessionHost& host() const { return host_; }
  uint64_t id() const { return caller_.id; }
  int64_t created_ms() const { return created_ms_; }
  int64_t last_use_ms() const { return last_use_ms_; }
  size_t query_bytes() const { return held_.size(); }
  size_t query_capacity() const { return held_.capacity(); }
  size_t argument_bytes() const { return parser_.memory_bytes(); }
  size_t output_bytes() const;
  size_t memory_bytes() const;
  bool suspended() const { return suspended_; }
  bool monitoring() const { return monitoring_; }
  void set_monitoring(bool on);
  const Command* last_command() const { return last_command_; }

  void set_reply_mode(ReplyMode mode) { reply_mode_ = mode; }
  void skip_next_reply() { skip_next_reply_ = true; }

  std::string name;
  std::string library_name;
  std::string library_version;

  // The host's cron: idle time and soft output limits. True: it was closed.
  bool check_limits(int64_t now_ms);

 private:
  friend class SessionHost;

  size_t process(std::string_view bytes);
  size_t run_window(std::string_view bytes, size_t at);
  void keep(std::string_view rest);
  bool execute_one(size_t index);
  void protocol_error();
  bool over_query_limit() const;

  SessionHost& host_;
  io::Stream* stream_ = nullptr;
  SessionCaller caller_;
  resp::RequestParser parser_;
  std::string held_;  // bytes of an unfinished or postponed request
  const Command* last_command_ = nullptr;
  int64_t created_ms_;
  int64_t last_use_ms_;
  int64_t over_soft_limit_since_ms_ = 0;
  size_t unsent_begin_ = 0;  // this turn's replies, in the host's scratch buffer
  ReplyMode reply_mode_ = ReplyMode::kOn;
  bool skip_next_reply_ = false;
  bool closing_ = false;
  bool close_flush_ = false;
  bool suspended_ = false;
  bool monitoring_ = false;
  bool queued_ = false;  // in the host's list of sessions with something to send
};

}  // namespace sorrel
