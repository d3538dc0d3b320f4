#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "structs/listpack.h"

namespace sorrel::rdb {

// Collections stored in one block of bytes, in current and old encodings.
enum class Packed : uint8_t { kListpack, kZiplist, kZipmap };

using PackedElement = listpack::Element;
// Gets an element, whose text lies in the block; returns whether to continue.
using VisitElement = std::function<bool(const PackedElement&)>;
using VisitPair = std::function<bool(const PackedElement& first, const PackedElement& second)>;

// Visits every element in order. False when the block is not valid in every byte, or when the
// visitor stopped; elements before the damage may have been visited then.
bool walk_packed(Packed form, std::string_view block, const VisitElement& visit);
// The same in pairs; an odd number of elements is an error.
bool walk_pairs(Packed form, std::string_view block, const VisitPair& visit);

}  // namespace sorrel::rdb
