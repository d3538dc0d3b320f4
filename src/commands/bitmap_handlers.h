#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dispatch/call.h"

namespace sorrel::commands::bitmap {

void bitcount(Call& call);
void bitfield(Call& call);
void bitfield_ro(Call& call);
void bitop(Call& call);
void bitpos(Call& call);
void getbit(Call& call);
void setbit(Call& call);

inline constexpr std::string_view kBadOffset = "ERR bit offset is not an integer or out of range";
inline constexpr Event kSetBit{EventClass::kString, "setbit"};

// A bit offset within the longest string. With a field width, "#3" means the fourth field of that
// width.
std::optional<uint64_t> parse_offset(const Call& call, std::string_view text,
                                     unsigned field_width = 0);

}  // namespace sorrel::commands::bitmap
