#include "types/stream_id.h"

#include <charconv>

#include "base/bytes.h"
#include "base/numbers.h"

namespace sorrel {

std::optional<StreamId> StreamId::after() const {
  if (seq != kMaxStreamPart) return StreamId{ms, seq + 1};
  if (ms != kMaxStreamPart) return StreamId{ms + 1, 0};
  return std::nullopt;
}

std::optional<StreamId> StreamId::before() const {
  if (seq != 0) return StreamId{ms, seq - 1};
  if (ms != 0) return StreamId{ms - 1, kMaxStreamPart};
  return std::nullopt;
}

std::string StreamId::text() const {
  return std::string(StreamIdText(*this).view());
}

namespace {

// Parses the halves of an id as Redis does: leading blanks, a plus and leading zeros are accepted.
std::optional<uint64_t> parse_half(std::string_view text) {
  while (!text.empty() && is_space(text[0])) text.remove_prefix(1);
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
  return parse_uint64(text);
}

}  // namespace

std::optional<StreamId> parse_stream_id(std::string_view text, uint64_t missing_seq) {
  const size_t dash = text.find('-');
  const auto ms = parse_half(text.substr(0, dash));
  if (!ms) return std::nullopt;
  if (dash == std::string_view::npos) return StreamId{*ms, missing_seq};
  const auto seq = parse_half(text.substr(dash + 1));
  if (!seq) return std::nullopt;
  return StreamId{*ms, *seq};
}

StreamIdText::StreamIdText(const StreamId& id) {
  char* const end = text_ + sizeof text_;
  char* at = std::to_chars(text_, end, id.ms).ptr;
  *at++ = '-';
  size_ = static_cast<size_t>(std::to_chars(at, end, id.seq).ptr - text_);
}

}  // namespace sorrel
