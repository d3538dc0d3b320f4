#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel {

// CRC16/XMODEM (polynomial 0x1021), the checksum of cluster slots.
uint16_t crc16(std::string_view bytes);

// CRC64/Jones as in RDB files and DUMP payloads. Start with 0; feed the bytes in order, in any
// number of calls.
uint64_t crc64(uint64_t crc, std::string_view bytes);

}  // namespace sorrel
