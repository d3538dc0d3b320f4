#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sorrel::persist {

// The file that the log is written to. Behind an interface, because disks fail in ways that a test
// has to be able to ask for.
class LogFile {
 public:
  virtual ~LogFile() = default;
  // All of the bytes at the end, or an Error: then any part of them may stand there.
  virtual Status append(std::string_view bytes) = 0;
  // The first `length` bytes are durable. May run beside append(). After an Error nothing is known
  // of what was written since the last fsync: the kernel may have dropped it and call it clean.
  virtual Status sync(uint64_t length) = 0;
  virtual Status truncate(uint64_t size) = 0;
};

// A log file with the length it has.
struct OpenLog {
  std::unique_ptr<LogFile> file;
  uint64_t size = 0;
};

// The real one; made when it is not there.
Result<OpenLog> open_log_file(const std::string& path);

}  // namespace sorrel::persist
