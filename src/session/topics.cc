#include "session/topics.h"

#include "session/session.h"

namespace sorrel {
namespace {

// What a session pays for a topic: its entry in two maps, links and all, and the name.
size_t entry_bytes(const Topic& topic) {
  return sizeof(Topic) + sizeof(std::pair<Topic*, size_t>) + 6 * sizeof(void*) + topic.name.size();
}

}  // namespace

size_t Listening::total() const {
  size_t total = 0;
  for (const auto& places : places_) total += places.size();
  return total;
}

std::vector<std::string> Listening::names(TopicKind kind) const {
  std::vector<std::string> names;
  for (const auto& [topic, place] : places_[static_cast<size_t>(kind)]) {
    names.push_back(topic->name);
  }
  return names;
}

TopicTable::TopicTable(const KeyHasher& hasher)
    : topics_{Map(0, Hash{&hasher}), Map(0, Hash{&hasher}), Map(0, Hash{&hasher})} {}

const Topic* TopicTable::find(TopicKind kind, std::string_view name) const {
  const Map& topics = of(kind);
  const auto at = topics.find(name);
  return at == topics.end() ? nullptr : at->second.get();
}

bool TopicTable::add(Session& session, Listening& listening, TopicKind kind,
                     std::string_view name) {
  Map& topics = of(kind);
  auto at = topics.find(name);
  if (at == topics.end()) {
    auto topic = std::make_unique<Topic>(Topic{std::string(name), {}});
    const std::string_view own_name = topic->name;
    at = topics.emplace(own_name, std::move(topic)).first;
    update_size();
  }
  Topic& topic = *at->second;
  auto& places = listening.places_[static_cast<size_t>(kind)];
  if (!places.emplace(&topic, topic.listeners.size()).second) return false;
  topic.listeners.push_back(&session);
  listening.bytes_ += entry_bytes(topic);
  return true;
}

bool TopicTable::remove(Listening& listening, TopicKind kind, std::string_view name) {
  Map& topics = of(kind);
  const auto at = topics.find(name);
  if (at == topics.end()) return false;
  auto& places = listening.places_[static_cast<size_t>(kind)];
  const auto place = places.find(at->second.get());
  if (place == places.end()) return false;
  const size_t position = place->second;
  places.erase(place);
  listening.bytes_ -= entry_bytes(*at->second);
  leave(kind, *at->second, position);
  return true;
}

void TopicTable::remove_all(Listening& listening) {
  for (size_t kind = 0; kind < kTopicKinds; kind++) {
    for (const auto& [topic, place] : listening.places_[kind]) {
      leave(static_cast<TopicKind>(kind), *topic, place);
    }
    listening.places_[kind].clear();
  }
  listening.bytes_ = 0;
}

// The one at `place` goes; the last one takes it. Who leaves has forgotten the topic already, or is
// about to.
void TopicTable::leave(TopicKind kind, Topic& topic, size_t place) {
  std::vector<Session*>& listeners = topic.listeners;
  if (place + 1 < listeners.size()) {
    Session* moved = listeners.back();
    listeners[place] = moved;
    moved->listening()->places_[static_cast<size_t>(kind)][&topic] = place;
  }
  listeners.pop_back();
  if (!listeners.empty()) return;
  const std::string name = topic.name;  // the key must outlive the entry
  of(kind).erase(name);
  update_size();
}

void TopicTable::update_size() {
  size_t size = 0;
  for (const Map& topics : topics_) size += topics.size();
  size_.store(size, std::memory_order_release);
}

}  // namespace sorrel
