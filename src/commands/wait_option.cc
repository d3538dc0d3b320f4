#include "commands/wait_option.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/numbers.h"

namespace sorrel::commands {

std::optional<int64_t> parse_wait(Call& call, size_t at) {
  const auto seconds = parse_long_double(call.arg(at));
  if (!seconds) {
    call.reply.error("ERR timeout is not a float or out of range");
    return std::nullopt;
  }
  constexpr auto kMost = static_cast<long double>(std::numeric_limits<int64_t>::max());
  const long double ms = std::ceil(*seconds * 1000);
  if (ms < 0) {
    call.reply.error("ERR timeout is negative");
    return std::nullopt;
  }
  if (ms > kMost - static_cast<long double>(call.now_ms())) {
    call.reply.error("ERR timeout is out of range");
    return std::nullopt;
  }
  return ms == 0 ? 0 : call.now_ms() + static_cast<int64_t>(ms);
}

std::vector<size_t> positions(size_t first, size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

}  // namespace sorrel::commands
