#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/print.h"

namespace sorrel::tools {

// What the part of a report begins with that tells what is wrong.
inline constexpr std::string_view kRdbErrorMark = "--- RDB ERROR DETECTED ---";

// Reads an RDB file as a server would and tells what it finds, line by line, as redis-check-rdb
// does: scripts look for its "\o/ RDB looks OK! \o/" and kRdbErrorMark. One call of `print` a line.
//
// `name` is only shown. The result is where the file ends, or nothing when it is damaged. Behind it
// the tail of an AOF may stand, unless it is told to stand alone.
std::optional<uint64_t> check_rdb(const std::string& name, std::string_view bytes, int64_t now_ms,
                                  const Print& print, bool stands_alone = true);

// The program: `args` without its own name. Returns the exit code: 0 for a good file.
int check_rdb_program(const std::string& program, std::span<const std::string> args,
                      const Print& print, const Print& complain);

}  // namespace sorrel::tools
