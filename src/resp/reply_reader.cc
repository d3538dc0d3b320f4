// Parses replies of an untrusted peer from bytes split at any position, without recursion, without
// scanning a byte twice and without allocating by announced sizes. The open aggregates are kept on
// an explicit stack.

#include "resp/reply_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/numbers.h"

namespace sorrel::resp {
namespace {

// A sign and twenty digits: longer than any number in range.
constexpr size_t kNumberLine = 21;
constexpr size_t kLineEnd = 2;
// Capacity kept by an idle reader.
constexpr size_t kKeptTokens = 256;

std::string shown(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  if (value < 0x20 || value > 0x7e) return fmt::format("byte 0x{:02x}", value);
  return fmt::format("'{}'", byte);
}

// RESP3 allows a plus sign, which parse_int64 does not.
std::optional<int64_t> signed_integer(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return parse_int64(text);
}

bool is_double(std::string_view text) {
  std::string_view name = text;
  if (!name.empty() && (name[0] == '-' || name[0] == '+')) name.remove_prefix(1);
  constexpr std::string_view kNan = "nan";
  const auto is_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  };
  return std::equal(name.begin(), name.end(), kNan.begin(), kNan.end(), is_letter) ||
         parse_double(text) || parse_long_double(text);
}

bool is_big_number(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void ReplyReader::begin() {
  tokens_.clear();
  open_.clear();
  position_ = scanned_ = 0;
  done_ = false;
}

void ReplyReader::reset() {
  begin();
  if (tokens_.capacity() > kKeptTokens) tokens_ = std::vector<ReplyToken>();
  if (open_.capacity() > kKeptTokens) open_ = std::vector<Open>();
  error_ = {};
}

ReplyReader::Step ReplyReader::fail(std::string_view what) {
  error_ = fmt::format("offset {}: {}", position_, what);
  return Step::kError;
}

ReplyReader::Outcome ReplyReader::next(std::string_view bytes) {
  if (done_) begin();
  if (position_ == 0 && limits_.keep_alives && !bytes.empty() && bytes[0] == '\n') {
    consumed_ = std::min(bytes.find_first_not_of('\n'), bytes.size());
    return Outcome::kKeepAlive;
  }
  while (!done_) {
    if (position_ == bytes.size()) return Outcome::kNeedMore;
    const Step step = read_element(bytes);
    if (step == Step::kNeedMore) return Outcome::kNeedMore;
    if (step == Step::kError) {
      begin();
      return Outcome::kError;
    }
  }
  consumed_ = std::exchange(position_, 0);
  reply_bytes_ = bytes.substr(0, consumed_);
  return Outcome::kReply;
}

ReplyReader::Step ReplyReader::read_element(std::string_view bytes) {
  switch (bytes[position_]) {
    case '+':
      return read_text_line(bytes, ReplyType::kSimple);
    case '-':
      return read_text_line(bytes, ReplyType::kError);
    case ',':
      return read_text_line(bytes, ReplyType::kDouble);
    case '(':
      return read_text_line(bytes, ReplyType::kBigNumber);
    case ':':
      return read_integer(bytes);
    case '_':
      return read_null(bytes);
    case '#':
      return read_boolean(bytes);
    case '$':
      return read_bulk(bytes, ReplyType::kBulk);
    case '!':
      return read_bulk(bytes, ReplyType::kBulkError);
    case '=':
      return read_bulk(bytes, ReplyType::kVerbatim);
    case '*':
      return read_aggregate(bytes, ReplyType::kArray);
    case '~':
      return read_aggregate(bytes, ReplyType::kSet);
    case '>':
      return read_aggregate(bytes, ReplyType::kPush);
    case '%':
      return read_aggregate(bytes, ReplyType::kMap);
    case '|':
      return read_aggregate(bytes, ReplyType::kAttribute);
    default:
      return fail("no reply begins with " + shown(bytes[position_]));
  }
}

// Scans each byte of a line once, over any number of calls. The bound on the line includes the
// limit of the whole reply, so that an error does not depend on how many bytes have arrived.
ReplyReader::Step ReplyReader::read_line(std::string_view bytes, size_t max, Line& line) {
  const size_t begin = position_ + 1;
  const size_t bytes_left = limits_.max_bytes > begin ? limits_.max_bytes - begin : 0;
  const size_t last = begin + std::min(max, bytes_left);  // the last position for its CR
  const size_t from = std::max(begin, scanned_);
  const size_t to = std::min(bytes.size(), last + 1);
  const void* found = from < to ? std::memchr(bytes.data() + from, '\r', to - from) : nullptr;
  if (found == nullptr) {
    if (bytes.size() > last) {
      return fail(max <= bytes_left
                      ? fmt::format("a line is longer than {} bytes", max)
                      : fmt::format("a reply is longer than {} bytes", limits_.max_bytes));
    }
    scanned_ = bytes.size();
    return Step::kNeedMore;
  }
  const auto cr = static_cast<size_t>(static_cast<const char*>(found) - bytes.data());
  scanned_ = cr;
  if (cr + 1 == bytes.size()) return Step::kNeedMore;
  if (bytes[cr + 1] != '\n') {
    return fail("a CR is followed by " + shown(bytes[cr + 1]) + " instead of a LF");
  }
  line.text = bytes.substr(begin, cr - begin);
  line.end = cr + kLineEnd;
  return Step::kRead;
}

// Ends an element, or begins an aggregate whose elements follow.
ReplyReader::Step ReplyReader::add(ReplyToken token, size_t end) {
  constexpr size_t kMostTokens = std::numeric_limits<uint32_t>::max();
  if (tokens_.size() >= std::min(limits_.max_elements, kMostTokens)) {
    return fail(fmt::format("a reply has more than {} elements", limits_.max_elements));
  }
  token.at = position_;
  token.next = static_cast<uint32_t>(tokens_.size() + 1);
  tokens_.push_back(token);
  position_ = scanned_ = end;
  return Step::kRead;
}

// An element other than an attribute is complete; the aggregates around it may be complete as well.
// Attributes do not count as elements of their aggregate.
void ReplyReader::element_ends() {
  while (!open_.empty()) {
    Open& in = open_.back();
    if (--in.left > 0) return;
    ReplyToken& aggregate = tokens_[in.token];
    aggregate.next = static_cast<uint32_t>(tokens_.size());
    open_.pop_back();
    if (aggregate.type == ReplyType::kAttribute) return;
  }
  done_ = true;
}

ReplyReader::Step ReplyReader::read_text_line(std::string_view bytes, ReplyType type) {
  Line line{};
  if (const Step step = read_line(bytes, limits_.max_line, line); step != Step::kRead) return step;
  if (line.text.find('\n') != std::string_view::npos) return fail("a line has a LF within it");
  if (type == ReplyType::kDouble && !is_double(line.text)) return fail("a double is no number");
  if (type == ReplyType::kBigNumber && !is_big_number(line.text)) {
    return fail("a big number has other things in it than digits");
  }
  const Step added = add({.at = 0, .text = position_ + 1, .next = 0, .type = type}, line.end);
  if (added == Step::kRead) element_ends();
  return added;
}

ReplyReader::Step ReplyReader::read_integer(std::string_view bytes) {
  Line line{};
  if (const Step step = read_line(bytes, kNumberLine, line); step != Step::kRead) return step;
  const auto value = signed_integer(line.text);
  if (!value) return fail("an integer is none, or does not fit into 64 bits");
  const ReplyToken token{.at = 0, .integer = *value, .next = 0, .type = ReplyType::kInteger};
  const Step added = add(token, line.end);
  if (added == Step::kRead) element_ends();
  return added;
}

ReplyReader::Step ReplyReader::read_null(std::string_view bytes) {
  Line line{};
  if (const Step step = read_line(bytes, kNumberLine, line); step != Step::kRead) return step;
  if (!line.text.empty()) return fail("something stands behind a null");
  const Step added = add({.at = 0, .text = 0, .next = 0, .type = ReplyType::kNull}, line.end);
  if (added == Step::kRead) element_ends();
  return added;
}

ReplyReader::Step ReplyReader::read_boolean(std::string_view bytes) {
  Line line{};
  if (const Step step = read_line(bytes, kNumberLine, line); step != Step::kRead) return step;
  if (line.text != "t" && line.text != "f") return fail("a boolean is neither 't' nor 'f'");
  const int64_t value = line.text == "t" ? 1 : 0;
  const ReplyToken token{.at = 0, .integer = value, .next = 0, .type = ReplyType::kBoolean};
  const Step added = add(token, line.end);
  if (added == Step::kRead) element_ends();
  return added;
}

ReplyReader::Step ReplyReader::read_count(std::string_view bytes, bool may_be_null, Line& line,
                                          int64_t& count) {
  if (const Step step = read_line(bytes, kNumberLine, line); step != Step::kRead) return step;
  if (line.text == "?") return fail("streamed strings and aggregates are not supported");
  const auto value = parse_int64(line.text);
  if (!value) return fail("a length is no number");
  if (*value < 0 && !(may_be_null && *value == -1)) return fail("a length is negative");
  count = *value;
  return Step::kRead;
}

ReplyReader::Step ReplyReader::read_bulk(std::string_view bytes, ReplyType type) {
  Line line{};
  int64_t count = 0;
  const Step header = read_count(bytes, type == ReplyType::kBulk, line, count);
  if (header != Step::kRead) return header;
  ReplyToken token{.at = 0, .text = line.end, .next = 0, .type = type};
  size_t end = line.end;
  if (count < 0) {
    token.type = ReplyType::kNull;
  } else {
    const auto length = static_cast<size_t>(count);
    if (length > limits_.max_bulk) {
      return fail(
          fmt::format("a string of {} bytes is longer than {} bytes", length, limits_.max_bulk));
    }
    if (line.end > limits_.max_bytes || length > limits_.max_bytes - line.end) {
      return fail(fmt::format("a reply is longer than {} bytes", limits_.max_bytes));
    }
    constexpr size_t kFormat = 4;
    if (type == ReplyType::kVerbatim && length < kFormat) {
      return fail("a verbatim string has no format");
    }
    if (bytes.size() - line.end < length + kLineEnd) return Step::kNeedMore;
    if (bytes.substr(line.end + length, kLineEnd) != "\r\n") {
      return fail(fmt::format("no CR LF follows the {} bytes of a string", length));
    }
    if (type == ReplyType::kVerbatim && bytes[line.end + kFormat - 1] != ':') {
      return fail("a verbatim string has no format");
    }
    end = line.end + length + kLineEnd;
  }
  const Step added = add(token, end);
  if (added == Step::kRead) element_ends();
  return added;
}

ReplyReader::Step ReplyReader::read_aggregate(std::string_view bytes, ReplyType type) {
  Line line{};
  int64_t count = 0;
  const Step header = read_count(bytes, type == ReplyType::kArray, line, count);
  if (header != Step::kRead) return header;
  const bool is_null = count < 0;
  const auto announced = static_cast<uint64_t>(is_null ? 0 : count);
  const uint64_t per_item = type == ReplyType::kMap || type == ReplyType::kAttribute ? 2 : 1;
  if (announced > limits_.max_elements / per_item) {
    return fail(fmt::format("a reply has more than {} elements", limits_.max_elements));
  }
  if (open_.size() >= limits_.max_depth) {
    return fail(fmt::format("aggregates lie more than {} deep", limits_.max_depth));
  }
  const auto index = static_cast<uint32_t>(tokens_.size());
  const ReplyToken token{.at = 0,
                         .count = static_cast<size_t>(announced),
                         .next = 0,
                         .type = is_null ? ReplyType::kNullArray : type};
  if (const Step added = add(token, line.end); added != Step::kRead) return added;
  if (announced > 0) {
    open_.push_back({index, announced * per_item});
  } else if (type != ReplyType::kAttribute) {
    element_ends();
  }
  return Step::kRead;
}

}  // namespace sorrel::resp
