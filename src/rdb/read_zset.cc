#include <cmath>
#include <limits>
#include <memory>

#include "rdb/packed.h"
#include "rdb/read_parts.h"

namespace sorrel::rdb {
namespace {

// Members may come in any order; the map sorts them.
class ZsetReader {
 public:
  ZsetReader(ObjectType type, Reader& in, ScoreMap& map) : type_(type), in_(in), map_(map) {}

  bool read_members();
  bool read_packed(Packed form);

 private:
  bool insert(std::string_view member, double score) {
    if (std::isnan(score)) {
      in_.note_flaw("a score is not a number");
      return false;
    }
    if (!is_new(map_.find(member) == nullptr, type_, in_)) return false;
    map_.insert(member, score);
    return true;
  }

  const ObjectType type_;
  Reader& in_;
  ScoreMap& map_;
};

bool ZsetReader::read_members() {
  const bool binary = type_ == ObjectType::kZset;
  std::string scratch;
  const uint64_t members = in_.count(2);
  for (uint64_t i = 0; i < members; i++) {
    const std::string_view member = in_.string(scratch);
    const double score = binary ? in_.real() : in_.text_real();
    if (in_.failed() || !insert(member, score)) return false;
  }
  return !in_.failed();
}

bool ZsetReader::read_packed(Packed form) {
  std::string scratch;
  const std::string_view block = in_.string(scratch);
  if (in_.failed()) return false;
  return walk_pairs(form, block, [&](const PackedElement& member, const PackedElement& score) {
    IntegerText text;
    if (score.is_integer()) return insert(member.text(text), static_cast<double>(score.integer));
    const auto number = parse_double({score.data, score.size});
    return insert(member.text(text), number.value_or(std::numeric_limits<double>::quiet_NaN()));
  });
}

}  // namespace

std::optional<Value> read_zset(ObjectType type, Reader& in, const ValueLimits& limits) {
  auto map = std::make_unique<ScoreMap>(limits.zset.hasher);
  ZsetReader reader(type, in, *map);
  ZsetLimits fitting = limits.zset;
  if (type == ObjectType::kZset || type == ObjectType::kZsetText) {
    if (!reader.read_members()) return std::nullopt;
  } else {
    const bool is_old = type == ObjectType::kZsetZiplist;
    if (!reader.read_packed(is_old ? Packed::kZiplist : Packed::kListpack)) return std::nullopt;
    // A packed sorted set stays packed whatever the length of its members.
    fitting.max_value = std::numeric_limits<int64_t>::max();
  }
  if (map->size() == 0) return nothing_in(in);
  return Value(Type::kZset, make_zset(map.release(), fitting));
}

}  // namespace sorrel::rdb
