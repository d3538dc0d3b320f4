#pragma once

#include <string>

namespace sorrel::server {

// sorrel.conf: every directive that is not hidden, with its help and its default, made from the
// table. Loading it changes nothing.
std::string documented_config();

}  // namespace sorrel::server
