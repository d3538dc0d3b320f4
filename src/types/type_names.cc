#include "types/type_names.h"

#include <array>

#include "base/bytes.h"
#include "types/string.h"

namespace sorrel {
namespace {

// In the order of Type.
constexpr std::array<std::string_view, 7> kNames = {"string", "list",   "set",      "zset",
                                                    "hash",   "stream", "MBbloom--"};
static_assert(static_cast<size_t>(Type::kBloom) + 1 == kNames.size());

}  // namespace

std::string_view type_name(Type type) {
  return kNames[static_cast<size_t>(type)];
}

std::optional<Type> type_named(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); i++) {
    if (iequals(name, kNames[i])) return static_cast<Type>(i);
  }
  return std::nullopt;
}

std::string_view encoding_name(const Record& record) {
  switch (record.encoding()) {
    case Encoding::kInt:
    case Encoding::kEmbedded:
    case Encoding::kRaw:
      return string_encoding_name(record);
    case Encoding::kListpack:
      return "listpack";
    case Encoding::kListpackEx:
      return "listpackex";
    case Encoding::kIntset:
      return "intset";
    case Encoding::kQuicklist:
      return "quicklist";
    case Encoding::kHashtable:
      return "hashtable";
    case Encoding::kSkiplist:
      return "skiplist";
    case Encoding::kStream:
      return "stream";
    case Encoding::kBloom:
      return "raw";  // as for any module type
  }
  return "unknown";
}

}  // namespace sorrel
