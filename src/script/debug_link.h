#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dispatch/call.h"

namespace sorrel::script {

// The line to whoever debugs a script: the connection that sent EVAL, used past the loop while the
// script runs.
class DebugLink {
 public:
  virtual ~DebugLink() = default;
  // Waits until bytes come and appends them. False: nobody is there any more.
  virtual bool receive(std::string& into) = 0;
  // All of them, or as many as the peer takes in good time; who has gone is noticed by receive().
  virtual void send(std::string_view bytes) = 0;
};

// Where such lines come from. Precondition of everything: the caller is a connection and its
// request runs; under the gate, but for refusal().
class DebugDoor {
 public:
  virtual ~DebugDoor() = default;

  // Why this connection cannot debug scripts now, as an error to answer; empty: it can.
  virtual std::string_view refusal(const Call& call) const = 0;

  // One session from its first line to its last. `call` is the one to answer, which may be another
  // than the one that was given.
  using Session = std::function<void(Call& call, DebugLink& link)>;
  // Here and now: everybody else waits. The connection ends with it.
  virtual void talk_in_place(Call& call, const Session& session) = 0;
  // In a process of its own, of which nothing remains. Here the connection is given up.
  virtual void talk_apart(Call& call, const Session& session) = 0;
};

}  // namespace sorrel::script
