// SADD, SREM, SISMEMBER, SMOVE, SSCAN and others: the members of one set.

#include "base/glob.h"
#include "commands/collection_scan.h"
#include "commands/families.h"
#include "commands/set_parts.h"

namespace sorrel::commands {
namespace {

void sadd(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kSet)) return;
  const SetLimits limits = set_limits(call);
  SetEdit set(entry.edit(Type::kSet), limits);
  set.expect(call.arg(2), call.argc() - 2);
  int64_t added = 0;
  for (std::string_view member : call.args.subspan(2)) added += set.add(member) ? 1 : 0;
  if (added > 0) entry.changed(kSaddEvent);
  call.reply.integer(added);
}

void srem(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.integer(0);
  if (!check_type(call, entry, Type::kSet)) return;
  const SetLimits limits = set_limits(call);
  SetEdit set(entry.edit(Type::kSet), limits);
  int64_t removed = 0;
  for (std::string_view member : call.args.subspan(2)) removed += set.remove(member) ? 1 : 0;
  if (removed > 0) entry.changed(kSremEvent);
  call.reply.integer(removed);
}

// The guard opened last ends first, so the source's events precede the destination's.
void smove(Call& call) {
  Entry to = call.keys.open(call.key(2));
  Entry from = call.keys.open(call.key(1));
  if (!from) return call.reply.integer(0);
  if (!check_type(call, from, Type::kSet) || !check_type(call, to, Type::kSet)) return;
  const std::string_view member = call.arg(3);
  if (call.arg(1) == call.arg(2)) {
    const bool there = Set(collection_of(*from.record())).contains(member);
    return call.reply.integer(there ? 1 : 0);
  }
  const SetLimits limits = set_limits(call);
  if (!SetEdit(from.edit(Type::kSet), limits).remove(member)) return call.reply.integer(0);
  from.changed(kSremEvent);
  SetEdit target(to.edit(Type::kSet), limits);
  target.expect(member, 1);
  if (target.add(member)) to.changed(kSaddEvent);
  call.reply.integer(1);
}

void scard(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kSet)) return;
  const size_t size = record == nullptr ? 0 : Set(collection_of(*record)).size();
  call.reply.integer(static_cast<int64_t>(size));
}

void sismember(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kSet)) return;
  const bool there = record != nullptr && Set(collection_of(*record)).contains(call.arg(2));
  call.reply.integer(there ? 1 : 0);
}

void smismember(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kSet)) return;
  call.reply.array(static_cast<int64_t>(call.argc() - 2));
  for (std::string_view member : call.args.subspan(2)) {
    const bool there = record != nullptr && Set(collection_of(*record)).contains(member);
    call.reply.integer(there ? 1 : 0);
  }
}

void smembers(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kSet)) return;
  if (record == nullptr) return call.reply.set(0);
  answer_members(call, Set(collection_of(*record)));
}

// As in Redis, options are not parsed when the key is absent.
void sscan(Call& call) {
  const auto cursor = parse_scan_cursor(call.arg(2));
  if (!cursor) return call.reply.error("ERR invalid cursor");
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return answer_nothing_scanned(call);
  if (!check_type(call, record, Type::kSet)) return;
  CollectionScan scan{.cursor = *cursor};
  if (!parse_scan_options(call, false, scan)) return;

  const Set set(collection_of(*record));
  std::vector<SetMember> found;
  const uint64_t next = scan_steps(scan, [&](uint64_t from, uint64_t& met) {
    return set.scan(from, [&](const SetMember& member) {
      met++;
      IntegerText scratch;
      if (glob_match(scan.pattern, member.text(scratch))) found.push_back(member);
    });
  });
  call.reply.array(2);
  call.reply.bulk_integer(static_cast<int64_t>(next));
  call.reply.array(static_cast<int64_t>(found.size()));
  for (const SetMember& member : found) answer_text(call, member);
}

}  // namespace

std::span<const Binding> set_bindings() {
  static constexpr Binding kBindings[] = {
      {"sadd", &sadd},         {"scard", &scard}, {"sismember", &sismember},
      {"smembers", &smembers}, {"smove", &smove}, {"smismember", &smismember},
      {"srem", &srem},         {"sscan", &sscan},
  };
  return kBindings;
}

}  // namespace sorrel::commands
