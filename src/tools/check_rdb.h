#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/print.h"

namespace sorrel::tools {

// The prefix of report lines that describe an error.
inline constexpr std::string_view kRdbErrorMark = "--- RDB ERROR DETECTED ---";

// Reads an RDB file as a server would and reports line by line, as redis-check-rdb does: scripts
// search for its "\o/ RDB looks OK! \o/" and kRdbErrorMark. One call of `print` per line.
//
// `name` is only reported. The result is the offset where the RDB ends, or nothing when it is
// damaged. An AOF tail may follow it, unless `stands_alone`.
std::optional<uint64_t> check_rdb(const std::string& name, std::string_view bytes, int64_t now_ms,
                                  const Print& print, bool stands_alone = true);

// The program: `args` without its own name. Returns the exit code: 0 for a valid file.
int check_rdb_program(const std::string& program, std::span<const std::string> args,
                      const Print& print, const Print& complain);

}  // namespace sorrel::tools
