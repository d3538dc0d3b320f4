#include "base/crc.h"

#include <array>

namespace sorrel {
namespace {

using Crc16Tables = std::array<std::array<uint16_t, 256>, 8>;

// Table k holds the effect of a byte that is followed by k more, so eight bytes fold in one step.
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

// Reflected form of the Jones polynomial 0xad93d23594c935a9.
constexpr std::array<uint64_t, 256> make_crc64_table() {
  std::array<uint64_t, 256> table{};
  for (unsigned byte = 0; byte < 256; byte++) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; bit++) {
      crc = (crc & 1) ? (crc >> 1) ^ 0x95ac9329ac4bc9b5ULL : crc >> 1;
    }
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint64_t, 256> kCrc64 = make_crc64_table();

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
  for (char c : bytes) crc = kCrc64[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return crc;
}

}  // namespace sorrel
