#include "session/session.h"

#include <algorithm>

#include "session/session_host.h"

namespace sorrel {
namespace {

// Replies of one connection above this are sent before more of its requests are run.
constexpr size_t kSendBytes = 256 * 1024;

}  // namespace

Session::Session(SessionHost& host, uint64_t id, int64_t now_ms)
    : host_(host), created_ms_(now_ms), last_use_ms_(now_ms) {
  caller_.id = id;
  caller_.session = this;
}

void Session::attach(io::Stream* stream) {
  stream_ = stream;
}

void Session::on_data(std::string_view bytes) {
  if (closing_) return;
  Executor& executor = host_.executor_;
  executor.pause();
  host_.stats_.reads++;
  host_.stats_.input_bytes += bytes.size();
  last_use_ms_ = host_.now_ms();
  if (held_.empty()) {
    const size_t used = process(bytes);
    if (used < bytes.size() && !closing_) keep(bytes.substr(used));
  } else {
    held_.append(bytes);
    if (!suspended_) resume();
  }
  if (!closing_ && over_query_limit()) {
    host_.stats_.query_limit_closes++;
    host_.world_.log.warning("Closing client that reached max query buffer length: id=" +
                             std::to_string(id()) + " addr=" + stream_->peer_address());
    close_soon(false);
  }
}

void Session::keep(std::string_view rest) {
  held_.assign(rest);
}

bool Session::over_query_limit() const {
  const auto limit = static_cast<size_t>(host_.world_.options.query_buffer_limit);
  if (held_.size() > limit) return true;
  return !caller_.authenticated() && held_.size() > kUnauthenticatedQueryLimit;
}

void Session::resume() {
  if (suspended_) {
    suspended_ = false;
    host_.suspended_--;
    stream_->pause_reading(false);
  }
  const size_t used = process(held_);
  if (used == held_.size()) {
    held_ = std::string();
  } else if (used > 0) {
    held_.erase(0, used);
  }
}

// Runs what is complete in `bytes`; returns how much of it is done with.
size_t Session::process(std::string_view bytes) {
  host_.executor_.begin_batch(host_.now_ms());
  host_.writer_.set_protocol(caller_.protocol);
  unsent_begin_ = host_.out_.size();
  size_t at = 0;
  while (!closing_ && !suspended_) {
    const size_t next = run_window(bytes, at);
    if (next == at) break;
    at = next;
    if (host_.out_.size() - unsent_begin_ > kSendBytes) {
      host_.queue(*this);
      host_.flush_effects();
      host_.release_replies();
      unsent_begin_ = host_.out_.size();
    }
  }
  host_.queue(*this);
  return at;
}

// Parses up to a window of requests, then runs them. Returns where the next one starts: `at` itself
// when there was no complete one.
size_t Session::run_window(std::string_view bytes, size_t at) {
  resp::RequestLimits limits;
  limits.max_bulk = host_.world_.options.max_bulk;
  limits.authenticated = caller_.authenticated();
  // AUTH changes what the next request may be, so nothing is parsed ahead of it.
  const size_t window = limits.authenticated ? SessionHost::kWindow : 1;
  auto& args = host_.args_;
  auto& items = host_.items_;
  args.clear();
  items.clear();
  host_.inline_store_.clear();
  size_t end = at;
  bool broken = false;
  while (items.size() < window) {
    const size_t first = args.size();
    const auto outcome = parser_.next(bytes.substr(end), limits, args, host_.inline_store_);
    if (outcome == resp::RequestParser::Outcome::kNeedMore) break;
    if (outcome == resp::RequestParser::Outcome::kError) {
      broken = true;
      break;
    }
    end += parser_.consumed();
    if (args.size() > first) items.push_back({first, args.size() - first, end});
  }
  auto& requests = host_.requests_;
  requests.clear();
  for (const auto& item : items) {
    requests.push_back(host_.executor_.prepare({args.data() + item.first, item.count}, caller_.db));
  }
  if (requests.size() > 1) {
    for (const Request& request : requests) host_.executor_.prefetch(request, caller_.db);
  }
  for (size_t i = 0; i < items.size(); i++) {
    if (!execute_one(i)) {
      // Postponed: it and everything behind it is read again later.
      parser_.reset();
      return i == 0 ? at : items[i - 1].end;
    }
    if (closing_) return items[i].end;
  }
  if (broken) protocol_error();
  return end;
}

bool Session::execute_one(size_t index) {
  const Request& request = host_.requests_[index];
  if (request.command != nullptr) last_command_ = request.command;
  const size_t mark = host_.out_.size();
  const bool off = reply_mode_ == ReplyMode::kOff;
  const bool skip = std::exchange(skip_next_reply_, false);
  const auto outcome = host_.executor_.execute(request, caller_, host_.writer_);
  if (outcome == Executor::Outcome::kPostponed) {
    skip_next_reply_ = skip;
    suspended_ = true;
    host_.suspended_++;
    stream_->pause_reading(true);
    return false;
  }
  if (skip || (off && reply_mode_ == ReplyMode::kOff)) host_.out_.truncate(mark);
  return true;
}

void Session::protocol_error() {
  host_.writer_.error("ERR " + std::string(parser_.error()));
  host_.world_.log.verbose("Protocol error (" + std::string(parser_.error()) +
                           ") from client: id=" + std::to_string(id()) +
                           " addr=" + stream_->peer_address());
  close_soon(true);
}

void Session::send(std::string_view bytes) {
  if (closing_) return;
  unsent_begin_ = host_.out_.size();
  host_.out_.append(bytes);
  host_.queue(*this);
}

void Session::close_soon(bool flush) {
  if (closing_) {
    close_flush_ = close_flush_ && flush;
    return;
  }
  closing_ = true;
  close_flush_ = flush;
  unsent_begin_ = std::min(unsent_begin_, host_.out_.size());
  host_.slices_.push_back({this, host_.out_.size(), host_.out_.size()});
}

void Session::on_drained() {
  over_soft_limit_since_ms_ = 0;
}

void Session::on_close(io::CloseReason) {
  host_.forget(*this);
}

void Session::set_protocol(int protocol) {
  caller_.protocol = protocol;
  host_.writer_.set_protocol(protocol);
}

void Session::set_monitoring(bool on) {
  if (monitoring_ == on) return;
  monitoring_ = on;
  SessionWorld& world = host_.world_;
  world.monitors += on ? 1 : -1;
  if (world.monitors > 0) {
    world.node.reasons |= NodeState::kMonitored;
  } else {
    world.node.reasons &= ~NodeState::kMonitored;
  }
}

void Session::reset_state(bool authenticated) {
  set_protocol(2);
  caller_.db = 0;
  caller_.no_touch = caller_.no_evict = false;
  caller_.user = "default";
  caller_.reasons = authenticated ? 0u : uint32_t{Caller::kNotAuthenticated};
  name.clear();
  reply_mode_ = ReplyMode::kOn;
  skip_next_reply_ = false;
}

size_t Session::output_bytes() const {
  return stream_ == nullptr ? 0 : stream_->pending_bytes();
}

size_t Session::memory_bytes() const {
  return sizeof(Session) + held_.capacity() + parser_.memory_bytes() + name.capacity() +
         (stream_ == nullptr ? 0 : stream_->buffer_bytes());
}

bool Session::check_limits(int64_t now_ms) {
  if (closing_) return false;
  const SessionOptions& options = host_.world_.options;
  if (options.idle_timeout_seconds > 0 && !monitoring_ && !suspended_ &&
      now_ms - last_use_ms_ > options.idle_timeout_seconds * 1000) {
    host_.world_.log.verbose("Closing idle client");
    close_soon(false);
    return true;
  }
  host_.enforce_output_limit(*this);
  return closing_;
}

}  // namespace sorrel
