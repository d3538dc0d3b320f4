// While replies wait for the disk (see Durability), a session whose replies tell of what could
// still be lost keeps them, and is not read; others go on.

#include <algorithm>

#include "session/session_host.h"

namespace sorrel {

void SessionHost::note_needs(Session& session) {
  for (const Request& request : std::span<const Request>(requests_.data(), window_)) {
    session.needs_ = std::max(session.needs_, executor_.needed_for(request));
  }
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

bool SessionHost::keep_back(const Slice& first) {
  Session& session = *first.session;
  if (session.kept_replies_ == nullptr) {
    if (durability_.await(executor_.worker(), session.needs_)) {
      session.needs_ = 0;
      return false;
    }
    if (session.killed()) return true;
    session.kept_replies_ = std::make_unique<std::string>();
    session.stream_->pause_reading(true);
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

void SessionHost::release_kept() {
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
  for (Session* session : free) let_go(*session);
  if (!kept_back_.empty() && durability_.await(executor_.worker(), next)) {
    // The disk has gone on meanwhile.
    post([this] { release_kept(); });
  }
}

}  // namespace sorrel
