#include "session/session_host.h"

#include <algorithm>
#include <string>

namespace sorrel {
namespace {

constexpr size_t kScratchKept = 1 << 20;
// Sessions looked at per cron call, beside a tenth of all: every one is seen about once a second.
constexpr size_t kCronSessions = 20;

}  // namespace

SessionHost::SessionHost(SessionWorld& world, io::Loop& loop, Executor& executor)
    : world_(world), loop_(loop), executor_(executor), writer_(out_, 2) {
  args_.reserve(1024);
  items_.reserve(kWindow);
  requests_.reserve(kWindow);
}

SessionHost::~SessionHost() = default;

void SessionHost::adopt(std::unique_ptr<io::Accepted> connection) {
  const uint64_t id = world_.next_id.fetch_add(1, std::memory_order_relaxed);
  auto session = std::make_unique<Session>(*this, id, now_ms());
  Session& taken = *session;
  sessions_.emplace(id, std::move(session));
  taken.attach(loop_.adopt(std::move(connection), taken));
  if (taken.stream() == nullptr) {
    sessions_.erase(id);
    return;
  }
  stats_.connections_received++;
  world_.connected.fetch_add(1, std::memory_order_relaxed);
  if (world_.options.keepalive_seconds > 0) {
    taken.stream()->set_keepalive(static_cast<int>(world_.options.keepalive_seconds));
  }
  if (!world_.options.password.empty()) taken.caller().reasons |= Caller::kNotAuthenticated;
  if (world_.options.protected_mode && world_.options.password.empty() &&
      !taken.stream()->is_loopback()) {
    taken.send(
        "-DENIED Sorrel runs in protected mode: no password is set for the default user, so only "
        "loopback connections are served. Set a password with requirepass, or turn protected-mode "
        "off, from the machine itself.\r\n");
    taken.close_soon(true);
    world_.rejected.fetch_add(1, std::memory_order_relaxed);
  }
}

void SessionHost::turn_away(std::unique_ptr<io::Accepted> connection, std::string_view error) {
  const uint64_t id = world_.next_id.fetch_add(1, std::memory_order_relaxed);
  auto session = std::make_unique<Session>(*this, id, now_ms());
  Session& taken = *session;
  sessions_.emplace(id, std::move(session));
  taken.attach(loop_.adopt(std::move(connection), taken));
  world_.rejected.fetch_add(1, std::memory_order_relaxed);
  if (taken.stream() == nullptr) {
    sessions_.erase(id);
    return;
  }
  world_.connected.fetch_add(1, std::memory_order_relaxed);
  taken.send(error);
  taken.close_soon(true);
}

void SessionHost::begin_turn(int64_t now_ms) {
  executor_.begin_batch(now_ms);
}

void SessionHost::queue(Session& session) {
  if (out_.size() == session.unsent_begin_) return;
  slices_.push_back({&session, session.unsent_begin_, out_.size()});
  session.unsent_begin_ = out_.size();
}

void SessionHost::release_replies() {
  // Sessions may be killed while this runs, but none is freed: that happens inside poll().
  for (size_t i = 0; i < slices_.size(); i++) {
    const Slice slice = slices_[i];
    Session* session = slice.session;
    if (slice.end > slice.begin && (!session->closing_ || session->close_flush_)) {
      stats_.writes++;
      stats_.output_bytes += slice.end - slice.begin;
      session->stream_->send(out_.view(slice.begin, slice.end));
      enforce_output_limit(*session);
    }
  }
  // Closing comes after every slice of the turn has been sent.
  for (const Slice& slice : slices_) {
    Session* session = slice.session;
    if (session->closing_) session->stream_->close(session->close_flush_);
  }
  slices_.clear();
  out_.clear(kScratchKept);
}

void SessionHost::enforce_output_limit(Session& session) {
  const size_t pending = session.output_bytes();
  const OutputBound& bound = world_.options.normal_output;
  bool over = bound.hard_bytes > 0 && pending > bound.hard_bytes;
  if (!session.caller_.authenticated() && pending > kUnauthenticatedOutputLimit) over = true;
  if (bound.soft_bytes > 0 && pending > bound.soft_bytes) {
    if (session.over_soft_limit_since_ms_ == 0) session.over_soft_limit_since_ms_ = now_ms();
    if (now_ms() - session.over_soft_limit_since_ms_ > bound.soft_seconds * 1000) over = true;
  } else {
    session.over_soft_limit_since_ms_ = 0;
  }
  if (!over || session.closing_) return;
  stats_.output_limit_closes++;
  world_.log.warning("Client id=" + std::to_string(session.id()) +
                     " addr=" + session.stream_->peer_address() +
                     " scheduled to be closed ASAP for overcoming of output buffer limits.");
  session.close_soon(false);
}

void SessionHost::forget(Session& session) {
  if (session.suspended_) suspended_--;
  if (session.monitoring_) {
    // The count of monitors is everybody's.
    executor_.exclusively([&] { session.set_monitoring(false); });
  }
  world_.connected.fetch_sub(1, std::memory_order_relaxed);
  session.stream_ = nullptr;
  sessions_.erase(session.id());
}

void SessionHost::cron(int64_t now_ms) {
  if (cron_round_.empty()) {
    for (const auto& [id, session] : sessions_) cron_round_.push_back(id);
  }
  size_t looks = std::max(kCronSessions, sessions_.size() / 10);
  for (; looks > 0 && !cron_round_.empty(); looks--) {
    Session* session = find(cron_round_.back());
    cron_round_.pop_back();
    if (session != nullptr) session->check_limits(now_ms);
  }
}

void SessionHost::resume_postponed() {
  if (suspended_ == 0) return;
  std::vector<uint64_t> waiting;
  for (const auto& [id, session] : sessions_) {
    if (session->suspended_) waiting.push_back(id);
  }
  // In the order they came, as far as ids tell.
  std::sort(waiting.begin(), waiting.end());
  for (uint64_t id : waiting) {
    Session* session = find(id);
    if (session != nullptr && session->suspended_ && !session->closing_) session->resume();
  }
}

void SessionHost::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mailbox_mutex_);
    mailbox_.push_back(std::move(task));
  }
  loop_.wake();
}

void SessionHost::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mailbox_mutex_);
    tasks.swap(mailbox_);
  }
  for (const auto& task : tasks) task();
}

Session* SessionHost::find(uint64_t id) const {
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? nullptr : at->second.get();
}

void SessionHost::for_each(const std::function<void(Session&)>& visit) const {
  for (const auto& [id, session] : sessions_) visit(*session);
}

size_t SessionHost::memory_bytes() const {
  size_t bytes = out_.capacity();
  for (const auto& [id, session] : sessions_) bytes += session->memory_bytes();
  return bytes;
}

size_t SessionHost::evict_largest() {
  Session* largest = nullptr;
  for (const auto& [id, session] : sessions_) {
    if (session->closing_ || session->caller_.no_evict) continue;
    if (largest == nullptr || session->memory_bytes() > largest->memory_bytes()) {
      largest = session.get();
    }
  }
  if (largest == nullptr) return 0;
  const size_t bytes = largest->memory_bytes();
  stats_.evicted++;
  world_.log.notice("Evicting client: id=" + std::to_string(largest->id()) +
                    " addr=" + largest->stream_->peer_address());
  largest->close_soon(false);
  return bytes;
}

}  // namespace sorrel
