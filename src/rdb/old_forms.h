#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "rdb/format.h"
#include "rdb/writer.h"

// For tests: makes encodings that current versions no longer write.
namespace sorrel::rdb::testing {

using Texts = std::vector<std::string>;

// Integers in each of the ziplist's widths, everything else as text.
inline void append_ziplist_content(std::string& out, std::string_view text) {
  Writer to(out, false);
  if (const auto value = parse_int64(text)) {
    const int64_t v = *value;
    if (v >= 0 && v <= 12) {
      to.byte(static_cast<uint8_t>(0xf1 + v));
    } else if (v == static_cast<int8_t>(v)) {
      to.byte(0xfe);
      to.little_endian(static_cast<int8_t>(v));
    } else if (v == static_cast<int16_t>(v)) {
      to.byte(0xc0);
      to.little_endian(static_cast<int16_t>(v));
    } else if (v >= -(1 << 23) && v < 1 << 23) {
      to.byte(0xf0);
      const auto bits = static_cast<uint32_t>(v);
      to.little_endian(static_cast<uint16_t>(bits));
      to.byte(static_cast<uint8_t>(bits >> 16));
    } else if (v == static_cast<int32_t>(v)) {
      to.byte(0xd0);
      to.little_endian(static_cast<int32_t>(v));
    } else {
      to.byte(0xe0);
      to.little_endian(v);
    }
    return;
  }
  const size_t size = text.size();
  if (size < 1 << 6) {
    to.byte(static_cast<uint8_t>(size));
  } else if (size < 1 << 14) {
    to.byte(static_cast<uint8_t>(0x40 | size >> 8));
    to.byte(static_cast<uint8_t>(size));
  } else {
    to.byte(0x80);
    to.little_endian(__builtin_bswap32(static_cast<uint32_t>(size)));
  }
  to.raw(text);
}

inline std::string ziplist(const Texts& texts) {
  std::string body;
  size_t last = 0;
  size_t previous = 0;
  for (const std::string& text : texts) {
    last = body.size();
    Writer to(body, false);
    if (previous < 254) {
      to.byte(static_cast<uint8_t>(previous));
    } else {
      to.byte(254);
      to.little_endian(static_cast<uint32_t>(previous));
    }
    append_ziplist_content(body, text);
    previous = body.size() - last;
  }
  constexpr size_t kHeader = 10;
  std::string block;
  Writer to(block, false);
  to.little_endian(static_cast<uint32_t>(kHeader + body.size() + 1));
  to.little_endian(static_cast<uint32_t>(kHeader + last));
  to.little_endian(static_cast<uint16_t>(texts.size() < 65535 ? texts.size() : 65535));
  to.raw(body);
  to.byte(0xff);
  return block;
}

// Fields and values in turn; every value is followed by `unused` bytes.
inline std::string zipmap(const Texts& texts, uint8_t unused = 0) {
  std::string block;
  Writer to(block, false);
  const auto put_size = [&](size_t size) {
    if (size < 254) return to.byte(static_cast<uint8_t>(size));
    to.byte(254);
    to.little_endian(static_cast<uint32_t>(size));
  };
  to.byte(static_cast<uint8_t>(texts.size() / 2 < 254 ? texts.size() / 2 : 254));
  for (size_t i = 0; i < texts.size(); i++) {
    put_size(texts[i].size());
    if (i % 2 == 1) to.byte(unused);
    to.raw(texts[i]);
    if (i % 2 == 1) to.raw(std::string(unused, '?'));
  }
  to.byte(0xff);
  return block;
}

// A value that is a single block.
inline std::string packed_value(ObjectType type, std::string_view block, bool compress = false) {
  std::string body;
  Writer to(body, compress);
  to.byte(static_cast<uint8_t>(type));
  to.string(block);
  return body;
}

inline std::string quicklist_of_ziplists(const std::vector<Texts>& nodes) {
  std::string body;
  Writer to(body, false);
  to.byte(static_cast<uint8_t>(ObjectType::kListQuicklist));
  to.length(nodes.size());
  for (const Texts& node : nodes) to.string(ziplist(node));
  return body;
}

// Strings in sequence, counted by `per_item`: old lists (1) and current encodings.
inline std::string flat_value(ObjectType type, const Texts& texts, size_t per_item = 1) {
  std::string body;
  Writer to(body, false);
  to.byte(static_cast<uint8_t>(type));
  to.length(texts.size() / per_item);
  for (const std::string& text : texts) to.string(text);
  return body;
}

// Members and the texts of their scores, in turn.
inline std::string zset_with_text_scores(const Texts& texts) {
  std::string body;
  Writer to(body, false);
  to.byte(static_cast<uint8_t>(ObjectType::kZsetText));
  to.length(texts.size() / 2);
  for (size_t i = 0; i + 1 < texts.size(); i += 2) {
    to.string(texts[i]);
    const std::string& score = texts[i + 1];
    if (score == "nan" || score == "inf" || score == "-inf") {
      to.byte(score == "nan" ? 253 : score == "inf" ? 254 : 255);
    } else {
      to.byte(static_cast<uint8_t>(score.size()));
      to.raw(score);
    }
  }
  return body;
}

}  // namespace sorrel::rdb::testing
