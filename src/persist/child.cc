#include "persist/child.h"

#include <algorithm>
#include <csignal>

#include "base/bytes.h"

namespace sorrel::persist {
namespace {

// A message: kind, length, body. Sent with one write each, and longer ones are cut, so that a
// parent who does not listen for a moment never holds the child up for long.
enum Message : uint8_t { kProgress = 1, kLogLine = 2 };
constexpr size_t kHeaderBytes = 1 + sizeof(uint32_t);
constexpr size_t kMostBody = 2048;

constexpr int64_t kTellEveryNs = 1'000'000'000;
constexpr uint64_t kKeysBetweenLooks = 1024;

}  // namespace

void ChildVoice::send(uint8_t kind, std::string_view body) {
  body = body.substr(0, kMostBody);
  char header[kHeaderBytes];
  header[0] = static_cast<char>(kind);
  store(header + 1, static_cast<uint32_t>(body.size()));
  std::string message(header, sizeof header);
  message += body;
  (void)io::write_to_pipe(pipe_, message);
}

void ChildVoice::send_progress() {
  now_.cow_bytes = io::private_dirty_bytes();
  char body[2 * sizeof(uint64_t)];
  store(body, now_.keys);
  store(body + sizeof(uint64_t), now_.cow_bytes);
  send(kProgress, {body, sizeof body});
}

void ChildVoice::progress(uint64_t keys) {
  now_.keys = keys;
  if (keys % kKeysBetweenLooks != 1) return;
  const int64_t now_ns = clock_.monotonic_ns();
  if (now_ns - told_ns_ < kTellEveryNs) return;
  told_ns_ = now_ns;
  send_progress();
}

void ChildVoice::log(LogLevel level, std::string_view line) {
  send(kLogLine, static_cast<char>(level) + std::string(line));
}

void ChildVoice::finish() {
  send_progress();
}

Status Child::start(ChildKind kind, uint64_t keys, const Work& work, int kept) {
  progress_ = {};
  cow_peak_ = 0;
  cow_told_ms_ = 0;
  heard_.clear();
  kill_wanted_ = false;
  const auto body = [&](int pipe) {
    ChildVoice voice(pipe, clock_);
    if (prepare) prepare(kind);
    const Status done = work(voice);
    if (done) {
      voice.finish();
    } else {
      voice.log(LogLevel::kWarning, done.error().text);
    }
    return done ? 0 : 1;
  };
  auto process = io::ChildProcess::start(body, kept);
  if (!process) return process.error();
  process_ = std::move(*process);
  kind_ = kind;
  keys_total_ = keys;
  started_ms_ = clock_.wall_ms();
  count_fork(process_->fork_us());
  return {};
}

void Child::hear() {
  heard_ += process_->read_available();
  std::string_view left = heard_;
  while (left.size() >= kHeaderBytes) {
    const size_t size = load<uint32_t>(left.data() + 1);
    // Whatever says more than we ever do is not worth listening to.
    if (size > kMostBody) {
      left = {};
      break;
    }
    if (left.size() < kHeaderBytes + size) break;
    take_message(static_cast<uint8_t>(left[0]), left.substr(kHeaderBytes, size));
    left.remove_prefix(kHeaderBytes + size);
  }
  heard_.erase(0, heard_.size() - left.size());
}

void Child::take_message(uint8_t kind, std::string_view body) {
  if (kind == kProgress && body.size() == 2 * sizeof(uint64_t)) {
    progress_.keys = load<uint64_t>(body.data());
    progress_.cow_bytes = load<uint64_t>(body.data() + sizeof(uint64_t));
    cow_peak_ = std::max(cow_peak_, progress_.cow_bytes);
    cow_told_ms_ = clock_.wall_ms();
  } else if (kind == kLogLine && !body.empty()) {
    const auto level = static_cast<uint8_t>(body[0]);
    const auto most = static_cast<uint8_t>(LogLevel::kWarning);
    log_.write(static_cast<LogLevel>(std::min(level, most)), body.substr(1));
  }
}

std::optional<ChildEnd> Child::poll() {
  if (process_ == nullptr) return std::nullopt;
  const auto end = process_->poll();
  // What it said last is heard after it is known to have ended.
  hear();
  if (!end) return std::nullopt;
  return end_with(*end);
}

ChildEnd Child::end_with(const io::ChildProcess::End& end) {
  const ChildEnd told{
      .kind = kind_,
      .pid = process_->pid(),
      .ok = end.signal == 0 && end.exit_code == 0,
      .killed = end.signal == SIGUSR1 || (kill_wanted_ && end.signal != 0),
      .signal = end.signal,
      .took_ms = clock_.wall_ms() - started_ms_,
      .cow_bytes = progress_.cow_bytes,
  };
  process_.reset();
  kind_ = ChildKind::kNone;
  progress_ = {};
  cow_peak_ = 0;
  keys_total_ = 0;
  cow_told_ms_ = 0;
  return told;
}

void Child::kill() {
  if (process_ == nullptr) return;
  kill_wanted_ = true;
  process_->send_signal(SIGUSR1);
}

ChildEnd Child::kill_and_wait() {
  kill();
  const io::ChildProcess::End end = process_->wait();
  hear();
  return end_with(end);
}

}  // namespace sorrel::persist
