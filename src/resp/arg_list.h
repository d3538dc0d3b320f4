#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace sorrel::resp {

// The arguments of one or more requests, one after the other. A vector that hands out room for
// several at once without filling it first; one per worker, so its memory is paid once.
class ArgList {
 public:
  // Makes room for `count` more without taking it.
  std::string_view* reserve(size_t count) {
    if (capacity_ - size_ < count) grow(count);
    return data_.get() + size_;
  }
  // `count` places of what was reserved have been written.
  void advance(size_t count) { size_ += count; }
  // Room for `count` more, to be written by the caller; valid until the next call.
  std::string_view* extend(size_t count) {
    std::string_view* room = reserve(count);
    size_ += count;
    return room;
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

  // Drops everything behind the first `size`.
  void truncate(size_t size) { size_ = size; }
  // Empty again; keeps at most `keep` places.
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
