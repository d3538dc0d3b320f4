#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::io {

// The text that `ps` shows for this process. It lies where the kernel put the arguments, and may
// run on over the environment behind them; so the environment moves to memory of its own.
//
// Make one at the start of main(), after copying what is wanted of argv: set() overwrites it.
class ProcessTitle {
 public:
  ProcessTitle(int argc, char** argv, char** environment);
  // Who reads the environment later finds it empty.
  ~ProcessTitle();
  ProcessTitle(const ProcessTitle&) = delete;
  ProcessTitle& operator=(const ProcessTitle&) = delete;

  // Cuts what does not fit.
  void set(std::string_view title);

 private:
  char* begin_ = nullptr;
  size_t room_ = 0;
  char** pointers_ = nullptr;
  std::vector<std::string> environment_;
};

}  // namespace sorrel::io
