#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "commands/dump_exercise.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace sorrel::commands::testing {
namespace {

const std::vector<std::string>& samples() {
  static const std::vector<std::string> kSamples = DumpExercise().samples();
  return kSamples;
}

}  // namespace
}  // namespace sorrel::commands::testing

// Some inputs begin with a valid value, since random bytes rarely form one.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  const auto& samples = sorrel::commands::testing::samples();
  if (size < 4 || seed % 64 == 0) {
    const std::string& sample = samples[seed / 64 % samples.size()];
    size = std::min(sample.size(), max_size);
    std::memcpy(data, sample.data(), size);
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

// The input is a type and a value.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A new server for each input, so that a leak is attributed to its input.
  sorrel::commands::testing::DumpExercise exercise;
  exercise.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
