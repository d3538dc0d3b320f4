// What keeps one connection from having the server to itself.
//
// Whatever it sends, a client runs its input for a share of time in a loop iteration (share_ns()).
// Then it is throttled: its remaining input is held, and it is not read. Throttled clients go on in
// the order of waiting after the replies of the iteration were sent, and together for no longer
// than one share; so a client that comes with a request, or as a new connection, waits for one
// share, not for the pipelines of all others:
//
//   iteration:  wait ─> new input: a share each ─> replies ─> throttled, one share in all ─>
//   replies
//                                   │                           │    ^
//                                   └── share is used up ───────┴────┘ queue
//
// It is measured per batch of requests, and after each request that takes long. A large output in
// one iteration is a share, too.
//
// A client that takes nothing of what it is answered runs nothing until it has. Its requests are
// read on meanwhile: a peer that sends all of a long pipeline before it reads the first answer
// would wait for us as we wait for it otherwise; and requests are smaller than answers.

#include <utility>

#include "session/session_host.h"

namespace sorrel {
namespace {

// How long and how much of a client's input runs at once because its connection has ended.
constexpr int64_t kLastInputNs = 100'000'000;
constexpr size_t kLastInputBytes = 64 * 1024;

}  // namespace

void Session::rest(Rest until) {
  if (closing_ || rest_ == until) return;
  // Messages come whatever it runs, and whoever listens must be able to say that it is enough.
  if (until == Rest::kUntilTaken && (listening_ != nullptr || monitoring_)) return;
  // It takes nothing: that is the longer one.
  if (until == Rest::kUntilNextTurn && rest_ == Rest::kUntilTaken && output_bytes() > 0) return;
  rest_ = until;
  read_or_not();
  if (until == Rest::kUntilNextTurn) host_.throttle(*this);
}

void Session::go_on() {
  host_.executor_.pause();
  if (closing_) return;  // killed by who waited for that
  rest_ = Rest::kNone;
  // Behind its command, which is still at work, it goes on by itself.
  if (!others_first_) run_held();
  // Only now: most of the time it is throttled again, and the kernel need not know.
  if (!closing_ && rest_ == Rest::kNone) read_or_not();
}

// The connection ended while the session was throttled: a send failed. The client may have sent
// commands and hung up, so they are run, as they are when a read brings them together with the end.
// Before a client is authenticated they change nothing.
void Session::run_last_input() {
  if (closing_ || rest_ != Rest::kUntilNextTurn || !caller_.authenticated()) return;
  const uint64_t began_cycles = cycles_now();
  const size_t size = held_.size();
  for (size_t left = size + 1; held_.size() < left && size - held_.size() < kLastInputBytes;) {
    if (host_.executor_.recorder().ns_since(began_cycles) > kLastInputNs) break;
    left = held_.size();
    rest_ = Rest::kNone;
    host_.share_ = {};
    run_held();
  }
}

void Session::read_or_not() {
  if (stream_ == nullptr) return;
  // Far below what a peer is closed for; the rest waits in the kernel, and at last with the peer.
  const auto most = static_cast<size_t>(host_.world_.options.query_buffer_limit / 4);
  const bool enough =
      rest_ == Rest::kUntilNextTurn ||
      (rest_ == Rest::kUntilTaken && unparsed_bytes() + transaction_.argument_bytes() >= most);
  // What it had sent before it hung up is run, and answered.
  stream_->defer_end(rest_ == Rest::kUntilNextTurn);
  // While its command lets others in, what it runs lies in bytes that must not move.
  stream_->pause_reading(suspended_ || kept_replies_ != nullptr || others_first_ || enough);
}

void SessionHost::throttle(Session& session) {
  if (std::exchange(session.queued_, true)) return;
  throttled_.push_back(session.id());
}

void SessionHost::run_throttled() {
  const uint64_t began_cycles = cycles_now();
  turn_bytes_ = 0;
  for (size_t left = throttled_.size(); left > 0 && !throttled_.empty(); left--) {
    Session* session = find(throttled_.front());
    throttled_.pop_front();
    if (session == nullptr) continue;
    session->queued_ = false;
    if (session->rest_ != Session::Rest::kUntilNextTurn) continue;
    share_ = {};
    session->go_on();
    release_in_passing(*session);
    const auto took_ns = static_cast<uint64_t>(executor_.recorder().ns_since(began_cycles));
    if (took_ns >= world_.options.share_ns) break;
  }
  flush_effects();
  release_replies();
  if (!throttled_.empty()) loop_.wake();
}

}  // namespace sorrel
