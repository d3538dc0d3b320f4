#pragma once

// Continues file_fixture.h: dumps as servers from 2.x on have left them.

#include "rdb/file_fixture.h"

namespace sorrel::rdb::testing {

inline const Texts kFileTexts = {"a", "1", "-70000", std::string(70, 'x'), "5000000000", "end"};
inline const Texts kFilePairs = {"f", "1", "g", std::string(70, 'v'), "h", "-5"};
inline const Texts kFileScores = {"m", "1.5", "n", "-3", "o", "inf"};

inline std::string text_value(std::string_view text) {
  std::string body;
  Writer to(body, false);
  to.byte(static_cast<uint8_t>(ObjectType::kString));
  to.string(text);
  return body;
}

inline std::string intset_value(const Texts& texts) {
  return written(set_of(texts), {.version = 10, .compress = false});
}

// Lists, sets, hashes and sorted sets one element after the other: since the beginning.
inline void add_plain_forms(FileBuilder& file) {
  file.key("string", text_value("hello"));
  file.key("number", text_value("-300"));
  file.key("list", flat_value(ObjectType::kList, kFileTexts));
  file.key("set", flat_value(ObjectType::kSet, kFileTexts));
  file.key("hash", flat_value(ObjectType::kHash, kFilePairs, 2));
  file.key("zset", zset_with_text_scores(kFileScores));
}
// Since 2.4 and 2.6.
inline void add_ziplists(FileBuilder& file) {
  file.key("list:ziplist", packed_value(ObjectType::kListZiplist, ziplist(kFileTexts)));
  file.key("hash:ziplist", packed_value(ObjectType::kHashZiplist, ziplist(kFilePairs)));
  file.key("zset:ziplist",
           packed_value(ObjectType::kZsetZiplist, ziplist({"m", "1.5", "n", "-3"})));
  file.key("set:intset", intset_value({"1", "-2", "70000"}));
}

inline std::string stream_value(int version) {
  Value value(Type::kStream);
  Stream& stream = stream_of(value.collection());
  const std::string_view fields[] = {"name", "value"};
  for (uint64_t i = 1; i <= 3; i++) stream.append({i, 0}, fields, {4096, 100});
  StreamGroup* group = stream.add_group("readers", {2, 0}, 2);
  StreamConsumer& consumer = stream.add_consumer(*group, "alice", 1000);
  stream.assign(*group, {1, 0}, consumer, 1500);
  return written(value, {.version = version, .compress = false});
}

inline std::vector<NamedFile> files_of_all_versions() {
  std::vector<NamedFile> files;
  {
    FileBuilder file("REDIS0001");
    file.database(0);
    file.opcode(Opcode::kExpirySeconds).number(int32_t{2'000'000'000});
    add_plain_forms(file);
    file.key("hash:zipmap", packed_value(ObjectType::kHashZipmap, zipmap(kFilePairs, 2)));
    files.push_back({"version 1", file.end_without_sum()});
  }
  for (const int version : {2, 3, 4, 5, 6}) {
    FileBuilder file("REDIS000" + std::to_string(version));
    file.database(3);
    if (version >= 3) file.opcode(Opcode::kExpiryMs).number(int64_t{2'000'000'000'123});
    add_plain_forms(file);
    add_ziplists(file);
    files.push_back({"version " + std::to_string(version),
                     version >= kVersionOfChecksum ? file.end() : file.end_without_sum()});
  }
  {
    FileBuilder file("REDIS0007");
    file.aux("redis-ver", "3.2.0").aux("ctime", "1400000000");
    file.database(0).opcode(Opcode::kSizes).length(2).length(0);
    file.key("list:quicklist", quicklist_of_ziplists({{"a", "1"}, {"b"}}));
    add_plain_forms(file);
    files.push_back({"version 7", file.end()});
  }
  {
    FileBuilder file("REDIS0009");
    file.aux("redis-ver", "5.0.0").aux("lua", "return 1");
    file.database(0).opcode(Opcode::kSizes).length(3).length(1);
    file.opcode(Opcode::kExpiryMs).number(int64_t{2'000'000'000'123});
    file.opcode(Opcode::kFrequency).raw("\x07");
    file.key("used", text_value("often"));
    file.opcode(Opcode::kIdle).length(3600);
    file.key("idle", text_value("long"));
    file.opcode(Opcode::kModuleAux).length((uint64_t{123456} << 10) | 1).length(2).length(1);
    file.length(1).length(7).length(2).length(8).length(3).number(1.0F).length(4).number(2.0);
    file.length(5).text("of a module").length(0);
    files.push_back({"version 9", file.end()});
  }
  {
    FileBuilder file("REDIS0010");
    file.aux("redis-ver", "7.0.0").aux("aof-base", "0");
    file.opcode(Opcode::kFunction).text("#!lua name=lib\nreturn 1");
    file.database(0).key("stream:2", stream_value(10));
    file.key("list", written(list_of(kFileTexts), {.version = 10, .compress = true}));
    file.key("hash", written(hash_of(kFilePairs), {.version = 10, .compress = true}));
    files.push_back({"version 10", file.end()});
  }
  {
    FileBuilder file("REDIS0011");
    file.database(1).key("stream:3", stream_value(11));
    file.key("set:listpack", written(set_of({"a", "b", "1"}), {.version = 11, .compress = false}));
    files.push_back({"version 11", file.end()});
  }
  {
    FileBuilder file("REDIS0012");
    file.database(0).opcode(Opcode::kSlotInfo).length(7).length(1).length(0);
    std::string timed(1, static_cast<char>(ObjectType::kTimedHash));
    Writer to(timed, false);
    to.little_endian(uint64_t{2'000'000'000'000});
    to.length(2);
    to.length(1);
    to.string("soon");
    to.string("1");
    to.length(0);
    to.string("never");
    to.string("2");
    file.key("hash:timed", timed);
    files.push_back({"version 12", file.end()});
  }
  {
    FileBuilder file("VALKEY080");
    file.opcode(Opcode::kSlotImport).text("job").length(1).length(5).length(9);
    std::string timed(1, '\x16');
    Writer to(timed, false);
    to.length(2);
    to.string("soon");
    to.string("1");
    to.little_endian(int64_t{2'000'000'000'000});
    to.string("never");
    to.string("2");
    to.little_endian(int64_t{-1});
    file.database(0).key("hash:timed", timed);
    add_plain_forms(file);
    files.push_back({"Valkey 80", file.end()});
  }
  return files;
}

}  // namespace sorrel::rdb::testing
