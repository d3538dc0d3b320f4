#pragma once

#include "config/option_table.h"

namespace sorrel::server {

// The table of the server's directives, over Options.
const config::Table& server_directives();

}  // namespace sorrel::server
