// What keeps one connection from having the server to itself: who was answered much in a turn goes
// on in the next one, and who takes nothing of what it is answered runs nothing until it has.
//
// Its requests are read on meanwhile. A peer that sends all of a long pipeline before it reads the
// first answer would wait for us as we wait for it otherwise; and requests are smaller than
// answers.

#include "session/session_host.h"

namespace sorrel {

void Session::rest(Rest until) {
  if (closing_ || rest_ == until) return;
  // Messages come whatever it runs, and whoever listens must be able to say that it is enough.
  if (until == Rest::kUntilTaken && (listening_ != nullptr || monitoring_)) return;
  // It takes nothing: that is the longer one.
  if (until == Rest::kUntilNextTurn && rest_ == Rest::kUntilTaken && output_bytes() > 0) return;
  rest_ = until;
  read_or_not();
  if (until != Rest::kUntilNextTurn) return;
  host_.post([host = &host_, id = id()] {
    Session* session = host->find(id);
    if (session != nullptr && session->rest_ == Rest::kUntilNextTurn) session->go_on();
  });
}

void Session::go_on() {
  host_.executor_.pause();
  if (closing_) return;  // killed by who waited for that
  rest_ = Rest::kNone;
  read_or_not();
  // Behind its command, which is still at work, it goes on by itself.
  if (!others_first_) run_held();
}

void Session::read_or_not() {
  if (stream_ == nullptr) return;
  // Far below what a peer is closed for; the rest waits in the kernel, and at last with the peer.
  const auto most = static_cast<size_t>(host_.world_.options.query_buffer_limit / 4);
  const bool enough =
      rest_ == Rest::kUntilNextTurn ||
      (rest_ == Rest::kUntilTaken && held_.size() + transaction_.argument_bytes() >= most);
  // While its command lets others in, what it runs lies in bytes that must not move.
  stream_->pause_reading(suspended_ || kept_replies_ != nullptr || others_first_ || enough);
}

}  // namespace sorrel
