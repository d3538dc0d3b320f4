#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "acl/users.h"
#include "base/result.h"

namespace sorrel::acl {

// The aclfile: one "user NAME RULES..." per line, blank lines, nothing else.

// Loads the whole file or nothing. The error names every invalid line ("users.acl:3: Syntax error.
// "), in Redis's texts; passwords are never quoted.
Result<std::vector<User>> parse_users(std::string_view text, std::string_view file_name,
                                      Channels channels);

// "user NAME RULES", as in the file, without an end of line.
std::string user_line(const User& user);
std::string write_users(const Users& users);

}  // namespace sorrel::acl
