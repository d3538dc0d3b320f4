#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "rdb/file_fixture.h"

// Whole files: reading returns the content written, and every version is readable.

namespace sorrel::rdb {
namespace {

using namespace testing;

Texts lines_of(std::string_view bytes) {
  Listing listing;
  const FileReadOptions options{.limits = limits()};
  FileReader reader(bytes, options, listing);
  if (const Status done = reader.read(); !done) return {done.error().text};
  EXPECT_EQ(reader.position(), bytes.size());
  return listing.lines;
}

TEST(RdbFile, RoundTrip) {
  RecordArena arena;
  Record* text = arena.make_string("text", "value", 1234567890123);
  Record* number = arena.make_string("number", "-5000000000", kNoExpiry);
  Value list = list_of({"a", "1", "b"});
  Record* collection =
      arena.assign_collection(nullptr, "list", Type::kList, list.release(), kNoExpiry);
  StringSink sink;
  FileWriter file(sink, {.version = 11}, true);
  file.begin();
  file.aux("redis-ver", "7.2.4");
  file.function("#!lua name=l");
  file.database(0, 2, 1);
  file.key(*text, {});
  file.key(*number, {.frequency = 9});
  file.database(5, 1, 0);
  file.key(*collection, {.idle_seconds = 70});
  ASSERT_TRUE(file.end());
  EXPECT_EQ(file.size(), sink.bytes.size());
  EXPECT_TRUE(sink.bytes.starts_with("REDIS0011"));
  EXPECT_EQ(
      lines_of(sink.bytes),
      (Texts{"version 11", "aux redis-ver=7.2.4", "function #!lua name=l", "db 0", "sizes 2 1",
             "key 0:text until 1234567890123 \"value\"", "key 0:number used 9 \"-5000000000\"",
             "db 5", "sizes 1 0", "key 5:list idle 70 a 1 b"}));
  for (Record* record : {text, number, collection}) arena.free(record);
}

TEST(RdbFile, ABigValueIsWrittenInSegments) {
  class CountingSink final : public ByteSink {
   public:
    size_t largest = 0;
    size_t total = 0;
    Status write(std::string_view more) override {
      largest = std::max(largest, more.size());
      total += more.size();
      return {};
    }
  };
  RecordArena arena;
  Texts members;
  for (int i = 0; i < 100'000; i++) members.push_back("member number " + std::to_string(i));
  Record* record =
      arena.assign_collection(nullptr, "big", Type::kSet, set_of(members).release(), kNoExpiry);
  CountingSink sink;
  FileWriter file(sink, {.version = 11, .compress = false}, true);
  file.begin();
  file.key(*record, {});
  ASSERT_TRUE(file.end());
  EXPECT_GT(sink.total, 1'500'000u);
  EXPECT_LT(sink.largest, Writer::kSpillBytes + 100);
  arena.free(record);
}

TEST(RdbFile, SinkErrorsAreReported) {
  class FullSink final : public ByteSink {
   public:
    Status write(std::string_view) override { return Error{"no space"}; }
  };
  FullSink sink;
  FileWriter file(sink, {}, true);
  file.begin();
  const Status done = file.end();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "no space");
}

TEST(RdbFile, EveryVersionIsRead) {
  for (const NamedFile& file : files_of_all_versions()) {
    const Texts lines = lines_of(file.bytes);
    EXPECT_GT(lines.size(), 2u) << file.name << ": " << lines.front();
    EXPECT_TRUE(lines.front().starts_with("version ")) << file.name;
  }
}

// Every encoding of any version is in one of the files that other tests damage.
TEST(RdbFile, EveryObjectTypeIsInSomeFile) {
  class Types final : public FileVisitor {
   public:
    std::set<int> seen;

   private:
    Status on_string(const FileKey& key, std::string_view) override { return add(key); }
    Status on_collection(const FileKey& key, Value&) override { return add(key); }
    Status add(const FileKey& key) {
      seen.insert(key.object_type);
      return {};
    }
  };
  Types types;
  const FileReadOptions options{.limits = limits(), .stands_alone = true};
  for (const NamedFile& file : files_of_all_versions()) {
    FileReader reader(file.bytes, options, types);
    const Status read = reader.read();
    EXPECT_TRUE(read.ok()) << file.name << ": " << read.error().text;
  }
  std::set<int> all;
  for (int type = 0; type <= static_cast<int>(ObjectType::kTimedHashListpack); type++) {
    if (type != 6 && type != 8) all.insert(type);
  }
  EXPECT_EQ(types.seen, all);
}

// A version before checksums, or a checksum that was not computed, hides no damage.
TEST(RdbFile, WithoutAChecksumNothingMayFollow) {
  for (const char* header : {"REDIS0011", "REDIS0004"}) {
    FileBuilder file(header);
    file.database(0).key("k", text_value("v"));
    std::string bytes = file.end_without_sum();
    const bool is_old = header[8] == '4';
    if (!is_old) bytes.append(8, '\0');
    const auto refused = [&](bool alone) {
      Listing listing;
      const FileReadOptions options{.limits = limits(), .stands_alone = alone};
      FileReader reader(bytes, options, listing);
      const Status done = reader.read();
      return done.ok() ? std::string() : done.error().text;
    };
    EXPECT_EQ(refused(true), "");
    const size_t end = bytes.size();
    bytes += "*1";
    EXPECT_EQ(refused(true),
              fmt::format("offset {}: 2 bytes follow the end of a file without a checksum "
                          "(version {})",
                          is_old ? end : end - 8, is_old ? 4 : 11));
    EXPECT_EQ(refused(false).empty(), !is_old);
  }
}

TEST(RdbFile, OldFilesKeepTheirContent) {
  const auto files = files_of_all_versions();
  const std::string x70(70, 'x');
  const std::string v70(70, 'v');
  const Texts first = lines_of(files[0].bytes);
  EXPECT_EQ(
      first,
      (Texts{"version 1", "db 0", "key 0:string until 2000000000000 \"hello\"",
             "key 0:number \"-300\"", "key 0:list a 1 -70000 " + x70 + " 5000000000 end",
             "key 0:set -70000 1 5000000000 a end " + x70, "key 0:hash f=1 g=" + v70 + " h=-5",
             "key 0:zset n=-3 m=1.5 o=inf", "key 0:hash:zipmap f=1 g=" + v70 + " h=-5"}));
  EXPECT_EQ(lines_of(files[7].bytes),
            (Texts{"version 9", "aux redis-ver=5.0.0", "aux lua=return 1", "db 0", "sizes 3 1",
                   "key 0:used until 2000000000123 used 7 \"often\"",
                   "key 0:idle idle 3600 \"long\"", "module AAAAAAeJA"}));
  EXPECT_EQ(lines_of(files[10].bytes), (Texts{"version 12", "db 0", "slot 7 1",
                                              "key 0:hash:timed never=2 soon=1@2000000000000"}));
  const Texts valkey = lines_of(files[11].bytes);
  EXPECT_EQ(valkey[0], "version 80");
  EXPECT_EQ(valkey[2], "key 0:hash:timed never=2 soon=1@2000000000000");
}

TEST(RdbFile, EmptyCollectionsAreSkipped) {
  FileBuilder file("REDIS0009");
  file.database(0);
  file.key("list", flat_value(ObjectType::kList, {}));
  file.key("set", flat_value(ObjectType::kSet, {}));
  file.key("zset", packed_value(ObjectType::kZsetZiplist, ziplist({})));
  file.key("hash", packed_value(ObjectType::kHashZiplist, ziplist({})));
  file.key("nodes", quicklist_of_ziplists({{}, {}}));
  file.key("last", text_value("there"));
  EXPECT_EQ(
      lines_of(file.end()),
      (Texts{"version 9", "db 0", "key 0:list (empty)", "key 0:set (empty)", "key 0:zset (empty)",
             "key 0:hash (empty)", "key 0:nodes (empty)", "key 0:last \"there\""}));
}

TEST(RdbFile, ErrorsGiveTheOffset) {
  EXPECT_EQ(lines_of(""), Texts{"offset 0: the file ends within its header, at byte 0"});
  EXPECT_EQ(lines_of("NOT AN RDB"),
            Texts{"offset 0: this is no RDB file: it begins with another signature"});
  EXPECT_EQ(lines_of("REDIS0013"), Texts{"offset 0: can't handle RDB format version 13"});
  EXPECT_EQ(lines_of("REDIS0000"), Texts{"offset 0: can't handle RDB format version 0"});
  EXPECT_EQ(lines_of("VALKEY081"), Texts{"offset 0: can't handle RDB format version 81"});
  EXPECT_EQ(lines_of("REDIS00x1"), Texts{"offset 0: the version is no number"});
  EXPECT_EQ(lines_of("REDIS0009"),
            Texts{"offset 9: the file ends within the list of elements, at byte 9"});
  FileBuilder torn("REDIS0009");
  torn.database(0).key("key", text_value("value"));
  const std::string whole = torn.end();
  EXPECT_EQ(
      lines_of(std::string_view(whole).substr(0, 20)),
      Texts{"offset 11: the file ends within a string, at byte 20 (key 'key', object type 0)"});
  EXPECT_EQ(lines_of(std::string_view(whole).substr(0, whole.size() - 1)),
            Texts{"offset 23: the file ends within its checksum, at byte 30"});
  std::string flipped = whole;
  flipped[17] = 'x';
  EXPECT_TRUE(lines_of(flipped).front().starts_with("offset 23: RDB CRC error"));
  FileBuilder strange("REDIS0009");
  strange.database(0).raw("\x08").text("key");
  EXPECT_EQ(
      lines_of(strange.end()),
      Texts{"offset 11: Value integrity check failed: there is no such type, noticed at byte 16 "
            "(key 'key', object type 8)"});
  FileBuilder twice("REDIS0009");
  twice.database(0).key("h", packed_value(ObjectType::kHashZiplist, ziplist({"f", "1", "f", "2"})));
  EXPECT_EQ(lines_of(twice.end()),
            Texts{"offset 11: Hash ziplist integrity check failed: ziplist with dup elements, "
                  "noticed at byte 36 (key 'h', object type 13)"});
  FileBuilder functions("REDIS0010");
  functions.opcode(Opcode::kOldFunction);
  EXPECT_EQ(lines_of(functions.end()),
            Texts{"offset 9: functions of a release candidate of Redis 7.0 are not supported"});
}

TEST(RdbFile, AChecksumOfZeroMeansNone) {
  StringSink sink;
  FileWriter file(sink, {.version = 11}, false);
  file.begin();
  ASSERT_TRUE(file.end());
  EXPECT_EQ(sink.bytes.substr(10), std::string(8, '\0'));
  EXPECT_EQ(lines_of(sink.bytes), Texts{"version 11"});
}

TEST(RdbFile, BytesAfterTheFileAreNotRead) {
  FileBuilder file("REDIS0010");
  file.database(0).key("key", text_value("value"));
  const std::string whole = file.end();
  const std::string with_tail = whole + "*1\r\n$4\r\nPING\r\n";
  Listing listing;
  const FileReadOptions options{.limits = limits()};
  FileReader reader(with_tail, options, listing);
  ASSERT_TRUE(reader.read());
  EXPECT_TRUE(reader.verified());
  EXPECT_EQ(reader.position(), whole.size());
}

}  // namespace
}  // namespace sorrel::rdb
