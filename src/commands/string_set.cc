// SET with all its options, and the older commands that it replaces.

#include <string>

#include "commands/expiry_option.h"
#include "commands/families.h"
#include "commands/string_condition.h"
#include "commands/string_parts.h"
#include "types/string.h"

namespace sorrel::commands {
namespace {

struct SetOptions {
  ExpiryClause expiry;
  bool keep_ttl = false;
  bool get = false;
  bool only_new = false;
  bool only_existing = false;
  Condition condition;
  int64_t deadline = kNoExpiry;
};

// False: an error has been answered.
bool parse_set(Call& call, SetOptions& set) {
  OptionParser options(call.args, 3);
  while (options.more()) {
    if (take_expiry(options, set.expiry)) {
      if (set.keep_ttl) options.fail_syntax();
    } else if (options.word("KEEPTTL")) {
      if (set.expiry.given()) options.fail_syntax();
      set.keep_ttl = true;
    } else if (options.word("NX")) {
      if (set.only_existing || set.condition.given()) options.fail_syntax();
      set.only_new = true;
    } else if (options.word("XX")) {
      if (set.only_new || set.condition.given()) options.fail_syntax();
      set.only_existing = true;
    } else if (options.word("GET")) {
      set.get = true;
    } else if (take_condition(options, set.condition)) {
      if (set.only_new || set.only_existing) options.fail_syntax();
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) {
    call.reply.error(options.error());
    return false;
  }
  if (set.expiry.given()) {
    const auto deadline = deadline_of(call, set.expiry);
    if (!deadline) return false;
    set.deadline = *deadline;
  }
  return true;
}

// The effect of a SET that depended on the time or on a condition: its outcome.
void rewrite_set(Call& call, std::string_view value, int64_t deadline) {
  if (!call.wants_effect()) return;
  if (deadline == kNoExpiry) {
    call.rewrite.as({"SET", std::string(call.arg(1)), std::string(value)});
  } else {
    call.rewrite.as(
        {"SET", std::string(call.arg(1)), std::string(value), "PXAT", to_text(deadline)});
  }
}

// With an expire time that has passed, the only effect is the deletion of the old value.
void store(Call& call, Entry& entry, const SetOptions& set) {
  if (has_passed(call, set.deadline)) return erase_key(call, entry, 1, Freeing::kExpired);
  const std::string_view value = call.arg(2);
  entry.set_string(value, set.keep_ttl ? entry.expiry() : set.deadline, kSetEvent);
  if (set.deadline != kNoExpiry) entry.also(kExpireEvent);
  if (!set.keep_ttl) return rewrite_set(call, value, set.deadline);
  if (call.wants_effect()) {
    call.rewrite.as({"SET", std::string(call.arg(1)), std::string(value), "KEEPTTL"});
  }
}

void set_with_options(Call& call) {
  SetOptions set;
  if (!parse_set(call, set)) return;
  const Key key = call.key(1);
  Entry entry = set.get ? call.keys.open_counted(key) : call.keys.open(key);
  const bool reads = set.get || set.condition.given();
  if (reads && !check_string(call, entry)) return;
  if (entry && !set.condition.check_digest(call)) return;
  const bool refused =
      (set.only_new && entry) || (set.only_existing && !entry) || !set.condition.holds(entry);
  if (set.get) {
    answer_old(call, entry);
  } else if (refused) {
    call.reply.null();
  } else {
    call.reply.ok();
  }
  if (!refused) store(call, entry, set);
}

void set(Call& call) {
  if (call.argc() > 3) return set_with_options(call);
  call.keys.put_string(call.key(1), call.arg(2), kNoExpiry, kSetEvent);
  call.reply.ok();
}

void setnx(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (entry) return call.reply.integer(0);
  entry.set_string(call.arg(2), kNoExpiry, kSetEvent);
  rewrite_set(call, call.arg(2), kNoExpiry);
  call.reply.integer(1);
}

void set_for(Call& call, ExpiryClause::Unit unit) {
  ExpiryClause clause;
  clause.unit = unit;
  clause.amount = call.arg(2);
  const auto deadline = deadline_of(call, clause);
  if (!deadline) return;
  Entry entry = call.keys.open(call.key(1));
  entry.set_string(call.arg(3), *deadline, kSetEvent);
  entry.also(kExpireEvent);
  rewrite_set(call, call.arg(3), *deadline);
  call.reply.ok();
}

void setex(Call& call) {
  set_for(call, ExpiryClause::Unit::kSeconds);
}
void psetex(Call& call) {
  set_for(call, ExpiryClause::Unit::kMilliseconds);
}

constexpr Binding kStringSetBindings[] = {
    {"set", set},
    {"setnx", setnx},
    {"setex", setex},
    {"psetex", psetex},
};

}  // namespace

std::span<const Binding> string_set_bindings() {
  return kStringSetBindings;
}

}  // namespace sorrel::commands
