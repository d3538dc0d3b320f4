#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "rdb/file_fixture.h"
#include "rdb/source_fixture.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace sorrel::rdb::testing {
namespace {

const std::vector<NamedFile>& samples() {
  static const std::vector<NamedFile> kSamples = files_of_all_versions();
  return kSamples;
}

}  // namespace
}  // namespace sorrel::rdb::testing

// Starts from a valid file now and then, since random bytes never form one.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  const auto& samples = sorrel::rdb::testing::samples();
  if (size < 9 || seed % 64 == 0) {
    const std::string& sample = samples[seed / 64 % samples.size()].bytes;
    size = std::min(sample.size(), max_size);
    std::memcpy(data, sample.data(), size);
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

// The bytes are a whole file. The checksum is not verified: it would reject everything. Read in
// segments, the file must give the same result.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sorrel::rdb;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  testing::Listing listing;
  const FileReadOptions options{.limits = testing::limits(), .verify_checksum = false};
  FileReader reader(bytes, options, listing);
  const sorrel::Status done = reader.read();
  if (!done.ok() && done.error().text.empty()) __builtin_trap();
  if (reader.position() > size) __builtin_trap();
  for (const bool tells_size : {false, true}) {
    testing::Listing again;
    testing::PieceSource source(bytes, {.piece = 1 + size % 7, .tells_size = tells_size});
    FileReader pieces(source, options, again);
    const sorrel::Status judged = pieces.read();
    if (judged.ok() != done.ok() || again.lines != listing.lines) __builtin_trap();
    if (pieces.problem_offset() != reader.problem_offset()) __builtin_trap();
    if (tells_size && !done.ok() && judged.error().text != done.error().text) __builtin_trap();
  }
  return 0;
}
