// While replies wait for the disk (see Durability), a session whose replies tell of what could
// still be lost keeps them, and is not read; others go on.

#include <algorithm>
#include <utility>

#include "session/session_host.h"

namespace sorrel {

void SessionHost::note_needs(Session& session) {
  session.needs_ =
      std::max(session.needs_, executor_.required_sequence({requests_.data(), window_}));
  if (session.needs_ == 0) put_first(session, false);
}

void SessionHost::note_needs_of_latest(Session& session) {
  if (durability_.holds()) [[unlikely]]
    session.needs_ = std::max(session.needs_, executor_.world().effects.last_sequence());
}

// Messages tell of changes, too: notifications, invalidations, what MONITOR shows.
void SessionHost::note_needs_of_messages() {
  for (const Slice& slice : slices_) {
    if (slice.session != nullptr && slice.piece.buffer != &out_) {
      note_needs_of_latest(*slice.session);
    }
  }
}

// The effects of this loop iteration could not be handed to the kernel: the replies to the clients
// that made them are held until they are durable, and so are the replies to clients that they
// unblocked.
void SessionHost::hold_unwritten() {
  const auto note = [&](Session& session) {
    const uint64_t last = session.caller_.last_effect;
    if (durability_.durable() < last) session.needs_ = std::max(session.needs_, last);
  };
  for (const Slice& slice : slices_) {
    if (slice.session != nullptr) note(*slice.session);
  }
  // It may have no slice yet.
  if (running_.session != nullptr) note(*running_.session);
  flush_messages(executor_.world().effects.last_sequence());
}

bool SessionHost::keep_back(const Slice& first) {
  Session& session = *first.session;
  if (session.kept_replies_ == nullptr) {
    if (durability_.await(executor_.worker(), session.needs_)) {
      session.needs_ = 0;
      put_first(session, false);
      return false;
    }
    if (session.killed()) return true;
    session.kept_replies_ = std::make_unique<std::string>();
    session.read_or_not();
    put_first(session, true);
    kept_until_ = std::min(kept_until_, session.needs_);
    kept_back_.push_back(&session);
  }
  for (const Slice* slice = &first;; slice = &slices_[slice->next - 1]) {
    const Piece& piece = slice->piece;
    *session.kept_replies_ += piece.buffer->view(piece.begin, piece.end);
    if (slice->next == 0) break;
  }
  enforce_output_limit(session, 0);
  return true;
}

// Who writes goes first in a turn: the disk works while the others are answered, and it is done, or
// nearly so, when they are. Served in the order of coming, writers would wait for it alone, and
// readers would take the processor from them meanwhile.
void SessionHost::put_first(Session& session, bool first) {
  if (session.goes_first_ == first || session.stream_ == nullptr) return;
  session.goes_first_ = first;
  session.stream_->serve_first(first);
}

// Whoever can be answered goes on, and the disk gets what there is when those who go first have
// run, or when there is much.
void SessionHost::release_part(const Session& session) {
  const uint64_t processed = executor_.stats().processed;
  const bool first_have_run = std::exchange(first_ones_, session.goes_first_) && !first_ones_;
  if (!first_have_run && processed - answered_at_ < kAnsweredTogether) return;
  answered_at_ = processed;
  if (durability_.durable() >= kept_until_) release_kept();
  if (first_have_run || processed - released_at_ >= kReleasedTogether) {
    released_at_ = processed;
    flush_effects();
  } else {
    flush_messages(0);
  }
  release_replies();
}

void SessionHost::add_log_waiter(const BlockedClients::Handle& waiter) {
  log_waiters_.push_back(waiter);
  if (durability_.await(executor_.worker(), waiter->log_sequence)) {
    post([this] { release_kept(); });
  }
}

void SessionHost::answer_log_waiters() {
  // Those who wait for replicas as well are told how it stands when their time is up.
  std::vector<BlockedClients::Handle> waiting = std::exchange(log_waiters_, {});
  uint64_t next = UINT64_MAX;
  for (const BlockedClients::Handle& waiter : waiting) {
    Session* session = find(waiter->caller.id);
    if (session == nullptr || session->waiter_ != waiter || waiter->for_replicas) continue;
    if (durability_.durable() < waiter->log_sequence) {
      next = std::min(next, waiter->log_sequence);
      log_waiters_.push_back(waiter);
    } else if (executor_.world().waiters->cancel(waiter)) {
      executor_.blocked().count_unblocked(*waiter, {});
      session->answer_waiting(waiter, durability_.covers(waiter->log_sequence)
                                          ? "*2\r\n:1\r\n:0\r\n"
                                          : "-ERR WAITAOF cannot be used when numlocal is set but "
                                            "appendonly is disabled.\r\n");
    }
  }
  if (!log_waiters_.empty() && durability_.await(executor_.worker(), next)) {
    post([this] { release_kept(); });
  }
}

void SessionHost::release_kept() {
  if (!log_waiters_.empty()) answer_log_waiters();
  const uint64_t durable = durability_.durable();
  uint64_t next = UINT64_MAX;  // the first that is still missing
  std::vector<Session*> free;
  std::erase_if(kept_back_, [&](Session* session) {
    if (session->needs_ <= durable) {
      free.push_back(session);
      return true;
    }
    next = std::min(next, session->needs_);
    return false;
  });
  kept_until_ = next;
  for (Session* session : free) let_go(*session);
  if (!kept_back_.empty() && durability_.await(executor_.worker(), next)) {
    // The disk has gone on meanwhile.
    post([this] { release_kept(); });
  }
}

}  // namespace sorrel
