#include "io/resolver.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace sorrel::io {
namespace {

// Bounds the addresses of one name; the dropped ones would be tried last.
constexpr size_t kMostAddresses = 64;

Result<SocketAddresses> ask_system(const std::string& host, int port, int flags) {
  if (host.empty() || host.find('\0') != std::string::npos) {
    return Error{std::string("lookup: ") + gai_strerror(EAI_NONAME)};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure == EAI_SYSTEM) return system_error("lookup");
  if (failure != 0) return Error{std::string("lookup: ") + gai_strerror(failure)};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  SocketAddresses addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (addresses.size() == kMostAddresses) break;
    SocketAddress& address = addresses.emplace_back();
    address.size = at->ai_addrlen;
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
  }
  return addresses;
}

}  // namespace

std::optional<SocketAddress> numeric_address(const std::string& host, int port) {
  const Result<SocketAddresses> found = ask_system(host, port, AI_NUMERICHOST);
  if (!found || found->empty()) return std::nullopt;
  return found->front();
}

Result<SocketAddresses> look_up_host(const std::string& host, int port) {
  return ask_system(host, port, 0);
}

struct Resolver::Shared {
  struct Question {
    uint64_t id;
    std::string host;
    int port;
  };

  std::atomic<bool> answered{false};  // since take_answers() was called
  std::mutex mutex;
  // Guarded by mutex.
  std::function<void()> notify;  // empty: the Resolver is gone
  LookUp look_up;
  std::deque<Question> questions;  // the first one is being looked up while the thread runs
  std::vector<Answer> answers;
  bool running = false;

  void answer(uint64_t id, Result<SocketAddresses> addresses) {
    answers.push_back({id, std::move(addresses)});
    answered.store(true, std::memory_order_release);
    if (notify) notify();
  }
};

Resolver::Resolver(std::function<void()> notify, LookUp look_up)
    : shared_(std::make_shared<Shared>()) {
  shared_->notify = std::move(notify);
  shared_->look_up = std::move(look_up);
}

Resolver::~Resolver() {
  const std::lock_guard lock(shared_->mutex);
  shared_->notify = nullptr;
  shared_->questions.clear();
}

void Resolver::set_look_up(LookUp look_up) {
  const std::lock_guard lock(shared_->mutex);
  shared_->look_up = std::move(look_up);
}

void Resolver::ask(uint64_t id, const std::string& host, int port) {
  const std::lock_guard lock(shared_->mutex);
  shared_->questions.push_back({id, host, port});
  if (shared_->running) return;
  try {
    std::thread([shared = shared_] { serve(shared); }).detach();
    shared_->running = true;
  } catch (const std::system_error& failure) {
    shared_->questions.clear();
    shared_->answer(id, system_error("lookup: thread", failure.code().value()));
  }
}

void Resolver::forget(uint64_t id) {
  const std::lock_guard lock(shared_->mutex);
  std::erase_if(shared_->answers, [id](const Answer& answer) { return answer.id == id; });
  std::erase_if(shared_->questions, [id](const auto& question) { return question.id == id; });
}

// Called after every wake(), hardly any of which comes from the resolver; so a flag is checked
// first.
std::vector<Resolver::Answer> Resolver::take_answers() {
  if (!shared_->answered.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(shared_->mutex);
  shared_->answered.store(false, std::memory_order_relaxed);
  return std::exchange(shared_->answers, {});
}

// The resolver's thread.
void Resolver::serve(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->questions.empty()) {
    const Shared::Question question = shared->questions.front();
    const LookUp look_up = shared->look_up;
    lock.unlock();
    Result<SocketAddresses> found = look_up(question.host, question.port);
    lock.lock();
    // Forgotten meanwhile, or all of them.
    if (shared->questions.empty() || shared->questions.front().id != question.id) continue;
    shared->questions.pop_front();
    shared->answer(question.id, std::move(found));
  }
  shared->running = false;
}

}  // namespace sorrel::io
