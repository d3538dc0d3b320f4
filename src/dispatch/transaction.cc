#include "dispatch/transaction.h"

namespace sorrel {
namespace {

// A connection that has run a transaction keeps its buffers for the next one, if they are small.
constexpr size_t kKeepBytes = 1024;
constexpr size_t kKeepItems = 64;

template <class Container>
void forget(Container& container, size_t keep) {
  if (container.capacity() > keep) {
    Container().swap(container);
  } else {
    container.clear();
  }
}

}  // namespace

void Transaction::close() {
  open_ = aborted_ = false;
  flags_ = 0;
  common_flags_ = ~uint64_t{0};
  forget(bytes_, kKeepBytes);
  forget(ends_, kKeepItems);
  forget(commands_, kKeepItems);
  forget(views_, kKeepItems);
  forget(queued_, kKeepItems);
}

void Transaction::queue(const Command& command, std::span<const std::string_view> args) {
  for (const std::string_view arg : args) {
    bytes_ += arg;
    ends_.push_back(bytes_.size());
  }
  commands_.push_back({&command, args.size()});
  const uint64_t acts = command.acts(args);
  flags_ |= acts;
  common_flags_ &= acts;
}

std::span<const Transaction::Queued> Transaction::commands() {
  views_.clear();
  queued_.clear();
  const std::string_view all = bytes_;
  size_t begin = 0;
  for (const size_t end : ends_) {
    views_.push_back(all.substr(begin, end - begin));
    begin = end;
  }
  const std::string_view* at = views_.data();
  for (const Place& place : commands_) {
    queued_.push_back({place.command, {at, place.arguments}});
    at += place.arguments;
  }
  return queued_;
}

// Memory of a watched key, with its entry in the list of all watchers; names are mostly short.
constexpr size_t kWatchedKeyBytes = sizeof(Watcher::Key) + 96;

size_t Transaction::memory_bytes() const {
  return bytes_.size() + ends_.capacity() * sizeof(size_t) + commands_.capacity() * sizeof(Place) +
         views_.capacity() * sizeof(std::string_view) + queued_.capacity() * sizeof(Queued) +
         watcher.keys().size() * kWatchedKeyBytes;
}

}  // namespace sorrel
