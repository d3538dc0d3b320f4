#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/key_facts.h"

namespace sorrel::tools {

struct Totals {
  uint64_t keys = 0;
  uint64_t memory = 0;
  uint64_t file_bytes = 0;
  uint64_t elements = 0;
  uint64_t expiring = 0;

  void add(const KeyFacts& facts);
};

struct NamedTotals {
  std::string name;
  Totals totals;
};

// Groups keys by prefix: everything up to and including the `depth`th separator.
struct PrefixRule {
  char separator = ':';
  uint64_t depth = 1;
};

// Sums over all keys of a dump, and the biggest of them. Memory is bounded for any number of keys.
class RdbTotals {
 public:
  RdbTotals(const PrefixRule& rule, size_t biggest) : rule_(rule), most_biggest_(biggest) {}

  void add(const KeyFacts& facts);
  // A candidate for the biggest keys.
  void offer(const KeyFacts& facts);

  const Totals& all() const { return all_; }
  // By type name, and by database number.
  const std::map<std::string_view, Totals>& types() const { return types_; }
  const std::map<uint64_t, Totals>& databases() const { return databases_; }
  // The `most` prefixes with the most memory, the biggest first. Keys without a prefix are summed
  // up in one line, those beyond kMostPrefixes in another.
  std::vector<NamedTotals> prefixes(size_t most) const;
  // The biggest first.
  std::vector<KeyFacts> biggest() const;

  static constexpr std::string_view kNoPrefix = "(none)";
  static constexpr std::string_view kOtherPrefixes = "(others)";
  static constexpr size_t kMostPrefixes = 100'000;
  static constexpr size_t kMostDatabases = 100'000;
  static constexpr size_t kLongestPrefix = 1024;

 private:
  std::string_view prefix_of(std::string_view key) const;

  PrefixRule rule_;
  size_t most_biggest_;
  Totals all_;
  std::map<std::string_view, Totals> types_;
  std::map<uint64_t, Totals> databases_;
  std::unordered_map<std::string, Totals> prefixes_;
  Totals other_prefixes_;
  std::vector<KeyFacts> biggest_;  // a heap, the smallest on top
};

}  // namespace sorrel::tools
