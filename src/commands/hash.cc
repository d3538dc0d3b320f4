// Reading and writing the fields of one hash.

#include "commands/families.h"
#include "commands/hash_parts.h"

namespace sorrel::commands {
namespace {

// Sets all pairs from argument 2 on. Returns how many fields are new; nullopt: an error has been
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
  const auto value = Hash(collection_of(*record)).get(call.arg(2));
  if (!value) return call.reply.null();
  answer_text(call, *value);
}

void hmget(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  call.reply.array(static_cast<int64_t>(call.argc() - 2));
  for (std::string_view field : call.args.subspan(2)) {
    std::optional<HashText> value;
    if (record != nullptr) value = Hash(collection_of(*record)).get(field);
    if (value) {
      answer_text(call, *value);
    } else {
      call.reply.null();
    }
  }
}

void hgetall(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  if (record == nullptr) return call.reply.map(0);
  const Hash hash(collection_of(*record));
  call.reply.map(static_cast<int64_t>(hash.size()));
  hash.for_each([&](const HashItem& item) {
    answer_text(call, item.field);
    answer_text(call, item.value);
  });
}

// One half of all pairs.
void answer_all(Call& call, HashText HashItem::*half) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  if (record == nullptr) return call.reply.array(0);
  const Hash hash(collection_of(*record));
  call.reply.array(static_cast<int64_t>(hash.size()));
  hash.for_each([&](const HashItem& item) { answer_text(call, item.*half); });
}

void hkeys(Call& call) {
  answer_all(call, &HashItem::field);
}

void hvals(Call& call) {
  answer_all(call, &HashItem::value);
}

void hlen(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  const size_t size = record == nullptr ? 0 : Hash(collection_of(*record)).size();
  call.reply.integer(static_cast<int64_t>(size));
}

void hexists(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  const bool there = record != nullptr && Hash(collection_of(*record)).contains(call.arg(2));
  call.reply.integer(there ? 1 : 0);
}

void hstrlen(Call& call) {
  const Record* record = call.keys.read(call.key(1));
  if (!check_type(call, record, Type::kHash)) return;
  std::optional<HashText> value;
  if (record != nullptr) value = Hash(collection_of(*record)).get(call.arg(2));
  IntegerText scratch;
  call.reply.integer(value ? static_cast<int64_t>(value->text(scratch).size()) : 0);
}

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

// True when FIELDS and the count are as they have to be; else the error has been answered.
bool check_numbered_fields(Call& call) {
  if (!iequals(call.arg(2), "FIELDS")) {
    call.reply.error("ERR Mandatory argument FIELDS is missing or not at the right position");
    return false;
  }
  const auto count = parse_int64(call.arg(3));
  if (!count || *count < 1) {
    call.reply.error("ERR Number of fields must be a positive integer");
    return false;
  }
  if (static_cast<uint64_t>(*count) != call.argc() - 4) {
    call.reply.error("ERR The `numfields` parameter must match the number of arguments");
    return false;
  }
  return true;
}

void hgetdel(Call& call) {
  Entry entry = call.keys.open_counted(call.key(1));
  if (!check_type(call, entry, Type::kHash) || !check_numbered_fields(call)) return;
  const auto fields = call.args.subspan(4);
  call.reply.array(static_cast<int64_t>(fields.size()));
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits);
  std::vector<std::string> effect = {"HDEL", std::string(call.arg(1))};
  bool any = false;
  // One after the other: a field named twice is gone at the second time.
  for (std::string_view field : fields) {
    const auto value = hash.get(field);
    if (!value) {
      call.reply.null();
      continue;
    }
    answer_text(call, *value);
    hash.remove(field);
    any = true;
    if (call.wants_effect()) effect.emplace_back(field);
  }
  if (!any) return;
  entry.changed(kHdelEvent);
  if (call.wants_effect()) call.rewrite.as(std::move(effect));
}

}  // namespace

std::span<const Binding> hash_bindings() {
  static constexpr Binding kBindings[] = {
      {"hdel", &hdel},       {"hexists", &hexists}, {"hget", &hget},     {"hgetall", &hgetall},
      {"hgetdel", &hgetdel}, {"hkeys", &hkeys},     {"hlen", &hlen},     {"hmget", &hmget},
      {"hmset", &hmset},     {"hset", &hset},       {"hsetnx", &hsetnx}, {"hstrlen", &hstrlen},
      {"hvals", &hvals},
  };
  return kBindings;
}

}  // namespace sorrel::commands
