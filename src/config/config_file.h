#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/options.h"

namespace sorrel::server {

// The file system, as far as configuration needs it. Errors carry the system's words for what went
// wrong ("No such file or directory"). A member left empty means that there is no such ability:
// reading fails, globs match nothing, `dir` is only remembered.
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
  // Whether a command of that name exists, for rename-command; everything exists when empty.
  std::function<bool(std::string_view name)> command_exists;
};

// Reads configuration text into `options`, on top of what is there: one directive per line, later
// ones win, `save` lines of one text add up, `include` is read where it stands (names and globs
// relative to the working directory).
//
// On failure `options` is half filled and of no use, and the error is the whole message for
// standard error: for a line
//
//     *** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***
//     Reading the configuration file, at line 3
//     >>> 'timeout abc'
//     argument couldn't be parsed into an integer
Status load_config(std::string_view text, Options& options, const LoadEnvironment& environment);

// The text of a configuration file; a path with *, ? or [ is a glob, and all that match are put
// together.
Result<std::string> read_config_file(const std::string& path, const FileAccess& files);

// Brings values that are allowed but make no sense into range (hz to 1..500, repl-backlog-size to
// at least 16 kB, one database in cluster mode). load_config and CONFIG SET do this by themselves.
void normalize(Options& options);

}  // namespace sorrel::server
