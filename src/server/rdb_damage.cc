#include "server/rdb_damage.h"

#include "tools/check_rdb.h"

namespace sorrel::server {

void log_rdb_damage(const std::string& path, std::string_view bytes, bool stands_alone,
                    int64_t now_ms, Logger& log) {
  bool failed = false;
  const auto tell = [&](std::string_view line) {
    failed = failed || line.starts_with(tools::kRdbErrorMark);
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (failed) log.warning(line);
  };
  (void)tools::check_rdb(path, bytes, now_ms, tell, stands_alone);
}

}  // namespace sorrel::server
