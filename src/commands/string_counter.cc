// INCR, DECR, INCRBYFLOAT and their family: strings as numbers.

#include <cmath>
#include <limits>
#include <string>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/string_parts.h"
#include "types/string.h"

namespace sorrel::commands {
namespace {

void add(Call& call, int64_t amount) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_string(call, entry)) return;
  int64_t old = 0;
  if (entry) {
    const auto parsed = string_integer(*entry.record());
    if (!parsed) return answer::not_an_integer(call);
    old = *parsed;
  }
  const auto sum = checked_add(old, amount);
  if (!sum) return call.reply.error("ERR increment or decrement would overflow");
  entry.set_integer(*sum, entry.expiry(), {EventClass::kString, "incrby"});
  call.reply.integer(*sum);
}

void incr(Call& call) {
  add(call, 1);
}
void decr(Call& call) {
  add(call, -1);
}

void incrby(Call& call) {
  const auto amount = parse_int64(call.arg(2));
  if (!amount) return answer::not_an_integer(call);
  add(call, *amount);
}

void decrby(Call& call) {
  const auto amount = parse_int64(call.arg(2));
  if (!amount) return answer::not_an_integer(call);
  if (*amount == std::numeric_limits<int64_t>::min()) {
    return call.reply.error("ERR decrement would overflow");
  }
  add(call, -*amount);
}

void incrbyfloat(Call& call) {
  const auto amount = parse_long_double(call.arg(2));
  Entry entry = call.keys.open(call.key(1));
  if (!check_string(call, entry)) return;
  long double old = 0;
  if (entry) {
    IntegerText scratch;
    const auto parsed = parse_long_double(string_bytes(*entry.record(), scratch));
    if (!parsed) return call.reply.error("ERR value is not a valid float");
    old = *parsed;
  }
  if (!amount) return call.reply.error("ERR value is not a valid float");
  const long double sum = old + *amount;
  if (std::isnan(sum) || std::isinf(sum)) {
    return call.reply.error("ERR increment would produce NaN or Infinity");
  }
  const std::string text = format_long_double(sum);
  entry.set_text(text, entry.expiry(), {EventClass::kString, "incrbyfloat"});
  // Floating point may round differently elsewhere, so the effect has the result.
  if (call.wants_effect()) call.rewrite.as({"SET", std::string(call.arg(1)), text, "KEEPTTL"});
  call.reply.bulk(text);
}

constexpr Binding kStringCounterBindings[] = {
    {"incr", incr},
    {"decr", decr},
    {"incrby", incrby},
    {"decrby", decrby},
    {"incrbyfloat", incrbyfloat},
};

}  // namespace

std::span<const Binding> string_counter_bindings() {
  return kStringCounterBindings;
}

}  // namespace sorrel::commands
