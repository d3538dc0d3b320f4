#include "acl/access_log.h"

#include <algorithm>
#include <utility>

namespace sorrel::acl {
namespace {

constexpr size_t kCompared = 10;  // an event is compared with so many, to bound its cost
constexpr int64_t kTogetherMs = 60'000;

bool alike(const AccessEntry& a, const AccessEntry& b) {
  return a.reason == b.reason && a.context == b.context && a.object == b.object && a.user == b.user;
}

}  // namespace

std::string_view context_name(Context context) {
  constexpr std::string_view kNames[] = {"toplevel", "multi", "lua"};
  return kNames[static_cast<size_t>(context)];
}

void AccessLog::add(AccessEntry entry) {
  const std::lock_guard lock(mutex_);
  totals_[static_cast<size_t>(entry.reason)]++;
  entry.updated_ms = entry.created_ms;
  const auto end =
      entries_.begin() + static_cast<std::ptrdiff_t>(std::min(kCompared, entries_.size()));
  const auto known = std::find_if(entries_.begin(), end, [&](const AccessEntry& other) {
    return alike(entry, other) && std::abs(entry.created_ms - other.updated_ms) <= kTogetherMs;
  });
  if (known != end) {
    known->client = std::move(entry.client);
    known->updated_ms = entry.created_ms;
    known->count++;
    std::rotate(entries_.begin(), known, known + 1);
    return;
  }
  entry.id = next_id_++;
  entry.count = 1;
  entries_.push_front(std::move(entry));
  while (entries_.size() > max_length_) entries_.pop_back();
}

std::vector<AccessEntry> AccessLog::newest(size_t count) const {
  const std::lock_guard lock(mutex_);
  const auto shown = static_cast<std::ptrdiff_t>(std::min(count, entries_.size()));
  return {entries_.begin(), entries_.begin() + shown};
}

void AccessLog::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

void AccessLog::set_max_length(size_t length) {
  const std::lock_guard lock(mutex_);
  max_length_ = length;
}

uint64_t AccessLog::total(Reason reason) const {
  const std::lock_guard lock(mutex_);
  return totals_[static_cast<size_t>(reason)];
}

}  // namespace sorrel::acl
