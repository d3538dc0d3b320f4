#include "persist/log_file.h"

#include <utility>

#include "io/files.h"

namespace sorrel::persist {
namespace {

class DiskLogFile final : public LogFile {
 public:
  explicit DiskLogFile(io::AppendFile file) : file_(std::move(file)) {}
  Status append(std::string_view bytes) override { return file_.append(bytes); }
  Status sync(uint64_t length) override { return file_.sync(length); }
  Status truncate(uint64_t size) override { return file_.truncate(size); }

 private:
  io::AppendFile file_;
};

}  // namespace

Result<OpenLog> open_log_file(const std::string& path) {
  Result<io::AppendFile> file = io::AppendFile::open(path);
  if (!file) return file.error();
  const uint64_t size = file->size();
  return OpenLog{std::make_unique<DiskLogFile>(std::move(*file)), size};
}

}  // namespace sorrel::persist
