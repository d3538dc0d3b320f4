#include <utility>

#include "session/session_host.h"

// A turn within a turn: a script that has been running for too long lets the others of its worker
// be served. Everything that the outer turn has gathered is put aside and comes back afterwards.

namespace sorrel {

// The scratch of a turn; see SessionHost.
struct SessionHost::Turn {
  resp::OutputBuffer out;
  std::array<resp::OutputBuffer, 2> pushed;
  Running running;
  std::vector<Slice> slices;
  std::vector<Piece> held_pieces;
  std::vector<Session*> ending;
  resp::ArgList args;
  std::vector<std::unique_ptr<std::string>> inline_store;
  std::array<Request, kWindow> requests;
  size_t window = 0;
};

// Slices name buffers by their address, which stay; only what is in them changes.
void SessionHost::swap_turn(Turn& other) {
  out_.swap(other.out);
  for (size_t i = 0; i < pushed_.size(); i++) pushed_[i].swap(other.pushed[i]);
  std::swap(running_, other.running);
  slices_.swap(other.slices);
  held_pieces_.swap(other.held_pieces);
  ending_.swap(other.ending);
  std::swap(args_, other.args);
  inline_store_.swap(other.inline_store);
  std::swap(requests_, other.requests);
  std::swap(window_, other.window);
}

void SessionHost::serve_others() {
  Session* const waiting = running_.session;
  if (waiting != nullptr) {
    waiting->others_first_ = true;
    waiting->read_or_not();
  }
  const int64_t outer_now_ms = now_ms();
  const resp::ReplyWriter outer_writer = writer_;
  const Share outer_share = share_;
  // Those who were answered before the slow command of this turn need not wait for its end.
  flush_effects();
  send_all_slices();
  auto outer = std::make_unique<Turn>();
  swap_turn(*outer);
  executor_.set_now_ms(loop_.clock().wall_ms());
  run_posted();
  loop_.poll(0);
  release_replies();
  serve_throttled();
  swap_turn(*outer);
  share_ = outer_share;
  writer_ = outer_writer;
  executor_.set_now_ms(outer_now_ms);
}

void SessionHost::send_early() {
  queue_running();
  flush_effects();
  // The window is not at its end, so nobody knows yet what these tell of.
  note_needs_of_latest(*running_.session);
  send_all_slices();
}

bool SessionHost::has_unsent_answers() const {
  const Session& session = *running_.session;
  return out_.size() > running_.unsent_begin || session.last_slice_ != 0 ||
         session.output_bytes() > 0;
}

void SessionHost::end_serving_others() {
  Session* const waiting = running_.session;
  if (waiting == nullptr) return;
  waiting->others_first_ = false;
  waiting->read_or_not();
}

}  // namespace sorrel
