#pragma once

#include "server/config_file.h"

namespace sorrel::server {

// The real file system for configuration.
FileAccess disk_files();

}  // namespace sorrel::server
