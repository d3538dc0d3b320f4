#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sorrel::config {

// The file system, as far as configuration needs it. Errors carry the system's words
// ("No such file or directory"). A member left empty means that there is no such ability: reading
// fails, globs match nothing, a working directory is only remembered.
struct FileAccess {
  std::function<Result<std::string>(const std::string& path)> read;
  std::function<bool(const std::string& path)> exists;
  // Paths that match, sorted; none is no error.
  std::function<std::vector<std::string>(const std::string& pattern)> glob;
  // Makes `path` the working directory and answers its absolute form.
  std::function<Result<std::string>(const std::string& path)> change_dir;
  // All or nothing: a reader sees the old content or the new one.
  std::function<Status(const std::string& path, std::string_view content)> replace;
};

struct LoadEnvironment {
  FileAccess files;
  // Whether the program has a command of that name, for file words such as rename-command; empty:
  // every command exists.
  std::function<bool(std::string_view name)> command_exists;
};

}  // namespace sorrel::config
