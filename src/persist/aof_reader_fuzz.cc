#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "persist/aof_reader.h"
#include "persist/manifest.h"

namespace sorrel::persist {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// What was read stands in the file, one behind the other, and reading it again says the same.
void read_log(std::string_view bytes) {
  AofReader reader(bytes);
  for (;;) {
    const uint64_t before = reader.position();
    const AofReader::Found found = reader.next();
    if (found != AofReader::Found::kCommand && found != AofReader::Found::kTimestamp) {
      require(reader.position() == before && reader.next() == found);
      if (found == AofReader::Found::kEnd) require(before == bytes.size());
      break;
    }
    require(reader.position() > before && reader.position() <= bytes.size());
    if (found == AofReader::Found::kTimestamp) continue;
    require(!reader.args().empty());
    for (const std::string_view arg : reader.args()) {
      require(arg.data() >= bytes.data() + before);
      require(arg.data() + arg.size() <= bytes.data() + reader.position());
    }
  }
  // A log cut where it is whole is whole.
  AofReader again(bytes.substr(0, reader.position()));
  AofReader::Found found = again.next();
  while (found == AofReader::Found::kCommand || found == AofReader::Found::kTimestamp) {
    found = again.next();
  }
  require(found == AofReader::Found::kEnd);
}

void read_manifest(std::string_view text) {
  Manifest manifest;
  if (parse_manifest(text, manifest)) return;
  Manifest again;
  require(!parse_manifest(format_manifest(manifest), again));
  require(again == manifest);
}

}  // namespace
}  // namespace sorrel::persist

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sorrel::persist::read_log(bytes);
  sorrel::persist::read_manifest(bytes);
  return 0;
}
