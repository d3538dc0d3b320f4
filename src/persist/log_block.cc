#include "persist/log_block.h"

#include "base/copy_past_cache.h"

namespace sorrel::persist {

void LogBlock::begin_past_cache(uint64_t position) {
  constexpr size_t kPage = io::AppendFile::kPage;
  if (!huge_) {
    io::make_huge_page(bytes_.restart_aligned(io::kHugePage, io::kHugePage));
    huge_ = true;
  }
  const char* const begin = bytes_.reserve(kPastCacheBytes + kPage);
  lead_ = (position - reinterpret_cast<uintptr_t>(begin)) % kPage;
  bytes_.advance(lead_);
  past_cache_ = true;
}

void LogBlock::append(std::string_view bytes) {
  if (!past_cache_) return bytes_.append(bytes);
  copy_past_cache(bytes_.reserve(bytes.size()), bytes);
  bytes_.advance(bytes.size());
}

void LogBlock::clear() {
  bytes_.truncate(0);
  lead_ = 0;
  past_cache_ = false;
  before = nullptr;
}

}  // namespace sorrel::persist
