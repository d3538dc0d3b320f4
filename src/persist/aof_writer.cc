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
constexpr size_t kFreeBlocks = 32;                                  // of each kind
constexpr size_t kMostKept = std::max(kBlockBytes, io::kHugePage);  // of one of them
constexpr int64_t kKeepNs = 10'000'000'000;
// Busy workers write this often. Where turns are short, a call into the system in each would cost
// more than all else that the log does; a few in a row cost nobody anything.
constexpr int64_t kGatherNs = 2'000'000;
constexpr int64_t kInARowNs = 16 * kGatherNs;
// So long it may take until the thread writes what no worker has come to write: the last of a busy
// time. It must not wake often beside workers that come, since that costs as much as they save.
constexpr int64_t kLeftNs = 10'000'000;
// A flood: workers have written this much so many times, and as often as they may or nearly so. It
// is over when less than that has come while the thread was waiting.
constexpr uint64_t kFloodBytes = 128 * 1024;
constexpr int64_t kFloodGapNs = 2 * kGatherNs;
constexpr int kFloodWrites = 4;
constexpr uint64_t kStillFloodBytes = kFloodBytes * (kLeftNs / kFloodGapNs);
// In it the thread writes when this much is there, or after that time. More would hardly cost less.
constexpr uint64_t kFullBytes = 1536 * 1024;
static_assert(kFullBytes < LogBlock::kPastCacheBytes,
              "there is room for what comes until it begins");
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
  pen_ = std::make_unique<AofPen>(std::move(log), last);
  {
    const std::lock_guard lock(mutex_);
    seen_ = last;
    selected_ = -1;
    stamped_second_ = 0;
    oldest_ns_ = wrote_ns_ = paid_until_ns_ = 0;
    large_writes_ = 0;
    stopping_ = urgent_ = resting_ = at_disk_ = flood_ = false;
    state_ = {};
    state_.file_size = queue_begins_ = pen_->size();
    call_again_ns_ = AofPen::kNever;
  }
  counts_.store(false);
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
  // Whoever still waits has nothing to wait for.
  stream_.durability().set_durable(UINT64_MAX);
  queue_.clear();
  switches_.clear();
  const Status ended = pen_->failing() ? Status(Error{pen_->problem()}) : Status();
  pen_.reset();
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
    flood_ = false;
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
  const std::lock_guard lock(mutex_);
  switches_.push_back({stream_.next_sequence(), std::move(task)});
  place_due_switch();
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
  if (!queue_.empty()) {
    LogBlock& last = *queue_.back();
    const bool suits = last.past_cache() || !flood_;
    if (suits && (last.size() == 0 || last.has_room_for(bytes))) return last;
  }
  std::vector<LogBlockPtr>& kept = flood_ ? free_.huge : free_.usual;
  if (kept.empty()) {
    queue_.push_back(std::make_unique<LogBlock>());
  } else {
    queue_.push_back(std::move(kept.back()));
    kept.pop_back();
  }
  LogBlock& block = *queue_.back();
  if (flood_) {
    block.begin_past_cache(queue_begins_ + queued_bytes_);
  } else {
    block.reserve(kBlockBytes);
  }
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

void AofWriter::end_batch(Batch batch) {
  if (batch == Batch::kMore) return mutex_.unlock();
  const int64_t now_ns = clock_.monotonic_ns();
  if (oldest_ns_ == 0 && !queue_.empty()) oldest_ns_ = now_ns;
  bool wake = false;
  if (writes_through(now_ns)) {
    wake = write_through(now_ns);
  } else {
    wake = (resting_ && !queue_.empty()) || group_.just_complete(seen_) || (is_full() && !at_disk_);
    if (wake) resting_ = false;
  }
  mutex_.unlock();
  if (wake) work_.notify_one();
}

// What was changed while there were syncs is synced, whatever the policy is now: somebody may wait
// for it. Precondition: the pen is in nobody's hand.
SyncPolicy AofWriter::policy() const {
  const bool owes = options_.policy == SyncPolicy::kNever && pen_->durable() < owed_;
  return owes ? SyncPolicy::kAlways : options_.policy;
}

// Can the worker write what it has brought?
bool AofWriter::writes_through(int64_t now_ns) {
  if (options_.policy == SyncPolicy::kAlways || flood_ || at_disk_ || queue_.empty() || urgent_ ||
      state_.failing || options_.write_delay_us != 0) {
    return false;
  }
  if (paid_until_ns_ - now_ns >= kInARowNs) return false;
  const bool large = queued_bytes_ >= kFloodBytes && now_ns - wrote_ns_ <= kFloodGapNs;
  large_writes_ = large ? large_writes_ + 1 : 0;
  flood_ = large_writes_ > kFloodWrites;
  return !flood_;
}

// In a flood: is it time to write?
bool AofWriter::is_full() const {
  return flood_ && !state_.failing && queued_bytes_ >= kFullBytes;
}

// True: the thread has to hear of it.
bool AofWriter::write_through(int64_t now_ns) {
  for (LogBlockPtr& block : queue_) pen_->add(std::move(block));
  queue_.clear();
  queued_bytes_ = 0;
  wrote_ns_ = now_ns;
  paid_until_ns_ = std::max(paid_until_ns_, now_ns) + kGatherNs;
  const int64_t due_ns = pen_->write(now_ns, policy());
  queue_begins_ = pen_->size_to_come();
  tell_durable();
  keep_free_blocks();
  if (pen_->failing()) {
    // The thread sees that, tells of it and tries again.
    urgent_ = true;
    return true;
  }
  note_state();
  if (pen_->idle()) oldest_ns_ = 0;
  const bool sooner = due_ns < call_again_ns_;
  call_again_ns_ = due_ns;
  return sooner;
}

void AofWriter::tell_durable() {
  if (!counts_.load() || pen_->durable() == told_) return;
  told_ = pen_->durable();
  stream_.durability().set_durable(told_);
}

void AofWriter::keep_free_blocks() {
  for (LogBlockPtr& block : pen_->take_free()) {
    std::vector<LogBlockPtr>& kept = block->is_huge() ? free_.huge : free_.usual;
    if (kept.size() < kFreeBlocks && block->capacity() <= kMostKept) {
      kept.push_back(std::move(block));
    }
  }
}

void AofWriter::note_state() {
  state_.file_size = pen_->size();
  state_.waiting_bytes = pen_->waiting_bytes();
  state_.unwritten_bytes = pen_->unwritten_bytes();
  state_.failing = pen_->failing();
  state_.problem = pen_->problem();
}

AofWriterState AofWriter::state() const {
  const std::lock_guard lock(mutex_);
  AofWriterState state = state_;
  state.waiting_bytes += queued_bytes_;
  state.unwritten_bytes += queued_bytes_;
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

// When the thread is to write what is there, if no worker has done it.
int64_t AofWriter::queue_due_ns() const {
  if (state_.failing) return AofPen::kNever;
  if (options_.policy == SyncPolicy::kAlways) return group_.wait_until(seen_);
  return wrote_ns_ + kLeftNs;
}

// Until there is something to do, and a little longer where that lets more come together.
void AofWriter::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto at = [](int64_t ns) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
  };
  for (;;) {
    if (stopping_ || urgent_ || flush_wanted_ > flush_done_ || is_full()) break;
    const int64_t now_ns = clock_.monotonic_ns();
    int64_t until_ns = call_again_ns_;
    if (!queue_.empty()) until_ns = std::min(until_ns, queue_due_ns());
    if (now_ns >= until_ns) break;
    // While workers write it looks now and then for what they leave: to be told each time would
    // cost more.
    const bool workers_write = options_.policy != SyncPolicy::kAlways && !state_.failing;
    const bool on_guard = workers_write && queue_.empty() && now_ns < wrote_ns_ + kLeftNs;
    if (on_guard) until_ns = std::min(until_ns, wrote_ns_ + kLeftNs);
    resting_ = queue_.empty() && !on_guard;
    if (until_ns == AofPen::kNever) {
      work_.wait(lock);
    } else {
      work_.wait_until(lock, at(until_ns));
    }
    resting_ = false;
  }
  urgent_ = false;
}

void AofWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait_for_work(lock);
    std::vector<LogBlockPtr> taken = std::move(queue_);
    queue_.clear();
    if (flood_ && queued_bytes_ < kStillFloodBytes) {
      flood_ = false;
      large_writes_ = kFloodWrites;  // if it was only interrupted, it is back with the next turn
    }
    queue_begins_ += queued_bytes_;
    queued_bytes_ = 0;
    const uint64_t flushing = flush_wanted_;
    const bool finish = stopping_ || flushing > flush_done_;
    const bool stop = stopping_;
    const AofWriterOptions options = options_;
    const SyncPolicy syncs = policy();
    const bool was_failing = state_.failing;
    const int64_t began_ns = clock_.monotonic_ns();
    if (!taken.empty()) group_.begin_sync(seen_, began_ns);
    at_disk_ = true;
    lock.unlock();

    if (options.write_delay_us > 0 && !taken.empty()) {
      std::this_thread::sleep_for(std::chrono::microseconds(options.write_delay_us));
    }
    const bool writes = !taken.empty();
    for (LogBlockPtr& block : taken) pen_->add(std::move(block));
    if (finish) (void)pen_->finish(began_ns);
    const int64_t call_again_ns = pen_->work(began_ns, syncs);
    const int64_t wrote_ns = clock_.monotonic_ns();
    const bool synced = pen_->idle();
    tell_durable();

    lock.lock();
    at_disk_ = false;
    queue_begins_ = pen_->size_to_come();
    if (writes) wrote_ns_ = wrote_ns;
    call_again_ns_ = call_again_ns;
    keep_free_blocks();
    FreeBlocks spare;
    if (std::exchange(round_seen_, seen_) != seen_) came_ns_ = wrote_ns;
    if (synced && !free_.empty()) {
      if (wrote_ns - came_ns_ >= kKeepNs) {
        spare = std::exchange(free_, {});
      } else {
        call_again_ns_ = std::min(call_again_ns_, came_ns_ + kKeepNs);
      }
    }
    note_state();
    if (synced) oldest_ns_ = queue_.empty() ? 0 : began_ns;
    if (writes && options.policy == SyncPolicy::kAlways) group_.end_sync(seen_, wrote_ns);
    flush_done_ = flushing;
    done_.notify_all();
    const bool tell = state_.failing != was_failing && on_trouble_;
    if (tell || !spare.empty()) {
      lock.unlock();
      spare = {};
      if (tell) on_trouble_();
      lock.lock();
    }
    if (stop) return;
  }
}

}  // namespace sorrel::persist
