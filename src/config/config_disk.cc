#include "config/config_disk.h"

#include <utility>

#include "io/files.h"

namespace sorrel::config {
namespace {

// A generous bound on the size of a configuration file, so that a device as path does not fill
// memory.
constexpr size_t kMaxConfigBytes = size_t{64} << 20;

// Errors of io are "operation path: reason"; the messages of this component contain the path
// already.
Error only_reason(const Error& error) {
  const size_t colon = error.text.rfind(": ");
  if (colon == std::string::npos) return error;
  return {error.text.substr(colon + 2)};
}

Result<std::string> enter(const std::string& path) {
  if (Status status = io::change_directory(path); !status) return only_reason(status.error());
  Result<std::string> absolute = io::current_directory();
  if (!absolute) return only_reason(absolute.error());
  return std::move(*absolute);
}

}  // namespace

FileAccess disk_files() {
  FileAccess files;
  files.read = [](const std::string& path) -> Result<std::string> {
    Result<std::string> text = io::read_file(path, kMaxConfigBytes);
    if (!text) return only_reason(text.error());
    return text;
  };
  files.exists = &io::file_exists;
  files.glob = &io::expand_glob;
  files.change_dir = &enter;
  files.replace = [](const std::string& path, std::string_view content) -> Status {
    // The file may contain passwords.
    constexpr mode_t kOwnerOnly = 0600;
    Status status = io::write_file_atomically(path, content, kOwnerOnly);
    if (!status) return only_reason(status.error());
    return {};
  };
  return files;
}

}  // namespace sorrel::config
