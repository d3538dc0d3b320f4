#include "tools/value_limits.h"

#include <array>

#include "base/bytes.h"
#include "io/process.h"

namespace sorrel::tools {
namespace {

KeyHasher unknown_hasher() {
  std::array<uint8_t, 2 * sizeof(uint64_t)> seeds{};
  // Without a random generator the seeds are zero: slow for a hostile file, but correct.
  (void)io::random_bytes(seeds).ok();
  return KeyHasher(load<uint64_t>(seeds.data()), load<uint64_t>(seeds.data() + sizeof(uint64_t)));
}

}  // namespace

ToolLimits::ToolLimits() : hasher_(unknown_hasher()) {}

rdb::ValueLimits ToolLimits::values() const {
  return {.list = ListLimits(-2),
          .set = {512, 128, 64, &hasher_},
          .hash = {512, 64, &hasher_},
          .zset = {128, 64, &hasher_}};
}

}  // namespace sorrel::tools
