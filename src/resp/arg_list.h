#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace sorrel::resp {

// The arguments of one or more requests, consecutively. A vector that can be extended without
// initialising the new elements; one per worker, so that its memory is allocated once.
class ArgList {
 public:
  // Reserves capacity for `count` more arguments.
  std::string_view* reserve(size_t count) {
    if (capacity_ - size_ < count) grow(count);
    return data_.get() + size_;
  }
  // Appends `count` arguments that the caller has written to the reserved space.
  void advance(size_t count) { size_ += count; }
  // Space for `count` more arguments, to be written by the caller; valid until the next call.
  std::string_view* extend(size_t count) {
    std::string_view* space = reserve(count);
    size_ += count;
    return space;
  }
  void push_back(std::string_view argument) { *extend(1) = argument; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::string_view* data() const { return data_.get(); }
  std::string_view operator[](size_t at) const { return data_[at]; }
  const std::string_view* begin() const { return data_.get(); }
  const std::string_view* end() const { return data_.get() + size_; }
  std::span<const std::string_view> from(size_t first) const {
    return {data_.get() + first, size_ - first};
  }

  // Removes all but the first `size` arguments.
  void truncate(size_t size) { size_ = size; }
  // Removes all arguments; keeps a capacity of at most `keep`.
  void clear(size_t keep = 4096) {
    size_ = 0;
    if (capacity_ > keep) {
      data_.reset();
      capacity_ = 0;
    }
  }

 private:
  void grow(size_t count);

  std::unique_ptr<std::string_view[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace sorrel::resp
