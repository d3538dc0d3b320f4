#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace sorrel {

class Session;

// What can be listened to. Shard channels are a world of their own: no pattern meets them.
enum class TopicKind : uint8_t { kChannel, kPattern, kShardChannel };
inline constexpr size_t kTopicKinds = 3;

// A channel or pattern with the sessions of one worker that listen to it; there is at least one.
struct Topic {
  std::string name;
  std::vector<Session*> listeners;
};

// What one session listens to. A session has one while that is something.
class Listening {
 public:
  size_t count(TopicKind kind) const { return places_[static_cast<size_t>(kind)].size(); }
  size_t total() const;
  std::vector<std::string> names(TopicKind kind) const;
  size_t memory_bytes() const { return sizeof(Listening) + bytes_; }

 private:
  friend class TopicTable;
  // Where it stands among each topic's listeners, so that leaving takes no search.
  std::array<std::unordered_map<Topic*, size_t>, kTopicKinds> places_;
  size_t bytes_ = 0;  // of its entries, names included
};

// The topics that sessions of one worker listen to.
//
//   name ──> Topic [ session, session, ... ]     sessions leave by trading places with the last:
//                       ^                        a channel of many thousands empties quickly
//   session's Listening ┘ position
//
// Thread rule: changed by its worker, or by another under the gate, and with PubSub's mutex held
// either way. So its worker may read it as it is, and others with that mutex.
class TopicTable {
 public:
  explicit TopicTable(const KeyHasher& hasher);

  // Does nobody listen to anything? Any thread.
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }
  size_t count(TopicKind kind) const { return of(kind).size(); }

  // Null: nobody listens to it.
  const Topic* find(TopicKind kind, std::string_view name) const;
  template <class Visit>
  void for_each(TopicKind kind, Visit&& visit) const {
    for (const auto& [name, topic] : of(kind)) visit(*topic);
  }

  // False: nothing has changed. `listening` is the session's.
  bool add(Session& session, Listening& listening, TopicKind kind, std::string_view name);
  bool remove(Listening& listening, TopicKind kind, std::string_view name);
  void remove_all(Listening& listening);

 private:
  struct Hash {
    const KeyHasher* hasher;
    size_t operator()(std::string_view name) const { return (*hasher)(name); }
  };
  // Keyed by the topic's own name.
  using Map = std::unordered_map<std::string_view, std::unique_ptr<Topic>, Hash>;

  Map& of(TopicKind kind) { return topics_[static_cast<size_t>(kind)]; }
  const Map& of(TopicKind kind) const { return topics_[static_cast<size_t>(kind)]; }
  void leave(TopicKind kind, Topic& topic, size_t place);
  void update_size();

  std::array<Map, kTopicKinds> topics_;
  std::atomic<size_t> size_{0};  // of all maps together
};

}  // namespace sorrel
