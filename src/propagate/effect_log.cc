// AOF and replicas need one ordered stream although several workers change keys at once: sequence
// numbers order the effects, and the stream keeps those back whose predecessors are missing.

#include "propagate/effect_log.h"

#include <algorithm>

#include "resp/reply_writer.h"

namespace sorrel {
namespace {

constexpr size_t kKeepBytes = 256 * 1024;
constexpr std::string_view kMulti[] = {"MULTI"};
constexpr std::string_view kExec[] = {"EXEC"};

}  // namespace

void EffectStream::attach(EffectSink* sink) {
  const std::lock_guard lock(mutex_);
  // Numbers drawn while there was no sink were never submitted; nothing waits for them.
  const uint64_t next = next_.load(std::memory_order_relaxed);
  if (readers_.empty()) emitted_.store(next - 1, std::memory_order_relaxed);
  readers_.push_back({sink, next});
  look_for_runs();
  active_.store(true, std::memory_order_relaxed);
}

void EffectStream::detach(EffectSink* sink) {
  const std::lock_guard lock(mutex_);
  std::erase_if(readers_, [sink](const Reader& reader) { return reader.sink == sink; });
  look_for_runs();
  if (readers_.empty()) {
    active_.store(false, std::memory_order_relaxed);
    waiting_.clear();
  }
}

// In an exclusive section, with mutex_ held.
void EffectStream::look_for_runs() {
  runs_ = std::all_of(readers_.begin(), readers_.end(),
                      [](const Reader& reader) { return reader.sink->takes_runs(); });
  cut();  // a new sink begins with a run of its own
}

void EffectStream::emit(uint64_t first, const Effect& effect) {
  for (const Reader& reader : readers_) {
    if (first >= reader.first) reader.sink->on_effect(effect);
  }
  emitted_.store(effect.sequence, std::memory_order_release);
}

void EffectStream::submit(std::span<const Run> runs, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (readers_.empty()) return;
  for (const Reader& reader : readers_) reader.sink->begin_batch();
  for (const Run& run : runs) {
    const std::string_view body = bytes.substr(run.begin, run.end - run.begin);
    const uint64_t emitted = emitted_.load(std::memory_order_relaxed);
    if (run.first == emitted + 1) {
      emit(run.first, {run.last, run.db, body, run.audience});
      emit_waiting();
    } else if (run.first > emitted) {
      waiting_.emplace(run.first, Waiting{run.last, run.db, run.audience, std::string(body)});
    }
  }
  for (const Reader& reader : readers_) reader.sink->end_batch();
}

bool EffectStream::settle_before_replies() {
  if (!active()) return true;
  const uint64_t drawn = last_sequence();
  if (shared_ && emitted_.load(std::memory_order_acquire) < drawn) collect();
  bool kept = true;
  for (const Reader& reader : readers_) kept &= reader.sink->before_replies(drawn);
  return kept;
}

// A sequence number is drawn and its effect stored under the latch of one EffectLog. So once every
// latch has been held here, each number drawn before has arrived, and no effect of the caller waits
// for another worker.
void EffectStream::collect() {
  const std::lock_guard lock(logs_mutex_);
  for (EffectLog* log : logs_) log->hand_over_finished();
}

void EffectStream::emit_waiting() {
  while (!waiting_.empty() &&
         waiting_.begin()->first == emitted_.load(std::memory_order_relaxed) + 1) {
    const auto first = waiting_.begin();
    const Waiting& next = first->second;
    emit(first->first, {next.last, next.db, next.body, next.audience});
    waiting_.erase(first);
  }
}

EffectLog::EffectLog(EffectStream& stream) : stream_(stream) {
  const std::lock_guard lock(stream_.logs_mutex_);
  stream_.logs_.push_back(this);
}

EffectLog::~EffectLog() {
  const std::lock_guard lock(stream_.logs_mutex_);
  std::erase(stream_.logs_, this);
}

void EffectLog::encode(std::span<const std::string_view> args) {
  resp::append_array_header(bytes_, args.size());
  for (std::string_view arg : args) resp::append_bulk(bytes_, arg);
}

void EffectLog::encode_select(int db) {
  const std::string number = std::to_string(db);
  const std::string_view select[] = {"SELECT", number};
  encode(select);
}

// Requires the latches of the changed keys.
inline uint64_t EffectLog::draw() {
  const uint64_t sequence = stream_.draw();
  if (!changed_.empty() || changed_any_) [[unlikely]]
    note_changed_keys(sequence);
  last_drawn_ = sequence;
  return sequence;
}

// Precondition: the effect's bytes are those from `begin` to the end. Its number is drawn here.
inline void EffectLog::add_item(int db, Audience audience, size_t begin) {
  const uint64_t sequence = draw();
  if (!runs_.empty()) [[likely]] {
    EffectStream::Run& run = runs_.back();
    if (run.last + 1 == sequence && run.end == begin && run.db == db && run.audience == audience &&
        stream_.joins(sequence)) [[likely]] {
      run.last = sequence;
      run.end = bytes_.size();
      return;
    }
  }
  begin_run(sequence, db, audience, begin);
}

[[gnu::noinline]] void EffectLog::begin_run(uint64_t sequence, int db, Audience audience,
                                            size_t begin) {
  runs_.push_back({sequence, sequence, begin, bytes_.size(), db, audience});
}

[[gnu::noinline]] void EffectLog::note_changed_keys(uint64_t sequence) {
  for (const uint64_t hash : changed_) stream_.durability_.note_change(hash, sequence);
  if (changed_any_) stream_.durability_.note_change_of_any(sequence);
  changed_.clear();
  changed_any_ = false;
  last_told_ = sequence;
}

// Encodes what must precede a command of the open group: MULTI, and SELECT after a change of
// database.
void EffectLog::begin_part(int db, Audience to) {
  if (unit_.parts.empty()) {
    unit_.begin = bytes_.size();
    encode(kMulti);
    unit_.first = bytes_.size();
    unit_.began_db = unit_.db = db;
  } else if (to != unit_.parts.front().audience) {
    unit_.mixed = true;
  }
  if (db != unit_.db) encode_select(db);
  unit_.db = db;
}

// `encode_it` appends the command to bytes_. Precondition: latch_ is held.
template <class Encode>
[[gnu::always_inline]] inline void EffectLog::add(int db, Audience to, Encode&& encode_it) {
  if (borrowed_end_ != nullptr) flush_borrowed();
  if (!stream_.active() || to == Audience::kNobody) return;
  if (unit_.depth == 0) {
    const size_t begin = bytes_.size();
    encode_it();
    add_item(db, to, begin);
    return;
  }
  begin_part(db, to);
  const size_t begin = bytes_.size();
  encode_it();
  unit_.parts.push_back({begin, bytes_.size(), db, to});
}

void EffectLog::append(int db, std::span<const std::string_view> args, Audience to) {
  const Held held(*this);
  add(db, to & audience_, [&] { encode(args); });
}

void EffectLog::append_text(int db, std::string_view command) {
  const Held held(*this);
  if (command.data() == borrowed_end_) [[likely]] {
    // The borrowed bytes end the last run, which is not in an atomic group.
    EffectStream::Run& run = runs_.back();
    if (run.db == db && run.audience == audience_ && stream_.active()) [[likely]] {
      const uint64_t sequence = draw();
      if (run.last + 1 == sequence && stream_.joins(sequence)) [[likely]] {
        run.last = sequence;
        run.end += command.size();
        borrowed_end_ += command.size();
        return;
      }
      return begin_text_run(sequence, db, command);
    }
  }
  add_text(db, command);
}

// Both are kept out of line, so that the common path saves no registers for them.
[[gnu::noinline]] void EffectLog::begin_text_run(uint64_t sequence, int db,
                                                 std::string_view command) {
  flush_borrowed();
  const size_t begin = bytes_.size();
  bytes_.append(command);
  begin_run(sequence, db, audience_, begin);
  borrow_after(command);
}

[[gnu::noinline]] void EffectLog::add_text(int db, std::string_view command) {
  add(db, audience_, [&] { bytes_.append(command); });
  borrow_after(command);
}

// The next command of a pipeline may follow these bytes in the query buffer.
void EffectLog::borrow_after(std::string_view command) {
  if (unit_.depth > 0 || runs_.empty() || runs_.back().end != bytes_.size()) return;
  borrowed_begin_ = borrowed_end_ = command.data() + command.size();
}

void EffectLog::flush_borrowed() {
  bytes_.append({borrowed_begin_, static_cast<size_t>(borrowed_end_ - borrowed_begin_)});
  borrowed_end_ = nullptr;
}

void EffectLog::begin_unit() {
  const Held held(*this);
  if (borrowed_end_ != nullptr) flush_borrowed();
  if (unit_.depth++ > 0) return;
  unit_.parts.clear();
  unit_.mixed = unit_.dropped = false;
}

void EffectLog::end_unit() {
  const Held held(*this);
  if (--unit_.depth > 0 || unit_.parts.empty() || unit_.dropped) return;
  if (unit_.mixed) {
    add_part_for(Audience::kLog);
    add_part_for(Audience::kReplicas);
    return;
  }
  size_t begin = unit_.first;
  if (unit_.parts.size() > 1) {
    begin = unit_.begin;
    if (unit_.db != unit_.began_db) encode_select(unit_.began_db);
    encode(kExec);
  }
  add_item(unit_.began_db, unit_.parts.front().audience, begin);
}

// Encodes the commands of the group for this audience again, after all of them.
void EffectLog::add_part_for(Audience audience) {
  std::vector<Part> parts;
  for (const Part& part : unit_.parts) {
    if (includes(part.audience, audience)) parts.push_back(part);
  }
  if (parts.empty()) return;
  const size_t begin = bytes_.size();
  const int began_db = parts.front().db;
  int db = began_db;
  if (parts.size() > 1) encode(kMulti);
  for (const Part& part : parts) {
    if (part.db != db) encode_select(part.db);
    db = part.db;
    const std::string body(bytes_.view(part.begin, part.end));  // the buffer may move
    bytes_.append(body);
  }
  if (db != began_db) encode_select(began_db);
  if (parts.size() > 1) encode(kExec);
  add_item(began_db, audience, begin);
}

bool EffectLog::flush() {
  hand_over_finished();
  return stream_.settle_before_replies();
}

void EffectLog::hand_over_finished() {
  const Held held(*this);
  if (borrowed_end_ != nullptr) flush_borrowed();
  if (!runs_.empty()) hand_over();
}

// Holds latch_ throughout, so that no other worker sees the log empty before its effects arrived.
void EffectLog::hand_over() {
  stream_.submit(runs_, bytes_.view());
  runs_.clear();
  // The open group is incomplete and stays where it is.
  if (unit_.depth > 0) return;
  bytes_.clear(kKeepBytes);
}

}  // namespace sorrel
