#pragma once

// Continues file_fixture.h: dumps as servers from 2.x on have written them.

#include "rdb/file_fixture.h"

namespace sorrel::rdb::testing {

inline const Texts kFileTexts = {"a", "1", "-70000", std::string(70, 'x'), "5000000000", "end"};
inline const Texts kFilePairs = {"f", "1", "g", std::string(70, 'v'), "h", "-5"};
inline const Texts kFileScores = {"m", "1.5", "n", "-3", "o", "inf"};

inline const std::string kLongText(300, 'y');

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

// Lists, sets, hashes and sorted sets element by element: since the first version.
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

// Without counters, as Redis 5 wrote it.
inline std::string first_stream_value() {
  std::string body = stream_value(10);
  const std::optional<Value> value = read(body);
  const Stream& stream = *static_cast<const Stream*>(value->collection().data);
  body.assign(1, static_cast<char>(ObjectType::kStream1));
  Writer to(body, false);
  const auto put_id = [&](const StreamId& id) {
    to.big_endian(id.ms);
    to.big_endian(id.seq);
  };
  to.length(stream.node_count());
  for (const auto& [id, node] : stream.nodes()) {
    to.length(16);
    put_id(id);
    to.string(listpack::view(node));
  }
  for (const uint64_t number : {stream.length(), uint64_t{3}, uint64_t{0}}) to.length(number);
  to.length(1);
  to.string("readers");
  for (const uint64_t number : {2, 0, 1}) to.length(number);
  put_id({1, 0});
  to.little_endian(int64_t{1500});
  to.length(1);
  to.length(1);
  to.string("alice");
  to.little_endian(int64_t{1000});
  to.length(1);
  put_id({1, 0});
  return body;
}

// Field, expire time and value in every encoding of hashes whose fields expire.
inline void add_timed_hashes(FileBuilder& file) {
  std::string absolute(1, static_cast<char>(ObjectType::kTimedHashAbsolute));
  Writer to(absolute, false);
  for (const uint64_t number : {uint64_t{1}, uint64_t{2'000'000'000'000}}) to.length(number);
  for (const std::string_view text : {"soon", "1"}) to.string(text);
  file.key("hash:timed:absolute", absolute);
  const std::string packed = listpack_bytes({"soon", "1", "2000000000000"});
  file.key("hash:timed:bare", packed_value(ObjectType::kTimedHashListpackBare, packed));
  std::string with_earliest(1, static_cast<char>(ObjectType::kTimedHashListpack));
  Writer out(with_earliest, false);
  out.little_endian(uint64_t{2'000'000'000'000});
  out.string(packed);
  file.key("hash:timed:listpack", with_earliest);
}

// Encodings of newer versions: binary scores, listpacks, texts that are compressed or integers.
inline void add_newer_forms(FileBuilder& file) {
  const WriteOptions plain{.version = 12, .compress = false};
  for (const std::string_view number : {"7", "-300", "70000", "5000000000"}) {
    file.key("number:" + std::string(number), text_value(number));
  }
  file.key("string:compressed", written(Value(std::string_view(kLongText)), {.compress = true}));
  std::string scores(1, static_cast<char>(ObjectType::kZset));
  Writer to(scores, false);
  to.length(2);
  for (const double score : {1.5, -3e300}) {
    to.string(score > 0 ? "m" : "n");
    to.little_endian(score);
  }
  file.key("zset:binary", scores);
  file.key("zset:listpack", written(zset_of({"a", "b"}, [](size_t i) { return i / 2.0; }), plain));
  file.key("hash:listpack", written(hash_of({"f", "1", "g", "v"}), plain));
  file.key("list:quicklist2", written(list_of(kFileTexts), plain));
  std::string nodes(1, static_cast<char>(ObjectType::kListQuicklist2));
  Writer list(nodes, false);
  for (const uint64_t number : {uint64_t{1}, kPlainNode}) list.length(number);
  list.string(kLongText);
  file.key("list:plain-node", nodes);
  BloomFilter::Failure failure;
  auto filter = BloomFilter::make({.capacity = 10, .error = 0.01}, failure);
  filter->add("a");
  file.key("filter", written(Value(Type::kBloom, bloom_collection(std::move(filter))), plain));
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
    file.opcode(Opcode::kFunction)
        .text("#!lua name=lib\nredis.register_function('f', function() return 1 end)");
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
  {
    FileBuilder file("REDIS0012");
    file.database(0).key("stream:1", first_stream_value());
    add_timed_hashes(file);
    add_newer_forms(file);
    files.push_back({"newer forms", file.end()});
  }
  return files;
}

}  // namespace sorrel::rdb::testing
