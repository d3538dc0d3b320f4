#include "persist/aof_file_writer.h"

#include <utility>

namespace sorrel::persist {

uint64_t AofFileWriter::unwritten_bytes() const {
  uint64_t bytes = 0;
  for (const LogBlockPtr& block : unwritten_) bytes += block->size();
  return bytes;
}

void AofFileWriter::let_go(LogBlockPtr block) {
  block_bytes_ -= block->capacity();
  block->clear();
  free_.push_back(std::move(block));
}

void AofFileWriter::replace_file(OpenLog log) {
  file_ = std::move(log.file);
  written_ = synced_ = log.size;
  dirty_ = log.size > 0;
  must_cut_ = false;
}

int64_t AofFileWriter::work(int64_t now_ns, SyncPolicy policy, Lock* lock) {
  now_ns_ = now_ns;
  if (failing_ && now_ns < retry_ns_) return retry_ns_;
  if (!write_and_switch(lock)) return retry_ns_;
  if (policy == SyncPolicy::kNever) let_unsynced_go(unsynced_.size());
  const int64_t due_ns = next_sync_ns(policy);
  // After a failed fsync only a good one tells that all is well.
  if (due_ns > now_ns) failing_ = false;
  if (now_ns < due_ns) return due_ns;
  if (!sync(lock)) return retry_ns_;
  // Unless a write has failed meanwhile.
  if (unwritten_.empty()) failing_ = false;
  return failing_ ? retry_ns_ : next_sync_ns(policy);
}

int64_t AofFileWriter::write(int64_t now_ns, SyncPolicy policy) {
  now_ns_ = now_ns;
  if (failing_ && now_ns < retry_ns_) return retry_ns_;
  if (!cut_back() || !write_added()) return retry_ns_;
  // An fsync that is under way counts its blocks.
  if (policy == SyncPolicy::kNever && !sync_runs_) let_unsynced_go(unsynced_.size());
  return next_sync_ns(policy);
}

bool AofFileWriter::finish(int64_t now_ns, Lock* lock) {
  now_ns_ = now_ns;
  if (!write_and_switch(lock)) return false;
  if (dirty_ && !sync(lock)) return false;
  failing_ = false;
  return true;
}

int64_t AofFileWriter::next_sync_ns(SyncPolicy policy) const {
  if (!dirty_ || policy == SyncPolicy::kNever || sync_runs_) return kNever;
  if (policy == SyncPolicy::kAlways || unsynced_bytes_ > kMostUnsynced) return 0;
  return synced_ns_ + kSyncEveryNs;
}

// None of these will be written again.
void AofFileWriter::let_unsynced_go(size_t blocks) {
  for (; blocks > 0; blocks--) {
    unsynced_bytes_ -= unsynced_.front()->size();
    let_go(std::move(unsynced_.front()));
    unsynced_.pop_front();
  }
  if (unsynced_.empty()) synced_ = written_;
}

// No byte is written after a torn one. An fsync that is under way ends first: it relies on the
// length.
bool AofFileWriter::cut_back() {
  if (!must_cut_) return true;
  if (sync_runs_) return false;
  if (const Status cut = file_->truncate(written_); !cut) return fail(cut.error(), now_ns_);
  must_cut_ = false;
  return true;
}

bool AofFileWriter::write_added() {
  while (!unwritten_.empty() && !unwritten_.front()->before) {
    LogBlock& block = *unwritten_.front();
    if (block.size() > 0) {
      dirty_ = true;
      if (const Status done = file_->append(block.text()); !done) {
        // At once, if that goes: half a command must not be the last bytes of a server that is
        // killed now.
        must_cut_ = sync_runs_ || !file_->truncate(written_);
        return fail(done.error(), now_ns_);
      }
    }
    written_ += block.size();
    unsynced_bytes_ += block.size();
    written_sequence_ = block.last_sequence;
    LogBlockPtr done = std::move(unwritten_.front());
    unwritten_.pop_front();
    keep_until_synced(std::move(done));
  }
  handed_.store(written_sequence_, std::memory_order_release);
  return true;
}

void AofFileWriter::keep_until_synced(LogBlockPtr block) {
  if (unsynced_.empty() && block->size() == 0) {
    if (!dirty_) durable_ = block->last_sequence;
    return let_go(std::move(block));
  }
  // What an fsync covers is not to grow meanwhile.
  const bool has_last = unsynced_.size() > (sync_runs_ ? syncing_.blocks : 0);
  if (block->size() >= kSmallBlock || !has_last || !unsynced_.back()->has_room_for(block->size())) {
    return unsynced_.push_back(std::move(block));
  }
  LogBlock& last = *unsynced_.back();
  last.append(block->text());
  last.last_sequence = block->last_sequence;
  let_go(std::move(block));
}

bool AofFileWriter::write_and_switch(Lock* lock) {
  while (true) {
    if (!cut_back() || !write_added()) return false;
    if (unwritten_.empty()) return true;
    // The file may be closed by what comes now, so it must be durable as a whole.
    if (dirty_ && !sync(lock)) return false;
    if (dirty_) continue;
    const auto before = std::exchange(unwritten_.front()->before, nullptr);
    if (lock != nullptr) lock->unlock();
    before();
    if (lock != nullptr) lock->lock();
  }
}

bool AofFileWriter::sync(Lock* lock) {
  syncing_ = {unsynced_.size(), written_, written_sequence_, now_ns_};
  sync_runs_ = true;
  if (lock != nullptr) lock->unlock();
  const Status done = file_->sync(syncing_.length);
  if (lock != nullptr) lock->lock();
  sync_runs_ = false;
  return end_sync(done);
}

bool AofFileWriter::end_sync(const Status& done) {
  if (!done) {
    // It is unknown what of it is on disk: all of it is written again.
    while (!unsynced_.empty()) {
      unwritten_.push_front(std::move(unsynced_.back()));
      unsynced_.pop_back();
    }
    unsynced_bytes_ = 0;
    written_ = synced_;
    must_cut_ = true;
    handed_.store(durable_, std::memory_order_release);
    return fail(done.error(), now_ns_);
  }
  let_unsynced_go(syncing_.blocks);
  synced_ = syncing_.length;
  dirty_ = must_cut_ || written_ > syncing_.length;
  durable_ = dirty_ ? syncing_.sequence : written_sequence_;
  synced_ns_ = syncing_.began_ns;
  return true;
}

bool AofFileWriter::fail(const Error& error, int64_t now_ns) {
  failing_ = true;
  problem_ = error.text;
  retry_ns_ = now_ns + kRetryEveryNs;
  return false;
}

}  // namespace sorrel::persist
