#pragma once

#include <optional>

#include "rdb/value.h"
#include "rdb/writer.h"
#include "structs/bloom_filter.h"

namespace sorrel::rdb {

// What stands behind the byte of ObjectType::kModule2, in the layout of the module that has these
// filters in Redis 8. Types of other modules are refused, and so are filters with more bits than
// there may be, or with fields that do not belong together.
std::optional<Value> read_bloom(Reader& in);
void write_bloom(const BloomFilter& filter, Writer& out);

}  // namespace sorrel::rdb
