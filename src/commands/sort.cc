// SORT and SORT_RO: the elements of a list, set or sorted set in order, or the values of keys whose
// names are derived from them.

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "commands/families.h"
#include "commands/list_parts.h"
#include "dispatch/option_parser.h"
#include "types/hash.h"
#include "types/set.h"
#include "types/string.h"
#include "types/zset.h"

namespace sorrel::commands {
namespace {

// A BY or GET pattern: "#" is the element itself, "weight_*" the string at the key whose name has
// the element in place of the asterisk, "user_*->age" a field of the hash there.
class Pattern {
 public:
  explicit Pattern(std::string_view text) : is_element_(text == "#") {
    const size_t star = text.find('*');
    if (star == std::string_view::npos) return;
    makes_names_ = true;
    before_ = text.substr(0, star);
    after_ = text.substr(star + 1);
    const size_t arrow = after_.find("->");
    if (arrow == std::string_view::npos || arrow + 2 == after_.size()) return;
    field_ = after_.substr(arrow + 2);
    after_ = after_.substr(0, arrow);
  }

  // Without an asterisk the key is the same for every element.
  bool makes_names() const { return makes_names_; }

  // nullopt when there is no such string or field. Valid until the next look-up or change.
  std::optional<std::string_view> look(Call& call, std::string_view element) {
    if (is_element_) return element;
    if (!makes_names_) return std::nullopt;
    name_.assign(before_).append(element).append(after_);
    const Record* record = call.keys.read(call.keys.key(name_));
    if (record == nullptr) return std::nullopt;
    if (field_.empty()) {
      if (record->type() != Type::kString) return std::nullopt;
      return string_bytes(*record, scratch_);
    }
    if (record->type() != Type::kHash) return std::nullopt;
    const auto value = Hash(collection_of(*record), call.now_ms()).get(field_);
    if (!value) return std::nullopt;
    return value->text(scratch_);
  }

 private:
  bool is_element_;
  bool makes_names_ = false;
  std::string_view before_;
  std::string_view after_;
  std::string_view field_;
  std::string name_;
  IntegerText scratch_;
};

struct SortOptions {
  bool descending = false;
  bool alpha = false;
  bool unsorted = false;  // BY a pattern without an asterisk: no sorting
  std::optional<Pattern> by;
  std::vector<Pattern> gets;
  int64_t offset = 0;
  int64_t count = -1;   // negative: all
  size_t store_at = 0;  // position of the destination; 0: the result is answered, not stored
};

bool parse(Call& call, bool may_store, SortOptions& sort) {
  OptionParser options(call.args, 2);
  while (options.more()) {
    if (options.word("ASC")) {
      sort.descending = false;
    } else if (options.word("DESC")) {
      sort.descending = true;
    } else if (options.word("ALPHA")) {
      sort.alpha = true;
    } else if (options.word("LIMIT", 2)) {
      sort.offset = options.integer();
      sort.count = options.integer();
    } else if (may_store && options.word("STORE", 1)) {
      sort.store_at = options.position();
      options.text();
    } else if (options.word("BY", 1)) {
      sort.by.emplace(options.text());
      sort.unsorted |= !sort.by->makes_names();
    } else if (options.word("GET", 1)) {
      sort.gets.emplace_back(options.text());
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

// The part of the sorted elements that LIMIT selects.
struct Window {
  size_t begin = 0;
  size_t end = 0;
};

Window window_of(const SortOptions& sort, size_t size) {
  const auto most = static_cast<int64_t>(size);
  const int64_t begin = std::clamp<int64_t>(sort.offset, 0, most);
  const int64_t count = sort.count < 0 ? most : std::min(sort.count, most);
  return {static_cast<size_t>(begin), static_cast<size_t>(std::min(begin + count, most))};
}

// Copies: later look-ups may expire keys, and STORE may replace this one.
using Elements = std::vector<std::string>;

void load_list(const Collection& value, const Window& window, bool backwards, Elements& elements) {
  const ListReader list(value);
  IntegerText scratch;
  const auto from = static_cast<int64_t>(window.begin);
  ListCursor at = list.at(backwards ? -1 - from : from);
  for (size_t left = window.end - window.begin; left > 0; left--) {
    elements.emplace_back(list.get(at).text(scratch));
    at = backwards ? list.prev(at) : list.next(at);
  }
}

void load_zset(const Collection& value, const Window& window, bool backwards, Elements& elements) {
  const ZsetView zset(value);
  RankRange ranks{window.begin, window.end - window.begin};
  if (backwards) ranks.from = zset.size() - window.end;
  zset.for_each(ranks, backwards,
                [&](std::string_view member, double) { elements.emplace_back(member); });
}

void load_set(const Collection& value, Elements& elements) {
  IntegerText scratch;
  Set(value).for_each(
      [&](const SetMember& member) { elements.emplace_back(member.text(scratch)); });
}

// More lenient than other numbers: an empty text is 0, leading blanks are skipped, and a NUL ends
// the text.
std::optional<double> parse_weight(std::string_view text) {
  if (const auto integer = parse_int64(text)) return static_cast<double>(*integer);
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  const double weight = std::strtod(copy.c_str(), &end);
  if (*end != '\0' || errno == ERANGE || std::isnan(weight)) return std::nullopt;
  return weight;
}

// The sort keys of the elements, in the same order.
struct Weights {
  std::vector<double> numbers;
  std::vector<std::optional<std::string>> texts;  // ALPHA with BY; absent ones sort first
};

// False: some are no numbers, and the error has been answered.
bool weigh(Call& call, SortOptions& sort, const Elements& elements, Weights& weights) {
  if (sort.alpha && !sort.by) return true;
  bool all_numbers = true;
  for (const std::string& element : elements) {
    const auto text = sort.by ? sort.by->look(call, element) : std::string_view(element);
    if (sort.alpha) {
      weights.texts.emplace_back(text);
      continue;
    }
    const auto number = text ? parse_weight(*text) : 0;
    all_numbers &= number.has_value();
    weights.numbers.push_back(number.value_or(0));
  }
  if (!all_numbers) call.reply.error("ERR One or more scores can't be converted into double");
  return all_numbers;
}

using Places = std::vector<size_t>;

template <class T>
int compare_values(const T& a, const T& b) {
  const auto outcome = a <=> b;
  return outcome < 0 ? -1 : (outcome > 0 ? 1 : 0);
}

// compare(a, b) is negative, zero or positive: the first is less than, equal to or greater than the
// second.
template <class Compare>
void order(Places& places, const Window& window, bool descending, const Compare& compare) {
  const auto before = [&](size_t a, size_t b) {
    const int outcome = compare(a, b);
    if (outcome == 0) return a < b;
    return descending ? outcome > 0 : outcome < 0;
  };
  const auto begin = places.begin() + static_cast<ptrdiff_t>(window.begin);
  const auto end = places.begin() + static_cast<ptrdiff_t>(window.end);
  if (begin != places.begin()) std::nth_element(places.begin(), begin, places.end(), before);
  if (end == places.end()) {
    std::sort(begin, end, before);
  } else {
    std::partial_sort(begin, end, places.end(), before);
  }
}

// The positions of the elements in sorted order, as far as the window needs it. The order is
// deterministic, so that an effect gives the same result everywhere: elements with equal weights
// are compared by their bytes, or keep their order in the source, if that has one (`by_place`).
Places order_elements(const SortOptions& sort, const Elements& elements, const Weights& weights,
                      const Window& window, bool by_place) {
  Places places(elements.size());
  for (size_t i = 0; i < places.size(); i++) places[i] = i;
  const auto by_bytes = [&](size_t a, size_t b) { return elements[a].compare(elements[b]); };
  if (sort.unsorted || window.begin == window.end) return places;
  if (!sort.alpha) {
    order(places, window, sort.descending, [&](size_t a, size_t b) {
      const int outcome = compare_values(weights.numbers[a], weights.numbers[b]);
      return outcome != 0 ? outcome : by_bytes(a, b);
    });
  } else if (!sort.by) {
    order(places, window, sort.descending, by_bytes);
  } else {
    order(places, window, sort.descending, [&](size_t a, size_t b) {
      const int outcome = compare_values(weights.texts[a], weights.texts[b]);
      return outcome != 0 || by_place ? outcome : by_bytes(a, b);
    });
  }
  return places;
}

// Calls give(text) for every GET pattern of every element in the window.
template <class Give>
void give_all(Call& call, SortOptions& sort, const Elements& elements,
              std::span<const size_t> places, Give&& give) {
  for (const size_t place : places) {
    if (sort.gets.empty()) give(std::optional<std::string_view>(elements[place]));
    for (Pattern& get : sort.gets) give(get.look(call, elements[place]));
  }
}

void store(Call& call, SortOptions& sort, const Elements& elements,
           std::span<const size_t> places) {
  const ListLimits limits = list_limits(call);
  Collection value = list_ops().make();
  List list(value, limits);
  give_all(call, sort, elements, places, [&](std::optional<std::string_view> text) {
    const std::string_view kept = text.value_or("");
    list.grow(kept.size(), 1);
    list.push(ListEnd::kTail, kept);
  });
  const size_t size = list.size();
  Entry entry = call.keys.open(call.key(sort.store_at));
  if (size > 0) {
    entry.set_collection(Type::kList, value, kNoExpiry, {EventClass::kList, "sortstore"});
  } else {
    list_ops().free(value);
    if (entry) entry.erase(kEmptiedEvent);
  }
  call.reply.integer(static_cast<int64_t>(size));
}

void answer(Call& call, SortOptions& sort, const Elements& elements,
            std::span<const size_t> places) {
  const size_t each = std::max<size_t>(sort.gets.size(), 1);
  call.reply.array(static_cast<int64_t>(places.size() * each));
  give_all(call, sort, elements, places, [&](std::optional<std::string_view> text) {
    text ? call.reply.bulk(*text) : call.reply.null();
  });
}

// Copies the elements. Lists and sorted sets have an order of their own: without sorting only the
// window is copied, which is the whole result then.
void load(const Record& record, const SortOptions& sort, Window& window, Elements& elements) {
  const Collection value = collection_of(record);
  const size_t size = collection_ops(record.type()).size(value);
  window = window_of(sort, size);
  if (record.type() == Type::kSet) return load_set(value, elements);
  const bool backwards = sort.unsorted && sort.descending;
  const Window loaded = sort.unsorted ? window : Window{0, size};
  if (sort.unsorted) window = {0, window.end - window.begin};
  elements.reserve(loaded.end - loaded.begin);
  if (record.type() == Type::kList) {
    load_list(value, loaded, backwards, elements);
  } else {
    load_zset(value, loaded, backwards, elements);
  }
}

void run(Call& call, bool may_store) {
  SortOptions sort;
  if (!parse(call, may_store, sort)) return;
  const Record* record = call.keys.read(call.key(1));
  Window window;
  Elements elements;
  bool is_set = false;
  if (record != nullptr) {
    const Type type = record->type();
    is_set = type == Type::kSet;
    if (!is_set && type != Type::kList && type != Type::kZset) return answer::wrong_type(call);
    // A set has no order. A stored result, or one that a script sees, must not depend on the memory
    // layout.
    const bool lasting = sort.store_at != 0 || call.caller.kind == Caller::Kind::kScript;
    if (is_set && sort.unsorted && lasting) {
      sort.unsorted = false;
      sort.alpha = true;
      sort.by.reset();
    }
    load(*record, sort, window, elements);
  }
  Weights weights;
  if (!sort.unsorted && !weigh(call, sort, elements, weights)) return;
  const Places places = order_elements(sort, elements, weights, window, !is_set);
  const auto wanted = std::span(places).subspan(window.begin, window.end - window.begin);
  if (sort.store_at != 0) return store(call, sort, elements, wanted);
  answer(call, sort, elements, wanted);
}

void sort(Call& call) {
  run(call, true);
}
void sort_ro(Call& call) {
  run(call, false);
}

constexpr Binding kSortBindings[] = {
    {"sort", sort},
    {"sort_ro", sort_ro},
};

}  // namespace

std::span<const Binding> sort_bindings() {
  return kSortBindings;
}

}  // namespace sorrel::commands
