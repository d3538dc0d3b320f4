#pragma once

#include "base/version.h"

namespace sorrel::server {

using sorrel::kRedisVersion;
using sorrel::kSorrelVersion;

}  // namespace sorrel::server
