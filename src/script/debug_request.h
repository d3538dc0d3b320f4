#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::script {

// What the one who debugs has sent, as far as it has come.
struct DebugRequest {
  enum class State : uint8_t { kUnfinished, kWhole, kBroken };
  State state = State::kUnfinished;
  std::vector<std::string_view> args;  // kWhole: at least one; views of what was read
  size_t used = 0;                     // kWhole: where the next one begins
};

// An array of bulk strings, none of them empty or long: they were typed by hand. What stands before
// the array is passed over.
DebugRequest read_debug_request(std::string_view bytes);

inline constexpr int64_t kMostDebugArguments = 1024;
inline constexpr int64_t kLongestDebugArgument = 1024;
// Who has sent that much without an end of its request is not heard any more.
inline constexpr size_t kMostDebugInput = size_t{1} << 20;

}  // namespace sorrel::script
