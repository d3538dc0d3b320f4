#include "session/session.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "resp/reply_writer.h"
#include "resp/short_request.h"
#include "session/access.h"
#include "session/client_eviction.h"
#include "session/client_list.h"
#include "session/session_host.h"

namespace sorrel {
namespace {

// A peer that is to be closed gets this long to take a byte of what it was answered.
constexpr int64_t kFlushPatienceMs = 60'000;
constexpr int64_t kWebRequestLogMs = 60'000;
// Bytes of messages that a client with client-side caching may leave unread while no limit is
// configured: some hundred thousand keys, which are cheaper to forget all at once.
constexpr size_t kUnreadInvalidations = 16 * 1024 * 1024;
// A wait may be as long as the clock counts; its timer looks again now and then.
constexpr int64_t kLongestTimerMs = 60 * 60 * 1000;

// The command as statistics name it; the container's own word is not enough for CLIENT LIST.
const Command* named_command(const Request& request) {
  const Command* command = request.command;
  if (command == nullptr || command->subcommands.empty() || request.args.size() < 2) return command;
  return command->subcommand(request.args[1]);
}

}  // namespace

Session::Session(SessionHost& host, uint64_t id, int64_t now_ms)
    : host_(host), created_ms_(now_ms), last_use_ms_(now_ms) {
  caller_.id = id;
  caller_.may_wait = true;
  caller_.protocol = host.world_.options.default_protocol;
  caller_.session = this;
  caller_.transaction = &transaction_;
  become_default();
}

void Session::attach(io::Stream* stream) {
  stream_ = stream;
}

void Session::on_data(std::string_view bytes) {
  if (closing_) return;
  host_.executor_.pause();
  if (closing_) return;  // killed by who waited for that
  if (host_.has_messages()) [[unlikely]]
    host_.deliver_messages();
  host_.stats_.reads++;
  host_.stats_.input_bytes += bytes.size();
  last_use_ms_ = host_.now_ms();
  if (held_.empty() && waiter_ == nullptr) {
    const size_t used = process(bytes);
    if (used < bytes.size() && !closing_) held_.append(bytes.substr(used));
  } else {
    held_.append(bytes);
    watch_memory();
    if (rest_ != Rest::kNone) read_or_not();
    // An argument that is complete now is too long all the same.
    enforce_query_limit(parser_.argument_bytes(held_.size()));
    run_held();
  }
  // While it rests it is not read on, and Redis would have parsed what is there.
  enforce_query_limit(suspended_ || rest_ != Rest::kNone ? 0 : unparsed_bytes());
  if (!closing_) watch_memory();
  if (closing_) {
    held_.clear();
    parser_.reset();
  }
  host_.release_in_passing(*this);
}

void Session::run_held() {
  if (closing_ || suspended_ || waiter_ != nullptr || held_.empty()) return;
  held_.consume(process(held_.view()));
}

// As in Redis, arguments that are parsed have left the query buffer, also those of a request that
// is not complete.
size_t Session::unparsed_bytes() const {
  return held_.size() - std::min(held_.size(), parser_.understood());
}

void Session::enforce_query_limit(size_t unparsed) {
  if (closing_) return;
  const auto limit = static_cast<size_t>(host_.world_.options.query_buffer_limit);
  // Queued commands count as well: they have not run.
  if (unparsed + transaction_.argument_bytes() <= limit &&
      (caller_.authenticated() || held_.size() <= kUnauthenticatedQueryLimit)) {
    return;
  }
  host_.stats_.query_limit_closes++;
  host_.world_.log.warning("Closing client that reached max query buffer length: " +
                           client_line(*this, host_.now_ms()));
  close_soon(false);
}

void Session::suspend() {
  suspended_ = true;
  host_.suspended_++;
  read_or_not();
  host_.wait_for_pause_end();
}

void Session::resume() {
  if (!suspended_) return;
  suspended_ = false;
  host_.suspended_--;
  read_or_not();
  run_held();
}

// Runs what is complete in `bytes`; returns how much of it is done with.
size_t Session::process(std::string_view bytes) {
  host_.begin_running(*this, bytes.size());
  size_t at = 0;
  while (at < bytes.size() && !closing_ && !suspended_ && waiter_ == nullptr &&
         rest_ == Rest::kNone) {
    if (host_.share_is_used()) [[unlikely]] {
      rest(Rest::kUntilNextTurn);
      break;
    }
    const size_t next = run_window(bytes, at);
    if (host_.durability_.holds()) [[unlikely]]
      host_.note_needs(*this);
    if (next == at) break;
    at = next;
  }
  host_.end_running();
  return at;
}

// Parses requests from `end` on, which moves behind the last complete one. False: what stands there
// is no request.
bool Session::parse_window(std::string_view bytes, size_t& end) {
  resp::RequestLimits limits;
  limits.max_bulk = host_.world_.options.max_bulk;
  limits.authenticated = caller_.authenticated();
  // AUTH changes what the next request may be, so nothing is parsed ahead of it.
  const size_t window = limits.authenticated ? SessionHost::kWindow : 1;
  resp::ArgList& args = host_.args_;
  Request* const requests = host_.requests_.data();
  args.clear();
  host_.inline_store_.clear();
  // All arguments of short requests fit, so the list moves only when an unusual one is read.
  const std::string_view* const base = args.reserve(SessionHost::kWindow * resp::kShortArguments);
  size_t parsed = 0;
  bool sound = true;
  while (parsed < window) {
    if (!parser_.unfinished()) {
      parsed = parse_short_ones(bytes, end, parsed, window);
      if (parsed == window) break;
    }
    const size_t first = args.size();
    const auto outcome = parser_.next(bytes.substr(end), limits, args, host_.inline_store_);
    if (outcome != resp::RequestParser::Outcome::kRequest) {
      sound = outcome == resp::RequestParser::Outcome::kNeedMore;
      break;
    }
    end += parser_.consumed();
    if (args.size() == first) continue;
    requests[parsed].args = args.from(first);
    requests[parsed].as_sent = false;
    requests[parsed++].end = end;
    args.reserve((window - parsed) * resp::kShortArguments);
  }
  if (args.data() != base) {
    // It has moved; the lengths are right all the same.
    const std::string_view* at = args.data();
    for (size_t i = 0; i < parsed; i++) {
      requests[i].args = {at, requests[i].args.size()};
      at += requests[i].args.size();
    }
  }
  host_.window_ = parsed;
  return sound;
}

// The usual requests from `end` on, as many as come one after the other, into the window from
// `parsed` on; returns how many it holds then. Precondition: the list of arguments has room for a
// window of them.
inline size_t Session::parse_short_ones(std::string_view bytes, size_t& end, size_t parsed,
                                        size_t window) {
  const char* at = bytes.data() + end;
  const char* const stop = bytes.data() + bytes.size();
  std::string_view* const first = host_.args_.reserve(0);
  std::string_view* place = first;
  while (parsed < window) {
    size_t count = 0;
    const char* const after = resp::read_short_request(at, stop, place, count);
    if (after == nullptr) break;
    at = after;
    Request& request = host_.requests_[parsed++];
    request.args = {place, count};
    request.as_sent = true;
    request.end = static_cast<size_t>(at - bytes.data());
    place += count;
  }
  end = static_cast<size_t>(at - bytes.data());
  host_.args_.advance(static_cast<size_t>(place - first));
  return parsed;
}

// Parses up to a window of requests, then runs them. Returns where the next one starts: `at` itself
// when there was no complete one.
size_t Session::run_window(std::string_view bytes, size_t at) {
  const EffectLog::Lender lender(host_.executor_.effects());
  size_t end = at;
  const bool sound = parse_window(bytes, end);
  const std::span<Request> requests(host_.requests_.data(), host_.window_);
  const auto look =
      requests.size() > 1 ? RequestPreparer::Look::kAhead : RequestPreparer::Look::kNot;
  host_.executor_.requests().prepare(requests, caller_.db, look);
  if (look == RequestPreparer::Look::kAhead) {
    for (Request& request : requests) RequestPreparer::prefetch(request);
  }
  bool goes_on = false;
  const size_t done = run_requests(requests, at, goes_on);
  if (end - at >= host_.world_.options.large_request_bytes) [[unlikely]]
    note_large_requests(requests, at, done);
  if (!goes_on) return done;
  if (!requests.empty()) last_command_ = named_command(requests.back());
  if (!sound) protocol_error();
  return end;
}

// Returns where the first one begins that did not run. Those behind may run if `goes_on`.
[[gnu::always_inline]] inline size_t Session::run_requests(std::span<const Request> requests,
                                                           size_t at, bool& goes_on) {
  for (const Request& request : requests) {
    const size_t mark = host_.out_.size();
    const Executor::Outcome outcome = execute_one(request, mark);
    if (outcome == Executor::Outcome::kDoneLate) [[unlikely]] {
      if (request.end < host_.running_.bytes && host_.share_is_used()) {
        rest(Rest::kUntilNextTurn);
        host_.bound_at_ = 0;  // which is where it shows
      }
    } else if (outcome != Executor::Outcome::kDone) [[unlikely]] {
      parser_.reset();  // what is behind it is read again later, or it itself when it was postponed
      if (outcome == Executor::Outcome::kPostponed) return at;
      last_command_ = named_command(request);
      host_.bound_scratch(mark);
      return request.end;
    }
    at = request.end;
    if (host_.out_.size() >= host_.bound_at_) [[unlikely]] {
      host_.bound_scratch(mark);
      if (rest_ != Rest::kNone) {
        parser_.reset();
        last_command_ = named_command(request);
        return at;
      }
    }
    if (closing_) return at;
  }
  goes_on = true;
  return at;
}

[[gnu::always_inline]] inline Executor::Outcome Session::execute_one(const Request& request,
                                                                     size_t mark) {
  if (request.command == nullptr && refuse_web_request(request)) return Executor::Outcome::kDone;
  host_.running_.request = &request;
  const bool skip = skip_next_reply_;
  if (skip) [[unlikely]] {
    skip_next_reply_ = false;
    afterwards_ |= kSilent;
  }
  const Executor::Outcome outcome = host_.executor_.execute(request, caller_, host_.writer_);
  if (outcome <= Executor::Outcome::kDoneLate) [[likely]] {
    if (afterwards_ != 0) [[unlikely]]
      finish_request(mark);
  } else if (outcome == Executor::Outcome::kPostponed) {
    skip_next_reply_ = skip;
    be_heard_again();
    suspend();
  } else {
    start_waiting();
    push_held();  // they lie in scratch, and its answer may come much later
  }
  return outcome;
}

void Session::note_large(ExecutionObserver::Large what, const Request& request, size_t bytes) {
  ExecutionObserver* observer = host_.executor_.world().observer;
  // Who has not said who it is cannot fill a log.
  if (observer == nullptr || !caller_.authenticated()) return;
  const Command* command = named_command(request);
  if (command == nullptr || command->has(catalog::kSkipSlowlog)) return;
  observer->on_large(what, caller_, *command, request.args, bytes);
}

// Those that have run: `begin` is where the first of `requests` begins, `end` where the last of
// them ends.
void Session::note_large_requests(std::span<const Request> requests, size_t begin, size_t end) {
  const uint64_t large = host_.world_.options.large_request_bytes;
  for (const Request& request : requests) {
    if (request.end > end) return;
    const size_t bytes = request.end - begin;
    if (bytes >= large) note_large(ExecutionObserver::Large::kRequest, request, bytes);
    begin = request.end;
  }
}

void Session::finish_request(size_t mark) {
  if (silent()) {
    host_.drop_replies(mark);
    be_heard_again();
  }
  if ((afterwards_ & kException) != 0) end_exception();
  push_held();
}

void Session::push_held() {
  if ((afterwards_ & kPushed) == 0) return;
  afterwards_ &= ~unsigned{kPushed};
  host_.queue_running();
  for (const Piece& piece : host_.held_pieces_) host_.add_slice(*this, piece);
  host_.held_pieces_.clear();
}

// A browser can be made to send anything in the body of a request, but not to leave out these
// words before it. Nothing behind them is run.
bool Session::refuse_web_request(const Request& request) {
  const std::string_view word = request.args[0];
  if (!iequals(word, "POST") && !iequals(word, "Host:")) return false;
  const int64_t now_ms = host_.now_ms();
  if (now_ms - host_.web_request_logged_ms_ > kWebRequestLogMs) {
    host_.web_request_logged_ms_ = now_ms;
    host_.world_.log.warning(
        "Possible SECURITY ATTACK: a web request was sent to this port, perhaps by a browser that "
        "was made to. Connection from " +
        stream_->peer_address() + " aborted.");
  }
  close_soon(false);
  return true;
}

void Session::protocol_error() {
  if (reply_mode_ == ReplyMode::kOn && !skip_next_reply_) {
    host_.writer_.error("ERR " + std::string(parser_.error()));
  }
  host_.world_.log.verbose("Protocol error (" + std::string(parser_.error()) +
                           ") from client: " + client_line(*this, host_.now_ms()));
  close_soon(true);
}

void Session::send(std::string_view bytes) {
  if (closing_) return;
  if (host_.running_.session == this) host_.queue_running();
  resp::OutputBuffer& buffer = host_.pushed_[0];
  const size_t begin = buffer.size();
  buffer.append(bytes);
  host_.add_slice(*this, {&buffer, begin, buffer.size()});
}

// A little may wait whatever the limits are, and is judged when it is sent.
bool Session::admits_push(size_t bytes) {
  unsent_pushes_ += bytes;
  if (unsent_pushes_ <= SessionHost::kReplyBuffer) [[likely]]
    return true;
  if (over_limit_ || closing_) return false;
  const OutputLimit& bound = host_.output_bound(*this);
  if (bound.hard_bytes == 0 || output_bytes() + unsent_pushes_ <= bound.hard_bytes) return true;
  over_limit_ = true;
  host_.over_limit_.push_back(this);
  return false;
}

bool Session::admits_invalidation() {
  if (missed_invalidations_) return false;
  if (unsent_pushes_ + unread_pushes_ <= kUnreadInvalidations && !host_.pushed_too_much())
      [[likely]]
    return true;
  const OutputLimit& bound = host_.output_bound(*this);
  if (bound.hard_bytes != 0 || bound.soft_bytes != 0) return true;
  // A client that reads all the time may never have read everything.
  const size_t unread = std::min(unread_pushes_, output_bytes());
  if (unsent_pushes_ + unread <= kUnreadInvalidations && !host_.pushed_too_much()) return true;
  missed_invalidations_ = true;
  host_.make_up_invalidations(*this);
  return false;
}

void Session::push(const Piece& piece) {
  if (!admits_push(piece.end - piece.begin)) [[unlikely]]
    return;
  if (host_.running_.session != this) {
    host_.add_slice(*this, piece);
  } else if (host_.running_.in_request) {
    afterwards_ |= kPushed;
    host_.held_pieces_.push_back(piece);
  } else {
    host_.queue_running();
    host_.add_slice(*this, piece);
  }
}

void Session::set_tracking(std::unique_ptr<TrackingState> state) {
  tracking_ = std::move(state);
  if (tracking_ != nullptr) {
    caller_.reasons |= Caller::kTracking;
  } else {
    caller_.reasons &= ~uint32_t{Caller::kTracking};
  }
}

void Session::make_next_an_exception() {
  tracking_->caching = true;
  afterwards_ |= kException;
}

// A whole transaction counts as one request, and CLIENT as none.
void Session::end_exception() {
  const Command* command = host_.running_.request->command;
  if ((caller_.reasons & Caller::kInTransaction) != 0) return;
  if (command != nullptr && command->name == "client") return;
  afterwards_ &= ~unsigned{kException};
  if (tracking_ != nullptr) tracking_->caching = false;
}

void Session::push_own(const Piece& piece) {
  if (waiter_ == nullptr) return push(piece);
  after_wait_ += piece.buffer->view(piece.begin, piece.end);
}

Listening& Session::start_listening() {
  if (listening_ == nullptr) {
    listening_ = std::make_unique<Listening>();
    host_.listening_++;
    note_subscribed();
  }
  return *listening_;
}

void Session::stop_listening_to_nothing() {
  if (listening_ == nullptr || listening_->total() != 0) return;
  listening_.reset();
  host_.listening_--;
  note_subscribed();
}

// Who listens by the old protocol cannot tell answers from messages, and may ask for little.
void Session::note_subscribed() {
  if (listening_ != nullptr && caller_.protocol == 2) {
    caller_.reasons |= Caller::kSubscribed;
  } else {
    caller_.reasons &= ~uint32_t{Caller::kSubscribed};
  }
}

void Session::close_soon(bool flush) {
  if (closing_ && (flush || !close_flush_)) return;
  // Nobody may take elements out for it any more.
  if (waiter_ != nullptr) host_.executor_.world().waiters->abandon(waiter_);
  closing_ = true;
  close_flush_ = flush;
  host_.world_.pubsub.unsubscribe_all(*this);
  host_.end_soon(*this);
}

void Session::kill() {
  // Its worker is outside its batch, or is the caller; the lists of its turn are its own, and it
  // may be asleep. So it is woken and ends the stream when it comes to its mail.
  if (waiter_ != nullptr) host_.executor_.world().waiters->abandon(waiter_);
  closing_ = true;
  close_flush_ = false;
  host_.world_.pubsub.unsubscribe_all(*this);
  host_.post([host = &host_, id = id()] {
    Session* session = host->find(id);
    if (session != nullptr) host->end_soon(*session);
  });
}

void Session::on_drained() {
  host_.note_output_empty(*this);
  last_use_ms_ = host_.now_ms();
  if (rest_ == Rest::kUntilTaken) go_on();
}

void Session::start_waiting() {
  waiter_ = host_.executor_.blocked().take_blocked();
  host_.waiting_++;
  if (waiter_->log_sequence != 0) host_.add_log_waiter(waiter_);
  if (waiter_->deadline_ms == 0) return;
  const int64_t rest_ms = waiter_->deadline_ms - host_.now_ms();
  wait_timer_ = host_.loop_.add_timer(std::clamp<int64_t>(rest_ms, 1, kLongestTimerMs),
                                      [this] { time_is_up(); });
}

void Session::time_is_up() {
  wait_timer_ = 0;
  if (closing_) return;
  const int64_t rest_ms = waiter_->deadline_ms - host_.now_ms();
  // Not yet, or somebody serves it at this very moment: look again.
  if (rest_ms > 0 || !host_.executor_.world().waiters->cancel(waiter_)) {
    wait_timer_ = host_.loop_.add_timer(std::clamp<int64_t>(rest_ms, 1, kLongestTimerMs),
                                        [this] { time_is_up(); });
    return;
  }
  resp::OutputBuffer out;
  resp::ReplyWriter reply(out, caller_.protocol);
  write_end_of_wait(reply);
  host_.executor_.blocked().count_unblocked(*waiter_, {});
  answer_waiting(waiter_, out.view());
}

// What it is told that nothing has come for it.
void Session::write_end_of_wait(resp::ReplySink& reply) const {
  if (waiter_->log_sequence == 0) {
    return waiter_->null_array ? reply.null_array() : reply.null();
  }
  reply.array(2);
  reply.integer(host_.durability_.covers(waiter_->log_sequence) ? 1 : 0);
  reply.integer(0);
}

// Whatever becomes of it: no timer, no list, no count.
void Session::stop_waiting() {
  if (waiter_ == nullptr) return;
  if (wait_timer_ != 0) host_.loop_.cancel_timer(std::exchange(wait_timer_, 0));
  host_.executor_.world().waiters->abandon(waiter_);
  waiter_.reset();
  host_.waiting_--;
}

void Session::answer_waiting(const BlockedClients::Handle& waiter, std::string_view reply) {
  // It may have closed, or waited for something else, since this was sent on its way.
  if (waiter_ == nullptr || waiter_->ticket != waiter->ticket || closing_) return;
  stop_waiting();
  host_.note_needs_of_latest(*this);
  if (!silent()) send(reply);
  if (!after_wait_.empty()) send(std::exchange(after_wait_, {}));
  be_heard_again();
  last_use_ms_ = host_.now_ms();
  run_held();
}

bool Session::end_wait(bool with_error) {
  if (waiter_ == nullptr || closing_) return false;
  if (!host_.executor_.world().waiters->cancel(waiter_)) return false;
  resp::OutputBuffer out;
  resp::ReplyWriter reply(out, caller_.protocol);
  if (with_error) {
    reply.error("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  } else {
    write_end_of_wait(reply);
  }
  host_.post([host = &host_, waiter = waiter_, text = std::string(out.view()), with_error] {
    host->executor_.blocked().count_unblocked(*waiter, with_error ? "UNBLOCKED" : "");
    if (Session* session = host->find(waiter->caller.id)) session->answer_waiting(waiter, text);
  });
  return true;
}

void Session::leave_transaction() {
  transaction_.close();
  caller_.reasons &= ~uint32_t{Caller::kInTransaction};
  if (ChangeHub* hub = host_.executor_.world().hub) hub->watches().clear(transaction_.watcher);
}

void Session::on_close(io::CloseReason) {
  run_last_input();
  stop_waiting();
  leave_transaction();
  host_.forget(*this);
}

void Session::set_protocol(int protocol) {
  caller_.protocol = protocol;
  note_subscribed();
  if (host_.running_.session == this) host_.writer_.set_protocol(protocol);
}

void Session::set_reply_mode(ReplyMode mode) {
  reply_mode_ = mode;
  skip_next_reply_ = false;
  be_heard_again();
}

void Session::set_monitoring(bool on) {
  if (monitoring_ == on) return;
  monitoring_ = on;
  SessionWorld& world = host_.world_;
  world.monitors += on ? 1 : -1;
  if (on) {
    // Who only looks on has to see what happens while everybody else waits.
    caller_.reasons |= Caller::kExemptFromPause;
    host_.monitors_.push_back(this);
  } else {
    caller_.reasons &= ~uint32_t{Caller::kExemptFromPause};
    std::erase(host_.monitors_, this);
  }
  if (world.monitors > 0) {
    world.node.reasons |= NodeState::kMonitored;
  } else {
    world.node.reasons &= ~uint32_t{NodeState::kMonitored};
  }
}

void Session::log_in(acl::AccountHandle account) {
  caller_.account = std::move(account);
  logged_in_ = true;
  refresh_rights();
}

void Session::on_peer_named(std::span<const std::string> names) {
  const SessionWorld& world = host_.world_;
  for (const std::string& shown : names) {
    acl::AccountHandle account = world.users.find(shown);
    if (account == nullptr || !account->user().enabled) continue;
    log_in(std::move(account));
    return;
  }
  // It stays who everybody is at first; AUTH is still open to it.
  note_denial(host_.world_, caller_,
              {.reason = acl::Reason::kCertificate, .user = names.empty() ? "" : names.front()});
}

void Session::become_default() {
  const acl::Users& users = host_.world_.users;
  caller_.account = users.default_account();
  logged_in_ = !users.default_user().needs_password();
  refresh_rights();
}

void Session::refresh_rights() {
  const bool needs_password = host_.world_.users.default_user().needs_password();
  caller_.set_reason(Caller::kNotAuthenticated, !logged_in_ && needs_password);
  caller_.set_reason(Caller::kRestricted, caller_.account->user().restricted());
}

void Session::reset_state() {
  host_.world_.pubsub.unsubscribe_all(*this);
  host_.world_.tracking.disable(*this);
  set_monitoring(false);
  missed_invalidations_ = false;
  leave_transaction();
  set_protocol(host_.world_.options.default_protocol);
  caller_.db = 0;
  caller_.no_touch = caller_.no_evict = false;
  become_default();
  name.clear();
  set_reply_mode(ReplyMode::kOn);
}

const Command* Session::last_command() const {
  const SessionHost::Running& running = host_.running_;
  const bool runs = running.session == this && running.request != nullptr;
  return runs ? named_command(*running.request) : last_command_;
}

size_t Session::query_bytes() const {
  return host_.running_.session == this ? host_.running_.bytes : unparsed_bytes();
}

size_t Session::argument_bytes() const {
  size_t bytes = parser_.memory_bytes();
  if (host_.running_.session == this && host_.running_.request != nullptr) {
    for (const std::string_view arg : host_.running_.request->args) bytes += arg.size();
  }
  if (waiter_ != nullptr) bytes += waiter_->argument_bytes();
  return bytes;
}

size_t Session::output_bytes() const {
  const size_t kept = kept_replies_ == nullptr ? 0 : kept_replies_->size();
  return stream_ == nullptr ? 0 : stream_->pending_bytes() + kept;
}

size_t Session::output_memory_bytes() const {
  const size_t kept = kept_replies_ == nullptr ? 0 : kept_replies_->capacity();
  return stream_ == nullptr ? 0 : stream_->buffer_bytes() + kept;
}

size_t Session::memory_bytes() const {
  return sizeof(Session) + held_.memory_bytes() + parser_.memory_bytes() + name.capacity() +
         library_name.capacity() + library_version.capacity() + transaction_.memory_bytes() +
         output_memory_bytes() + (waiter_ == nullptr ? 0 : waiter_->memory_bytes()) +
         (listening_ == nullptr ? 0 : listening_->memory_bytes()) +
         (tracking_ == nullptr ? 0 : tracking_->memory_bytes());
}

size_t Session::count_memory() {
  const size_t bytes = memory_bytes();
  if (bytes == counted_bytes_) return bytes;
  // Differences below zero wrap around, and so do sums.
  host_.world_.client_bytes.fetch_add(bytes - counted_bytes_, std::memory_order_relaxed);
  counted_bytes_ = bytes;
  return bytes;
}

void Session::watch_memory() {
  SessionWorld& world = host_.world_;
  const uint64_t limit = world.options.max_total_memory;
  if (limit == 0) [[likely]]
    return;
  const size_t before = counted_bytes_;
  if (count_memory() <= before) return;
  if (world.client_bytes.load(std::memory_order_relaxed) <= limit) return;
  host_.executor_.exclusively([&] { evict_clients(world, limit); });
}

bool Session::check_limits(int64_t now_ms) {
  if (closing_) return check_flush(now_ms);
  const SessionOptions& options = host_.world_.options;
  if (options.idle_timeout_seconds > 0 && !monitoring_ && !suspended_ && waiter_ == nullptr &&
      listening_ == nullptr && now_ms - last_use_ms_ > options.idle_timeout_seconds * 1000) {
    host_.world_.log.verbose("Closing idle client");
    close_soon(false);
    return true;
  }
  host_.enforce_output_limit(*this, 0);
  return closing_;
}

// Waiting for a peer to take its last reply must end some time: it may have stopped reading.
bool Session::check_flush(int64_t now_ms) {
  const size_t pending = output_bytes();
  if (pending != flush_bytes_) {
    flush_bytes_ = pending;
    last_use_ms_ = now_ms;
    return false;
  }
  if (now_ms - last_use_ms_ <= kFlushPatienceMs) return false;
  close_soon(false);
  return true;
}

}  // namespace sorrel
