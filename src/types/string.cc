#include "types/string.h"

namespace sorrel {

size_t string_length(const Record& record) {
  IntegerText scratch;
  return string_bytes(record, scratch).size();
}

std::optional<int64_t> string_integer(const Record& record) {
  if (record.encoding() == Encoding::kInt) return RecordArena::integer(&record);
  IntegerText scratch;
  return parse_int64(string_bytes(record, scratch));
}

std::string_view string_encoding_name(const Record& record) {
  if (record.encoding() == Encoding::kInt) return "int";
  if (record.was_modified()) return "raw";
  return string_length(record) <= kEmbstrLimit ? "embstr" : "raw";
}

}  // namespace sorrel
