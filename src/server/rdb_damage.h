#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"

namespace sorrel::server {

// Tells the log what the checker says of an RDB file that could not be loaded, as Redis's server
// does: the key that is damaged, its type, how many came before it. Not what the file tells before
// that, which would be as many lines as it likes. A file that is sound is not mentioned.
//
// Whatever the loglevel, because a server that ends because of a file has to say so. `path` is only
// shown; `stands_alone` as in rdb::FileReadOptions.
void log_rdb_damage(const std::string& path, std::string_view bytes, bool stands_alone,
                    int64_t now_ms, Logger& log);

}  // namespace sorrel::server
