#include "types/stream_group.h"

#include <algorithm>

#include "types/stream.h"

// The group operations of Stream.

namespace sorrel {

size_t Stream::group_bytes(std::string_view name) {
  return kTreeNode + sizeof(Groups::value_type) + name.size();
}

size_t Stream::consumer_bytes(std::string_view name) {
  // The name is stored twice: as the key and in the consumer.
  return kTreeNode + sizeof(decltype(StreamGroup::consumers)::value_type) + 2 * name.size();
}

StreamGroup* Stream::group(std::string_view name) {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

const StreamGroup* Stream::group(std::string_view name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

StreamGroup* Stream::add_group(std::string_view name, const StreamId& last_id,
                               int64_t entries_read) {
  const auto [at, made] = groups_.try_emplace(std::string(name));
  if (!made) return nullptr;
  at->second.last_id = last_id;
  at->second.entries_read = entries_read;
  bytes_ += group_bytes(name);
  return &at->second;
}

bool Stream::erase_group(std::string_view name) {
  const auto found = groups_.find(name);
  if (found == groups_.end()) return false;
  const StreamGroup& group = found->second;
  bytes_ -= group_bytes(name) + group.pending.size() * kPendingBytes;
  for (const auto& [consumer_name, consumer] : group.consumers) {
    bytes_ -= consumer_bytes(consumer_name);
  }
  groups_.erase(found);
  return true;
}

StreamConsumer* Stream::consumer(StreamGroup& group, std::string_view name) {
  const auto found = group.consumers.find(name);
  return found == group.consumers.end() ? nullptr : &found->second;
}

const StreamConsumer* Stream::consumer(const StreamGroup& group, std::string_view name) {
  const auto found = group.consumers.find(name);
  return found == group.consumers.end() ? nullptr : &found->second;
}

StreamConsumer& Stream::add_consumer(StreamGroup& group, std::string_view name, int64_t now_ms) {
  StreamConsumer& consumer = group.consumers[std::string(name)];
  consumer.name = name;
  consumer.seen_ms = now_ms;
  bytes_ += consumer_bytes(name);
  return consumer;
}

size_t Stream::erase_consumer(StreamGroup& group, std::string_view name) {
  const auto found = group.consumers.find(name);
  if (found == group.consumers.end()) return 0;
  const size_t pending = found->second.pending.size();
  for (const auto& [id, entry] : found->second.pending) group.pending.erase(id);
  bytes_ -= pending * kPendingBytes + consumer_bytes(name);
  group.consumers.erase(found);
  return pending;
}

StreamPending& Stream::assign(StreamGroup& group, const StreamId& id, StreamConsumer& consumer,
                              int64_t now_ms) {
  // Most entries are new and after all others.
  const bool behind = group.pending.empty() || group.pending.rbegin()->first < id;
  const auto hint = behind ? group.pending.end() : group.pending.lower_bound(id);
  const size_t before = group.pending.size();
  StreamPending& pending =
      group.pending.try_emplace(hint, id, StreamPending{now_ms, 1, nullptr})->second;
  if (group.pending.size() != before) bytes_ += kPendingBytes;
  if (pending.consumer == &consumer) return pending;
  if (pending.consumer != nullptr) pending.consumer->pending.erase(id);
  pending.consumer = &consumer;
  consumer.pending.emplace_hint(consumer.pending.end(), id, &pending);
  return pending;
}

bool Stream::acknowledge(StreamGroup& group, const StreamId& id) {
  const auto found = group.pending.find(id);
  if (found == group.pending.end()) return false;
  found->second.consumer->pending.erase(id);
  group.pending.erase(found);
  bytes_ -= kPendingBytes;
  return true;
}

bool Stream::is_referenced(const StreamId& id) const {
  return std::ranges::any_of(groups_, [&](const auto& named) {
    return id > named.second.last_id || named.second.pending.contains(id);
  });
}

size_t Stream::acknowledge_everywhere(const StreamId& id) {
  size_t groups = 0;
  for (auto& [name, group] : groups_) groups += acknowledge(group, id) ? 1 : 0;
  return groups;
}

bool Stream::has_holes_from(const StreamId& from) const {
  if (length_ == 0 || max_deleted_id_.is_zero()) return false;
  return first_id_ <= max_deleted_id_ && from <= max_deleted_id_;
}

std::optional<int64_t> Stream::count_up_to(const StreamId& id) const {
  const auto added = static_cast<int64_t>(entries_added_);
  if (added == 0) return 0;
  if (id > last_id_) return std::nullopt;
  if (id == last_id_ || length_ == 0) return added;
  if (!max_deleted_id_.is_zero() && max_deleted_id_ >= first_id_) return std::nullopt;
  // Without gaps, all missing entries were removed from the start.
  const auto removed = static_cast<int64_t>(entries_added_ - length_);
  if (id < first_id_) return removed;
  if (id == first_id_) return static_cast<int64_t>(entries_added_ - length_ + 1);
  return std::nullopt;
}

std::optional<int64_t> Stream::lag(const StreamGroup& group) const {
  if (entries_added_ == 0) return 0;
  std::optional<int64_t> read = group.entries_read;
  if (*read == StreamGroup::kUnknown || has_holes_from(group.last_id)) {
    read = count_up_to(group.last_id);
  }
  if (!read) return std::nullopt;
  // Clients may set both counts to any value: the difference wraps.
  return static_cast<int64_t>(entries_added_ - static_cast<uint64_t>(*read));
}

void Stream::advance(StreamGroup& group, const StreamId& id) const {
  if (group.entries_read != StreamGroup::kUnknown && !has_holes_from(id)) {
    if (group.entries_read < std::numeric_limits<int64_t>::max()) group.entries_read++;
  } else if (entries_added_ != 0) {
    group.entries_read = count_up_to(id).value_or(StreamGroup::kUnknown);
  }
  group.last_id = id;
}

}  // namespace sorrel
