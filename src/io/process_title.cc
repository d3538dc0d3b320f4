#include "io/process_title.h"

#include <algorithm>
#include <cstring>

namespace sorrel::io {

ProcessTitle::ProcessTitle(int argc, char** argv, char** environment) {
  if (argc == 0 || argv == nullptr || argv[0] == nullptr) return;
  pointers_ = environment;
  begin_ = argv[0];
  const char* end = begin_;
  // Only what lies directly behind is ours; somebody may have moved a string already.
  const auto take = [&end](const char* text) {
    if (text == end) end = text + std::strlen(text) + 1;
  };
  for (int i = 0; i < argc; i++) take(argv[i]);
  for (char** one = environment; one != nullptr && *one != nullptr; one++) take(*one);
  room_ = static_cast<size_t>(end - begin_);
  for (char** one = environment; one != nullptr && *one != nullptr; one++) {
    environment_.emplace_back(*one);
  }
  // Not before the last was added, since strings move while the vector grows.
  for (size_t i = 0; i < environment_.size(); i++) environment[i] = environment_[i].data();
}

ProcessTitle::~ProcessTitle() {
  if (pointers_ != nullptr) *pointers_ = nullptr;
}

void ProcessTitle::set(std::string_view title) {
  if (room_ == 0) return;
  const size_t length = std::min(title.size(), room_ - 1);
  std::memcpy(begin_, title.data(), length);
  std::memset(begin_ + length, 0, room_ - length);
}

}  // namespace sorrel::io
