// HyperLogLog: estimates the number of distinct elements. The value is a string in a format of its
// own that every string command can change, so it is validated here before each use.

#include "types/hyperloglog.h"

#include <optional>
#include <string>

#include "base/bytes.h"
#include "commands/families.h"
#include "dispatch/call.h"
#include "types/string.h"

namespace sorrel::commands {
namespace {

constexpr Event kChanged{EventClass::kString, "pfadd"};
// The same cardinality in another encoding: no event.
constexpr Event kRearranged{EventClass::kString, ""};
constexpr std::string_view kCorrupt = "INVALIDOBJ Corrupted HLL object detected";

size_t sparse_limit(Call& call) {
  return static_cast<size_t>(call.keys.keyspace().limits().hll_sparse_max_bytes);
}

// The bytes at a key; nullopt: an error has been answered. Absent: `absent`.
std::optional<std::string> bytes_of(Call& call, const Record* record, std::string absent) {
  if (record == nullptr) return absent;
  if (record->type() != Type::kString) {
    answer::wrong_type(call);
    return std::nullopt;
  }
  IntegerText scratch;
  const std::string_view bytes = string_bytes(*record, scratch);
  if (!hll::looks_valid(bytes)) {
    call.reply.error("WRONGTYPE Key is not a valid HyperLogLog string value.");
    return std::nullopt;
  }
  return std::string(bytes);
}

void put(Entry& entry, const std::string& bytes, Event event) {
  entry.set_text(bytes, entry.expiry(), event);
  entry.mark_string_modified();
}

void pfadd(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  auto bytes = bytes_of(call, entry.record(), hll::make_sparse());
  if (!bytes) return;
  bool changed = !entry;
  for (std::string_view element : call.args.subspan(2)) {
    const auto grew = hll::add(*bytes, element, sparse_limit(call));
    if (!grew) return call.reply.error(kCorrupt);
    changed |= *grew != 0;
  }
  if (changed) {
    hll::forget_count(*bytes);
    put(entry, *bytes, kChanged);
  }
  call.reply.integer(changed ? 1 : 0);
}

// Merges the registers of the keys from `first` on. False: an error has been answered.
bool join(Call& call, size_t first, hll::Registers& into, bool& any_dense) {
  for (size_t at = first; at < call.argc(); at++) {
    const Record* record = call.keys.read(call.key(at));
    if (record == nullptr) continue;
    const auto bytes = bytes_of(call, record, "");
    if (!bytes) return false;
    any_dense |= hll::is_dense(*bytes);
    if (!hll::merge(*bytes, into)) {
      call.reply.error(kCorrupt);
      return false;
    }
  }
  return true;
}

void pfcount(Call& call) {
  hll::Registers registers{};
  if (call.argc() > 2) {
    bool any_dense = false;
    if (!join(call, 1, registers, any_dense)) return;
    return call.reply.integer(static_cast<int64_t>(hll::count(registers)));
  }
  Entry entry = call.keys.open_counted(call.key(1));
  if (!entry) return call.reply.integer(0);
  auto bytes = bytes_of(call, entry.record(), "");
  if (!bytes) return;
  if (const auto cached = hll::cached_count(*bytes)) {
    return call.reply.integer(static_cast<int64_t>(*cached));
  }
  if (!hll::merge(*bytes, registers)) return call.reply.error(kCorrupt);
  const uint64_t count = hll::count(registers);
  hll::cache_count(*bytes, count);
  put(entry, *bytes, kRearranged);
  call.reply.integer(static_cast<int64_t>(count));
}

void pfmerge(Call& call) {
  hll::Registers registers{};
  bool any_dense = false;
  if (!join(call, 1, registers, any_dense)) return;
  Entry entry = call.keys.open(call.key(1));
  auto bytes = bytes_of(call, entry.record(), hll::make_sparse());
  if (!bytes) return;
  if (any_dense && !hll::make_dense(*bytes)) return call.reply.error(kCorrupt);
  hll::set_all(*bytes, registers, sparse_limit(call));
  put(entry, *bytes, kChanged);
  call.reply.ok();
}

void debug_registers(Call& call, Entry& entry, std::string& bytes) {
  const bool was_dense = hll::is_dense(bytes);
  hll::Registers registers{};
  if (!hll::make_dense(bytes) || !hll::merge(bytes, registers)) return call.reply.error(kCorrupt);
  if (!was_dense) put(entry, bytes, kRearranged);
  call.reply.array(static_cast<int64_t>(registers.size()));
  for (uint8_t rank : registers) call.reply.integer(rank);
}

void debug_decode(Call& call, std::string_view bytes) {
  if (hll::is_dense(bytes)) return call.reply.error("ERR HLL encoding is not sparse");
  const auto text = hll::describe_sparse(bytes);
  if (!text) return call.reply.error(kCorrupt);
  call.reply.bulk(*text);
}

void pfdebug(Call& call) {
  Entry entry = call.keys.open(call.key(2));
  if (!entry) return call.reply.error("ERR The specified key does not exist");
  auto bytes = bytes_of(call, entry.record(), "");
  if (!bytes) return;
  const std::string_view word = call.arg(1);
  if (iequals(word, "getreg")) return debug_registers(call, entry, *bytes);
  if (iequals(word, "decode")) return debug_decode(call, *bytes);
  if (iequals(word, "encoding")) {
    return call.reply.simple(hll::is_dense(*bytes) ? "dense" : "sparse");
  }
  if (!iequals(word, "todense")) {
    return call.reply.error("ERR Unknown PFDEBUG subcommand '" + std::string(word) + "'");
  }
  const bool was_dense = hll::is_dense(*bytes);
  if (!hll::make_dense(*bytes)) return call.reply.error(kCorrupt);
  if (!was_dense) put(entry, *bytes, kRearranged);
  call.reply.integer(was_dense ? 0 : 1);
}

void pfselftest(Call& call) {
  if (!hll::self_test()) return call.reply.error("TESTFAILED registers or estimate are wrong");
  call.reply.ok();
}

constexpr Binding kHyperloglogBindings[] = {
    {"pfadd", pfadd},     {"pfcount", pfcount},       {"pfmerge", pfmerge},
    {"pfdebug", pfdebug}, {"pfselftest", pfselftest},
};

}  // namespace

std::span<const Binding> hyperloglog_bindings() {
  return kHyperloglogBindings;
}

}  // namespace sorrel::commands
