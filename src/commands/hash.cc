// HSET, HGET and the other commands on named fields of one hash.

#include "commands/families.h"
#include "commands/hash_parts.h"

namespace sorrel::commands {
namespace {

// Sets all pairs from argument 2 on. Returns the number of new fields; nullopt: an error has been
// answered.
std::optional<int64_t> set_pairs(Call& call) {
  if (call.argc() % 2 == 1) {
    answer::wrong_arity(call);
    return std::nullopt;
  }
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return std::nullopt;
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits);
  hash.expect(call.args.subspan(2));
  int64_t created = 0;
  for (size_t i = 2; i < call.argc(); i += 2) {
    created += hash.set(call.arg(i), call.arg(i + 1)) ? 1 : 0;
  }
  entry.changed(kHsetEvent);
  return created;
}

void hset(Call& call) {
  if (const auto created = set_pairs(call)) call.reply.integer(*created);
}

void hmset(Call& call) {
  if (set_pairs(call)) call.reply.ok();
}

void hsetnx(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return;
  entry.expire_fields(call.args.subspan(2, 1));
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits);
  if (hash.contains(call.arg(2))) return call.reply.integer(0);
  hash.set(call.arg(2), call.arg(3));
  entry.changed(kHsetEvent);
  call.reply.integer(1);
}

void hget(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (record == nullptr) return call.reply.null();
  if (!check_type(call, record, Type::kHash)) return;
  const Hash hash = hash_of(call, *record);
  if (const auto value = hash.get(call.arg(2))) return answer_text(call, *value);
  call.reply.null();
  expire_asked(call, hash, call.args.subspan(2));
}

void hmget(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  const auto fields = call.args.subspan(2);
  call.reply.array(static_cast<int64_t>(fields.size()));
  if (record == nullptr) {
    for (size_t i = 0; i < fields.size(); i++) call.reply.null();
    return;
  }
  const Hash hash = hash_of(call, *record);
  for (std::string_view field : fields) {
    if (const auto value = hash.get(field)) {
      answer_text(call, *value);
    } else {
      call.reply.null();
    }
  }
  expire_asked(call, hash, fields);
}

void hgetall(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  if (record == nullptr) return call.reply.map(0);
  const Hash hash = hash_of(call, *record);
  call.reply.map(static_cast<int64_t>(hash.live_size()));
  hash.for_each([&](const HashItem& item) {
    answer_text(call, item.field);
    answer_text(call, item.value);
  });
}

// HKEYS or HVALS: one half of all pairs.
void answer_all(Call& call, HashText HashItem::*half) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  if (record == nullptr) return call.reply.array(0);
  const Hash hash = hash_of(call, *record);
  call.reply.array(static_cast<int64_t>(hash.live_size()));
  hash.for_each([&](const HashItem& item) { answer_text(call, item.*half); });
}

void hkeys(Call& call) {
  answer_all(call, &HashItem::field);
}

void hvals(Call& call) {
  answer_all(call, &HashItem::value);
}

// HLEN also counts expired fields that have not been deleted yet, as in Redis.
void hlen(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  const size_t size = record == nullptr ? 0 : Hash(collection_of(*record)).size();
  call.reply.integer(static_cast<int64_t>(size));
}

// The value of the field at argument 2, for commands that only measure it.
std::optional<HashText> look_at_field(Call& call, const Record* record) {
  if (record == nullptr) return std::nullopt;
  const Hash hash = hash_of(call, *record);
  const auto value = hash.get(call.arg(2));
  if (!value) expire_asked(call, hash, call.args.subspan(2));
  return value;
}

void hexists(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  call.reply.integer(look_at_field(call, record) ? 1 : 0);
}

void hstrlen(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  const auto value = look_at_field(call, record);
  IntegerText scratch;
  call.reply.integer(value ? static_cast<int64_t>(value->text(scratch).size()) : 0);
}

// An expired field is deleted, and counts as deleted if it still exists.
void hdel(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!entry) return call.reply.integer(0);
  if (!check_type(call, entry, Type::kHash)) return;
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits);
  int64_t removed = 0;
  for (std::string_view field : call.args.subspan(2)) removed += hash.remove(field) ? 1 : 0;
  if (removed > 0) entry.changed(kHdelEvent);
  call.reply.integer(removed);
}

}  // namespace

std::span<const Binding> hash_bindings() {
  static constexpr Binding kBindings[] = {
      {"hdel", &hdel},   {"hexists", &hexists}, {"hget", &hget},       {"hgetall", &hgetall},
      {"hkeys", &hkeys}, {"hlen", &hlen},       {"hmget", &hmget},     {"hmset", &hmset},
      {"hset", &hset},   {"hsetnx", &hsetnx},   {"hstrlen", &hstrlen}, {"hvals", &hvals},
  };
  return kBindings;
}

}  // namespace sorrel::commands
