#include "session/pubsub.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/glob.h"
#include "session/session_host.h"

namespace sorrel {
namespace {

TopicKind kind_of(const Message& message) {
  return message.to_shard ? TopicKind::kShardChannel : TopicKind::kChannel;
}

// One message to everybody who listens to one topic: written once per protocol, however many they
// are.
int64_t send_to(SessionHost& host, const Topic& topic,
                std::initializer_list<std::string_view> parts) {
  std::array<Piece, 2> pieces;
  for (Session* session : topic.listeners) {
    Piece& piece = pieces[session->caller().protocol == 3];
    if (piece.buffer == nullptr) piece = host.write_push(session->caller().protocol, parts);
    session->push(piece);
  }
  return static_cast<int64_t>(topic.listeners.size());
}

template <class Visit>
void for_each_match(const TopicTable& topics, std::string_view channel, Visit&& visit) {
  topics.for_each(TopicKind::kPattern, [&](const Topic& pattern) {
    if (glob_match(pattern.name, channel)) visit(pattern);
  });
}

int64_t deliver(SessionHost& host, const Message& message) {
  const TopicTable& topics = host.topics();
  int64_t receivers = 0;
  if (const Topic* topic = topics.find(kind_of(message), message.channel)) {
    const std::string_view word = message.to_shard ? "smessage" : "message";
    receivers += send_to(host, *topic, {word, message.channel, message.text});
  }
  if (message.to_shard) return receivers;
  for_each_match(topics, message.channel, [&](const Topic& pattern) {
    receivers += send_to(host, pattern, {"pmessage", pattern.name, message.channel, message.text});
  });
  return receivers;
}

int64_t count_receivers(const TopicTable& topics, const Message& message) {
  size_t receivers = 0;
  if (const Topic* topic = topics.find(kind_of(message), message.channel)) {
    receivers += topic->listeners.size();
  }
  if (!message.to_shard) {
    for_each_match(topics, message.channel,
                   [&](const Topic& pattern) { receivers += pattern.listeners.size(); });
  }
  return static_cast<int64_t>(receivers);
}

}  // namespace

// With the mutex held and the host's queue empty: what was published before is heard by who listens
// now, what comes later by who listens then.
template <class Change>
bool PubSub::change_listeners(SessionHost& host, Change&& change) {
  while (true) {
    deliver_waiting(host);
    const std::lock_guard lock(mutex_);
    if (host.message_queue().empty()) return change();
  }
}

bool PubSub::subscribe(Session& session, TopicKind kind, std::string_view name) {
  SessionHost& host = session.host();
  return change_listeners(
      host, [&] { return host.topics().add(session, session.start_listening(), kind, name); });
}

bool PubSub::unsubscribe(Session& session, TopicKind kind, std::string_view name) {
  if (session.listening() == nullptr) return false;
  SessionHost& host = session.host();
  return change_listeners(host, [&] {
    const bool listened = host.topics().remove(*session.listening(), kind, name);
    session.stop_listening_to_nothing();
    return listened;
  });
}

void PubSub::unsubscribe_all(Session& session) {
  if (session.listening() == nullptr) return;
  const std::lock_guard lock(mutex_);
  session.host().topics().remove_all(*session.listening());
  session.stop_listening_to_nothing();
}

bool PubSub::anybody_listens() const {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [](const SessionHost* host) { return !host->topics().empty(); });
}

int64_t PubSub::publish(SessionHost& from, const Message& message) {
  if (!anybody_listens()) return 0;
  return hosts_.size() == 1 ? deliver(*hosts_[0], message) : publish_to_all(from, message);
}

int64_t PubSub::publish_to_all(SessionHost& from, const Message& message) {
  int64_t receivers = 0;
  std::shared_ptr<const KeptMessage> kept;
  {
    const std::lock_guard lock(mutex_);
    for (SessionHost* host : hosts_) {
      if (host->topics().empty()) continue;
      const int64_t here = count_receivers(host->topics(), message);
      if (here == 0) continue;
      receivers += here;
      if (kept == nullptr) {
        kept = std::make_shared<const KeptMessage>(
            KeptMessage{message.to_shard, std::string(message.channel), std::string(message.text)});
      }
      host->message_queue().push_back(kept);
      host->set_message_bit(SessionHost::kPublished);
    }
  }
  for (SessionHost* host : hosts_) {
    if (host != &from && host->has_messages()) host->loop().wake();
  }
  deliver_waiting(from);
  return receivers;
}

void PubSub::deliver_waiting(SessionHost& host) {
  if (!host.has(SessionHost::kPublished)) return;
  MessageQueue queue;
  {
    const std::lock_guard lock(mutex_);
    queue.swap(host.message_queue());
    host.clear_message_bit(SessionHost::kPublished);
  }
  for (const auto& message : queue) {
    deliver(host, message->view());
    host.bound_pushed();
  }
}

size_t PubSub::count_listeners(TopicKind kind, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const SessionHost* host : hosts_) {
    if (const Topic* topic = host->topics().find(kind, name)) count += topic->listeners.size();
  }
  return count;
}

// Each name once, though sessions of several workers may listen to it.
template <class Visit>
void PubSub::for_each_topic(TopicKind kind, Visit&& visit) const {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < hosts_.size(); i++) {
    hosts_[i]->topics().for_each(kind, [&](const Topic& topic) {
      for (size_t before = 0; before < i; before++) {
        if (hosts_[before]->topics().find(kind, topic.name) != nullptr) return;
      }
      visit(topic);
    });
  }
}

size_t PubSub::count_topics(TopicKind kind) const {
  size_t count = 0;
  for_each_topic(kind, [&](const Topic&) { count++; });
  return count;
}

std::vector<std::string> PubSub::topic_names(TopicKind kind, std::string_view pattern) const {
  std::vector<std::string> names;
  for_each_topic(kind, [&](const Topic& topic) {
    if (glob_match(pattern, topic.name)) names.push_back(topic.name);
  });
  return names;
}

}  // namespace sorrel
