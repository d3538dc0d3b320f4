#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sorrel {

// SHA-256 of FIPS 180-4.
std::array<uint8_t, 32> sha256(std::string_view bytes);

// The digest as 64 hexadecimal digits in lower case.
inline constexpr size_t kSha256Digits = 64;
std::string sha256_hex(std::string_view bytes);

}  // namespace sorrel
