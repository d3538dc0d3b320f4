#include "types/bloom.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "commands/collection_parts.h"
#include "commands/families.h"

// Bloom filters: membership tests without false negatives.

namespace sorrel::commands {
namespace {

// Changes of filters have no keyspace event.
constexpr Event kSilent{EventClass::kGeneric, ""};

constexpr double kMostError = 0.25;  // a larger error rate is reduced to this
constexpr int64_t kMostCapacity = int64_t{1} << 30;
constexpr int64_t kMostGrowth = BloomFilter::kMaxGrowth;

bool is_error_rate(double error) {
  return error > 0 && error < 1;
}

bool is_within(int64_t value, int64_t least, int64_t most) {
  return value >= least && value <= most;
}

// False: an error has been answered.
bool answer_failure(Call& call, BloomFilter::Failure failure) {
  if (failure == BloomFilter::Failure::kNone) return true;
  call.reply.error(failure == BloomFilter::Failure::kMemory
                       ? "ERR Insufficient memory to create filter"
                       : "ERR could not create filter");
  return false;
}

// Null: an error has been answered.
const BloomFilter* find_filter(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) {
    call.reply.error("ERR not found");
    return nullptr;
  }
  if (!check_type(call, record, Type::kBloom)) return nullptr;
  return &bloom_of(*record);
}

// RESP3 has a type for it.
void answer_truth(Call& call, bool value) {
  if (call.reply.protocol() == 3) {
    call.reply.boolean(value);
  } else {
    call.reply.integer(value ? 1 : 0);
  }
}

// BF.RESERVE key error capacity [EXPANSION n] [NONSCALING]; unknown words are ignored. Empty: no
// error.
std::string parse_growth(Call& call, BloomFilter::Shape& shape) {
  const auto words = call.args.subspan(4);
  const auto named = [&](std::string_view name) {
    return std::ranges::find_if(words, [&](std::string_view word) { return iequals(word, name); });
  };
  if (named("NONSCALING") != words.end()) shape.grows = false;
  const auto expansion = named("EXPANSION");
  if (expansion == words.end()) return {};
  if (expansion + 1 == words.end()) return "ERR no expansion";
  const auto growth = parse_int64(*(expansion + 1));
  if (!growth) return "ERR bad expansion";
  if (*growth != 0 && !shape.grows) return "Nonscaling filters cannot expand";
  if (*growth == 0) shape.grows = false;
  if (!is_within(*growth, 0, kMostGrowth)) {
    return fmt::format("ERR expansion must be in the range [0, {}]", kMostGrowth);
  }
  shape.growth = static_cast<uint32_t>(*growth);
  return {};
}

// Empty: no error.
std::string parse_reserve(Call& call, BloomFilter::Shape& shape) {
  const auto error = parse_double(call.arg(2));
  if (!error) return "ERR bad error rate";
  if (!is_error_rate(*error)) return "ERR error rate must be in the range (0.000000, 1.000000)";
  shape.error = std::min(*error, kMostError);
  const auto capacity = parse_int64(call.arg(3));
  if (!capacity) return "ERR bad capacity";
  if (!is_within(*capacity, 1, kMostCapacity)) {
    return fmt::format("ERR capacity must be in the range [1, {}]", kMostCapacity);
  }
  shape.capacity = static_cast<uint64_t>(*capacity);
  return parse_growth(call, shape);
}

void bf_reserve(Call& call) {
  if (call.argc() > 7) return answer::wrong_arity(call);
  BloomFilter::Shape shape;
  const std::string mistake = parse_reserve(call, shape);
  if (!mistake.empty()) return call.reply.error(mistake);
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kBloom)) return;
  if (entry) return call.reply.error("ERR item exists");
  BloomFilter::Failure failure;
  auto filter = BloomFilter::make(shape, failure);
  if (!answer_failure(call, failure)) return;
  entry.set_collection(Type::kBloom, bloom_collection(std::move(filter)), kNoExpiry, kSilent);
  call.reply.ok();
}

struct Insertion {
  BloomFilter::Shape shape;
  bool may_make = true;
  bool one = false;  // the reply is no array
  size_t items_at = 2;
};

// Adds items until one finds the filter full; collects their replies. True: the filter was changed.
bool add_items(Call& call, const Insertion& insertion, BloomFilter& filter,
               std::vector<BloomFilter::Added>& outcomes) {
  bool changed = false;
  for (size_t i = insertion.items_at; i < call.argc(); i++) {
    outcomes.push_back(filter.add(call.arg(i)));
    changed |= outcomes.back() == BloomFilter::Added::kNew;
    if (outcomes.back() == BloomFilter::Added::kFull) break;
  }
  return changed;
}

void answer_added(Call& call, BloomFilter::Added outcome) {
  switch (outcome) {
    case BloomFilter::Added::kNew:
    case BloomFilter::Added::kKnown:
      return answer_truth(call, outcome == BloomFilter::Added::kNew);
    case BloomFilter::Added::kFull:
      return call.reply.error("ERR non scaling filter is full");
    case BloomFilter::Added::kFailed:
      return call.reply.error("ERR problem inserting into filter");
  }
}

void insert(Call& call, const Insertion& insertion) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kBloom)) return;
  std::vector<BloomFilter::Added> outcomes;
  if (entry) {
    BloomFilter& filter = bloom_of(entry.edit(Type::kBloom));
    if (add_items(call, insertion, filter, outcomes)) entry.changed(kSilent);
  } else {
    if (!insertion.may_make) return call.reply.error("ERR not found");
    BloomFilter::Failure failure;
    auto filter = BloomFilter::make(insertion.shape, failure);
    if (!answer_failure(call, failure)) return;
    add_items(call, insertion, *filter, outcomes);
    entry.set_collection(Type::kBloom, bloom_collection(std::move(filter)), kNoExpiry, kSilent);
  }
  if (!insertion.one) call.reply.array(static_cast<int64_t>(outcomes.size()));
  for (const BloomFilter::Added outcome : outcomes) answer_added(call, outcome);
}

void bf_add(Call& call) {
  insert(call, {.one = true});
}

void bf_madd(Call& call) {
  insert(call, {});
}

// One option of BF.INSERT. False: an error has been answered.
class InsertParser {
 public:
  explicit InsertParser(Call& call) : call_(call) {}

  bool parse(Insertion& parsed) {
    parsed.items_at = 0;
    while (at_ < call_.argc() && parsed.items_at == 0) {
      if (!take_one(parsed)) return false;
    }
    if (parsed.items_at != 0 && parsed.items_at < call_.argc()) return true;
    answer::wrong_arity(call_);
    return false;
  }

 private:
  bool take_one(Insertion& parsed) {
    const std::string_view word = call_.arg(at_++);
    if (iequals(word, "ITEMS")) {
      parsed.items_at = at_;
    } else if (iequals(word, "NOCREATE")) {
      parsed.may_make = false;
    } else if (iequals(word, "NONSCALING")) {
      parsed.shape.grows = false;
    } else if (iequals(word, "ERROR")) {
      return take_error(parsed.shape);
    } else if (iequals(word, "CAPACITY")) {
      int64_t capacity = 0;
      if (!take_integer(capacity, 1, kMostCapacity, "Bad capacity")) return false;
      parsed.shape.capacity = static_cast<uint64_t>(capacity);
    } else if (iequals(word, "EXPANSION")) {
      int64_t growth = 0;
      if (!take_integer(growth, 0, kMostGrowth, "Bad expansion")) return false;
      parsed.shape.growth = static_cast<uint32_t>(growth);
      if (growth == 0) parsed.shape.grows = false;
    } else {
      call_.reply.error("Unknown argument received");
      return false;
    }
    return true;
  }

  bool is_missing() {
    if (at_ < call_.argc()) return false;
    answer::wrong_arity(call_);
    return true;
  }

  bool take_error(BloomFilter::Shape& shape) {
    if (is_missing()) return false;
    const auto error = parse_double(call_.arg(at_++));
    if (!error || !is_error_rate(*error)) {
      call_.reply.error("Bad error rate");
      return false;
    }
    shape.error = std::min(*error, kMostError);
    return true;
  }

  bool take_integer(int64_t& value, int64_t least, int64_t most, std::string_view mistake) {
    if (is_missing()) return false;
    const auto parsed = parse_int64(call_.arg(at_++));
    if (!parsed || !is_within(*parsed, least, most)) {
      call_.reply.error(mistake);
      return false;
    }
    value = *parsed;
    return true;
  }

  Call& call_;
  size_t at_ = 2;
};

void bf_insert(Call& call) {
  Insertion insertion;
  if (InsertParser(call).parse(insertion)) insert(call, insertion);
}

// Null: the key holds no filter (absent or another type), so nothing was added.
const BloomFilter* look(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr || record->type() != Type::kBloom) return nullptr;
  return &bloom_of(*record);
}

void bf_exists(Call& call) {
  const BloomFilter* filter = look(call);
  answer_truth(call, filter != nullptr && filter->contains(call.arg(2)));
}

void bf_mexists(Call& call) {
  const BloomFilter* filter = look(call);
  call.reply.array(static_cast<int64_t>(call.argc() - 2));
  for (size_t i = 2; i < call.argc(); i++) {
    answer_truth(call, filter != nullptr && filter->contains(call.arg(i)));
  }
}

void bf_card(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.integer(0);
  if (!check_type(call, record, Type::kBloom)) return;
  call.reply.integer(static_cast<int64_t>(bloom_of(*record).items()));
}

// The size that Redis reports for such a filter, so that figures are comparable.
int64_t reported_bytes(const BloomFilter& filter) {
  constexpr size_t kFilterHead = 32;
  constexpr size_t kLayerHead = 64;
  uint64_t bytes = kFilterHead;
  for (const auto& layer : filter.layers()) bytes += kLayerHead + layer.bytes;
  return static_cast<int64_t>(bytes);
}

struct Fact {
  std::string_view word;
  std::string_view name;
  int64_t (*of)(const BloomFilter&);
};

constexpr Fact kFacts[] = {
    {"CAPACITY", "Capacity", [](const auto& filter) -> int64_t { return filter.capacity(); }},
    {"SIZE", "Size", &reported_bytes},
    {"FILTERS", "Number of filters",
     [](const auto& filter) -> int64_t { return filter.layers().size(); }},
    {"ITEMS", "Number of items inserted",
     [](const auto& filter) -> int64_t { return filter.items(); }},
    {"EXPANSION", "Expansion rate",
     [](const auto& filter) -> int64_t { return filter.grows() ? int64_t{filter.growth()} : -1; }},
};

void answer_fact(Call& call, const BloomFilter& filter, const Fact& fact) {
  const int64_t value = fact.of(filter);
  if (value < 0) {
    call.reply.null();
  } else {
    call.reply.integer(value);
  }
}

void bf_info(Call& call) {
  if (call.argc() > 3) return answer::wrong_arity(call);
  const BloomFilter* filter = find_filter(call);
  if (filter == nullptr) return;
  if (call.argc() == 2) {
    call.reply.map(std::size(kFacts));
    for (const Fact& fact : kFacts) {
      call.reply.simple(fact.name);
      answer_fact(call, *filter, fact);
    }
    return;
  }
  const auto asked = std::ranges::find_if(
      kFacts, [&](const Fact& fact) { return iequals(call.arg(2), fact.word); });
  if (asked == std::end(kFacts)) return call.reply.error("Invalid information value");
  // RESP2 has the value alone.
  if (call.reply.protocol() == 3) {
    call.reply.map(1);
    call.reply.simple(asked->name);
  } else {
    call.reply.array(1);
  }
  answer_fact(call, *filter, *asked);
}

// The header comes first, then the bits in chunks. Positions count from 1, because 0 is both the
// start and the end of an iteration.
constexpr int64_t kFirstPosition = 1;

void bf_scandump(Call& call) {
  constexpr size_t kMostBytes = size_t{16} << 20;
  const BloomFilter* filter = find_filter(call);
  if (filter == nullptr) return;
  const auto position = parse_int64(call.arg(2));
  if (!position) return call.reply.error("Second argument must be numeric");
  call.reply.array(2);
  if (*position == 0) {
    call.reply.integer(kFirstPosition);
    return call.reply.bulk(filter->header());
  }
  std::string_view bytes;
  if (*position >= kFirstPosition) {
    bytes = filter->chunk(static_cast<uint64_t>(*position - kFirstPosition), kMostBytes);
  }
  call.reply.integer(bytes.empty() ? 0 : *position + static_cast<int64_t>(bytes.size()));
  call.reply.bulk(bytes);
}

void bf_loadchunk(Call& call) {
  constexpr std::string_view kBadData = "ERR received bad data";
  constexpr std::string_view kNoPlace = "ERR invalid offset - no link found";
  const auto position = parse_int64(call.arg(2));
  if (!position) return call.reply.error("ERR Second argument must be numeric");
  const std::string_view bytes = call.arg(3);
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kBloom)) return;
  if (!entry) {
    if (*position != kFirstPosition) return call.reply.error("ERR not found");
    auto filter = BloomFilter::from_header(bytes);
    if (filter == nullptr) return call.reply.error(kBadData);
    entry.set_collection(Type::kBloom, bloom_collection(std::move(filter)), kNoExpiry, kSilent);
    return call.reply.ok();
  }
  // A chunk is sent with the position after its bytes.
  if (*position < kFirstPosition || static_cast<uint64_t>(*position) < bytes.size()) {
    return call.reply.error(kBadData);
  }
  const uint64_t from = static_cast<uint64_t>(*position) - bytes.size();
  if (from < kFirstPosition) return call.reply.error(kNoPlace);
  switch (bloom_of(entry.edit(Type::kBloom)).load(from - kFirstPosition, bytes)) {
    case BloomFilter::Loaded::kNoSuchPlace:
      return call.reply.error(kNoPlace);
    case BloomFilter::Loaded::kTooLong:
      return call.reply.error("ERR invalid chunk - Too big for current filter");
    case BloomFilter::Loaded::kOk:
      break;
  }
  entry.changed(kSilent);
  call.reply.ok();
}

}  // namespace

std::span<const Binding> bloom_bindings() {
  static constexpr Binding kBindings[] = {
      {"bf.add", &bf_add},           {"bf.card", &bf_card},       {"bf.exists", &bf_exists},
      {"bf.info", &bf_info},         {"bf.insert", &bf_insert},   {"bf.loadchunk", &bf_loadchunk},
      {"bf.madd", &bf_madd},         {"bf.mexists", &bf_mexists}, {"bf.reserve", &bf_reserve},
      {"bf.scandump", &bf_scandump},
  };
  return kBindings;
}

}  // namespace sorrel::commands
