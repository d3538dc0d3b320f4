// GEOSEARCH, GEOSEARCHSTORE and the older GEORADIUS family: members within an area.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/geo_parts.h"
#include "commands/zset_parts.h"
#include "dispatch/option_parser.h"

namespace sorrel::commands {
namespace {

enum class Form : uint8_t { kAroundPoint, kAroundMember, kByOptions };

struct SearchGrammar {
  Form form = Form::kByOptions;
  bool may_store = false;  // the options STORE and STOREDIST
  bool stores = false;     // GEOSEARCHSTORE: the destination precedes the source
};

enum class Order : uint8_t { kNone, kNearest, kFarthest };

struct Search {
  GeoArea area{};
  double unit_m = 1;
  bool has_center = false;
  bool from_member = false;
  bool has_shape = false;
  Order order = Order::kNone;
  int64_t count = 0;  // 0: all
  bool any = false;   // the first matches in any order
  bool with_distance = false;
  bool with_score = false;
  bool with_point = false;
  size_t store_at = 0;  // position of the destination; 0: the result is answered, not stored
  bool store_distances = false;
};

// All parsers answer their errors themselves and then return false.

bool parse_length(Call& call, size_t at, std::string_view error, double& length) {
  const auto parsed = parse_double(call.arg(at));
  if (!parsed) call.reply.error(error);
  length = parsed.value_or(0);
  return parsed.has_value();
}

bool parse_unit(Call& call, size_t at, Search& search) {
  const auto unit = parse_geo_unit(call, call.arg(at));
  search.unit_m = unit.value_or(1);
  return unit.has_value();
}

// RADIUS UNIT.
bool parse_circle(Call& call, size_t at, Search& search) {
  double radius = 0;
  if (!parse_length(call, at, "ERR need numeric radius", radius)) return false;
  if (radius < 0) {
    call.reply.error("ERR radius cannot be negative");
    return false;
  }
  if (!parse_unit(call, at + 1, search)) return false;
  search.area.is_box = false;
  search.area.radius_m = radius * search.unit_m;
  search.has_shape = true;
  return true;
}

// WIDTH HEIGHT UNIT.
bool parse_box(Call& call, size_t at, Search& search) {
  double width = 0;
  double height = 0;
  if (!parse_length(call, at, "ERR need numeric width", width)) return false;
  if (!parse_length(call, at + 1, "ERR need numeric height", height)) return false;
  if (width < 0 || height < 0) {
    call.reply.error("ERR height or width cannot be negative");
    return false;
  }
  if (!parse_unit(call, at + 2, search)) return false;
  search.area.is_box = true;
  search.area.width_m = width * search.unit_m;
  search.area.height_m = height * search.unit_m;
  search.has_shape = true;
  return true;
}

bool parse_point(Call& call, size_t at, Search& search) {
  const auto point = parse_geo_point(call, at);
  if (point) search.area.center = *point;
  search.has_center = point.has_value();
  return search.has_center;
}

// In an absent key no member is found, and every member is accepted.
bool find_member(Call& call, const std::optional<ZsetView>& map, size_t at, Search& search) {
  search.has_center = search.from_member = true;
  if (!map) return true;
  const auto found = map->find(call.arg(at));
  if (!found) {
    call.reply.error("ERR could not decode requested zset member");
    return false;
  }
  search.area.center = geo_point(found.score);
  return true;
}

// Skips that many arguments, which are read by position.
size_t take(OptionParser& options, size_t count) {
  const size_t at = options.position();
  for (size_t i = 0; i < count; i++) options.text();
  return at;
}

bool parse_count(Call& call, std::string_view word, Search& search) {
  const auto count = parse_int64(word);
  if (!count) {
    answer::not_an_integer(call);
    return false;
  }
  if (*count <= 0) {
    call.reply.error("ERR COUNT must be > 0");
    return false;
  }
  search.count = *count;
  return true;
}

// Center and shape in the syntax of GEOSEARCH. `known`: the word was one of them.
bool parse_where(Call& call, const std::optional<ZsetView>& map, OptionParser& options,
                 Search& search, bool& known) {
  const bool from_point = search.has_center && !search.from_member;
  const bool is_circle = search.has_shape && !search.area.is_box;
  const bool is_box = search.has_shape && search.area.is_box;
  if (!from_point && options.word("FROMMEMBER", 1)) {
    return find_member(call, map, take(options, 1), search);
  }
  if (!search.from_member && options.word("FROMLONLAT", 2)) {
    return parse_point(call, take(options, 2), search);
  }
  if (!is_box && options.word("BYRADIUS", 2)) {
    return parse_circle(call, take(options, 2), search);
  }
  if (!is_circle && options.word("BYBOX", 3)) {
    return parse_box(call, take(options, 3), search);
  }
  known = false;
  return true;
}

bool parse_options(Call& call, const SearchGrammar& grammar, const std::optional<ZsetView>& map,
                   size_t from, Search& search) {
  OptionParser options(call.args, from);
  while (options.more()) {
    if (options.word("WITHDIST")) {
      search.with_distance = true;
    } else if (options.word("WITHHASH")) {
      search.with_score = true;
    } else if (options.word("WITHCOORD")) {
      search.with_point = true;
    } else if (options.word("ANY")) {
      search.any = true;
    } else if (options.word("ASC")) {
      search.order = Order::kNearest;
    } else if (options.word("DESC")) {
      search.order = Order::kFarthest;
    } else if (options.word("COUNT", 1)) {
      if (!parse_count(call, options.text(), search)) return false;
    } else if (grammar.may_store && options.word("STORE", 1)) {
      search.store_at = take(options, 1);
      search.store_distances = false;
    } else if (grammar.may_store && options.word("STOREDIST", 1)) {
      search.store_at = take(options, 1);
      search.store_distances = true;
    } else if (grammar.stores && options.word("STOREDIST")) {
      search.store_distances = true;
    } else {
      bool known = grammar.form == Form::kByOptions;
      if (known && !parse_where(call, map, options, search, known)) return false;
      if (!known) {
        answer::syntax_error(call);
        return false;
      }
    }
  }
  return true;
}

// Combinations of options that are invalid or incomplete.
bool check_options(Call& call, const SearchGrammar& grammar, const Search& search) {
  const auto refuse = [&](std::string_view error) {
    call.reply.error(error);
    return false;
  };
  if (search.store_at != 0 && (search.with_distance || search.with_score || search.with_point)) {
    return refuse(
        fmt::format("ERR {} is not compatible with WITHDIST, WITHHASH and WITHCOORD options",
                    grammar.stores ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS"));
  }
  if (!search.has_center) {
    return refuse(fmt::format("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for {}",
                              call.arg(0)));
  }
  if (!search.has_shape) {
    return refuse(
        fmt::format("ERR exactly one of BYRADIUS and BYBOX can be specified for {}", call.arg(0)));
  }
  if (search.any && search.count == 0) {
    return refuse("ERR the ANY argument requires COUNT argument");
  }
  return true;
}

bool parse(Call& call, const SearchGrammar& grammar, const std::optional<ZsetView>& map,
           Search& search) {
  size_t options_from = 2;
  switch (grammar.form) {
    case Form::kAroundPoint:
      options_from = 6;
      if (!parse_point(call, 2, search) || !parse_circle(call, 4, search)) return false;
      break;
    case Form::kAroundMember:
      options_from = 5;
      if (!find_member(call, map, 2, search)) return false;
      // The radius does not matter without a key.
      search.has_shape = true;
      if (map && !parse_circle(call, 3, search)) return false;
      break;
    case Form::kByOptions:
      if (!grammar.stores) break;
      options_from = 3;
      search.store_at = 1;
      break;
  }
  return parse_options(call, grammar, map, options_from, search) &&
         check_options(call, grammar, search);
}

// The nearest or farthest first, limited to COUNT; members at equal distance keep their order.
std::vector<GeoFound> find(const ZsetView& map, const Search& search) {
  const auto count = static_cast<uint64_t>(search.count);
  std::vector<GeoFound> found = geo_search(map, search.area, search.any ? count : 0);
  // COUNT without ANY and without an order means the nearest.
  Order order = search.order;
  if (order == Order::kNone && search.count != 0 && !search.any) order = Order::kNearest;
  const size_t kept = count == 0 ? found.size() : std::min<size_t>(count, found.size());
  if (order != Order::kNone) {
    std::vector<size_t> places(found.size());
    for (size_t i = 0; i < places.size(); i++) places[i] = i;
    const auto before = [&](size_t a, size_t b) {
      const double first = found[a].distance_m;
      const double second = found[b].distance_m;
      if (first == second) return a < b;
      return order == Order::kNearest ? first < second : first > second;
    };
    std::partial_sort(places.begin(), places.begin() + static_cast<ptrdiff_t>(kept), places.end(),
                      before);
    std::vector<GeoFound> ordered;
    ordered.reserve(kept);
    for (size_t i = 0; i < kept; i++) ordered.push_back(std::move(found[places[i]]));
    return ordered;
  }
  found.resize(kept);
  return found;
}

void answer_found(Call& call, const Search& search, const std::vector<GeoFound>& found) {
  const int more = search.with_distance + search.with_score + search.with_point;
  call.reply.array(static_cast<int64_t>(found.size()));
  for (const GeoFound& one : found) {
    if (more > 0) call.reply.array(1 + more);
    call.reply.bulk(one.member);
    if (search.with_distance) call.reply.bulk(format_geo_distance(one.distance_m / search.unit_m));
    if (search.with_score) call.reply.integer(static_cast<int64_t>(one.score));
    if (search.with_point) answer_geo_point(call, one.at);
  }
}

void store_found(Call& call, const SearchGrammar& grammar, const Search& search,
                 const std::vector<GeoFound>& found) {
  const ZsetLimits limits = zset_limits(call);
  Collection value = zset_ops().make();
  Zset zset(value);
  for (const GeoFound& one : found) {
    zset.insert(one.member, search.store_distances ? one.distance_m / search.unit_m : one.score,
                limits);
  }
  store_zset(call, call.key(search.store_at), value,
             {EventClass::kZset, grammar.stores ? "geosearchstore" : "georadiusstore"});
}

void run(Call& call, const SearchGrammar& grammar) {
  std::optional<ZsetView> map;
  if (!read_zset(call, call.key(grammar.stores ? 2 : 1), map)) return;
  Search search;
  if (!parse(call, grammar, map, search)) return;
  const auto found = map ? find(*map, search) : std::vector<GeoFound>();
  if (search.store_at != 0) return store_found(call, grammar, search, found);
  answer_found(call, search, found);
}

void geosearch(Call& call) {
  run(call, {});
}
void geosearchstore(Call& call) {
  run(call, {.stores = true});
}
void georadius(Call& call) {
  run(call, {.form = Form::kAroundPoint, .may_store = true});
}
void georadius_ro(Call& call) {
  run(call, {.form = Form::kAroundPoint});
}
void georadiusbymember(Call& call) {
  run(call, {.form = Form::kAroundMember, .may_store = true});
}
void georadiusbymember_ro(Call& call) {
  run(call, {.form = Form::kAroundMember});
}

constexpr Binding kGeoSearchBindings[] = {
    {"georadius", georadius},
    {"georadius_ro", georadius_ro},
    {"georadiusbymember", georadiusbymember},
    {"georadiusbymember_ro", georadiusbymember_ro},
    {"geosearch", geosearch},
    {"geosearchstore", geosearchstore},
};

}  // namespace

std::span<const Binding> geo_search_bindings() {
  return kGeoSearchBindings;
}

}  // namespace sorrel::commands
