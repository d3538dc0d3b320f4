#pragma once

#include "config/file_access.h"

namespace sorrel::config {

// The real file system for configuration.
FileAccess disk_files();

}  // namespace sorrel::config
