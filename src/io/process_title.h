#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::io {

// The text that `ps` shows for this process. The title is stored over the arguments, and may extend
// over the environment that follows them; so the environment is moved to memory of its own.
//
// Create one at the start of main(), after copying argv: set() overwrites the arguments.
class ProcessTitle {
 public:
  ProcessTitle(int argc, char** argv, char** environment);
  // Leaves the environment empty.
  ~ProcessTitle();
  ProcessTitle(const ProcessTitle&) = delete;
  ProcessTitle& operator=(const ProcessTitle&) = delete;

  // Truncates a title that does not fit.
  void set(std::string_view title);

 private:
  char* begin_ = nullptr;
  size_t capacity_ = 0;
  char** pointers_ = nullptr;
  std::vector<std::string> environment_;
};

}  // namespace sorrel::io
