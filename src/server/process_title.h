#pragma once

#include <string>
#include <string_view>

#include "server/options.h"

namespace sorrel::server {

// proc-title-template filled in. `program` is {title}. Precondition: the template passed
// check_proc_title_template().
std::string process_title(const Options& options, std::string_view program,
                          std::string_view config_file);

}  // namespace sorrel::server
