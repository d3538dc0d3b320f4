#pragma once

#include "config/file_access.h"

namespace sorrel::config {

// FileAccess on the real file system.
FileAccess disk_files();

}  // namespace sorrel::config
