#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace sorrel {

// Bytes that were read and are not done with: an unfinished request, and whatever came behind one
// that has to wait. Taken from the front. Holds no memory when it is empty.
class HeldBytes {
 public:
  bool empty() const { return text_.empty(); }
  size_t size() const { return text_.size() - used_; }
  std::string_view view() const { return std::string_view(text_).substr(used_); }
  // Room for more of them.
  size_t free_bytes() const { return empty() ? 0 : text_.capacity() - text_.size(); }
  // What it holds in memory, without that room.
  size_t memory_bytes() const { return text_.size(); }

  void append(std::string_view bytes) { text_.append(bytes); }
  // The first `count` are done with. Memory of a large request does not stay with a small rest, and
  // a long rest is not moved for every small piece that is taken.
  void consume(size_t count) {
    used_ += count;
    const size_t rest = size();
    if (rest == 0) {
      clear();
    } else if (text_.capacity() > 2 * rest + kSlack) {
      std::string(view()).swap(text_);
      used_ = 0;
    }
  }
  void clear() {
    std::string().swap(text_);  // assigning an empty string would keep the memory
    used_ = 0;
  }

 private:
  static constexpr size_t kSlack = 4096;

  std::string text_;
  size_t used_ = 0;
};

}  // namespace sorrel
