#include "persist/aof_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "io/files.h"
#include "io/process.h"
#include "resp/reply_writer.h"

namespace sorrel::persist {
namespace {

constexpr size_t kBlockBytes = 1024 * 1024;
// Blocks that wait to be used again: what a busy log fills between two syncs, so that its memory
// is not taken from the system anew for every byte. That costs a multiple of all else, so they are
// kept for a while when nothing comes, too.
constexpr size_t kFreeBlocks = 32;
constexpr int64_t kKeepNs = 10'000'000'000;
// What a SELECT or a timestamp adds to an effect.
constexpr size_t kAround = 64;
// With `everysec` replies wait when the oldest change is this old and not synced.
constexpr int64_t kStallNs = 2'000'000'000;

// How an effect of several commands begins.
constexpr std::string_view kMulti = "*1\r\n$5\r\nMULTI\r\n";

}  // namespace

AofWriter::AofWriter(const Clock& clock, EffectStream& stream, std::function<void()> on_trouble)
    : clock_(clock), stream_(stream), on_trouble_(std::move(on_trouble)) {}

AofWriter::~AofWriter() {
  (void)stop().ok();
}

void AofWriter::start(OpenLog log, bool counts) {
  const uint64_t last = stream_.last_sequence();
  file_ = std::make_unique<AofFileWriter>(std::move(log), last);
  {
    const std::lock_guard lock(mutex_);
    seen_ = last;
    selected_ = -1;
    stamped_second_ = 0;
    oldest_ns_ = 0;
    stopping_ = urgent_ = resting_ = false;
    state_ = {};
    state_.file_size = file_->size();
    call_again_ns_ = AofFileWriter::kNever;
  }
  counts_.store(false);
  switching_.store(0);
  told_ = 0;
  stream_.durability().set_durable(0);
  stream_.attach(this);
  thread_ = std::thread([this] {
    io::name_this_thread("aof-writer");
    (void)processors_.apply().ok();
    run();
  });
  if (counts) begin_to_count();
}

void AofWriter::begin_to_count() {
  counts_.store(true);
  {
    const std::lock_guard lock(mutex_);
    urgent_ = true;  // to tell how far it is
  }
  work_.notify_one();
  if (options_.policy == SyncPolicy::kAlways) stream_.durability().hold(stream_.last_sequence());
}

Status AofWriter::stop() {
  if (!running()) return {};
  stream_.detach(this);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
  counts_.store(false);
  stream_.durability().stop_holding();
  // Replies that are still held have nothing to wait for.
  stream_.durability().set_durable(UINT64_MAX);
  queue_.clear();
  free_.clear();
  switches_.clear();
  const Status ended = file_->failing() ? Status(Error{file_->problem()}) : Status();
  file_.reset();
  state_.memory_bytes = 0;
  return ended;
}

Status AofWriter::flush() {
  if (!running()) return {};
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++flush_wanted_;
  work_.notify_one();
  done_.wait(lock, [&] { return flush_done_ >= mine; });
  return state_.failing ? Status(Error{state_.problem}) : Status();
}

void AofWriter::set_options(const AofWriterOptions& options) {
  {
    const std::lock_guard lock(mutex_);
    if (options_.policy != SyncPolicy::kNever) owed_ = stream_.last_sequence();
    options_ = options;
    urgent_ = true;
  }
  work_.notify_one();
  if (!running() || !counts_.load()) return;
  if (options.policy == SyncPolicy::kAlways) {
    stream_.durability().hold(stream_.last_sequence());
  } else {
    stream_.durability().stop_holding();
  }
}

void AofWriter::switch_here(std::function<void()> task) {
  stream_.cut();
  switching_.fetch_add(1);
  const std::lock_guard lock(mutex_);
  switches_.push_back({stream_.next_sequence(), [this, task = std::move(task)] {
                         task();
                         switching_.fetch_sub(1);
                       }});
  place_due_switch();
}

void AofWriter::replace_file(OpenLog log) {
  const std::lock_guard lock(file_mutex_);
  file_->replace_file(std::move(log));
}

// Precondition: mutex_ is held.
void AofWriter::place_due_switch() {
  while (!switches_.empty() && seen_ + 1 >= switches_.front().sequence) {
    auto block = std::make_unique<LogBlock>();
    block->last_sequence = seen_;
    block->before = std::move(switches_.front().task);
    queue_.push_back(std::move(block));
    switches_.erase(switches_.begin());
    selected_ = -1;
    stamped_second_ = 0;
    urgent_ = true;
    work_.notify_one();
  }
}

// Precondition: mutex_ is held, here and below.
LogBlock& AofWriter::block_for(size_t bytes) {
  bytes += kAround;
  if (!queue_.empty()) {
    LogBlock& last = *queue_.back();
    if (last.size() == 0 || last.has_room_for(bytes)) return last;
  }
  if (free_.empty()) {
    queue_.push_back(std::make_unique<LogBlock>());
  } else {
    queue_.push_back(std::move(free_.back()));
    free_.pop_back();
  }
  LogBlock& block = *queue_.back();
  block.reserve(std::max(kBlockBytes, bytes));
  return block;
}

void AofWriter::add_timestamp() {
  const int64_t second = clock_.wall_ms() / 1000;
  if (second <= stamped_second_) return;
  stamped_second_ = second;
  const std::string line = "#TS:" + std::to_string(second) + "\r\n";
  block_for(line.size()).append(line);
  queued_bytes_ += line.size();
}

void AofWriter::select(int db, LogBlock& block) {
  resp::OutputBuffer command;
  const std::string number = std::to_string(db);
  resp::append_array_header(command, 2);
  resp::append_bulk(command, "SELECT");
  resp::append_bulk(command, number);
  block.append(command.view());
  selected_ = db;
}

void AofWriter::on_effect(const Effect& effect) {
  seen_ = effect.sequence;
  if (includes(effect.audience, Audience::kLog)) {
    if (options_.timestamps) add_timestamp();
    LogBlock& block = block_for(effect.body.size());
    const size_t before = block.size();
    std::string_view body = effect.body;
    if (effect.db != selected_) {
      // In a transaction the choice of the database is a part of it, as Redis has it.
      if (body.starts_with(kMulti)) {
        block.append(kMulti);
        body.remove_prefix(kMulti.size());
      }
      select(effect.db, block);
    }
    block.append(body);
    queued_bytes_ += block.size() - before;
    block.last_sequence = effect.sequence;
  } else {
    block_for(0).last_sequence = effect.sequence;
  }
  if (!switches_.empty()) [[unlikely]]
    place_due_switch();
}

void AofWriter::end_batch() {
  if (oldest_ns_ == 0 && !queue_.empty()) oldest_ns_ = clock_.monotonic_ns();
  mutex_.unlock();
}

// Effects that held replies wait for are synced, whatever the policy is now. Precondition:
// file_mutex_ is held, too.
SyncPolicy AofWriter::policy() const {
  return file_->durable() < owed_ ? SyncPolicy::kAlways : options_.policy;
}

bool AofWriter::before_replies(uint64_t sequence) {
  if (options_.policy == SyncPolicy::kAlways) {
    wake_for_group();
    return true;  // Durability holds the replies.
  }
  if (file_->handed() >= sequence) return true;
  if (switching_.load() != 0) return leave_to_thread(sequence);
  return write_through(sequence);
}

// With `always`: the thread writes when it has nothing else to do, or when all clients that were
// answered together have written again.
void AofWriter::wake_for_group() {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    wake = (resting_ && !queue_.empty()) || group_.just_complete(seen_);
    if (wake) resting_ = false;
  }
  if (wake) work_.notify_one();
}

// An AOF that does not count yet promises nothing.
bool AofWriter::leave_to_thread(uint64_t sequence) {
  if (!counts_.load()) return true;
  {
    const std::lock_guard lock(mutex_);
    owed_ = std::max(owed_, sequence);
    urgent_ = true;
  }
  work_.notify_one();
  return false;
}

// Precondition: file_mutex_ is held, and mutex_.
void AofWriter::take_queue() {
  for (LogBlockPtr& block : queue_) file_->add(std::move(block));
  queue_.clear();
  queued_bytes_ = 0;
}

bool AofWriter::write_through(uint64_t sequence) {
  const std::lock_guard file_lock(file_mutex_);
  // Another worker may have written it meanwhile.
  if (file_->handed() >= sequence) return true;
  SyncPolicy policy_now;
  {
    const std::lock_guard lock(mutex_);
    take_queue();
    policy_now = policy();
  }
  delay_write(options_.write_delay_us);
  const bool was_failing = file_->failing();
  const int64_t due_ns = file_->write(clock_.monotonic_ns(), policy_now);
  set_durable();
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    note_file();
    // The thread tells of a failure and tries again.
    urgent_ = urgent_ || file_->failing() != was_failing;
    wake = urgent_ || due_ns < call_again_ns_;
    call_again_ns_ = std::min(call_again_ns_, due_ns);
  }
  if (wake) work_.notify_one();
  return file_->handed() >= sequence || leave_to_thread(sequence);
}

// DEBUG AOF-FLUSH-SLEEP.
void AofWriter::delay_write(int64_t delay_us) const {
  if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
}

// Precondition: file_mutex_ is held.
void AofWriter::set_durable() {
  if (!counts_.load() || file_->durable() == told_) return;
  told_ = file_->durable();
  stream_.durability().set_durable(told_);
}

// Precondition: file_mutex_ is held, and mutex_, here and below.
void AofWriter::note_file() {
  for (LogBlockPtr& block : file_->take_free()) {
    if (free_.size() < kFreeBlocks && block->capacity() <= kBlockBytes) {
      free_.push_back(std::move(block));
    }
  }
  state_.file_size = file_->size();
  state_.waiting_bytes = file_->waiting_bytes();
  state_.unwritten_bytes = file_->unwritten_bytes();
  state_.memory_bytes = file_->block_bytes();
  if (file_->idle() && queue_.empty()) {
    oldest_ns_ = 0;
  } else if (oldest_ns_ != 0) {
    oldest_ns_ = std::max(oldest_ns_, file_->synced_ns());
  }
}

// True: that is news.
bool AofWriter::note_failing() {
  const bool was_failing = std::exchange(state_.failing, file_->failing());
  state_.problem = file_->problem();
  return state_.failing != was_failing;
}

AofWriterState AofWriter::state() const {
  const std::lock_guard lock(mutex_);
  AofWriterState state = state_;
  state.waiting_bytes += queued_bytes_;
  state.unwritten_bytes += queued_bytes_;
  for (const LogBlockPtr& block : queue_) state.memory_bytes += block->capacity();
  for (const LogBlockPtr& block : free_) state.memory_bytes += block->capacity();
  return state;
}

void AofWriter::look_for_stall() {
  if (!running() || !counts_.load() || options_.policy != SyncPolicy::kEverySecond) return;
  Durability& durability = stream_.durability();
  bool stalled = false;
  {
    const std::lock_guard lock(mutex_);
    // A disk that fails says so, and writes are refused then.
    stalled = oldest_ns_ != 0 && !state_.failing && clock_.monotonic_ns() - oldest_ns_ > kStallNs;
    if (stalled && !durability.holds()) state_.stalls++;
  }
  if (stalled == durability.holds()) return;
  if (stalled) {
    durability.hold(0);
  } else {
    durability.stop_holding();
  }
}

void AofWriter::forget_stalls() {
  const std::lock_guard lock(mutex_);
  state_.stalls = 0;
}

// Until there is something to do; with `always` a little longer where that lets more come together.
void AofWriter::wait_for_work(Lock& lock) {
  const auto at = [](int64_t ns) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
  };
  while (!stopping_ && !urgent_ && flush_wanted_ == flush_done_) {
    int64_t until_ns = call_again_ns_;
    const bool writes = options_.policy == SyncPolicy::kAlways && !queue_.empty();
    if (writes && !state_.failing) until_ns = std::min(until_ns, group_.wait_until(seen_));
    if (clock_.monotonic_ns() >= until_ns) break;
    resting_ = queue_.empty();
    if (until_ns == AofFileWriter::kNever) {
      work_.wait(lock);
    } else {
      work_.wait_until(lock, at(until_ns));
    }
    resting_ = false;
  }
  urgent_ = false;
}

void AofWriter::run() {
  bool goes_on = true;
  while (goes_on) {
    {
      Lock lock(mutex_);
      wait_for_work(lock);
    }
    goes_on = work();
  }
}

// One round of the thread. False: it was the last.
bool AofWriter::work() {
  Lock file_lock(file_mutex_);
  Lock lock(mutex_);
  const bool writes = !queue_.empty();
  take_queue();
  const uint64_t flushing = flush_wanted_;
  const bool stop = stopping_;
  const bool finish = stop || flushing > flush_done_;
  const AofWriterOptions options = options_;
  const SyncPolicy policy_now = policy();
  const int64_t began_ns = clock_.monotonic_ns();
  call_again_ns_ = AofFileWriter::kNever;
  if (writes) group_.begin_sync(seen_, began_ns);
  lock.unlock();

  if (writes) delay_write(options.write_delay_us);
  if (finish) (void)file_->finish(began_ns, &file_lock);
  const int64_t due_ns = file_->work(began_ns, policy_now, &file_lock);

  lock.lock();
  const int64_t now_ns = clock_.monotonic_ns();
  call_again_ns_ = std::min(call_again_ns_, due_ns);
  note_file();
  const bool tell = note_failing() && on_trouble_;
  if (std::exchange(round_seen_, seen_) != seen_) came_ns_ = now_ns;
  std::vector<LogBlockPtr> spare;
  if (file_->idle() && !free_.empty()) {
    if (now_ns - came_ns_ >= kKeepNs) {
      spare = std::exchange(free_, {});
    } else {
      call_again_ns_ = std::min(call_again_ns_, came_ns_ + kKeepNs);
    }
  }
  if (writes && options.policy == SyncPolicy::kAlways) group_.end_sync(seen_, now_ns);
  lock.unlock();
  // After note_file(), so that a client told of it finds the file's size in INFO; before flush()
  // returns, which promises it.
  set_durable();
  if (finish) {
    lock.lock();
    flush_done_ = flushing;
    done_.notify_all();
    lock.unlock();
  }
  file_lock.unlock();
  if (tell) on_trouble_();
  return !stop;
}

}  // namespace sorrel::persist
