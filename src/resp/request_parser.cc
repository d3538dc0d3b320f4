// Parses requests from bytes split at any position. The usual complete request must cost a few
// instructions per byte; the state of an incomplete one is allocated only when needed and stores
// offsets, since the caller's buffer may move.

#include "resp/request_parser.h"

#include <algorithm>
#include <cstring>

#include "base/numbers.h"
#include "resp/inline_split.h"
#include "resp/short_request.h"

namespace sorrel::resp {
namespace {

constexpr int64_t kNoLength = -1;
constexpr int64_t kUnauthenticatedArguments = 10;
constexpr int64_t kUnauthenticatedBulk = 16 * 1024;

}  // namespace

size_t RequestParser::memory_bytes() const {
  return partial_ == nullptr ? 0 : sizeof(Partial) + partial_->spans.capacity() * sizeof(Span);
}

size_t RequestParser::argument_bytes(size_t size) const {
  if (partial_ == nullptr || partial_->bulk_length == kNoLength) return 0;
  return std::min(size - partial_->position, static_cast<size_t>(partial_->bulk_length) + 2);
}

RequestParser::Outcome RequestParser::fail(std::string message) {
  partial_.reset();
  error_ = "Protocol error: " + std::move(message);
  return Outcome::kError;
}

// Reads "digits CR LF" at `position` and moves after it. A short number costs a few instructions a
// digit; all other input goes through parse_int64.
RequestParser::Number RequestParser::read_number(std::string_view bytes, size_t& position,
                                                 size_t max_line, int64_t& value) {
  const char* at = bytes.data() + position;
  const char* end = bytes.data() + bytes.size();
  int64_t quick = 0;
  const char* digit = at;
  const char* quick_end = std::min(end, at + 10);
  while (digit < quick_end && static_cast<unsigned char>(*digit - '0') <= 9) {
    quick = quick * 10 + (*digit++ - '0');
  }
  if (end - digit >= 2 && *digit == '\r' && digit > at && (*at != '0' || digit == at + 1)) {
    value = quick;
    position = static_cast<size_t>(digit + 2 - bytes.data());
    return Number::kOk;
  }
  const auto* cr = static_cast<const char*>(std::memchr(at, '\r', static_cast<size_t>(end - at)));
  if (cr == nullptr || cr + 1 == end) {
    return static_cast<size_t>(end - at) > max_line ? Number::kTooLong : Number::kNeedMore;
  }
  const auto parsed = parse_int64({at, static_cast<size_t>(cr - at)});
  if (!parsed) return Number::kBad;
  value = *parsed;
  position = static_cast<size_t>(cr + 2 - bytes.data());
  return Number::kOk;
}

RequestParser::Outcome RequestParser::begin(std::string_view bytes, const RequestLimits& limits,
                                            Progress& progress) {
  progress.position = 1;
  int64_t count = 0;
  switch (read_number(bytes, progress.position, limits.max_line, count)) {
    case Number::kNeedMore:
      return Outcome::kNeedMore;
    case Number::kTooLong:
      return fail("too big mbulk count string");
    case Number::kBad:
      return fail("invalid multibulk length");
    case Number::kOk:
      break;
  }
  if (count > limits.max_arguments) return fail("invalid multibulk length");
  if (count > kUnauthenticatedArguments && !limits.authenticated) {
    return fail("unauthenticated multibulk length");
  }
  progress.arguments_left = std::max<int64_t>(count, 0);
  progress.bulk_length = kNoLength;
  return Outcome::kRequest;
}

RequestParser::Outcome RequestParser::read_length(std::string_view bytes,
                                                  const RequestLimits& limits, Progress& progress) {
  if (progress.position == bytes.size()) return Outcome::kNeedMore;
  const char mark = bytes[progress.position];
  if (mark != '$') {
    // Fails even before the line is complete: the type byte is already wrong.
    return fail(std::string("expected '$', got '") + mark + "'");
  }
  size_t position = progress.position + 1;
  int64_t length = 0;
  switch (read_number(bytes, position, limits.max_line, length)) {
    case Number::kNeedMore:
      return Outcome::kNeedMore;
    case Number::kTooLong:
      return fail("too big bulk count string");
    case Number::kBad:
      return fail("invalid bulk length");
    case Number::kOk:
      break;
  }
  if (length < 0 || length > limits.max_bulk) return fail("invalid bulk length");
  if (length > kUnauthenticatedBulk && !limits.authenticated) {
    return fail("unauthenticated bulk length");
  }
  progress.position = position;
  progress.bulk_length = length;
  return Outcome::kRequest;
}

// Stores the state of an incomplete request; its arguments become offsets, since the bytes may
// move.
RequestParser::Outcome RequestParser::suspend(const Progress& progress, std::string_view bytes,
                                              ArgList& args, size_t first) {
  if (partial_ == nullptr) partial_ = std::make_unique<Partial>();
  partial_->position = progress.position;
  partial_->arguments_left = progress.arguments_left;
  partial_->bulk_length = progress.bulk_length;
  for (size_t i = first; i < args.size(); i++) {
    partial_->spans.push_back({static_cast<size_t>(args[i].data() - bytes.data()), args[i].size()});
  }
  args.truncate(first);
  return Outcome::kNeedMore;
}

RequestParser::Outcome RequestParser::next(
    std::string_view bytes, const RequestLimits& limits, ArgList& args,
    std::vector<std::unique_ptr<std::string>>& inline_store) {
  if (bytes.empty()) return Outcome::kNeedMore;
  if (bytes[0] != '*') return parse_inline(bytes, limits, args, inline_store);
  if (partial_ == nullptr) {
    size_t count = 0;
    const char* after = read_short_request(bytes.data(), bytes.data() + bytes.size(),
                                           args.reserve(kShortArguments), count);
    if (after != nullptr) {
      args.advance(count);
      consumed_ = static_cast<size_t>(after - bytes.data());
      return Outcome::kRequest;
    }
  }
  Progress progress{};
  if (partial_ != nullptr) {
    progress = {partial_->position, partial_->arguments_left, partial_->bulk_length};
  } else {
    const Outcome outcome = begin(bytes, limits, progress);
    if (outcome != Outcome::kRequest) return outcome;
  }
  const size_t first = args.size();
  while (progress.arguments_left > 0) {
    if (progress.bulk_length == kNoLength) {
      const Outcome outcome = read_length(bytes, limits, progress);
      if (outcome == Outcome::kNeedMore) return suspend(progress, bytes, args, first);
      if (outcome == Outcome::kError) {
        args.truncate(first);
        return outcome;
      }
    }
    const auto length = static_cast<size_t>(progress.bulk_length);
    if (bytes.size() - progress.position < length + 2) return suspend(progress, bytes, args, first);
    args.push_back(bytes.substr(progress.position, length));
    progress.position += length + 2;
    progress.bulk_length = kNoLength;
    progress.arguments_left--;
  }
  if (partial_ != nullptr) {
    // Arguments parsed by earlier calls precede those of this call.
    const auto& spans = partial_->spans;
    const size_t late = args.size() - first;
    std::string_view* all = args.extend(spans.size()) - late;
    std::copy_backward(all, all + late, all + late + spans.size());
    for (size_t i = 0; i < spans.size(); i++) {
      all[i] = bytes.substr(spans[i].begin, spans[i].length);
    }
    partial_.reset();
  }
  consumed_ = progress.position;
  return Outcome::kRequest;
}

RequestParser::Outcome RequestParser::parse_inline(
    std::string_view bytes, const RequestLimits& limits, ArgList& args,
    std::vector<std::unique_ptr<std::string>>& inline_store) {
  const size_t newline = bytes.find('\n');
  if (newline == std::string_view::npos) {
    if (bytes.size() > limits.max_line) return fail("too big inline request");
    return Outcome::kNeedMore;
  }
  std::string_view line = bytes.substr(0, newline);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const size_t first = args.size();
  if (!split_inline(line, args, inline_store)) {
    args.truncate(first);
    return fail("unbalanced quotes in request");
  }
  consumed_ = newline + 1;
  return Outcome::kRequest;
}

}  // namespace sorrel::resp
