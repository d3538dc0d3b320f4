// How long the longest single insert takes while a keyspace grows to many keys: the time of this
// thread (what the insert itself did) and the time on the wall (which others may have had).

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "base/numbers.h"
#include "keyspace/door.h"

#if defined(SORREL_JEMALLOC)
// As in the server's main.cc.
extern "C" {
extern const char* const malloc_conf;
[[gnu::used]] const char* const malloc_conf = "dirty_decay_ms:2000,background_thread:true";
}
#endif

namespace {

constexpr int64_t kBoundNs = 5'000'000;

int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sorrel;
  const int64_t keys = argc > 1 ? parse_int64(argv[1]).value_or(0) : 20'000'000;
  Keyspace keyspace({}, nullptr);
  EffectStream stream;
  EffectLog log(stream);
  Random random(1);
  Door door(keyspace, log, random);
  door.begin(0, 1'000, true);
  const std::string value(32, 'v');
  int64_t longest = 0;
  int64_t longest_wall = 0;
  for (int64_t i = 0; i < keys; i++) {
    const std::string key = fmt::format("key:{:012}", i);
    const int64_t wall = nanoseconds(CLOCK_MONOTONIC);
    const int64_t own = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    door.put_string(door.key(key), value, kNoExpiry, {EventClass::kString, "set"});
    longest = std::max(longest, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - own);
    longest_wall = std::max(longest_wall, nanoseconds(CLOCK_MONOTONIC) - wall);
  }
  fmt::print("{} inserts: the longest took {:.3f} ms of its thread ({:.3f} ms on the wall)\n", keys,
             static_cast<double>(longest) / 1e6, static_cast<double>(longest_wall) / 1e6);
  return longest > kBoundNs ? 1 : 0;
}
