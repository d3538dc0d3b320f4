#pragma once

#include <optional>
#include <string>
#include <vector>

#include "acl/users.h"
#include "base/log.h"
#include "config/file_access.h"
#include "server/options.h"

namespace sorrel::server {

// Users in files: `user` lines of the configuration, or the aclfile; never both.

acl::Channels channels_of_new_users(const Options& options);

// At start: requirepass, then the lines or the file. An error has been logged, and the server must
// not start: it might let in whom it should not.
Status load_users(const Options& options, const config::FileAccess& files, Logger& log,
                  acl::Users& users);

// The users of the aclfile. The error is a whole sentence or several, as ACL LOAD answers it.
Result<std::vector<acl::User>> read_users_file(const Options& options,
                                               const config::FileAccess& files);

// What CONFIG REWRITE writes behind the word "user"; nothing when there is an aclfile.
std::vector<std::string> user_lines(const Options& options, const acl::Users& users);

// Checks a `user` line of the configuration. Commands that do not exist are found by load_users().
// `words`: the name, then the rules.
Status check_user_line(const std::vector<std::string>& words);

}  // namespace sorrel::server
