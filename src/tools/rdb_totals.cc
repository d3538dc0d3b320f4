#include "tools/rdb_totals.h"

#include <algorithm>

#include "types/type_names.h"

namespace sorrel::tools {
namespace {

// Of two keys of one size the earlier one counts as bigger, so that reports are reproducible.
bool is_bigger(const KeyFacts& a, const KeyFacts& b) {
  return a.memory > b.memory;
}

}  // namespace

void Totals::add(const KeyFacts& facts) {
  keys++;
  memory += facts.memory;
  file_bytes += facts.file_bytes;
  elements += facts.elements;
  if (facts.expiry != kNoExpiry) expiring++;
}

std::string_view RdbTotals::prefix_of(std::string_view key) const {
  size_t end = 0;
  for (uint64_t level = 0; level < rule_.depth; level++) {
    const size_t at = key.find(rule_.separator, end);
    if (at == std::string_view::npos) break;
    end = at + 1;
  }
  return end == 0 ? kNoPrefix : key.substr(0, std::min(end, kLongestPrefix));
}

void RdbTotals::add(const KeyFacts& facts) {
  all_.add(facts);
  types_[type_name(facts.type)].add(facts);
  if (databases_.size() < kMostDatabases || databases_.contains(facts.db)) {
    databases_[facts.db].add(facts);
  }
  const std::string prefix(prefix_of(facts.name));
  const auto known = prefixes_.find(prefix);
  if (known != prefixes_.end()) {
    known->second.add(facts);
  } else if (prefixes_.size() < kMostPrefixes) {
    prefixes_[prefix].add(facts);
  } else {
    other_prefixes_.add(facts);
  }
}

void RdbTotals::offer(const KeyFacts& facts) {
  if (most_biggest_ == 0) return;
  if (biggest_.size() == most_biggest_) {
    if (!is_bigger(facts, biggest_.front())) return;
    std::pop_heap(biggest_.begin(), biggest_.end(), is_bigger);
    biggest_.pop_back();
  }
  biggest_.push_back(facts);
  std::push_heap(biggest_.begin(), biggest_.end(), is_bigger);
}

std::vector<NamedTotals> RdbTotals::prefixes(size_t most) const {
  std::vector<NamedTotals> sorted;
  for (const auto& [name, totals] : prefixes_) sorted.push_back({name, totals});
  if (other_prefixes_.keys != 0) {
    sorted.push_back({std::string(kOtherPrefixes), other_prefixes_});
  }
  std::sort(sorted.begin(), sorted.end(), [](const NamedTotals& a, const NamedTotals& b) {
    if (a.totals.memory != b.totals.memory) return a.totals.memory > b.totals.memory;
    return a.name < b.name;
  });
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

std::vector<KeyFacts> RdbTotals::biggest() const {
  std::vector<KeyFacts> sorted = biggest_;
  std::sort(sorted.begin(), sorted.end(), [](const KeyFacts& a, const KeyFacts& b) {
    if (a.memory != b.memory) return a.memory > b.memory;
    return a.db != b.db ? a.db < b.db : a.name < b.name;
  });
  return sorted;
}

}  // namespace sorrel::tools
