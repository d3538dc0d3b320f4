#include <gtest/gtest.h>

#include "base/random.h"
#include "rdb/file_fixture.h"

// Damage anywhere in a file gives a clear error, or the file as it was.

namespace sorrel::rdb {
namespace {

using namespace testing;

struct Outcome {
  Status done;
  Texts lines;
};

Outcome outcome_of(std::string_view bytes) {
  Listing listing;
  const FileReadOptions options{.limits = limits(), .stands_alone = true};
  FileReader reader(bytes, options, listing);
  Status done = reader.read();
  return {std::move(done), std::move(listing.lines)};
}

bool is_clear(const Status& refusal) {
  return refusal.error().text.starts_with("offset ") && refusal.error().text.size() > 12;
}

TEST(RdbFileDamage, EveryPlaceMayBeTheEnd) {
  for (const NamedFile& file : files_of_all_versions()) {
    for (size_t size = 0; size < file.bytes.size(); size++) {
      const Outcome outcome = outcome_of(std::string_view(file.bytes).substr(0, size));
      ASSERT_FALSE(outcome.done.ok()) << file.name << " cut to " << size;
      ASSERT_TRUE(is_clear(outcome.done)) << outcome.done.error().text;
    }
  }
}

// With a checksum at the end no flipped bit goes unnoticed.
TEST(RdbFileDamage, EveryBitMayFlip) {
  for (const NamedFile& file : files_of_all_versions()) {
    const Outcome sound = outcome_of(file.bytes);
    ASSERT_TRUE(sound.done.ok()) << file.name << ": " << sound.done.error().text;
    const bool has_sum = file.bytes[8] >= '5' || file.bytes[7] == '1' || file.bytes[7] == '8';
    for (size_t bit = 0; bit < file.bytes.size() * 8; bit++) {
      std::string bytes = file.bytes;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      const Outcome outcome = outcome_of(bytes);
      if (outcome.done.ok()) {
        ASSERT_TRUE(!has_sum || outcome.lines == sound.lines) << file.name << " bit " << bit;
      } else {
        ASSERT_TRUE(is_clear(outcome.done)) << outcome.done.error().text;
      }
    }
  }
}

TEST(RdbFileDamage, ManyBytesMayBeWrong) {
  Random random(7);
  for (const NamedFile& file : files_of_all_versions()) {
    for (int round = 0; round < 300; round++) {
      std::string bytes = file.bytes;
      const uint64_t changes = 1 + random.below(8);
      for (uint64_t i = 0; i < changes; i++) {
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
      }
      const Outcome outcome = outcome_of(bytes);
      if (!outcome.done.ok()) {
        ASSERT_TRUE(is_clear(outcome.done)) << outcome.done.error().text;
      }
    }
  }
}

}  // namespace
}  // namespace sorrel::rdb
