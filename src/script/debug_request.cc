#include "script/debug_request.h"

#include <optional>

#include "base/numbers.h"

namespace sorrel::script {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

using State = DebugRequest::State;

// Takes "<mark><number>\r
// " off the front of `rest`.
State take_header(std::string_view& rest, char mark, int64_t most, int64_t& number) {
  if (rest.empty()) return State::kUnfinished;
  if (rest.front() != mark) return State::kBroken;
  const size_t end = rest.find(kLineEnd);
  if (end == std::string_view::npos) return State::kUnfinished;
  const auto value = parse_int64(rest.substr(1, end - 1));
  if (!value || *value <= 0 || *value > most) return State::kBroken;
  number = *value;
  rest.remove_prefix(end + kLineEnd.size());
  return State::kWhole;
}

State take_argument(std::string_view& rest, std::string_view& argument) {
  int64_t length = 0;
  const State header = take_header(rest, '$', kLongestDebugArgument, length);
  if (header != State::kWhole) return header;
  const auto size = static_cast<size_t>(length);
  if (rest.size() < size + kLineEnd.size()) return State::kUnfinished;
  if (rest.substr(size, kLineEnd.size()) != kLineEnd) return State::kBroken;
  argument = rest.substr(0, size);
  rest.remove_prefix(size + kLineEnd.size());
  return State::kWhole;
}

}  // namespace

DebugRequest read_debug_request(std::string_view bytes) {
  DebugRequest request;
  if (bytes.empty()) return request;
  std::string_view rest = bytes;
  rest.remove_prefix(std::min(rest.find('*'), rest.size()));
  int64_t count = 0;
  request.state =
      rest.empty() ? State::kBroken : take_header(rest, '*', kMostDebugArguments, count);
  while (request.state == State::kWhole && count-- > 0) {
    std::string_view argument;
    request.state = take_argument(rest, argument);
    request.args.push_back(argument);
  }
  request.used = bytes.size() - rest.size();
  return request;
}

}  // namespace sorrel::script
