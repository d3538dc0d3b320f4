#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/numbers.h"
#include "types/record.h"

namespace sorrel {

// Reading string records. Precondition everywhere: record.type() == Type::kString.

inline constexpr size_t kEmbstrLimit = 44;  // where OBJECT ENCODING changes from embstr to raw

// The bytes, in the record or (for an integer) written into `scratch`; valid as long as both.
inline std::string_view string_bytes(const Record& record, IntegerText& scratch) {
  switch (record.encoding()) {
    case Encoding::kEmbedded:
      return RecordArena::embedded(&record);
    case Encoding::kRaw:
      return RecordArena::raw(&record)->view();
    default:
      break;
  }
  return {scratch.text,
          static_cast<size_t>(format_int64(RecordArena::integer(&record), scratch.text))};
}

size_t string_length(const Record& record);

// The value as a 64-bit integer, nullopt if its text is not one.
std::optional<int64_t> string_integer(const Record& record);

// "int", "embstr" or "raw".
std::string_view string_encoding_name(const Record& record);

}  // namespace sorrel
