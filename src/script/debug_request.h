#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::script {

// The next request of a debugging client, as far as it has arrived.
struct DebugRequest {
  enum class State : uint8_t { kUnfinished, kWhole, kBroken };
  State state = State::kUnfinished;
  std::vector<std::string_view> args;  // kWhole: at least one; views of the input
  size_t used = 0;                     // kWhole: the offset of the next request
};

// An array of bulk strings, none of them empty or long, since they are typed by hand. Bytes before
// the array are skipped.
DebugRequest read_debug_request(std::string_view bytes);

inline constexpr int64_t kMostDebugArguments = 1024;
inline constexpr int64_t kLongestDebugArgument = 1024;
// A session whose unparsed input exceeds this size without a complete request ends.
inline constexpr size_t kMostDebugInput = size_t{1} << 20;

}  // namespace sorrel::script
