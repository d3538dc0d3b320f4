#include "persist/snapshot_sink.h"

namespace sorrel::persist {
namespace {

constexpr uint64_t kSyncBytes = uint64_t{4} << 20;

}  // namespace

Status FileSink::begin() {
  Result<io::AppendFile> file = io::AppendFile::create(file_.temporary);
  if (!file) return file.error();
  open_ = std::move(*file);
  return {};
}

Status FileSink::write(std::string_view bytes) {
  if (Status written = open_->append(bytes); !written) return written;
  if (incremental_sync_ && open_->size() - sent_ >= kSyncBytes) {
    open_->start_sync(sent_);
    sent_ = open_->size();
  }
  return {};
}

Status FileSink::finish() {
  if (Status synced = open_->sync(); !synced) return synced;
  const std::lock_guard putting(putting_);
  if (cancelled_) return Error{"given up"};
  return io::rename_durably(file_.temporary, file_.path);
}

void FileSink::abandon() {
  (void)io::remove_file(file_.temporary).ok();
}

void FileSink::cancel() {
  const std::lock_guard putting(putting_);
  cancelled_ = true;
}

}  // namespace sorrel::persist
