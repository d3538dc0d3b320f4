#include "rdb/payload.h"

#include "base/bytes.h"
#include "base/crc.h"
#include "rdb/file_format.h"
#include "rdb/format.h"
#include "rdb/writer.h"

namespace sorrel::rdb {
namespace {

constexpr size_t kVersionBytes = 2;
constexpr size_t kFooterBytes = kVersionBytes + kChecksumBytes;

bool is_known(uint16_t version) {
  return version <= kNewestVersion || version == kValkeyVersion;
}

}  // namespace

std::optional<std::string_view> opened_payload(std::string_view payload, Checksum checksum) {
  if (payload.size() < kFooterBytes) return std::nullopt;
  const std::string_view value = payload.substr(0, payload.size() - kFooterBytes);
  const char* footer = payload.data() + value.size();
  if (!is_known(load<uint16_t>(footer))) return std::nullopt;
  if (checksum == Checksum::kVerify) {
    const auto sum = load<uint64_t>(footer + kVersionBytes);
    if (sum != crc64(0, payload.substr(0, value.size() + kVersionBytes))) return std::nullopt;
  }
  return value;
}

void seal_payload(std::string& payload, int version) {
  Writer out(payload, false);
  out.little_endian(static_cast<uint16_t>(version));
  out.little_endian(crc64(0, payload));
}

Dialect dialect_of(std::string_view payload) {
  const char* footer = payload.data() + payload.size() - kFooterBytes;
  return load<uint16_t>(footer) == kValkeyVersion ? Dialect::kValkey : Dialect::kRedis;
}

Result<Value> value_of_payload(std::string_view opened, const ValueLimits& limits,
                               Dialect dialect) {
  Reader in(opened);
  const uint8_t type = in.byte();
  if (!in.failed()) {
    std::optional<Value> value = read_value(type, in, limits, dialect);
    if (value && in.at_end()) return std::move(*value);
    if (value) in.note_flaw("there is more behind it");
  }
  return Error{damage_text(type, in)};
}

}  // namespace sorrel::rdb
