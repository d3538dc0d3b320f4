#pragma once

#include <optional>

#include "rdb/value.h"
#include "rdb/writer.h"
#include "structs/bloom_filter.h"

namespace sorrel::rdb {

// The content after the byte ObjectType::kModule2, in the layout of Redis 8's Bloom module. Types
// of other modules are rejected, as are filters with more bits than the limit, or with inconsistent
// fields.
std::optional<Value> read_bloom(Reader& in);
void write_bloom(const BloomFilter& filter, Writer& out);

}  // namespace sorrel::rdb
