#include "server/allocator.h"

#if defined(SORREL_JEMALLOC)
#include <jemalloc/jemalloc.h>
#endif

namespace sorrel::server {

#if defined(SORREL_JEMALLOC)

namespace {

uint64_t read_stat(const char* name) {
  size_t value = 0;
  size_t length = sizeof value;
  return mallctl(name, &value, &length, nullptr, 0) == 0 ? value : 0;
}

}  // namespace

AllocatorStats allocator_stats() {
  // Statistics are a snapshot; advancing the epoch takes a new one.
  uint64_t epoch = 1;
  size_t length = sizeof epoch;
  mallctl("epoch", &epoch, &length, &epoch, length);
  return {read_stat("stats.allocated"), read_stat("stats.active"), read_stat("stats.resident")};
}

#define SORREL_TEXT_OF(x) #x
#define SORREL_TEXT(x) SORREL_TEXT_OF(x)

std::string_view allocator_name() {
  return "jemalloc-" SORREL_TEXT(JEMALLOC_VERSION_MAJOR) "." SORREL_TEXT(
      JEMALLOC_VERSION_MINOR) "." SORREL_TEXT(JEMALLOC_VERSION_BUGFIX);
}

std::string allocator_report() {
  std::string report;
  malloc_stats_print(
      [](void* to, const char* text) { static_cast<std::string*>(to)->append(text); }, &report,
      nullptr);
  return report;
}

void purge_allocator() {
  mallctl("arena." SORREL_TEXT(MALLCTL_ARENAS_ALL) ".purge", nullptr, nullptr, nullptr, 0);
}

void purge_in_background(bool on) {
  mallctl("background_thread", nullptr, nullptr, &on, sizeof on);
}

#else

AllocatorStats allocator_stats() {
  return {};
}
std::string_view allocator_name() {
  return "libc";
}
std::string allocator_report() {
  return {};
}
void purge_allocator() {}
void purge_in_background(bool) {}

#endif

}  // namespace sorrel::server
