#include "session/invalidation_queue.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sorrel {
namespace {

size_t bytes_of(const ForgottenKeys& keys) {
  if (keys == nullptr) return 0;
  size_t bytes = sizeof(*keys);
  for (const std::string& key : *keys) bytes += sizeof(std::string) + key.size();
  return bytes;
}

auto order_of(const Invalidation& word) {
  return std::tuple(word.kind, word.target, word.origin.id);
}

}  // namespace

void InvalidationQueue::add(const Invalidation& word) {
  bytes_ += sizeof(Invalidation);
  // Keys are shared by the readers of one change, which follow each other.
  if (words_.empty() || words_.back().keys != word.keys) bytes_ += bytes_of(word.keys);
  words_.push_back(word);
  if (bytes_ >= full_at_) collapse();
}

std::vector<Invalidation> InvalidationQueue::take() {
  bytes_ = 0;
  full_at_ = kMostBytes;
  return std::exchange(words_, {});
}

// Order matters only among words for one session, and there one of all keys stands for any order.
void InvalidationQueue::collapse() {
  for (Invalidation& word : words_) {
    word.keys = nullptr;
    // The session must hear of it although it may have changed some of the keys itself.
    if (word.kind == Invalidation::Kind::kRead) word.origin = {};
  }
  std::ranges::sort(words_, {}, order_of);
  const auto same = [](const Invalidation& a, const Invalidation& b) {
    return order_of(a) == order_of(b);
  };
  words_.erase(std::unique(words_.begin(), words_.end(), same), words_.end());
  words_.shrink_to_fit();
  bytes_ = words_.size() * sizeof(Invalidation);
  // There may be many sessions: the next time costs as much, so it comes after as many words.
  full_at_ = std::max(kMostBytes, 2 * bytes_);
}

}  // namespace sorrel
