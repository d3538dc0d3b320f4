// DELEX, DELIFEQ: compare and delete in one step; and DIGEST, which answers the digest to compare
// with.

#include "commands/families.h"
#include "commands/string_condition.h"
#include "commands/string_parts.h"
#include "types/string.h"

namespace sorrel::commands {
namespace {

// Deletes the key and answers the number of deleted keys.
void erase_and_answer(Call& call, Entry& entry) {
  call.reply.integer(entry ? 1 : 0);
  erase_key(call, entry, 1, Freeing::kDeleted);
}

// DELEX key [IFEQ value | IFNE value | IFDEQ digest | IFDNE digest]. As in Redis an absent key
// decides before the condition's word is examined, and any type may be deleted without one.
void delex(Call& call) {
  if (call.argc() != 2 && call.argc() != 4) return answer::wrong_arity(call);
  Entry entry = call.keys.open(call.key(1));
  if (call.argc() == 2 || !entry) return erase_and_answer(call, entry);
  if (entry.record()->type() != Type::kString) {
    return call.reply.error("ERR Key should be of string type if conditions are specified");
  }
  const Condition condition{condition_named(call.arg(2)), call.arg(3)};
  if (!condition.given()) {
    return call.reply.error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
  }
  if (!condition.check_digest(call)) return;
  if (!condition.holds(entry)) return call.reply.integer(0);
  erase_and_answer(call, entry);
}

// DELIFEQ key value: Valkey's older spelling of DELEX key IFEQ value.
void delifeq(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_string(call, entry)) return;
  const Condition condition{Condition::Kind::kEqual, call.arg(2)};
  if (!condition.holds(entry)) return call.reply.integer(0);
  erase_and_answer(call, entry);
}

void digest(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.null();
  if (record->type() != Type::kString) return answer::wrong_type(call);
  IntegerText scratch;
  call.reply.bulk(value_digest(string_bytes(*record, scratch)));
}

constexpr Binding kStringCompareBindings[] = {
    {"delex", delex},
    {"delifeq", delifeq},
    {"digest", digest},
};

}  // namespace

std::span<const Binding> string_compare_bindings() {
  return kStringCompareBindings;
}

}  // namespace sorrel::commands
