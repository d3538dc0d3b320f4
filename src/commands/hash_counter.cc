// HINCRBY and HINCRBYFLOAT: numbers in the fields of a hash.

#include <cmath>

#include "base/numbers.h"
#include "commands/families.h"
#include "commands/hash_parts.h"

namespace sorrel::commands {
namespace {

void hincrby(Call& call) {
  const auto increment = parse_int64(call.arg(3));
  if (!increment) return answer::not_an_integer(call);
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return;
  entry.expire_fields(call.args.subspan(2, 1));
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits);
  int64_t old = 0;
  if (const auto value = hash.get(call.arg(2))) {
    const auto number = value->is_integer() ? std::optional(value->integer)
                                            : parse_int64({value->data, value->size});
    if (!number) return call.reply.error("ERR hash value is not an integer");
    old = *number;
  }
  const auto sum = checked_add(old, *increment);
  if (!sum) return call.reply.error("ERR increment or decrement would overflow");
  hash.set(call.arg(2), to_text(*sum), HashEdit::Deadline::kStays);
  entry.changed({EventClass::kHash, "hincrby"});
  call.reply.integer(*sum);
}

// The effect is the result: other implementations may round differently.
void hincrbyfloat(Call& call) {
  const auto increment = parse_long_double(call.arg(3));
  if (!increment) return call.reply.error("ERR value is not a valid float");
  if (!std::isfinite(*increment)) return call.reply.error("ERR value is NaN or Infinity");
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return;
  entry.expire_fields(call.args.subspan(2, 1));
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits);
  long double old = 0;
  if (const auto value = hash.get(call.arg(2))) {
    IntegerText scratch;
    const auto number = parse_long_double(value->text(scratch));
    if (!number) return call.reply.error("ERR hash value is not a float");
    old = *number;
  }
  const long double sum = old + *increment;
  if (!std::isfinite(sum)) {
    return call.reply.error("ERR increment would produce NaN or Infinity");
  }
  const std::string text = format_long_double(sum);
  hash.set(call.arg(2), text, HashEdit::Deadline::kStays);
  entry.changed({EventClass::kHash, "hincrbyfloat"});
  if (call.wants_effect()) {
    const std::string key(call.arg(1));
    const std::string field(call.arg(2));
    // Older servers can read HSET; a field with an expire time to keep needs HSETEX.
    if (hash.find(field)->expiry == kNoExpiry) {
      call.rewrite.as({"HSET", key, field, text});
    } else {
      call.rewrite.as({"HSETEX", key, "KEEPTTL", "FIELDS", "1", field, text});
    }
  }
  call.reply.bulk(text);
}

}  // namespace

std::span<const Binding> hash_counter_bindings() {
  static constexpr Binding kBindings[] = {
      {"hincrby", &hincrby},
      {"hincrbyfloat", &hincrbyfloat},
  };
  return kBindings;
}

}  // namespace sorrel::commands
