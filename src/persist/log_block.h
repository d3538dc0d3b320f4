#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "io/files.h"
#include "io/process.h"
#include "resp/output_buffer.h"

namespace sorrel::persist {

// A part of the log on its way to the disk. The bytes of one that was begun with begin_past_cache()
// lie in memory as they will in the file, so that the disk can take them from there: see
// io::AppendFile::append_past_cache(). They do not pass through the processor's caches, either.
class LogBlock {
 public:
  // Precondition: empty. There is room for kPastCacheBytes then, and they will stand in the file
  // from `position` on.
  void begin_past_cache(uint64_t position);
  // With the page that may be left free before them they fill a huge page of memory: that is found
  // and handed to the disk in one piece, where small ones cost more than all else that it does.
  static constexpr size_t kPastCacheBytes = io::kHugePage - io::AppendFile::kPage;
  bool past_cache() const { return past_cache_; }
  // Has it ever been begun so?
  bool is_huge() const { return huge_; }

  void append(std::string_view bytes);
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  bool has_room_for(size_t bytes) const { return !bytes_.lacks(bytes); }
  size_t capacity() const { return bytes_.capacity(); }

  std::string_view text() const { return bytes_.view(lead_, bytes_.size()); }
  size_t size() const { return bytes_.size() - lead_; }
  void clear();

  uint64_t last_sequence = 0;  // all effects up to this one stand in it or before it
  // Done ahead of its bytes, once all that comes earlier is on disk: a new file is begun, say.
  std::function<void()> before;

 private:
  resp::OutputBuffer bytes_;
  size_t lead_ = 0;  // so many of them are not part of it
  bool past_cache_ = false;
  bool huge_ = false;  // its memory is a huge page
};
using LogBlockPtr = std::unique_ptr<LogBlock>;

}  // namespace sorrel::persist
