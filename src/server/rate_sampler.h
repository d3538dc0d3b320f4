#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sorrel::server {

// Rates over the last samples, for INFO's instantaneous_* fields.
struct RateSampler {
  static constexpr size_t kSamples = 16;
  struct Rate {
    std::array<double, kSamples> samples{};
    uint64_t last = 0;

    // `now` is the running total; `seconds` have passed since the last call.
    double add(size_t at, uint64_t now, double seconds) {
      samples[at] = now > last ? static_cast<double>(now - last) / seconds : 0;
      last = now;
      double sum = 0;
      for (double sample : samples) sum += sample;
      return sum / kSamples;
    }
  };

  size_t at = 0;
  int64_t last_ns = 0;
  Rate commands;
  Rate input;
  Rate output;
  Rate turns;
  Rate busy_us;
};

}  // namespace sorrel::server
