#include <gtest/gtest.h>

#include "base/random.h"
#include "rdb/file_fixture.h"
#include "rdb/source_fixture.h"

// Files read from a source give the same results as files in memory.

namespace sorrel::rdb {
namespace {

using namespace testing;

struct Verdict {
  std::string error;  // empty: none
  Texts lines;
  uint64_t position = 0;  // where it ended, or where the invalid element begins
  std::string key;

  bool operator==(const Verdict&) const = default;
};

Verdict verdict(FileReader& reader, Listing& listing) {
  const Status done = reader.read();
  return {done.ok() ? "" : done.error().text, std::move(listing.lines),
          done.ok() ? reader.position() : reader.problem_offset(), reader.problem_key()};
}

Verdict of_all_bytes(std::string_view bytes, const FileReadOptions& options) {
  Listing listing;
  FileReader reader(bytes, options, listing);
  return verdict(reader, listing);
}

Verdict of_pieces(std::string_view bytes, const FileReadOptions& options, size_t piece,
                  bool tells_size) {
  Listing listing;
  PieceSource source(bytes, {.piece = piece, .tells_size = tells_size});
  FileReader reader(source, options, listing);
  return verdict(reader, listing);
}

// With a known size everything is identical, texts included. Without it an excessive count is
// detected later, in the same element.
void expect_same(std::string_view bytes, const FileReadOptions& options, size_t piece,
                 const std::string& name) {
  const Verdict whole = of_all_bytes(bytes, options);
  ASSERT_EQ(of_pieces(bytes, options, piece, true), whole) << name;
  const Verdict unknown = of_pieces(bytes, options, piece, false);
  ASSERT_EQ(unknown.error.empty(), whole.error.empty()) << name;
  ASSERT_EQ(unknown.lines, whole.lines) << name;
  ASSERT_EQ(unknown.position, whole.position) << name << unknown.error << whole.error;
  ASSERT_EQ(unknown.key, whole.key) << name;
}

FileReadOptions alone() {
  return {.limits = limits(), .stands_alone = true};
}

TEST(RdbSource, FilesOfAllVersionsAreReadInSegments) {
  for (const NamedFile& file : files_of_all_versions()) {
    for (const size_t piece : {1, 2, 3, 7, 64, 1000, 1 << 20}) {
      expect_same(file.bytes, alone(), piece, file.name);
    }
  }
}

TEST(RdbSource, TruncatedFilesGiveTheSameError) {
  for (const NamedFile& file : files_of_all_versions()) {
    for (size_t size = 0; size < file.bytes.size(); size++) {
      expect_same(std::string_view(file.bytes).substr(0, size), alone(), 1 + size % 40, file.name);
    }
  }
}

// Damages every byte; with and without verifying the checksum.
TEST(RdbSource, DamagedFilesGiveTheSameResult) {
  FileReadOptions blind = alone();
  blind.verify_checksum = false;
  Random random(17);
  for (const NamedFile& file : files_of_all_versions()) {
    for (size_t at = 0; at < file.bytes.size(); at++) {
      std::string bytes = file.bytes;
      bytes[at] = static_cast<char>(file.bytes[at] ^ (1 + random.below(255)));
      const bool with_sum = random.below(4) == 0;
      expect_same(bytes, with_sum ? alone() : blind, 1 + random.below(40), file.name);
    }
  }
}

TEST(RdbSource, BytesAfterTheFileAreUnreadOrAnError) {
  FileBuilder file("REDIS0010");
  file.database(0).key("key", text_value("value"));
  const std::string whole = file.end() + "*1\r\n";
  Listing listing;
  PieceSource source(whole, {.piece = 5});
  const FileReadOptions options{.limits = limits()};
  FileReader reader(source, options, listing);
  ASSERT_TRUE(reader.read().ok());
  EXPECT_TRUE(reader.verified());
  EXPECT_EQ(reader.position(), whole.size() - 4);
  FileBuilder old("REDIS0004");
  old.database(0).key("key", text_value("value"));
  const std::string with_tail = old.end_without_sum() + "abc";
  expect_same(with_tail, alone(), 1, "a tail");
  EXPECT_NE(of_pieces(with_tail, alone(), 1, false)
                .error.find("bytes follow the end of a file without a checksum"),
            std::string::npos);
}

TEST(RdbSource, SourceErrorsAreReported) {
  FileBuilder file("REDIS0011");
  file.database(0).key("key", text_value("a value"));
  const std::string whole = file.end();
  for (size_t size = 0; size < whole.size(); size++) {
    Listing listing;
    PieceSource source(std::string_view(whole).substr(0, size), {.error = "connection reset"});
    const FileReadOptions options = alone();
    FileReader reader(source, options, listing);
    const Status done = reader.read();
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().text.find("connection reset"), std::string::npos) << size;
    EXPECT_NE(done.error().text.find("at byte " + std::to_string(size)), std::string::npos)
        << done.error().text;
  }
}

// An announced length costs only the memory of the bytes present, and a count nothing.
TEST(RdbSource, AnnouncedSizesAreNotAllocated) {
  for (const ObjectType type : {ObjectType::kString, ObjectType::kList, ObjectType::kSet,
                                ObjectType::kHash, ObjectType::kZset, ObjectType::kStream3}) {
    FileBuilder file("REDIS0011");
    file.database(0).raw(std::string(1, static_cast<char>(type))).text("key");
    std::string bytes = file.length(uint64_t{1} << 50).end_without_sum();
    bytes += "few bytes";
    const Verdict refused = of_pieces(bytes, alone(), 3, false);
    EXPECT_FALSE(refused.error.empty());
    expect_same(bytes, alone(), 4, "a count");
  }
}

// Each kind of long text spans many segments.
TEST(RdbSource, LongTextsAreWhole) {
  std::string random_text;
  Random random(5);
  for (int i = 0; i < 100'000; i++) random_text += static_cast<char>(random.below(256));
  StringSink sink;
  FileWriter file(sink, {.version = 11}, true);
  RecordArena arena;
  file.begin();
  file.function(random_text);
  file.database(0, 3, 0);
  std::vector<Record*> records{arena.make_string("random", random_text, kNoExpiry),
                               arena.make_string("plain", std::string(200'000, 'x'), kNoExpiry),
                               arena.make_string(random_text.substr(0, 5000), "1", kNoExpiry)};
  for (const Record* record : records) file.key(*record, {});
  ASSERT_TRUE(file.end());
  for (const size_t piece : {1, 13, 4096, 65536}) {
    expect_same(sink.bytes, alone(), piece, "long texts");
  }
  for (Record* record : records) arena.free(record);
}

}  // namespace
}  // namespace sorrel::rdb
