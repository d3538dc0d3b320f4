// MGET, MSET, MSETNX, MSETEX: several strings, atomically.

#include <limits>
#include <string>
#include <vector>

#include "commands/expiry_option.h"
#include "commands/families.h"
#include "commands/string_parts.h"

namespace sorrel::commands {
namespace {

void mget(Call& call) {
  call.reply.array(static_cast<int64_t>(call.argc() - 1));
  for (size_t i = 1; i < call.argc(); i++) {
    const Record* record = call.keys.read(call.key(i));
    if (record == nullptr || record->type() != Type::kString) {
      call.reply.null();
    } else {
      answer_string(call, *record);
    }
  }
}

void set_all_pairs(Call& call) {
  for (size_t i = 1; i + 1 < call.argc(); i += 2) {
    call.keys.open(call.key(i)).set_string(call.arg(i + 1), kNoExpiry, kSetEvent);
  }
}

void mset(Call& call) {
  if (call.argc() % 2 == 0) return answer::wrong_arity(call);
  set_all_pairs(call);
  call.reply.ok();
}

void msetnx(Call& call) {
  if (call.argc() % 2 == 0) return answer::wrong_arity(call);
  for (size_t i = 1; i < call.argc(); i += 2) {
    if (call.keys.peek(call.key(i)) != nullptr) return call.reply.integer(0);
  }
  set_all_pairs(call);
  call.reply.integer(1);
}

// MSETEX numkeys key value [key value ...] [NX | XX] [EX | PX | EXAT | PXAT time | KEEPTTL]
struct MsetexOptions {
  static constexpr size_t kFirst = 2;  // position of the first key
  size_t end = kFirst;                 // position after the last value
  bool only_new = false;
  bool only_existing = false;
  bool keep_ttl = false;
  ExpiryClause expiry;
  int64_t deadline = kNoExpiry;
};

// The count, converted to a position within the arguments. False: an error has been answered.
bool parse_count(Call& call, MsetexOptions& msetex) {
  const auto count = parse_int64(call.arg(1));
  if (!count || *count < 1 || *count > std::numeric_limits<int32_t>::max()) {
    call.reply.error("ERR invalid numkeys value");
    return false;
  }
  const size_t pairs = static_cast<size_t>(*count);
  if (pairs > (call.argc() - MsetexOptions::kFirst) / 2) {
    call.reply.error("ERR wrong number of key-value pairs");
    return false;
  }
  msetex.end = MsetexOptions::kFirst + 2 * pairs;
  return true;
}

bool parse_msetex(Call& call, MsetexOptions& msetex) {
  if (!parse_count(call, msetex)) return false;
  OptionParser options(call.args, msetex.end);
  while (options.more()) {
    if (take_expiry(options, msetex.expiry)) {
      if (msetex.keep_ttl) options.fail_syntax();
    } else if (options.word("KEEPTTL")) {
      if (msetex.expiry.given()) options.fail_syntax();
      msetex.keep_ttl = true;
    } else if (options.word("NX")) {
      if (msetex.only_existing) options.fail_syntax();
      msetex.only_new = true;
    } else if (options.word("XX")) {
      if (msetex.only_new) options.fail_syntax();
      msetex.only_existing = true;
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) {
    call.reply.error(options.error());
    return false;
  }
  if (msetex.expiry.given()) {
    const auto deadline = deadline_of(call, msetex.expiry);
    if (!deadline) return false;
    msetex.deadline = *deadline;
  }
  return true;
}

// Only commands that older replicas and AOF readers know as well.
void rewrite_msetex(Call& call, const MsetexOptions& msetex) {
  if (!call.wants_effect()) return;
  if (has_passed(call, msetex.deadline)) {
    std::vector<std::string> del{
        std::string(call.keys.keyspace().deletion_command(Freeing::kExpired))};
    for (size_t i = MsetexOptions::kFirst; i < msetex.end; i += 2) del.emplace_back(call.arg(i));
    return call.rewrite.as(std::move(del));
  }
  if (!msetex.keep_ttl && msetex.deadline == kNoExpiry) {
    std::vector<std::string> mset{"MSET"};
    for (size_t i = MsetexOptions::kFirst; i < msetex.end; i++) mset.emplace_back(call.arg(i));
    return call.rewrite.as(std::move(mset));
  }
  for (size_t i = MsetexOptions::kFirst; i < msetex.end; i += 2) {
    std::vector<std::string> set{"SET", std::string(call.arg(i)), std::string(call.arg(i + 1))};
    if (msetex.keep_ttl) {
      set.emplace_back("KEEPTTL");
    } else {
      set.emplace_back("PXAT");
      set.push_back(to_text(msetex.deadline));
    }
    call.rewrite.as(std::move(set));
  }
}

void store_pair(Call& call, const MsetexOptions& msetex, size_t at) {
  Entry entry = call.keys.open(call.key(at));
  if (has_passed(call, msetex.deadline)) {
    if (entry) entry.erase(kDelEvent, Freeing::kExpired);
    return;
  }
  const int64_t deadline = msetex.keep_ttl ? entry.expiry() : msetex.deadline;
  entry.set_string(call.arg(at + 1), deadline, kSetEvent);
  if (msetex.deadline != kNoExpiry) entry.also(kExpireEvent);
}

void msetex(Call& call) {
  MsetexOptions options;
  if (!parse_msetex(call, options)) return;
  if (options.only_new || options.only_existing) {
    for (size_t i = MsetexOptions::kFirst; i < options.end; i += 2) {
      const bool exists = call.keys.peek(call.key(i)) != nullptr;
      if (exists == options.only_new) return call.reply.integer(0);
    }
  }
  for (size_t i = MsetexOptions::kFirst; i < options.end; i += 2) store_pair(call, options, i);
  rewrite_msetex(call, options);
  call.reply.integer(1);
}

constexpr Binding kStringManyBindings[] = {
    {"mget", mget},
    {"mset", mset},
    {"msetnx", msetnx},
    {"msetex", msetex},
};

}  // namespace

std::span<const Binding> string_many_bindings() {
  return kStringManyBindings;
}

}  // namespace sorrel::commands
