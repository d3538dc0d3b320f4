#include "persist/aof_pen.h"

#include <utility>

namespace sorrel::persist {

uint64_t AofPen::unwritten_bytes() const {
  uint64_t bytes = 0;
  for (const LogBlockPtr& block : unwritten_) bytes += block->size();
  return bytes;
}

void AofPen::let_go(LogBlockPtr block) {
  block->clear();
  free_.push_back(std::move(block));
}

void AofPen::replace_file(OpenLog log) {
  file_ = std::move(log.file);
  written_ = synced_ = log.size;
  dirty_ = log.size > 0;
  must_cut_ = false;
}

int64_t AofPen::work(int64_t now_ns, SyncPolicy policy) {
  const int64_t due_ns = write_at(Pace::kMayWait, now_ns, policy);
  if (now_ns < due_ns) return due_ns;
  if (!sync()) return retry_ns_;
  failing_ = false;
  return kNever;
}

int64_t AofPen::write_at(Pace pace, int64_t now_ns, SyncPolicy policy) {
  now_ns_ = now_ns;
  if (failing_ && now_ns < retry_ns_) return retry_ns_;
  if (!cut_back() || !write_added(pace)) return retry_ns_;
  if (policy == SyncPolicy::kNever) let_unsynced_go();  // The system syncs when it likes.
  const int64_t due_ns = next_sync_ns(policy);
  // After a failed sync only a good one tells that all is well.
  if (due_ns > now_ns) failing_ = false;
  return due_ns;
}

bool AofPen::finish(int64_t now_ns) {
  now_ns_ = now_ns;
  if (!cut_back() || !write_added(Pace::kMayWait)) return false;
  if (dirty_ && !sync()) return false;
  failing_ = false;
  return true;
}

int64_t AofPen::next_sync_ns(SyncPolicy policy) const {
  if (!dirty_ || policy == SyncPolicy::kNever) return kNever;
  if (policy == SyncPolicy::kAlways || unsynced_bytes_ > kMostUnsynced) return 0;
  return synced_ns_ + kSyncEveryNs;
}

// Nothing that was written will be written again.
void AofPen::let_unsynced_go() {
  while (!unsynced_.empty()) {
    let_go(std::move(unsynced_.front()));
    unsynced_.pop_front();
  }
  unsynced_bytes_ = 0;
  synced_ = written_;
}

// Nothing is written behind bytes that may be a torn piece of something.
bool AofPen::cut_back() {
  if (!must_cut_) return true;
  if (const Status cut = file_->truncate(written_); !cut) return fail(cut.error(), now_ns_);
  must_cut_ = false;
  return true;
}

bool AofPen::write_added(Pace pace) {
  while (!unwritten_.empty()) {
    LogBlock& block = *unwritten_.front();
    if (block.before) {
      // What it does may make the file so far a thing of the past; that must be whole then.
      if (dirty_ && !sync()) return false;
      const auto before = std::exchange(block.before, nullptr);
      before();
    }
    if (block.size() > 0) {
      dirty_ = true;
      const bool past_cache = pace == Pace::kMayWait && block.past_cache();
      const Status done =
          past_cache ? file_->append_past_cache(block.text()) : file_->append(block.text());
      if (!done) {
        // At once, if that goes: half a command at its end would be the server's last word if it
        // were ended now.
        must_cut_ = !file_->truncate(written_);
        return fail(done.error(), now_ns_);
      }
    }
    written_ += block.size();
    unsynced_bytes_ += block.size();
    written_sequence_ = block.last_sequence;
    LogBlockPtr done = std::move(unwritten_.front());
    unwritten_.pop_front();
    if (unsynced_.empty() && done->size() == 0) {
      if (!dirty_) durable_ = done->last_sequence;
      let_go(std::move(done));
    } else if (done->size() < kSmallBlock && !unsynced_.empty() &&
               unsynced_.back()->has_room_for(done->size())) {
      // Many small ones must not hold the memory of many large ones.
      LogBlock& last = *unsynced_.back();
      last.append(done->text());
      last.last_sequence = done->last_sequence;
      let_go(std::move(done));
    } else {
      unsynced_.push_back(std::move(done));
    }
  }
  return true;
}

bool AofPen::sync() {
  if (const Status done = file_->sync(); !done) {
    // Nobody knows what of it is on disk: all of it is written again.
    while (!unsynced_.empty()) {
      unwritten_.push_front(std::move(unsynced_.back()));
      unsynced_.pop_back();
    }
    unsynced_bytes_ = 0;
    written_ = synced_;
    must_cut_ = true;
    return fail(done.error(), now_ns_);
  }
  let_unsynced_go();
  durable_ = written_sequence_;
  synced_ns_ = now_ns_;
  dirty_ = false;
  return true;
}

bool AofPen::fail(const Error& error, int64_t now_ns) {
  failing_ = true;
  problem_ = error.text;
  retry_ns_ = now_ns + kRetryEveryNs;
  return false;
}

}  // namespace sorrel::persist
