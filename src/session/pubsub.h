#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "session/topics.h"

namespace sorrel {

class SessionHost;

// What is published: to channels and the patterns that match them, or to a shard channel alone.
// Views are the caller's.
struct Message {
  bool to_shard = false;
  std::string_view channel;
  std::string_view text;
};

// The same for listeners of another worker, who hear it later.
struct KeptMessage {
  bool to_shard;
  std::string channel;
  std::string text;

  Message view() const { return {to_shard, channel, text}; }
};

// Messages that other workers have published, in a worker's keeping until it gets to them.
// Guarded by PubSub's mutex.
using MessageQueue = std::vector<std::shared_ptr<const KeptMessage>>;

// Pub/sub of the whole node.
//
//   PUBLISH on worker 0 ──┬──> worker 0's queue ──> at once: its listeners
//                         └──> worker 1's queue ──> when it wakes, before it reads from anybody:
//                                                   its listeners
//
// All queues grow under one mutex, so every listener sees messages in the same order, whoever
// publishes them. A worker empties its queue before it changes its table of topics; so who was
// counted as a receiver is exactly who gets the message. And because it does so before it looks at
// what a client has sent, a client that has seen PUBLISH answered elsewhere finds the message in
// front of any answer it asks for after that.
//
// With one worker there is neither queue nor lock: messages go straight into the turn's scratch.
//
// Thread rule: publish() anywhere inside a batch, under latches too (the mutex is a leaf);
// everything about a session by its worker inside its batch, or under the gate.
class PubSub {
 public:
  // `hosts` is fixed after start.
  explicit PubSub(const std::vector<SessionHost*>& hosts) : hosts_(hosts) {}

  // Before anybody subscribes: the secret of its hash tables.
  void set_seeds(uint64_t a, uint64_t b) { hasher_ = KeyHasher(a, b); }
  const KeyHasher& hasher() const { return hasher_; }

  // False: it listened (or did not) before. Messages that have been published so far have been
  // handed to it then.
  bool subscribe(Session& session, TopicKind kind, std::string_view name);
  bool unsubscribe(Session& session, TopicKind kind, std::string_view name);
  void unsubscribe_all(Session& session);

  // Does anybody listen to anything? Any thread.
  bool anybody_listens() const;
  // Returns how many hear it; a session counts once for its channel and once per pattern. `from` is
  // the worker that runs this.
  int64_t publish(SessionHost& from, const Message& message);
  // Hands what waits in its queue to the sessions of `host`. By its worker, inside its batch.
  void deliver_waiting(SessionHost& host);

  // Of all workers together. Names come in no particular order; with a pattern, only those that
  // match it.
  size_t count_listeners(TopicKind kind, std::string_view name) const;
  size_t count_topics(TopicKind kind) const;
  std::vector<std::string> topic_names(TopicKind kind, std::string_view pattern) const;

 private:
  template <class Change>
  bool change_listeners(SessionHost& host, Change&& change);
  int64_t publish_to_all(SessionHost& from, const Message& message);
  template <class Visit>
  void for_each_topic(TopicKind kind, Visit&& visit) const;

  const std::vector<SessionHost*>& hosts_;
  KeyHasher hasher_{0, 0};
  mutable std::mutex mutex_;  // a leaf: nothing else is locked under it
};

}  // namespace sorrel
