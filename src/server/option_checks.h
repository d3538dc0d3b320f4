#pragma once

#include <string_view>

#include "base/result.h"

namespace sorrel::server {

// Checks on the values of directives that are one text or a set of words. Each error is the phrase
// that Redis uses, because tools and tests compare it.

Status check_dbfilename(std::string_view text);
Status check_appendfilename(std::string_view text);
Status check_appenddirname(std::string_view text);
Status check_announced_hostname(std::string_view text);
Status check_announced_nodename(std::string_view text);
Status check_proc_title_template(std::string_view text);
Status check_shutdown_bits(int value);

}  // namespace sorrel::server
