#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sorrel {

// What one worker counts of one command. Plain numbers: written by that worker, read under the
// gate.
struct CommandStats {
  uint64_t calls = 0;
  uint64_t total_ns = 0;
  uint64_t rejected = 0;  // refused before it ran
  uint64_t failed = 0;    // answered an error
  // Durations by power of two of nanoseconds.
  std::array<uint64_t, 40> histogram{};

  void add(const CommandStats& other) {
    calls += other.calls;
    total_ns += other.total_ns;
    rejected += other.rejected;
    failed += other.failed;
    for (size_t i = 0; i < histogram.size(); i++) histogram[i] += other.histogram[i];
  }
};

struct ExecutorStats {
  std::vector<CommandStats> commands;  // by Command::index
  uint64_t processed = 0;
  uint64_t error_replies = 0;
  std::map<std::string, uint64_t, std::less<>> errors;  // by code word
};

}  // namespace sorrel
