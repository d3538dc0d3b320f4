#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dispatch/call.h"

namespace sorrel::script {

// The connection of a client that debugs a script: the one that sent EVAL, used outside the event
// loop while the script runs.
class DebugLink {
 public:
  virtual ~DebugLink() = default;
  // Waits until bytes arrive and appends them. False: the connection is closed.
  virtual bool receive(std::string& into) = 0;
  // Sends all bytes, or as many as the peer takes before a timeout; a closed connection is noticed
  // by receive().
  virtual void send(std::string_view bytes) = 0;
};

// Opens debugging connections. Precondition of every method: the caller is a connection and its
// request runs; in an exclusive section, except for refusal().
class DebugDoor {
 public:
  virtual ~DebugDoor() = default;

  // The error reply if this connection cannot debug scripts now; empty: it can.
  virtual std::string_view refusal(const Call& call) const = 0;

  // One session from its first message to its last. `call` is the one to answer, which may be
  // another than the one that was given.
  using Session = std::function<void(Call& call, DebugLink& link)>;
  // SCRIPT DEBUG SYNC: in this process, while all other clients wait. The connection is closed
  // afterwards.
  virtual void talk_in_place(Call& call, const Session& session) = 0;
  // SCRIPT DEBUG YES: in a forked process, whose changes are discarded. This process gives up the
  // connection.
  virtual void talk_apart(Call& call, const Session& session) = 0;
};

}  // namespace sorrel::script
