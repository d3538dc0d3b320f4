#include "io/process_title.h"

#include <algorithm>
#include <cstring>

namespace sorrel::io {

ProcessTitle::ProcessTitle(int argc, char** argv, char** environment) {
  if (argc == 0 || argv == nullptr || argv[0] == nullptr) return;
  pointers_ = environment;
  begin_ = argv[0];
  const char* end = begin_;
  // Only strings that follow without a gap are overwritten; an earlier library may have moved one.
  const auto take = [&end](const char* text) {
    if (text == end) end = text + std::strlen(text) + 1;
  };
  for (int i = 0; i < argc; i++) take(argv[i]);
  for (char** one = environment; one != nullptr && *one != nullptr; one++) take(*one);
  capacity_ = static_cast<size_t>(end - begin_);
  for (char** one = environment; one != nullptr && *one != nullptr; one++) {
    environment_.emplace_back(*one);
  }
  // After the last push_back, since short strings move when the vector grows.
  for (size_t i = 0; i < environment_.size(); i++) environment[i] = environment_[i].data();
}

ProcessTitle::~ProcessTitle() {
  if (pointers_ != nullptr) *pointers_ = nullptr;
}

void ProcessTitle::set(std::string_view title) {
  if (capacity_ == 0) return;
  const size_t length = std::min(title.size(), capacity_ - 1);
  std::memcpy(begin_, title.data(), length);
  std::memset(begin_ + length, 0, capacity_ - length);
}

}  // namespace sorrel::io
