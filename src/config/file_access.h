#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sorrel::config {

// The file operations that configuration needs. Errors are the system's texts ("No such file or
// directory"). An empty member disables the operation: reading fails, globs match nothing, a
// working directory is only stored.
struct FileAccess {
  std::function<Result<std::string>(const std::string& path)> read;
  std::function<bool(const std::string& path)> exists;
  // The matching paths, sorted; no match is no error.
  std::function<std::vector<std::string>(const std::string& pattern)> glob;
  // Changes the working directory to `path` and returns the absolute path.
  std::function<Result<std::string>(const std::string& path)> change_dir;
  // Atomic: readers see the old content or the new one.
  std::function<Status(const std::string& path, std::string_view content)> replace;
};

struct LoadEnvironment {
  FileAccess files;
  // Does the program have a command of that name? For file words such as rename-command; empty:
  // every name is accepted.
  std::function<bool(std::string_view name)> command_exists;
};

}  // namespace sorrel::config
