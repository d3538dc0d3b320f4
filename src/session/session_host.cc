#include "session/session_host.h"

#include <algorithm>
#include <string>

#include "session/client_list.h"
#include "session/pause.h"

namespace sorrel {
namespace {

constexpr size_t kScratchKept = 1 << 20;
// Replies gathered beyond this are sent before more requests are run.
constexpr size_t kSendBytes = 256 * 1024;
// In a turn that has sent this much in between nobody is answered more than that: what is left
// comes in the next one, behind the others.
constexpr size_t kTurnBytes = 8 * 1024 * 1024;
// So are they when they are in that many slices.
constexpr size_t kSendSlices = 32 * 1024;
// Who leaves this much lying runs nothing more before it has taken it, unless the configuration
// says how much may wait. Whoever sends many requests at a time and reads only then is none the
// wiser.
constexpr size_t kUntakenBytes = 64 * 1024 * 1024;
// To who monitors, lines come whatever it runs. It is closed when it leaves this much lying, unless
// the configuration says how much may: memory has an end.
constexpr size_t kUntakenLineBytes = 256 * 1024 * 1024;
// Longer pieces are sent from where they are; shorter ones are put together first.
constexpr size_t kLongPiece = 16 * 1024;
// Sessions looked at per cron call, beside a tenth of all: every one is seen about once a second.
constexpr size_t kCronSessions = 20;
// A pause may be as long as the clock counts; its timer looks again now and then.
constexpr int64_t kLongestPauseTimerMs = 60 * 60 * 1000;

}  // namespace

SessionHost::SessionHost(SessionWorld& world, io::Loop& loop, Executor& executor)
    : world_(world),
      loop_(loop),
      executor_(executor),
      durability_(executor.world().effects.durability()),
      writer_(out_, 2),
      topics_(world.pubsub.hasher()) {}

SessionHost::~SessionHost() {
  if (pause_timer_ != 0) loop_.cancel_timer(pause_timer_);
}

// Null when the loop did not want it.
Session* SessionHost::take_in(std::unique_ptr<io::Accepted> connection) {
  const uint64_t id = world_.next_id.fetch_add(1, std::memory_order_relaxed);
  auto session = std::make_unique<Session>(*this, id, now_ms());
  Session& taken = *session;
  sessions_.emplace(id, std::move(session));
  taken.attach(loop_.adopt(std::move(connection), taken));
  if (taken.stream() == nullptr) {
    sessions_.erase(id);
    return nullptr;
  }
  return &taken;
}

void SessionHost::adopt(std::unique_ptr<io::Accepted> connection, Place place) {
  if (place == Place::kNew) world_.connected.fetch_add(1, std::memory_order_relaxed);
  Session* taken = take_in(std::move(connection));
  if (taken == nullptr) {
    world_.connected.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  stats_.connections_received++;
  const SessionOptions& options = world_.options;
  if (options.keepalive_seconds > 0) {
    taken->stream()->set_keepalive(static_cast<int>(options.keepalive_seconds));
  }
  if (options.protected_mode && world_.users.default_user().no_password &&
      !taken->stream()->is_loopback()) {
    taken->send(
        "-DENIED Sorrel runs in protected mode: no password is set for the default user, so only "
        "loopback connections are served. Set a password with requirepass, or turn protected-mode "
        "off, from the machine itself.\r\n");
    taken->close_soon(true);
    world_.rejected.fetch_add(1, std::memory_order_relaxed);
  }
}

void SessionHost::begin_turn(int64_t now_ms) {
  executor_.begin_batch(now_ms);
  turn_bytes_ = 0;
  released_at_ = answered_at_ = executor_.stats().processed;
  first_ones_ = false;
  share_ = {};
  reset_bound();
}

void SessionHost::begin_running(Session& session, size_t bytes) {
  executor_.begin_batch(now_ms());
  if (share_.session != session.id()) share_ = {session.id(), executor_.recorder().last_cycles()};
  writer_.begin(session.caller_.protocol);
  running_ = {&session, bytes, nullptr, out_.size(), true};
}

void SessionHost::end_running() {
  queue_running();
  running_ = {};
}

void SessionHost::queue_running() {
  if (out_.size() == running_.unsent_begin) return;
  add_slice(*running_.session, {&out_, running_.unsent_begin, out_.size()});
  running_.unsent_begin = out_.size();
}

void SessionHost::add_slice(Session& session, const Piece& piece) {
  // Messages may be many for one request.
  if (slices_.size() >= kSendSlices || pushed_[0].size() + pushed_[1].size() > kSendBytes) {
    bound_at_ = 0;
  }
  const auto number = static_cast<uint32_t>(slices_.size() + 1);
  if (session.last_slice_ != 0) {
    Slice& last = slices_[session.last_slice_ - 1];
    if (last.piece.buffer == piece.buffer && last.piece.end == piece.begin) {
      last.piece.end = piece.end;
      return;
    }
    last.next = number;
  }
  slices_.push_back({&session, piece, 0, session.last_slice_ == 0});
  session.last_slice_ = number;
}

Piece SessionHost::write_push(int protocol, std::initializer_list<std::string_view> parts) {
  return write_piece(protocol, [&](resp::ReplyWriter& writer) {
    writer.push(static_cast<int64_t>(parts.size()));
    for (const std::string_view part : parts) writer.bulk(part);
  });
}

void SessionHost::drop_replies(size_t mark) {
  out_.truncate(mark);
  running_.unsent_begin = std::min(running_.unsent_begin, mark);
  // A message to the running session itself may have cut its reply in two.
  for (auto slice = slices_.rbegin(); slice != slices_.rend(); ++slice) {
    Piece& piece = slice->piece;
    if (piece.buffer != &out_) continue;
    if (piece.end <= mark) break;
    piece.begin = std::min(piece.begin, mark);
    piece.end = mark;
  }
}

// What is worth a look, of which a limit for COMMANDLOG may be the least.
void SessionHost::reset_bound() {
  bound_at_ = std::min<uint64_t>(kSendBytes, world_.options.large_reply_bytes);
}

void SessionHost::bound_scratch(size_t mark) {
  const size_t gathered = out_.size() + pushed_[0].size() + pushed_[1].size();
  const size_t reply = out_.size() - std::min(out_.size(), mark);
  if (reply >= world_.options.large_reply_bytes && running_.request != nullptr) {
    running_.session->note_large(ExecutionObserver::Large::kReply, *running_.request, reply);
  }
  reset_bound();
  if (gathered <= kSendBytes && slices_.size() < kSendSlices) return;
  if (writer_.was_cut()) {
    world_.log.warning("Closing client that asked for an endless answer: " +
                       client_line(*running_.session, now_ms()));
    running_.session->close_soon(false);
  }
  queue_running();
  // Its request has ended: broadcasts to it are sent now, too, since the scratch is cleared.
  let_messages_first(true);
  flush_effects();
  let_messages_first(false);
  // The window is not at its end, so nobody knows yet what these tell of.
  note_needs_of_latest(*running_.session);
  release_replies();
  running_.unsent_begin = out_.size();
  turn_bytes_ += gathered;
  if (turn_bytes_ > kTurnBytes) running_.session->rest(Session::Rest::kUntilNextTurn);
}

void SessionHost::send_served(uint64_t needed) {
  for (ServeBlocked::Served& served : executor_.blocked().take_served()) {
    SessionHost* host = world_.hosts[served.waiter->worker];
    host->post([host, needed, served = std::move(served)] {
      Session* session = host->find(served.waiter->caller.id);
      if (session == nullptr) return;
      if (host->durability_.durable() < needed) session->needs_ = std::max(session->needs_, needed);
      session->answer_waiting(served.waiter, served.reply);
    });
  }
}

void SessionHost::bound_pushed() {
  if (running_.session != nullptr) return;
  if (pushed_[0].size() + pushed_[1].size() <= kSendBytes && slices_.size() < kSendSlices) return;
  flush_effects();
  release_replies();
}

// Sessions may be closed while this runs, but none is freed: that happens inside poll().
void SessionHost::send_all_slices() {
  for (Session* session : std::exchange(over_limit_, {})) {
    if (!session->killed()) close_over_output_limit(*session);
  }
  if (durability_.holds()) [[unlikely]]
    note_needs_of_messages();
  for (const Slice& slice : slices_) {
    if (slice.first && slice.session != nullptr) send_slices(slice);
  }
  slices_.clear();
}

void SessionHost::release_replies() {
  send_all_slices();
  // Closing comes after every slice of the turn has been sent.
  for (Session* session : ending_) {
    // Who has kept replies ends behind them.
    if (session->kept_replies_ != nullptr && session->close_flush_) continue;
    session->stream_->close(session->close_flush_);
  }
  ending_.clear();
  out_.clear(kScratchKept);
  for (resp::OutputBuffer& buffer : pushed_) buffer.clear(kScratchKept);
}

// Everything that its session gets in this turn, in as few calls as can be.
inline void SessionHost::send_slices(const Slice& first) {
  Session& session = *first.session;
  session.last_slice_ = 0;
  session.unread_pushes_ += std::exchange(session.unsent_pushes_, 0);
  if (session.needs_ != 0 && keep_back(first)) [[unlikely]]
    return;
  if (first.next == 0) [[likely]] {
    return send_now(session, first.piece.buffer->view(first.piece.begin, first.piece.end));
  }
  const Slice* slice = &first;
  while (true) {
    const Piece& piece = slice->piece;
    const std::string_view bytes = piece.buffer->view(piece.begin, piece.end);
    if (bytes.size() >= kLongPiece || joined_.size() + bytes.size() > kSendBytes) {
      send_now(session, joined_.view());
      joined_.clear(kSendBytes);
    }
    if (bytes.size() >= kLongPiece) {
      send_now(session, bytes);
    } else {
      joined_.append(bytes);
    }
    if (slice->next == 0) break;
    slice = &slices_[slice->next - 1];
  }
  send_now(session, joined_.view());
  joined_.clear(kSendBytes);
}

inline void SessionHost::send_now(Session& session, std::string_view bytes) {
  if (bytes.empty() || session.killed()) return;
  // Who is answered more than it may have waiting is closed without any of it.
  if (bytes.size() > kReplyBuffer) [[unlikely]] {
    enforce_output_limit(session, bytes.size());
    if (session.killed()) return;
  }
  stats_.writes++;
  stats_.output_bytes += bytes.size();
  session.stream_->send(bytes);
  enforce_output_limit(session, 0);
}

// What was kept back may go; see kept_replies.cc.
void SessionHost::let_go(Session& session) {
  const std::unique_ptr<std::string> replies = std::move(session.kept_replies_);
  session.needs_ = 0;
  send_now(session, *replies);
  if (session.killed()) return;
  if (session.closing_) {
    session.stream_->close(true);
    return;
  }
  session.read_or_not();
  if (session.rest_ == Session::Rest::kUntilTaken && session.stream_->pending_bytes() == 0) {
    session.rest(Session::Rest::kUntilNextTurn);
  }
}

// `more`: what is about to be sent.
void SessionHost::enforce_output_limit(Session& session, size_t more) {
  const size_t pending = session.output_bytes() + more;
  if (pending == 0) [[likely]]
    return note_output_empty(session);
  const OutputLimit& bound = output_bound(session);
  bool over = bound.hard_bytes > 0 && pending > bound.hard_bytes;
  if (!session.caller_.authenticated() && pending - more > kUnauthenticatedOutputLimit) over = true;
  if (bound.soft_bytes > 0 && pending > bound.soft_bytes) {
    if (session.over_soft_limit_since_ms_ == 0) session.over_soft_limit_since_ms_ = now_ms();
    if (now_ms() - session.over_soft_limit_since_ms_ > bound.soft_seconds * 1000) over = true;
  } else {
    session.over_soft_limit_since_ms_ = 0;
  }
  if (pending > kUntakenBytes && bound.hard_bytes == 0 && bound.soft_bytes == 0) [[unlikely]] {
    if (session.monitoring_ && pending - more > kUntakenLineBytes) over = true;
    if (more == 0) session.rest(Session::Rest::kUntilTaken);
  }
  if (session.killed()) return;
  if (over) return close_over_output_limit(session);
  if (more == 0) session.watch_memory();
}

const OutputLimit& SessionHost::output_bound(const Session& session) const {
  return type_of(session) == ClientType::kPubSub ? world_.options.pubsub_output
                                                 : world_.options.normal_output;
}

void SessionHost::close_over_output_limit(Session& session) {
  stats_.output_limit_closes++;
  world_.log.warning("Client " + client_line(session, now_ms()) +
                     " scheduled to be closed ASAP for overcoming of output buffer limits.");
  session.close_soon(false);
}

// In a task of its own, since slices may be being sent now. While output waits, it comes too early:
// note_output_empty() follows.
void SessionHost::make_up_invalidations(Session& session) {
  post([this, id = session.id()] {
    Session* late = find(id);
    if (late == nullptr || late->closing() || !late->missed_invalidations_) return;
    if (late->output_bytes() > 0) return;
    late->missed_invalidations_ = false;
    world_.tracking.forget_all(*late);
  });
}

void SessionHost::forget(Session& session) {
  if (session.suspended_) suspended_--;
  if (session.monitoring_ || session.tracking_ != nullptr) {
    // The count of monitors is everybody's, and so is who tracks.
    executor_.exclusively([&] {
      session.set_monitoring(false);
      world_.tracking.disable(session);
    });
  }
  world_.pubsub.unsubscribe_all(session);
  world_.client_bytes.fetch_sub(session.counted_bytes_, std::memory_order_relaxed);
  for (Slice& slice : slices_) {
    if (slice.session == &session) slice.session = nullptr;
  }
  std::erase(ending_, &session);
  std::erase(over_limit_, &session);
  if (session.kept_replies_ != nullptr) std::erase(kept_back_, &session);
  world_.connected.fetch_sub(1, std::memory_order_relaxed);
  session.stream_ = nullptr;
  sessions_.erase(session.id());
}

void SessionHost::cron(int64_t now_ms) {
  end_pause_when_over(now_ms);
  if (cron_round_.empty()) {
    for (const auto& [id, session] : sessions_) cron_round_.push_back(id);
  }
  size_t looks = std::max(kCronSessions, sessions_.size() / 10);
  for (; looks > 0 && !cron_round_.empty(); looks--) {
    Session* session = find(cron_round_.back());
    cron_round_.pop_back();
    if (session == nullptr) continue;
    session->check_limits(now_ms);
    if (!durability_.holds()) put_first(*session, false);
  }
}

// The state of the node changes for everybody, so whoever sees first that the time has come does it
// alone.
void SessionHost::end_pause_when_over(int64_t now_ms) {
  if (!pause_is_over(world_.node, now_ms)) return;
  executor_.exclusively([&] {
    if (pause_is_over(world_.node, now_ms)) end_pause(world_);
  });
}

void SessionHost::wait_for_pause_end() {
  if (pause_timer_ != 0) return;
  const int64_t rest_ms = world_.node.pause_until_ms - now_ms();
  pause_timer_ = loop_.add_timer(std::clamp<int64_t>(rest_ms, 1, kLongestPauseTimerMs), [this] {
    pause_timer_ = 0;
    end_pause_when_over(now_ms());
    resume_postponed();
  });
}

void SessionHost::resume_postponed() {
  if (suspended_ == 0) return;
  if (pause_timer_ != 0) loop_.cancel_timer(std::exchange(pause_timer_, 0));
  std::vector<uint64_t> waiting;
  for (const auto& [id, session] : sessions_) {
    if (session->suspended_) waiting.push_back(id);
  }
  // In the order they came, as far as ids tell.
  std::sort(waiting.begin(), waiting.end());
  for (uint64_t id : waiting) {
    executor_.pause();
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
  deliver_messages();
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mailbox_mutex_);
    tasks.swap(mailbox_);
  }
  for (const auto& task : tasks) task();
}

void SessionHost::post_invalidation(const Invalidation& word) {
  {
    const std::lock_guard lock(mailbox_mutex_);
    invalidations_.add(word);
    set_message_bit(kInvalidated);
  }
  loop_.wake();
}

void SessionHost::deliver_messages() {
  world_.pubsub.deliver_waiting(*this);
  if (!has(kInvalidated)) return;
  std::vector<Invalidation> words;
  {
    const std::lock_guard lock(mailbox_mutex_);
    words = invalidations_.take();
    clear_message_bit(kInvalidated);
  }
  for (const Invalidation& word : words) {
    world_.tracking.deliver(*this, word);
    bound_pushed();
  }
}

Session* SessionHost::find(uint64_t id) const {
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? nullptr : at->second.get();
}

void SessionHost::for_each(const std::function<void(Session&)>& visit) const {
  for (const auto& [id, session] : sessions_) visit(*session);
}

void SessionHost::send_to_monitors(std::string_view line) {
  for (Session* monitor : monitors_) {
    if (monitor->admits_push(line.size())) monitor->send(line);
  }
}

size_t SessionHost::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& [id, session] : sessions_) bytes += session->memory_bytes();
  return bytes;
}

void SessionHost::evict(Session& session) {
  stats_.evicted++;
  world_.log.notice("Evicting client: " + client_line(session, now_ms()));
  session.kill();
  // It is as good as gone: no key has to give way to it as well.
  world_.client_bytes.fetch_sub(session.counted_bytes_, std::memory_order_relaxed);
  session.counted_bytes_ = 0;
}

}  // namespace sorrel
