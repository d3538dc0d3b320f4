#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/random.h"
#include "io/files.h"
#include "persist/log_file.h"

// A disk that fails as it is told to, for tests.
namespace sorrel::persist::testing {

// What the file system and the disk under it hold of one file. Outlives the file.
struct FakeDisk {
  std::string written;  // as a reader sees it now
  std::string synced;   // what a power cut cannot take
  // How many bytes of an append are taken before it fails; negative: all, and it does not fail.
  std::function<int64_t(size_t bytes)> on_append = [](size_t) { return -1; };
  std::function<bool()> on_sync = [] { return true; };
  std::function<bool()> on_truncate = [] { return true; };
  // A failed sync: the kernel has dropped what it could not write and calls it clean.
  bool drops_on_failed_sync = false;
  size_t syncs = 0;
  std::mutex mutex;  // guards all of it

  std::string contents() {
    const std::lock_guard lock(mutex);
    return written;
  }

  // What is found after the machine went down: what was synced, and of the rest any part, possibly
  // with holes where only the length has arrived.
  std::string after_power_cut(Random& random) const {
    if (!written.starts_with(synced)) return synced;
    std::string left =
        written.substr(0, synced.size() + random.below(written.size() - synced.size() + 1));
    if (random.below(3) == 0 && left.size() > synced.size()) {
      const size_t from = synced.size() + random.below(left.size() - synced.size());
      std::fill(left.begin() + static_cast<ptrdiff_t>(from), left.end(), '\0');
    }
    return left;
  }
};

class FakeLogFile final : public LogFile {
 public:
  explicit FakeLogFile(FakeDisk& disk) : disk_(disk) {}

  Status append(std::string_view bytes) override {
    const std::lock_guard lock(disk_.mutex);
    const int64_t taken = disk_.on_append(bytes.size());
    if (taken < 0) {
      disk_.written += bytes;
      return {};
    }
    disk_.written += bytes.substr(0, static_cast<size_t>(taken));
    return Error{"write fake: No space left on device"};
  }
  // What was written meanwhile is not a part of it.
  Status sync(uint64_t length) override {
    std::unique_lock lock(disk_.mutex);
    disk_.syncs++;
    const std::function<bool()> on_sync = disk_.on_sync;
    lock.unlock();
    const bool done = on_sync();
    lock.lock();
    if (done) {
      disk_.synced = disk_.written.substr(0, length);
      return {};
    }
    if (disk_.drops_on_failed_sync) {
      std::fill(disk_.written.begin() + static_cast<ptrdiff_t>(disk_.synced.size()),
                disk_.written.end(), '\0');
    }
    return Error{"fdatasync fake: Input/output error"};
  }
  Status truncate(uint64_t size) override {
    const std::lock_guard lock(disk_.mutex);
    if (!disk_.on_truncate()) return Error{"ftruncate fake: Input/output error"};
    disk_.written.resize(size);
    if (disk_.synced.size() > size) disk_.synced.resize(size);
    return {};
  }

 private:
  FakeDisk& disk_;
};

inline OpenLog open_fake(FakeDisk& disk) {
  return {std::make_unique<FakeLogFile>(disk), disk.written.size()};
}

}  // namespace sorrel::persist::testing
