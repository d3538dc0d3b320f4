#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rdb/byte_source.h"

// Sources for tests.
namespace sorrel::rdb::testing {

// Returns its bytes in segments of one size, each in memory of its own that is freed with the next
// call, so that a sanitizer detects views that are kept too long.
class PieceSource final : public ByteSource {
 public:
  struct Options {
    size_t piece = 1;
    bool tells_size = false;
    std::optional<std::string> error;  // instead of the end
  };
  PieceSource(std::string_view bytes, Options options)
      : bytes_(bytes), options_(std::move(options)) {}

  Result<std::string_view> next() override {
    if (at_ == bytes_.size() && options_.error) return Error{*options_.error};
    const size_t size = std::min(options_.piece, bytes_.size() - at_);
    given_.reset();
    given_.emplace(bytes_.substr(at_, size));
    // No spare capacity.
    given_->shrink_to_fit();
    at_ += size;
    return std::string_view(*given_);
  }
  std::optional<uint64_t> size() const override {
    return options_.tells_size ? std::optional<uint64_t>(bytes_.size()) : std::nullopt;
  }

 private:
  std::string_view bytes_;
  Options options_;
  size_t at_ = 0;
  std::optional<std::string> given_;
};

}  // namespace sorrel::rdb::testing
