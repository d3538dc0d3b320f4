// ZUNION, ZINTER, ZDIFF and their forms that store or count.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/families.h"
#include "commands/zset_parts.h"
#include "dispatch/option_parser.h"
#include "types/set.h"

namespace sorrel::commands {
namespace {

enum class Operation : uint8_t { kUnion, kIntersection, kDifference };
enum class Aggregate : uint8_t { kSum, kMin, kMax };

// The properties that follow from the name of a command.
struct CombineGrammar {
  Operation operation;
  bool store = false;       // the first argument is the destination
  bool only_count = false;  // ZINTERCARD
};

struct Request {
  size_t first_key = 0;
  size_t key_count = 0;
  std::vector<double> weights;  // empty: all 1
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
  uint64_t limit = 0;  // 0: none
};

void parse_weights(OptionParser& options, Request& request) {
  request.weights.clear();
  for (size_t i = 0; i < request.key_count && !options.failed(); i++) {
    const auto weight = parse_double(options.text());
    if (!weight) options.fail("ERR weight value is not a float");
    request.weights.push_back(weight.value_or(1));
  }
}

void parse_aggregate(OptionParser& options, Request& request) {
  if (options.word("SUM")) {
    request.aggregate = Aggregate::kSum;
  } else if (options.word("MIN")) {
    request.aggregate = Aggregate::kMin;
  } else if (options.word("MAX")) {
    request.aggregate = Aggregate::kMax;
  } else {
    options.fail_syntax();
  }
}

void parse_limit(OptionParser& options, Request& request) {
  constexpr std::string_view kNegative = "ERR LIMIT can't be negative";
  const int64_t limit = options.integer(kNegative);
  if (limit < 0) options.fail(kNegative);
  request.limit = static_cast<uint64_t>(std::max<int64_t>(limit, 0));
}

// False: an error has been answered.
bool parse(Call& call, const CombineGrammar& grammar, Request& request) {
  const size_t at = grammar.store ? 2 : 1;
  const auto keys = parse_int64(call.arg(at));
  if (!keys) {
    answer::not_an_integer(call);
    return false;
  }
  if (*keys < 1) {
    call.reply.error(fmt::format("ERR at least 1 input key is needed for '{}' command",
                                 call.command.spec->name));
    return false;
  }
  if (static_cast<uint64_t>(*keys) > call.argc() - at - 1) {
    answer::syntax_error(call);
    return false;
  }
  request.first_key = at + 1;
  request.key_count = static_cast<size_t>(*keys);
  // The types are checked before the options.
  for (size_t i = 0; i < request.key_count; i++) {
    const Record* record = call.keys.peek(call.key(request.first_key + i));
    if (record != nullptr && record->type() == Type::kSet) continue;
    if (!check_type(call, record, Type::kZset)) return false;
  }
  const bool weighs = grammar.operation != Operation::kDifference && !grammar.only_count;
  OptionParser options(call.args, request.first_key + request.key_count);
  while (options.more()) {
    if (weighs && options.word("WEIGHTS", request.key_count)) {
      parse_weights(options, request);
    } else if (weighs && options.word("AGGREGATE", 1)) {
      parse_aggregate(options, request);
    } else if (!grammar.store && !grammar.only_count && options.word("WITHSCORES")) {
      request.with_scores = true;
    } else if (grammar.only_count && options.word("LIMIT", 1)) {
      parse_limit(options, request);
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

// One of the keys to be combined: a sorted set, or a set, whose members all have score 1. An absent
// key is empty.
class Source {
 public:
  Source(const Record* record, double weight) : weight_(weight) {
    if (record == nullptr) return;
    if (record->type() == Type::kSet) {
      set_.emplace(collection_of(*record));
    } else {
      zset_.emplace(collection_of(*record));
    }
  }

  uint64_t size() const { return zset_ ? zset_->size() : set_ ? set_->size() : 0; }

  bool contains(std::string_view member) const { return score(member).has_value(); }
  // Multiplied by the weight; nullopt when the member is absent. May be NaN (0 * infinity) as in
  // Redis, which turns a sum into 0, whatever it was.
  std::optional<double> score(std::string_view member) const {
    if (set_) return set_->contains(member) ? std::optional(weight_) : std::nullopt;
    if (!zset_) return std::nullopt;
    const auto found = zset_->find(member);
    if (!found) return std::nullopt;
    return found.score * weight_;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (zset_) {
      zset_->for_each(
          [&](std::string_view member, double score) { visit(member, weighted(score)); });
    } else if (set_) {
      IntegerText scratch;
      set_->for_each([&](const SetMember& member) { visit(member.text(scratch), weighted(1)); });
    }
  }

 private:
  // NaN (0 * infinity) becomes 0.
  double weighted(double score) const {
    const double product = score * weight_;
    return std::isnan(product) ? 0 : product;
  }

  std::optional<ZsetView> zset_;
  std::optional<Set> set_;
  double weight_;
};

// False: WRONGTYPE has been answered.
bool read_sources(Call& call, const Request& request, std::vector<Source>& sources) {
  for (size_t i = 0; i < request.key_count; i++) {
    const Record* record = call.keys.read(call.key(request.first_key + i));
    if (record == nullptr || record->type() != Type::kSet) {
      if (!check_type(call, record, Type::kZset)) return false;
    }
    sources.emplace_back(record, request.weights.empty() ? 1 : request.weights[i]);
  }
  return true;
}

double combined(double a, double b, Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kSum:
      // NaN (infinity - infinity) becomes 0.
      return std::isnan(a + b) ? 0 : a + b;
    case Aggregate::kMin:
      return std::min(a, b);
    case Aggregate::kMax:
      return std::max(a, b);
  }
  return a;
}

// Floating-point sums depend on their order, and Redis begins with the smallest set.
void order_by_size(std::vector<Source>& sources) {
  std::stable_sort(sources.begin(), sources.end(),
                   [](const Source& a, const Source& b) { return a.size() < b.size(); });
}

void unite(std::vector<Source>& sources, Aggregate aggregate, ScoreMap& result) {
  order_by_size(sources);
  for (const Source& source : sources) {
    source.for_each([&](std::string_view member, double score) {
      const ScoreEntry* known = result.find(member);
      if (known == nullptr) return result.insert(member, score);
      const double sum = combined(known->score(), score, aggregate);
      // +0 and -0 are equal, but are formatted differently.
      const bool changed =
          sum != known->score() || std::signbit(sum) != std::signbit(known->score());
      if (changed) result.set_score(known, sum);
    });
  }
}

// Calls visit(member, score) for members that all sources have, until it returns false.
template <class Visit>
void intersect(std::vector<Source>& sources, Aggregate aggregate, Visit&& visit) {
  order_by_size(sources);
  bool enough = false;
  sources[0].for_each([&](std::string_view member, double score) {
    if (enough) return;
    for (size_t i = 1; i < sources.size(); i++) {
      const auto other = sources[i].score(member);
      if (!other) return;
      score = combined(score, *other, aggregate);
    }
    enough = !visit(member, score);
  });
}

void subtract(const std::vector<Source>& sources, ScoreMap& result) {
  sources[0].for_each([&](std::string_view member, double score) {
    for (size_t i = 1; i < sources.size(); i++) {
      if (sources[i].contains(member)) return;
    }
    result.insert(member, score);
  });
}

// The result does not refer to the sources. Null: an error has been answered.
std::unique_ptr<ScoreMap> combine(Call& call, const CombineGrammar& grammar, Request& request) {
  std::vector<Source> sources;
  if (!parse(call, grammar, request) || !read_sources(call, request, sources)) return nullptr;
  auto result = std::make_unique<ScoreMap>(zset_limits(call).hasher);
  switch (grammar.operation) {
    case Operation::kUnion:
      unite(sources, request.aggregate, *result);
      break;
    case Operation::kIntersection:
      intersect(sources, request.aggregate, [&](std::string_view member, double score) {
        result->insert(member, score);
        return true;
      });
      break;
    case Operation::kDifference:
      subtract(sources, *result);
      break;
  }
  return result;
}

void answer_combined(Call& call, Operation operation) {
  Request request;
  const auto result = combine(call, {.operation = operation}, request);
  if (result == nullptr) return;
  MembersAnswer answer(call, result->size(), request.with_scores);
  for (auto place = result->tree().at(0); place; place.next()) {
    answer.add(place.entry()->member(), place.entry()->score());
  }
}

void store_combined(Call& call, Operation operation, Event event) {
  Request request;
  auto result = combine(call, {.operation = operation, .store = true}, request);
  if (result == nullptr) return;
  store_zset(call, call.key(1), make_zset(result.release(), zset_limits(call)), event);
}

void zunion(Call& call) {
  answer_combined(call, Operation::kUnion);
}
void zinter(Call& call) {
  answer_combined(call, Operation::kIntersection);
}
void zdiff(Call& call) {
  answer_combined(call, Operation::kDifference);
}
void zunionstore(Call& call) {
  store_combined(call, Operation::kUnion, {EventClass::kZset, "zunionstore"});
}
void zinterstore(Call& call) {
  store_combined(call, Operation::kIntersection, {EventClass::kZset, "zinterstore"});
}
void zdiffstore(Call& call) {
  store_combined(call, Operation::kDifference, {EventClass::kZset, "zdiffstore"});
}

void zintercard(Call& call) {
  Request request;
  std::vector<Source> sources;
  if (!parse(call, {.operation = Operation::kIntersection, .only_count = true}, request)) return;
  if (!read_sources(call, request, sources)) return;
  uint64_t count = 0;
  intersect(sources, Aggregate::kSum,
            [&](std::string_view, double) { return ++count != request.limit; });
  call.reply.integer(static_cast<int64_t>(count));
}

constexpr Binding kZsetCombineBindings[] = {
    {"zdiff", zdiff},
    {"zdiffstore", zdiffstore},
    {"zinter", zinter},
    {"zintercard", zintercard},
    {"zinterstore", zinterstore},
    {"zunion", zunion},
    {"zunionstore", zunionstore},
};

}  // namespace

std::span<const Binding> zset_combine_bindings() {
  return kZsetCombineBindings;
}

}  // namespace sorrel::commands
