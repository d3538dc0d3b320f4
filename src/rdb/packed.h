#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "structs/listpack.h"

namespace sorrel::rdb {

// Collections that lie in one block of bytes, in the forms of this and of old versions.
enum class Packed : uint8_t { kListpack, kZiplist, kZipmap };

using PackedElement = listpack::Element;
// Is shown an element, whose text lies in the block; says whether to go on.
using VisitElement = std::function<bool(const PackedElement&)>;
using VisitPair = std::function<bool(const PackedElement& first, const PackedElement& second)>;

// Shows every element in order. False when the block is not sound in every byte, or when the
// visitor did not want to go on; elements before the damage may have been shown then.
bool walk_packed(Packed form, std::string_view block, const VisitElement& visit);
// The same two by two; an odd number is a mistake.
bool walk_pairs(Packed form, std::string_view block, const VisitPair& visit);

}  // namespace sorrel::rdb
