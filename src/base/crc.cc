#include "base/crc.h"

#include <array>

#include "base/bytes.h"

namespace sorrel {
namespace {

using Crc16Tables = std::array<std::array<uint16_t, 256>, 8>;

// Table k holds the contribution of a byte followed by k more, so eight bytes fold in one step.
constexpr Crc16Tables make_crc16_tables() {
  Crc16Tables tables{};
  for (unsigned byte = 0; byte < 256; byte++) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; bit++) crc = (crc & 0x8000) ? (crc << 1) ^ 0x1021 : crc << 1;
    tables[0][byte] = static_cast<uint16_t>(crc);
  }
  for (size_t k = 1; k < 8; k++) {
    for (unsigned byte = 0; byte < 256; byte++) {
      const uint16_t previous = tables[k - 1][byte];
      tables[k][byte] = static_cast<uint16_t>((previous << 8) ^ tables[0][previous >> 8]);
    }
  }
  return tables;
}

constexpr Crc16Tables kCrc16 = make_crc16_tables();

using Crc64Tables = std::array<std::array<uint64_t, 256>, 8>;

// Reflected form of the Jones polynomial 0xad93d23594c935a9; tables as above.
constexpr Crc64Tables make_crc64_tables() {
  Crc64Tables tables{};
  for (unsigned byte = 0; byte < 256; byte++) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; bit++) {
      crc = (crc & 1) ? (crc >> 1) ^ 0x95ac9329ac4bc9b5ULL : crc >> 1;
    }
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; k++) {
    for (unsigned byte = 0; byte < 256; byte++) {
      const uint64_t previous = tables[k - 1][byte];
      tables[k][byte] = (previous >> 8) ^ tables[0][previous & 0xff];
    }
  }
  return tables;
}

constexpr Crc64Tables kCrc64 = make_crc64_tables();

}  // namespace

uint16_t crc16(std::string_view bytes) {
  unsigned crc = 0;
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    crc = kCrc16[7][p[0] ^ (crc >> 8)] ^ kCrc16[6][p[1] ^ (crc & 0xff)] ^ kCrc16[5][p[2]] ^
          kCrc16[4][p[3]] ^ kCrc16[3][p[4]] ^ kCrc16[2][p[5]] ^ kCrc16[1][p[6]] ^ kCrc16[0][p[7]];
  }
  for (; left > 0; left--, p++) crc = ((crc << 8) & 0xffff) ^ kCrc16[0][(crc >> 8) ^ *p];
  return static_cast<uint16_t>(crc);
}

uint64_t crc64(uint64_t crc, std::string_view bytes) {
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    const uint64_t word = crc ^ load<uint64_t>(p);
    crc = kCrc64[7][word & 0xff] ^ kCrc64[6][word >> 8 & 0xff] ^ kCrc64[5][word >> 16 & 0xff] ^
          kCrc64[4][word >> 24 & 0xff] ^ kCrc64[3][word >> 32 & 0xff] ^
          kCrc64[2][word >> 40 & 0xff] ^ kCrc64[1][word >> 48 & 0xff] ^ kCrc64[0][word >> 56];
  }
  for (; left > 0; left--, p++) {
    crc = kCrc64[0][(crc ^ static_cast<unsigned char>(*p)) & 0xff] ^ (crc >> 8);
  }
  return crc;
}

}  // namespace sorrel
