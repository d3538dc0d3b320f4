// Look-up of commands by name, and the facts that are derived from their specs: effective flags,
// ACL categories, and the older form of key specs.

#include "catalog/catalog.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "catalog/families.h"

namespace sorrel::catalog {
namespace {

// The hash ignores case: OR 0x20 maps upper case to lower case. The other characters that it maps
// together are distinguished by the comparison.
uint64_t word_hash(std::string_view word, uint64_t seed) {
  constexpr uint64_t kLowerCase = 0x2020202020202020ull;
  uint64_t hash = seed + word.size();
  while (!word.empty()) {
    uint64_t chunk = 0;
    size_t taken = std::min(word.size(), sizeof chunk);
    std::memcpy(&chunk, word.data(), taken);
    hash = (hash ^ (chunk | kLowerCase)) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
    word.remove_prefix(taken);
  }
  return hash;
}

uint64_t name_hash(std::string_view parent, std::string_view name) {
  return word_hash(name, parent.empty() ? 0 : word_hash(parent, 1));
}

// All specs in order, and an open-addressed table of the positions of existing commands, plus one.
// At most a quarter of the slots is used, so a missing name is settled within a few probes; names
// longer than any command are not even hashed.
class Index {
 public:
  Index() {
    // clang-format off
    // One line each, so that concurrent additions merge without conflict.
    const std::span<const CommandSpec> families[] = {
        kStringFamily,
        kHashFamily,
        kHashExpiryFamily,
        kSetFamily,
        kBitmapFamily,
        kListFamily,
        kListBlockingFamily,
        kGenericFamily,
        kSortFamily,
        kGeoFamily,
        kDumpFamily,
        kHyperLogLogFamily,
        kZsetFamily,
        kZsetBlockingFamily,
        kConnectionFamily,
        kClientFamily,
        kClusterFamily,
        kCommandFamily,
        kStreamFamily,
        kAclFamily,
        kConfigFamily,
        kLatencyFamily,
        kMemoryFamily,
        kCommandLogFamily,
        kModuleFamily,
        kServerFamily,
        kPubSubFamily,
        kBloomFamily,
        kTransactionFamily,
        kScriptingFamily,
        kFunctionFamily,
    };
    // clang-format on
    for (std::span<const CommandSpec> family : families) {
      for (const CommandSpec& spec : family) known_.push_back(&spec);
    }
    all_ = known_.size();
    for (std::span<const CommandSpec> family : {kUnimplementedFamily, kUnimplementedModuleFamily}) {
      for (const CommandSpec& spec : family) known_.push_back(&spec);
    }
    slots_.resize(std::bit_ceil(all_ * 4));
    for (size_t i = 0; i < all_; i++) insert(i);
  }

  std::span<const CommandSpec* const> all() const { return {known_.data(), all_}; }
  std::span<const CommandSpec* const> known() const { return known_; }

  const CommandSpec* find(std::string_view parent, std::string_view name) const {
    if (name.size() > longest_ || parent.size() > longest_) return nullptr;
    for (size_t slot = name_hash(parent, name);; slot++) {
      uint16_t entry = slots_[slot & (slots_.size() - 1)];
      if (entry == 0) return nullptr;
      const CommandSpec* spec = known_[entry - 1];
      if (iequals(spec->name, name) && iequals(spec->parent, parent)) return spec;
    }
  }

 private:
  void insert(size_t position) {
    const CommandSpec& spec = *known_[position];
    size_t slot = name_hash(spec.parent, spec.name);
    while (slots_[slot & (slots_.size() - 1)] != 0) slot++;
    slots_[slot & (slots_.size() - 1)] = static_cast<uint16_t>(position + 1);
    longest_ = std::max(longest_, spec.name.size());
  }

  std::vector<const CommandSpec*> known_;
  size_t all_ = 0;  // number of commands that exist; these come first
  std::vector<uint16_t> slots_;
  size_t longest_ = 0;
};

// Built at first use, never changed: the tables are constants of other translation units.
const Index& index() {
  static const Index the_index;
  return the_index;
}

struct FlagName {
  uint64_t flag;
  std::string_view name;
};

// Flags that are missing here are not shown.
constexpr FlagName kFlagNames[] = {
    {kWrite, "write"},
    {kReadonly, "readonly"},
    {kDenyOom, "denyoom"},
    {kModuleCommand, "module"},
    {kAdmin, "admin"},
    {kPubSub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kAsking, "asking"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kNoMandatoryKeys, "no_mandatory_keys"},
    {kNoAsyncLoading, "no_async_loading"},
    {kNoMulti, "no_multi"},
    {kMovableKeys, "movablekeys"},
    {kAllowBusy, "allow_busy"},
};

constexpr FlagName kKeyFlagNames[] = {
    {kKeyRO, "RO"},
    {kKeyRW, "RW"},
    {kKeyOW, "OW"},
    {kKeyRM, "RM"},
    {kKeyAccess, "access"},
    {kKeyUpdate, "update"},
    {kKeyInsert, "insert"},
    {kKeyDelete, "delete"},
    {kKeyNotKey, "not_key"},
    {kKeyIncomplete, "incomplete"},
    {kKeyVariableFlags, "variable_flags"},
};

constexpr std::string_view kGroupNames[] = {
    "generic", "string",       "list",       "set",    "sorted-set", "hash",
    "pubsub",  "transactions", "connection", "server", "scripting",  "hyperloglog",
    "cluster", "sentinel",     "geo",        "stream", "bitmap",     "module",
};
static_assert(std::size(kGroupNames) == static_cast<size_t>(Group::kModule) + 1);

constexpr std::string_view kArgTypeNames[] = {
    "string", "integer", "double", "key", "pattern", "unix-time", "pure-token", "oneof", "block",
};
static_assert(std::size(kArgTypeNames) == static_cast<size_t>(ArgType::kBlock) + 1);

constexpr std::string_view kAclCategoryNames[] = {
    "keyspace", "read",        "write",      "set",         "sortedset", "list",  "hash", "string",
    "bitmap",   "hyperloglog", "geo",        "stream",      "pubsub",    "admin", "fast", "slow",
    "blocking", "dangerous",   "connection", "transaction", "scripting", "bloom",
};
static_assert(std::size(kAclCategoryNames) == kAclCategoryCount);

std::vector<std::string_view> names_of(std::span<const FlagName> table, uint64_t flags) {
  std::vector<std::string_view> names;
  for (const FlagName& entry : table) {
    if ((flags & entry.flag) != 0) names.push_back(entry.name);
  }
  return names;
}

}  // namespace

std::span<const CommandSpec* const> all() {
  return index().all();
}

std::span<const CommandSpec* const> known() {
  return index().known();
}

const CommandSpec* find_known(std::string_view name) {
  if (const CommandSpec* spec = find_full(name)) return spec;
  const size_t bar = name.find('|');
  const bool is_sub = bar != std::string_view::npos;
  const std::string_view parent = is_sub ? name.substr(0, bar) : std::string_view{};
  if (is_sub) name.remove_prefix(bar + 1);
  if (is_sub && parent.empty()) return nullptr;
  for (const CommandSpec* spec : known().subspan(all().size())) {
    if (iequals(spec->name, name) && iequals(spec->parent, parent)) return spec;
  }
  return nullptr;
}

const CommandSpec* find(std::string_view name) {
  return index().find({}, name);
}

const CommandSpec* find_sub(std::string_view parent, std::string_view name) {
  // An empty parent would find top-level commands.
  return parent.empty() ? nullptr : index().find(parent, name);
}

const CommandSpec* find_full(std::string_view name) {
  size_t bar = name.find('|');
  if (bar == std::string_view::npos) return find(name);
  return find_sub(name.substr(0, bar), name.substr(bar + 1));
}

std::span<const CommandSpec* const> subcommands(const CommandSpec& parent) {
  std::span<const CommandSpec* const> specs = all();
  if (!parent.parent.empty()) return {};
  auto first = std::find(specs.begin(), specs.end(), &parent);
  if (first == specs.end()) return {};
  ++first;
  auto last = std::find_if(first, specs.end(), [&parent](const CommandSpec* spec) {
    return spec->parent != parent.name;
  });
  return {first, last};
}

std::string full_name(const CommandSpec& spec) {
  std::string name(spec.parent);
  if (!name.empty()) name += '|';
  name += spec.name;
  return name;
}

uint64_t effective_flags(const CommandSpec& spec) {
  return spec.flags | (key_range(spec).movable ? uint64_t{kMovableKeys} : 0);
}

uint64_t effective_acl_categories(const CommandSpec& spec) {
  uint64_t categories = spec.acl_categories;
  auto imply = [&](Flag flag, uint64_t implied) {
    if ((spec.flags & flag) != 0) categories |= implied;
  };
  imply(kWrite, kAclWrite);
  // A script that may only read is still a script: it is not in @read.
  if ((categories & kAclScripting) == 0) imply(kReadonly, kAclRead);
  imply(kAdmin, kAclAdmin | kAclDangerous);
  imply(kPubSub, kAclPubSub);
  imply(kFast, kAclFast);
  imply(kBlocking, kAclBlocking);
  if ((categories & kAclFast) == 0) categories |= kAclSlow;
  return categories;
}

std::string_view group_name(Group group) {
  return kGroupNames[static_cast<size_t>(group)];
}

std::string_view arg_type_name(ArgType type) {
  return kArgTypeNames[static_cast<size_t>(type)];
}

std::string_view acl_category_name(AclCategory one) {
  int bit = std::countr_zero(static_cast<uint64_t>(one));
  return bit < kAclCategoryCount ? kAclCategoryNames[bit] : std::string_view{};
}

uint64_t acl_category(std::string_view name) {
  for (size_t bit = 0; bit < std::size(kAclCategoryNames); bit++) {
    if (iequals(kAclCategoryNames[bit], name)) return uint64_t{1} << bit;
  }
  return 0;
}

std::vector<std::string_view> flag_names(uint64_t flags) {
  return names_of(kFlagNames, flags);
}

std::vector<std::string_view> key_flag_names(uint32_t flags) {
  return names_of(kKeyFlagNames, flags);
}

}  // namespace sorrel::catalog
