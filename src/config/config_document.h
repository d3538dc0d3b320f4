#pragma once

#include <string>

#include "config/option_table.h"

namespace sorrel::config {

// The documented configuration file (sorrel.conf): every directive that is not hidden, with its
// help and its default, made from the table. Loading the document leaves all defaults unchanged.
std::string documented_config(const Table& table);

}  // namespace sorrel::config
