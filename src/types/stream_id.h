#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace sorrel {

// The id of a stream's entry: milliseconds and a sequence number within the millisecond.
struct StreamId {
  uint64_t ms = 0;
  uint64_t seq = 0;

  auto operator<=>(const StreamId&) const = default;
  bool is_zero() const { return ms == 0 && seq == 0; }

  // The adjacent ids; nullopt when there is none.
  std::optional<StreamId> after() const;
  std::optional<StreamId> before() const;
  std::string text() const;
};

inline constexpr uint64_t kMaxStreamPart = std::numeric_limits<uint64_t>::max();
inline constexpr StreamId kMinStreamId{0, 0};
inline constexpr StreamId kMaxStreamId{kMaxStreamPart, kMaxStreamPart};

// "5-3", or "5" alone, which then gets `missing_seq`. nullopt: anything else.
std::optional<StreamId> parse_stream_id(std::string_view text, uint64_t missing_seq = 0);

// The id as text without an allocation.
class StreamIdText {
 public:
  explicit StreamIdText(const StreamId& id);
  std::string_view view() const { return {text_, size_}; }

 private:
  char text_[2 * 20 + 1];
  size_t size_;
};

}  // namespace sorrel
