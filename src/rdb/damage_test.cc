#include <gtest/gtest.h>

#include <cmath>

#include "rdb/value_fixture.h"

// Old encodings are read, and damaged ones rejected.

namespace sorrel::rdb {
namespace {

using namespace testing;

const Texts kMixed = {"a",
                      "",
                      "12",
                      "13",
                      "-1",
                      "127",
                      "-129",
                      "40000",
                      "8388607",
                      "-8388608",
                      "8388608",
                      "2147483648",
                      "-9223372036854775808",
                      std::string(63, 'x'),
                      std::string(64, 'x'),
                      std::string(300, 'y'),
                      std::string(20000, 'z'),
                      "end"};

Texts texts_in(const std::string& body) {
  const auto value = read(body);
  return value ? texts_of(*value) : Texts{"(refused)"};
}
const Texts kRefused = {"(refused)"};

TEST(RdbOldForms, Lists) {
  EXPECT_EQ(texts_in(flat_value(ObjectType::kList, kMixed)), kMixed);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kListZiplist, ziplist(kMixed))), kMixed);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kListZiplist, ziplist(kMixed), true)), kMixed);
  EXPECT_EQ(texts_in(quicklist_of_ziplists({{"a", "1"}, {}, {"b"}})), (Texts{"a", "1", "b"}));
  EXPECT_EQ(texts_in(quicklist_of_ziplists({{}, {}})), kRefused);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kListZiplist, ziplist({}))), kRefused);
  EXPECT_EQ(texts_in(flat_value(ObjectType::kList, {})), kRefused);
}

TEST(RdbOldForms, Hashes) {
  const Texts pairs = {"f", "1", "", "", "long", std::string(300, 'v')};
  const Texts expected = {"=", "f=1", "long=" + std::string(300, 'v')};
  EXPECT_EQ(texts_in(packed_value(ObjectType::kHashZiplist, ziplist(pairs))), expected);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kHashZipmap, zipmap(pairs))), expected);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kHashZipmap, zipmap(pairs, 3))), expected);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kHashZiplist, ziplist({"f", "1", "f", "2"}))),
            kRefused);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kHashZipmap, zipmap({"f", "1", "f", "2"}))),
            kRefused);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kHashZiplist, ziplist({"f", "1", "g"}))), kRefused);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kHashZipmap, zipmap({}))), kRefused);
}

TEST(RdbOldForms, SortedSets) {
  const Texts expected = {"low=-inf", "a=1", "b=1.5", "c=1e+20"};
  EXPECT_EQ(texts_in(zset_with_text_scores({"a", "1", "b", "1.5", "low", "-inf", "c", "1e20"})),
            expected);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kZsetZiplist,
                                  ziplist({"a", "1", "b", "1.5", "low", "-inf", "c", "1e20"}))),
            expected);
  EXPECT_EQ(texts_in(zset_with_text_scores({"a", "nan"})), kRefused);
  EXPECT_EQ(texts_in(zset_with_text_scores({"a", "1", "a", "2"})), kRefused);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kZsetZiplist, ziplist({"a", "nan"}))), kRefused);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kZsetZiplist, ziplist({"a", "x"}))), kRefused);
  EXPECT_EQ(texts_in(packed_value(ObjectType::kZsetZiplist, ziplist({"a", "1", "b"}))), kRefused);
}

TEST(RdbOldForms, EveryByteOfAZiplistMatters) {
  const std::string block = ziplist({"a", "1", "400", std::string(70, 'x')});
  for (size_t i = 0; i < block.size(); i++) {
    for (const char bit : {'\x01', '\x80'}) {
      std::string damaged = block;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      const auto value = read(packed_value(ObjectType::kListZiplist, damaged));
      // Accepted damage leaves the number of elements and changes their content.
      if (value) {
        EXPECT_EQ(texts_of(*value).size(), 4u) << i;
      }
    }
  }
}

TEST(RdbDamage, DuplicatesOddCountsAndEmptyOnes) {
  const auto packed = [](ObjectType type, const Texts& texts) {
    return texts_in(packed_value(type, listpack_bytes(texts)));
  };
  EXPECT_EQ(packed(ObjectType::kSetListpack, {"a", "b", "a"}), kRefused);
  EXPECT_EQ(packed(ObjectType::kSetListpack, {}), kRefused);
  EXPECT_EQ(packed(ObjectType::kHashListpack, {"a", "1", "a", "2"}), kRefused);
  EXPECT_EQ(packed(ObjectType::kHashListpack, {"a", "1", "b"}), kRefused);
  EXPECT_EQ(packed(ObjectType::kHashListpack, {}), kRefused);
  EXPECT_EQ(packed(ObjectType::kZsetListpack, {"a", "1", "a", "2"}), kRefused);
  EXPECT_EQ(packed(ObjectType::kZsetListpack, {"a", "1", "b"}), kRefused);
  EXPECT_EQ(packed(ObjectType::kZsetListpack, {"a", "nan"}), kRefused);
  EXPECT_EQ(packed(ObjectType::kZsetListpack, {"a", ""}), kRefused);
  // Out of order they are sorted.
  EXPECT_EQ(packed(ObjectType::kZsetListpack, {"b", "2", "a", "1"}), (Texts{"a=1", "b=2"}));
  EXPECT_EQ(texts_in(flat_value(ObjectType::kSet, {"a", "a"})), kRefused);
  EXPECT_EQ(texts_in(flat_value(ObjectType::kSet, {"1", "1"})), kRefused);
  EXPECT_EQ(texts_in(flat_value(ObjectType::kHash, {"a", "1", "a", "2"}, 2)), kRefused);
  // Many elements, in the encoding for many, with a duplicate at the very end.
  Texts many;
  for (int i = 0; i < 300; i++) many.push_back("m" + std::to_string(i));
  EXPECT_EQ(packed(ObjectType::kSetListpack, many).size(), 300u);
  many.push_back("m7");
  EXPECT_EQ(packed(ObjectType::kSetListpack, many), kRefused);
  EXPECT_EQ(texts_in(flat_value(ObjectType::kSet, many)), kRefused);
}

// An integer and the text that spells it are the same member.
TEST(RdbDamage, DuplicatesInDisguise) {
  const std::string one_and_text(
      "\x0d\0\0\0\x02\0"
      "\x01\x01"
      "\x81"
      "1"
      "\x02"
      "\xff",
      12);
  std::string block = one_and_text;
  block[0] = static_cast<char>(block.size());
  ASSERT_TRUE(listpack::valid(block));
  EXPECT_EQ(texts_in(packed_value(ObjectType::kSetListpack, block)), kRefused);
}

// The reason after "integrity check failed"; empty when there is none.
std::string flaw_in(std::string_view body, const ValueLimits& with = limits()) {
  const auto value = value_of_payload(body, with);
  if (value) return "none";
  constexpr std::string_view kFailed = " integrity check failed";
  std::string text = value.error().text;
  const size_t at = text.find(kFailed);
  if (at == std::string::npos) return "no words";
  text.erase(0, at + kFailed.size());
  return text.starts_with(": ") ? text.substr(2) : text;
}

TEST(RdbDamage, DuplicatesAreReported) {
  const Texts pairs = {"a", "1", "b", "2", "a", "3"};
  const auto packed = [](ObjectType type, const std::string& block) {
    return flaw_in(packed_value(type, block));
  };
  const std::string block = listpack_bytes(pairs);
  EXPECT_EQ(packed(ObjectType::kHashListpack, block), "listpack with dup elements");
  EXPECT_EQ(packed(ObjectType::kZsetListpack, block), "listpack with dup elements");
  EXPECT_EQ(packed(ObjectType::kSetListpack, listpack_bytes({"a", "b", "a"})),
            "listpack with dup elements");
  EXPECT_EQ(packed(ObjectType::kHashZiplist, ziplist(pairs)), "ziplist with dup elements");
  EXPECT_EQ(packed(ObjectType::kZsetZiplist, ziplist(pairs)), "ziplist with dup elements");
  EXPECT_EQ(packed(ObjectType::kHashZipmap, zipmap(pairs)), "zipmap with dup elements");
  EXPECT_EQ(flaw_in(flat_value(ObjectType::kHash, pairs, 2)), "dup elements");
  EXPECT_EQ(flaw_in(flat_value(ObjectType::kSet, {"a", "a"})), "dup elements");
  EXPECT_EQ(flaw_in(zset_with_text_scores({"a", "1", "a", "2"})), "dup elements");
  EXPECT_EQ(flaw_in(zset_with_text_scores({"a", "nan"})), "a score is not a number");
  // The same during conversion to a table: the duplicate is in the old block, and after it.
  for (const size_t most : {1, 2, 3}) {
    ValueLimits few = limits();
    few.hash.max_listpack_entries = few.set.max_listpack_entries = most;
    EXPECT_EQ(flaw_in(packed_value(ObjectType::kHashListpack, block), few),
              "listpack with dup elements");
    EXPECT_EQ(flaw_in(packed_value(ObjectType::kSetListpack, listpack_bytes({"a", "a", "b"})), few),
              "listpack with dup elements");
    EXPECT_EQ(flaw_in(packed_value(ObjectType::kSetListpack, listpack_bytes({"a", "b", "a"})), few),
              "listpack with dup elements");
  }
  // Other damage gives another text.
  EXPECT_EQ(packed(ObjectType::kHashListpack, listpack_bytes({"a", "1", "b"})), "");
  EXPECT_EQ(packed(ObjectType::kHashListpack, block.substr(1)), "");
}

TEST(RdbDamage, Intsets) {
  const auto intset = [](uint32_t width, uint32_t count, const std::vector<int16_t>& values) {
    std::string block;
    Writer to(block, false);
    to.little_endian(width);
    to.little_endian(count);
    for (const int16_t value : values) to.little_endian(value);
    return texts_in(packed_value(ObjectType::kSetIntset, block));
  };
  EXPECT_EQ(intset(2, 3, {-1, 0, 5}), (Texts{"-1", "0", "5"}));
  EXPECT_EQ(intset(2, 3, {0, -1, 5}), kRefused);
  EXPECT_EQ(intset(2, 3, {0, 5, 5}), kRefused);
  EXPECT_EQ(intset(2, 2, {-1, 0, 5}), kRefused);
  EXPECT_EQ(intset(4, 3, {-1, 0, 5}), kRefused);
  EXPECT_EQ(intset(3, 2, {-1, 0, 5}), kRefused);
  EXPECT_EQ(intset(2, 0, {}), kRefused);
}

TEST(RdbDamage, NodesOfLists) {
  const auto node = [](uint64_t kind, std::string_view bytes) {
    std::string body;
    Writer to(body, false);
    to.byte(static_cast<uint8_t>(ObjectType::kListQuicklist2));
    to.length(1);
    to.length(kind);
    to.string(bytes);
    return texts_in(body);
  };
  EXPECT_EQ(node(kPlainNode, "one"), Texts{"one"});
  EXPECT_EQ(node(kPlainNode, ""), kRefused);
  EXPECT_EQ(node(kPackedNode, listpack_bytes({"a", "1"})), (Texts{"a", "1"}));
  EXPECT_EQ(node(kPackedNode, listpack_bytes({})), kRefused);
  EXPECT_EQ(node(kPackedNode, "one"), kRefused);
  EXPECT_EQ(node(3, "one"), kRefused);
  EXPECT_EQ(node(0, "one"), kRefused);
}

TEST(RdbDamage, UnknownTypesAreRejected) {
  const std::string body = flat_value(ObjectType::kHash, {"f", "v"}, 2);
  for (int type = 0; type < 256; type++) {
    std::string other = body;
    other[0] = static_cast<char>(type);
    const bool known = type <= 5 || (type >= 9 && type <= 25);
    if (!known) {
      EXPECT_FALSE(read(other)) << type;
    }
  }
}

TEST(RdbDamage, AnnouncedSizesAllocateNothing) {
  for (const auto type : {ObjectType::kList, ObjectType::kSet, ObjectType::kHash, ObjectType::kZset,
                          ObjectType::kListQuicklist2, ObjectType::kStream3}) {
    std::string body;
    Writer to(body, false);
    to.byte(static_cast<uint8_t>(type));
    to.length(uint64_t{1} << 62);
    to.raw("abcdefgh");
    EXPECT_FALSE(read(body));
  }
  // A compressed string that announces a huge size.
  std::string body;
  Writer to(body, false);
  to.byte(0);
  to.compressed_string(std::string_view("\0a\xe0\xff\0", 5), uint64_t{1} << 40);
  EXPECT_FALSE(read(body));
}

// The parts of a stream, to be damaged one by one.
struct StreamParts {
  StreamId node_id{1, 0};
  std::string node;
  uint64_t nodes = 1;
  uint64_t length = 2;
  StreamId last{2, 0};
  StreamId max_deleted{0, 0};
  uint64_t added = 2;
  Texts groups = {"g"};
  std::vector<StreamId> pending = {{1, 0}, {2, 0}};
  int64_t delivered_ms = 5;
  std::vector<std::pair<std::string, std::vector<StreamId>>> consumers = {{"a", {{1, 0}}},
                                                                          {"b", {{2, 0}}}};
  uint64_t entries_read = 2;

  StreamParts() { node = listpack_bytes(elements()); }
  static Texts elements() {
    return {"2", "0", "1", "f", "0",  // head
            "2", "0", "0", "v", "4",  // names of the head
            "0", "1", "0", "1", "other", "w", "6"};
  }

  std::string body() const {
    std::string out;
    Writer to(out, false);
    const auto id = [&](const StreamId& value) {
      to.length(value.ms);
      to.length(value.seq);
    };
    const auto raw_id = [&](const StreamId& value) {
      to.big_endian(value.ms);
      to.big_endian(value.seq);
    };
    to.byte(static_cast<uint8_t>(ObjectType::kStream3));
    to.length(nodes);
    for (uint64_t i = 0; i < nodes; i++) {
      to.length(16);
      raw_id({node_id.ms + i, node_id.seq});
      to.string(node);
    }
    to.length(length);
    id(last);
    id(node_id);
    id(max_deleted);
    to.length(added);
    to.length(groups.size());
    for (const std::string& name : groups) {
      to.string(name);
      id(last);
      to.length(entries_read);
      to.length(pending.size());
      for (const StreamId& one : pending) {
        raw_id(one);
        to.little_endian(delivered_ms);
        to.length(1);
      }
      to.length(consumers.size());
      for (const auto& [consumer, ids] : consumers) {
        to.string(consumer);
        to.little_endian(int64_t{5});
        to.little_endian(int64_t{-1});
        to.length(ids.size());
        for (const StreamId& one : ids) raw_id(one);
      }
    }
    return out;
  }
};

bool accepted(const std::function<void(StreamParts&)>& spoil) {
  StreamParts parts;
  spoil(parts);
  return read(parts.body()).has_value();
}

TEST(RdbDamage, StreamsPendingEntries) {
  EXPECT_TRUE(accepted([](StreamParts&) {}));
  // CVE-2026-63639, CVE-2026-66373: two consumers with the same entry.
  EXPECT_FALSE(accepted([](StreamParts& p) { p.consumers[1].second = {{1, 0}, {2, 0}}; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.consumers[0].second = {{1, 0}, {1, 0}}; }));
  // Without a consumer, and with an entry that is not pending at all.
  EXPECT_FALSE(accepted([](StreamParts& p) { p.consumers[1].second = {}; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.consumers.pop_back(); }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.consumers[1].second = {{2, 0}, {3, 0}}; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.pending = {{2, 0}, {1, 0}}; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.pending = {{1, 0}, {1, 0}, {2, 0}}; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.consumers[1].first = "a"; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.groups = {"g", "g"}; }));
  EXPECT_TRUE(accepted([](StreamParts& p) { p.groups = {"g", "h"}; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.delivered_ms = -1; }));
}

std::string stream_flaw(const std::function<void(StreamParts&)>& spoil) {
  StreamParts parts;
  spoil(parts);
  return flaw_in(parts.body());
}

TEST(RdbDamage, DamagedStreamsGiveAReason) {
  EXPECT_EQ(stream_flaw([](StreamParts& p) { p.consumers[1].first = "a"; }),
            "Duplicate stream consumer detected");
  // Also of consumers without entries.
  EXPECT_EQ(stream_flaw([](StreamParts& p) {
              p.pending.clear();
              p.consumers = {{"a", {}}, {"a", {}}};
            }),
            "Duplicate stream consumer detected");
  EXPECT_EQ(stream_flaw([](StreamParts& p) {
              p.groups = {"g", "g"};
            }),
            "Duplicate stream group detected");
  EXPECT_EQ(stream_flaw([](StreamParts& p) { p.consumers[1].second = {}; }),
            "a pending entry belongs to no consumer");
  const std::string_view foreign = "a consumer has an entry that is not pending for it";
  EXPECT_EQ(stream_flaw([](StreamParts& p) { p.consumers[1].second = {{3, 0}}; }), foreign);
  EXPECT_EQ(stream_flaw([](StreamParts& p) { p.consumers[1].second = {{1, 0}}; }), foreign);
  EXPECT_EQ(stream_flaw([](StreamParts& p) { p.length = 3; }),
            "its length is not the number of its entries");
  EXPECT_EQ(stream_flaw([](StreamParts& p) { p.last = {1, 9}; }), "an entry is above its last ID");
  EXPECT_EQ(stream_flaw([](StreamParts& p) { p.node.pop_back(); }), "");
}

TEST(RdbDamage, StreamsCounters) {
  EXPECT_FALSE(accepted([](StreamParts& p) { p.length = 1; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.length = 3; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.last = {1, 9}; }));
  EXPECT_TRUE(accepted([](StreamParts& p) { p.last = {9, 9}; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.added = 1; }));
  EXPECT_FALSE(accepted([](StreamParts& p) { p.added = UINT64_MAX; }));
  EXPECT_TRUE(accepted([](StreamParts& p) { p.entries_read = UINT64_MAX; }));  // unknown
  EXPECT_FALSE(accepted([](StreamParts& p) { p.entries_read = UINT64_MAX - 1; }));
  // Two nodes with the same ids.
  EXPECT_FALSE(accepted([](StreamParts& p) {
    p.nodes = 2;
    p.length = 4;
    p.added = 4;
  }));
}

// Older versions let XSETID go back below deleted entries. Those stay in their node, with ids above
// the last one and above those of later entries.
TEST(RdbDamage, StreamsSetBackByXsetidAreAccepted) {
  const Texts dead = {"3", "8", "0", "x", "4"};  // 9-0, deleted
  for (const size_t at : {size_t{5}, size_t{10}, size_t{17}}) {
    StreamParts parts;
    Texts elements = StreamParts::elements();
    elements.insert(elements.begin() + static_cast<ptrdiff_t>(at), dead.begin(), dead.end());
    elements[1] = "1";
    parts.node = listpack_bytes(elements);
    parts.max_deleted = {9, 0};
    parts.added = 3;
    auto value = read(parts.body());
    ASSERT_TRUE(value) << at;
    const Stream& stream = stream_of(value->collection());
    EXPECT_EQ(stream.length(), 2u);
    EXPECT_EQ(stream.first_id(), (StreamId{1, 0}));
    EXPECT_EQ(stream.last_entry_id(), (StreamId{2, 0}));
    StreamWalk walk(stream, {0, 0}, {3, 0});
    std::string seen;
    for (StreamEntry entry; walk.next(entry);) {
      stream_node::Fields fields(entry);
      listpack::Element name;
      listpack::Element text;
      while (fields.next(name, text)) {
        seen += std::string(name.data, name.size) + "=" + std::string(text.data, text.size) + " ";
      }
    }
    EXPECT_EQ(seen, "f=v other=w ") << at;
  }
  // A live entry above the last id is damage.
  EXPECT_FALSE(accepted([](StreamParts& p) { p.last = {1, 9}; }));
}

// Replaces the text at one position of the node.
bool accepted_with(size_t at, const std::string& text) {
  return accepted([&](StreamParts& p) {
    Texts elements = StreamParts::elements();
    elements[at] = text;
    p.node = listpack_bytes(elements);
  });
}

TEST(RdbDamage, StreamNodes) {
  // Live, deleted, fields, the end of the head.
  for (const char* text : {"1", "3", "-1", "x"}) EXPECT_FALSE(accepted_with(0, text)) << text;
  for (const char* text : {"1", "-1", "x"}) EXPECT_FALSE(accepted_with(1, text)) << text;
  for (const char* text : {"0", "2", "-1", "x", "9223372036854775807"}) {
    EXPECT_FALSE(accepted_with(2, text)) << text;
  }
  EXPECT_FALSE(accepted_with(4, "1"));
  // Flags: without the names, unknown ones, a deleted entry that the head does not count.
  for (const char* text : {"0", "4", "-1", "3", "x"}) EXPECT_FALSE(accepted_with(5, text)) << text;
  // Ids: below the node's own, not above the previous one.
  EXPECT_FALSE(accepted_with(6, "-1"));
  EXPECT_FALSE(accepted_with(6, "1"));
  EXPECT_FALSE(accepted_with(11, "0"));
  EXPECT_FALSE(accepted_with(11, "x"));
  EXPECT_TRUE(accepted_with(12, "0"));
  EXPECT_FALSE(accepted_with(12, "5"));  // above the last id of the stream
  // The number of fields and the sizes for walking back.
  for (const char* text : {"0", "2", "-1", "x", "4611686018427387904", "9223372036854775807"}) {
    EXPECT_FALSE(accepted_with(13, text)) << text;
  }
  for (const size_t at : {9, 16}) {
    for (const char* text : {"0", "3", "5", "7", "x"}) EXPECT_FALSE(accepted_with(at, text));
  }
  for (size_t size = 0; size < StreamParts::elements().size(); size++) {
    EXPECT_FALSE(accepted([&](StreamParts& p) {
      Texts elements = StreamParts::elements();
      elements.resize(size);
      p.node = listpack_bytes(elements);
    }));
  }
}

TEST(RdbDamage, AStreamOfTheFirstFormGetsItsCounters) {
  StreamParts parts;
  std::string body;
  Writer to(body, false);
  to.byte(static_cast<uint8_t>(ObjectType::kStream1));
  to.length(1);
  to.length(16);
  to.big_endian(1);
  to.big_endian(0);
  to.string(parts.node);
  for (const uint64_t value : {2, 2, 0}) to.length(value);
  to.length(1);
  to.string("g");
  for (const uint64_t value : {1, 0, 0, 0}) to.length(value);
  EXPECT_EQ(texts_in(body), (Texts{"1-0 f=v", "2-0 other=w",
                                   "length 2 added 2 first 1-0 last 2-0 deleted 0-0 nodes 1",
                                   "group g at 1-0 read 1"}));
}

}  // namespace
}  // namespace sorrel::rdb
