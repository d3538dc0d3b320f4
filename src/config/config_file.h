#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/option_table.h"

namespace sorrel::config {

// Reads configuration text into `options`, on top of their values: one directive per line, later
// ones override, lines of an accumulating directive (`save`) accumulate, `include` is read in place
// (names and globs relative to the working directory).
//
// On failure `options` is partially changed and must be discarded, and the error is the complete
// message for standard error, for example
//
//     *** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***
//     Reading the configuration file, at line 3
//     >>> 'timeout abc'
//     argument couldn't be parsed into an integer
Status load_config(const Table& table, std::string_view text, Values& options,
                   const LoadEnvironment& environment);

// The text of a configuration file; a path with *, ? or [ is a glob, whose matches are
// concatenated.
Result<std::string> read_config_file(const std::string& path, const FileAccess& files);

}  // namespace sorrel::config
