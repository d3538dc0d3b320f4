#include <cmath>
#include <limits>
#include <memory>

#include "rdb/packed.h"
#include "rdb/read_parts.h"

namespace sorrel::rdb {
namespace {

// Members may come in any order; the map brings them into theirs.
bool insert(ScoreMap& map, std::string_view member, double score) {
  if (std::isnan(score) || map.find(member) != nullptr) return false;
  map.insert(member, score);
  return true;
}

bool read_members(ObjectType type, Reader& in, ScoreMap& map) {
  const bool binary = type == ObjectType::kZset;
  std::string scratch;
  const uint64_t members = in.count(2);
  for (uint64_t i = 0; i < members; i++) {
    const std::string_view member = in.string(scratch);
    const double score = binary ? in.real() : in.text_real();
    if (in.failed() || !insert(map, member, score)) return false;
  }
  return !in.failed();
}

bool read_packed(Packed form, Reader& in, ScoreMap& map) {
  std::string scratch;
  const std::string_view block = in.string(scratch);
  if (in.failed()) return false;
  return walk_pairs(form, block, [&](const PackedElement& member, const PackedElement& score) {
    IntegerText text;
    if (score.is_integer())
      return insert(map, member.text(text), static_cast<double>(score.integer));
    const auto number = parse_double({score.data, score.size});
    return number && insert(map, member.text(text), *number);
  });
}

}  // namespace

std::optional<Value> read_zset(ObjectType type, Reader& in, const ValueLimits& limits) {
  auto map = std::make_unique<ScoreMap>(limits.zset.hasher);
  ZsetLimits fitting = limits.zset;
  if (type == ObjectType::kZset || type == ObjectType::kZsetText) {
    if (!read_members(type, in, *map)) return std::nullopt;
  } else {
    const bool is_old = type == ObjectType::kZsetZiplist;
    if (!read_packed(is_old ? Packed::kZiplist : Packed::kListpack, in, *map)) return std::nullopt;
    // One that was packed stays so whatever the length of its members.
    fitting.max_value = std::numeric_limits<int64_t>::max();
  }
  if (map->size() == 0) return nothing_in(in);
  return Value(Type::kZset, make_zset(map.release(), fitting));
}

}  // namespace sorrel::rdb
