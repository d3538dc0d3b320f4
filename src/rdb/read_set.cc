#include <limits>

#include "rdb/packed.h"
#include "rdb/read_parts.h"
#include "structs/intset.h"

namespace sorrel::rdb {
namespace {

// Above any limit: makes a set a table at once.
constexpr size_t kMany = std::numeric_limits<size_t>::max();

std::optional<Value> read_members(Reader& in, const SetLimits& limits) {
  const uint64_t members = in.count(1);
  if (in.failed()) return std::nullopt;
  if (members == 0) return nothing_in(in);
  Value value(Type::kSet);
  SetEdit set(value.collection(), limits);
  if (members > limits.max_intset_entries) set.expect("", kMany);
  std::string scratch;
  for (uint64_t i = 0; i < members; i++) {
    const std::string_view member = in.string(scratch);
    if (in.failed() || !is_new(set.add(member), ObjectType::kSet, in)) return std::nullopt;
  }
  return value;
}

std::optional<Value> read_intset(std::string_view bytes, const SetLimits& limits) {
  if (!Intset::valid(bytes)) return std::nullopt;
  Value value(Type::kSet, {Encoding::kIntset, Intset::copy(bytes)});
  SetEdit set(value.collection(), limits);
  if (set.size() == 0) return std::nullopt;
  if (set.size() > limits.max_intset_entries) set.expect("", kMany);
  return value;
}

std::optional<Value> read_listpack(std::string_view bytes, const SetLimits& limits, Reader& in) {
  Value value(Type::kSet, {Encoding::kListpack, listpack::make()});
  Collection& set = value.collection();
  size_t count = 0;
  // Duplicates are checked once, for all members of the block.
  const auto all_new = [&] {
    const auto* block = static_cast<listpack::ConstBlock>(set.data);
    return is_new(all_different(block, 0, limits.hasher), ObjectType::kSetListpack, in);
  };
  const bool sound = walk_packed(Packed::kListpack, bytes, [&](const PackedElement& member) {
    IntegerText scratch;
    const std::string_view text = member.text(scratch);
    if (count < limits.max_listpack_entries) {
      set.data = listpack::append(static_cast<listpack::Block>(set.data), text);
      count++;
      return true;
    }
    if (count == limits.max_listpack_entries && !all_new()) return false;
    count++;
    return is_new(SetEdit(set, limits).add(text), ObjectType::kSetListpack, in);
  });
  if (!sound) return std::nullopt;
  if (count == 0) return nothing_in(in);
  if (count <= limits.max_listpack_entries && !all_new()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Value> read_set(ObjectType type, Reader& in, const ValueLimits& limits) {
  if (type == ObjectType::kSet) return read_members(in, limits.set);
  std::string scratch;
  const std::string_view block = in.string(scratch);
  if (in.failed()) return std::nullopt;
  if (type == ObjectType::kSetIntset) return read_intset(block, limits.set);
  return read_listpack(block, limits.set, in);
}

}  // namespace sorrel::rdb
