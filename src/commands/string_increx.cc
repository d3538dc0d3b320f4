// INCREX: a counter with bounds and an expire time, for rate limits and quotas.
//
//   INCREX key [BYINT n | BYFLOAT x] [LBOUND n] [UBOUND n] [SATURATE]
//          [EX s | PX ms | EXAT s | PXAT ms | PERSIST] [ENX]
//
// Answers the value and the increment that was applied. A result outside the bounds changes nothing
// and answers [value, 0], or with SATURATE becomes the bound.

#include <cfloat>
#include <cmath>
#include <limits>
#include <string>

#include "base/numbers.h"
#include "commands/expiry_option.h"
#include "commands/families.h"
#include "commands/string_parts.h"
#include "types/string.h"

namespace sorrel::commands {
namespace {

// The options as they were sent. Numbers are parsed when the whole list is known, since their kind
// depends on it.
struct IncrexWords {
  std::string_view by;
  std::string_view lower;
  std::string_view upper;
  bool by_float = false;
  bool has_by = false;
  bool has_lower = false;
  bool has_upper = false;
  bool saturate = false;
  bool persist = false;
  bool only_without_deadline = false;  // ENX
  ExpiryClause expiry;
};

// Each option once; a second time is an error, unlike in SET.
void once(OptionParser& options, bool& seen) {
  if (seen) options.fail_syntax();
  seen = true;
}

void take_option(OptionParser& options, IncrexWords& words) {
  const bool had_expiry = words.expiry.given();
  if (options.word("BYINT", 1)) {
    once(options, words.has_by);
    words.by = options.text();
  } else if (options.word("BYFLOAT", 1)) {
    once(options, words.has_by);
    words.by_float = true;
    words.by = options.text();
  } else if (options.word("LBOUND", 1)) {
    once(options, words.has_lower);
    words.lower = options.text();
  } else if (options.word("UBOUND", 1)) {
    once(options, words.has_upper);
    words.upper = options.text();
  } else if (options.word("SATURATE")) {
    once(options, words.saturate);
  } else if (options.word("ENX")) {
    once(options, words.only_without_deadline);
    if (words.persist) options.fail_syntax();
  } else if (options.word("PERSIST")) {
    once(options, words.persist);
    if (had_expiry || words.only_without_deadline) options.fail_syntax();
  } else if (take_expiry(options, words.expiry)) {
    if (had_expiry || words.persist) options.fail_syntax();
  } else {
    options.fail_syntax();
  }
}

// False: an error has been answered.
bool parse_words(Call& call, IncrexWords& words) {
  OptionParser options(call.args, 2);
  while (options.more()) take_option(options, words);
  if (!options.failed() && words.only_without_deadline && !words.expiry.given()) {
    options.fail("ERR ENX flag requires an expiration");
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

// The properties of the two kinds of number.
struct Integers {
  using Number = int64_t;
  static constexpr Number kLeast = std::numeric_limits<int64_t>::min();
  static constexpr Number kMost = std::numeric_limits<int64_t>::max();
  static constexpr std::string_view kNotOne = "is not an integer or out of range";
  static constexpr std::string_view kDeltaError = "ERR applied increment would overflow";
  static constexpr Event kEvent{EventClass::kString, "incrby"};

  static std::optional<Number> parse(std::string_view text) { return parse_int64(text); }
  static bool finite(Number) { return true; }
  static std::optional<Number> add(Number a, Number b) { return checked_add(a, b); }
  static std::optional<Number> subtract(Number a, Number b) { return checked_sub(a, b); }
  static std::string text(Number number) { return to_text(number); }
  static void put(Entry& entry, Number number, int64_t deadline) {
    entry.set_integer(number, deadline, kEvent);
  }
  static void answer(Call& call, Number number) { call.reply.integer(number); }
};

struct Floats {
  using Number = long double;
  static constexpr Number kLeast = -LDBL_MAX;
  static constexpr Number kMost = LDBL_MAX;
  static constexpr std::string_view kNotOne = "is not a valid float";
  static constexpr std::string_view kDeltaError = "ERR applied increment would be Infinity";
  static constexpr Event kEvent{EventClass::kString, "incrbyfloat"};

  static std::optional<Number> parse(std::string_view text) { return parse_long_double(text); }
  static bool finite(Number number) { return std::isfinite(number); }
  static std::optional<Number> add(Number a, Number b) { return checked(a + b); }
  static std::optional<Number> subtract(Number a, Number b) { return checked(a - b); }
  static std::string text(Number number) { return format_long_double(number); }
  static void put(Entry& entry, Number number, int64_t deadline) {
    entry.set_text(text(number), deadline, kEvent);
  }
  static void answer(Call& call, Number number) { call.reply.real_text(text(number)); }

 private:
  static std::optional<Number> checked(Number number) {
    if (!std::isfinite(number)) return std::nullopt;
    return number;
  }
};

template <class Kind>
struct IncrexOptions {
  typename Kind::Number by = 1;
  typename Kind::Number lower = Kind::kLeast;
  typename Kind::Number upper = Kind::kMost;
  int64_t deadline = kNoExpiry;
};

template <class Kind>
bool read_number(Call& call, bool given, std::string_view text, std::string_view name,
                 typename Kind::Number& out) {
  if (!given) return true;
  const auto number = Kind::parse(text);
  if (number) {
    out = *number;
    return true;
  }
  call.reply.error(std::string("ERR ").append(name).append(" ").append(Kind::kNotOne));
  return false;
}

// False: an error has been answered.
template <class Kind>
bool read_options(Call& call, const IncrexWords& words, IncrexOptions<Kind>& options) {
  if (!read_number<Kind>(call, words.has_by, words.by, "Increment", options.by)) return false;
  if (!Kind::finite(options.by)) {
    call.reply.error("ERR BYFLOAT increment cannot be Infinity");
    return false;
  }
  if (!read_number<Kind>(call, words.has_lower, words.lower, "LBOUND", options.lower) ||
      !read_number<Kind>(call, words.has_upper, words.upper, "UBOUND", options.upper)) {
    return false;
  }
  if (options.lower > options.upper) {
    call.reply.error("ERR LBOUND can't be greater than UBOUND");
    return false;
  }
  if (words.expiry.given()) {
    const auto deadline = deadline_of(call, words.expiry);
    if (!deadline) return false;
    options.deadline = *deadline;
  }
  return true;
}

// False: an error has been answered. An absent key counts as 0.
template <class Kind>
bool read_old(Call& call, const Entry& entry, typename Kind::Number& old) {
  if (!check_string(call, entry)) return false;
  if (!entry) return true;
  IntegerText scratch;
  const std::string_view text = string_bytes(*entry.record(), scratch);
  if (!read_number<Kind>(call, true, text, "value", old)) return false;
  if (Kind::finite(old)) return true;
  call.reply.error("ERR value cannot be Infinity");
  return false;
}

// The effect has the result: floating point may round differently elsewhere, and bounds need not be
// checked again.
template <class Kind>
void store(Call& call, Entry& entry, const IncrexWords& words, int64_t wanted,
           typename Kind::Number value) {
  const int64_t had = entry.expiry();
  const bool keep =
      (wanted == kNoExpiry && !words.persist) || (words.only_without_deadline && had != kNoExpiry);
  if (!keep && has_passed(call, wanted)) return erase_key(call, entry, 1, Freeing::kExpired);
  Kind::put(entry, value, keep ? had : wanted);
  if (!keep && wanted != kNoExpiry) entry.also(kExpireEvent);
  if (words.persist && had != kNoExpiry) entry.also(kPersistEvent);
  if (!call.wants_effect()) return;
  std::vector<std::string> set{"SET", std::string(call.arg(1)), Kind::text(value)};
  if (keep) {
    set.emplace_back("KEEPTTL");
  } else if (wanted != kNoExpiry) {
    set.emplace_back("PXAT");
    set.push_back(to_text(wanted));
  }
  call.rewrite.as(std::move(set));
}

template <class Kind>
void answer_pair(Call& call, typename Kind::Number value, typename Kind::Number added) {
  call.reply.array(2);
  Kind::answer(call, value);
  Kind::answer(call, added);
}

template <class Kind>
void increase(Call& call, const IncrexWords& words) {
  IncrexOptions<Kind> options;
  if (!read_options<Kind>(call, words, options)) return;
  Entry entry = call.keys.open(call.key(1));
  typename Kind::Number old = 0;
  if (!read_old<Kind>(call, entry, old)) return;

  const auto sum = Kind::add(old, options.by);
  const bool above = sum ? *sum > options.upper : options.by > 0;
  const bool below = sum ? *sum < options.lower : options.by < 0;
  if ((above || below) && !words.saturate) return answer_pair<Kind>(call, old, 0);
  const typename Kind::Number value = above ? options.upper : below ? options.lower : *sum;
  auto added = std::optional(options.by);
  if (above || below) added = Kind::subtract(value, old);
  if (!added) return call.reply.error(Kind::kDeltaError);
  answer_pair<Kind>(call, value, *added);
  store<Kind>(call, entry, words, options.deadline, value);
}

void increx(Call& call) {
  IncrexWords words;
  if (!parse_words(call, words)) return;
  if (words.by_float) {
    increase<Floats>(call, words);
  } else {
    increase<Integers>(call, words);
  }
}

constexpr Binding kStringIncrexBindings[] = {
    {"increx", increx},
};

}  // namespace

std::span<const Binding> string_increx_bindings() {
  return kStringIncrexBindings;
}

}  // namespace sorrel::commands
