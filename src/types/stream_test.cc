// Layout and bounds of nodes, trimming, consumer groups, and random edits against a model.

#include "types/stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace sorrel {
namespace {

using Texts = std::vector<std::string>;
constexpr StreamLimits kSmallNodes{4096, 5};

void add(Stream& stream, StreamId id, const Texts& texts,
         const StreamLimits& limits = kSmallNodes) {
  const std::vector<std::string_view> pairs(texts.begin(), texts.end());
  stream.append(id, pairs, limits);
}

Texts fields_of(const StreamEntry& entry) {
  Texts texts;
  stream_node::Fields fields(entry);
  listpack::Element name;
  listpack::Element value;
  while (fields.next(name, value)) {
    IntegerText scratch;
    texts.emplace_back(name.text(scratch));
    texts.emplace_back(value.text(scratch));
  }
  return texts;
}

using Direction = StreamWalk::Direction;
std::string ids(const Stream& stream, StreamId from = kMinStreamId, StreamId to = kMaxStreamId,
                Direction direction = Direction::kUp) {
  std::string text;
  StreamWalk walk(stream, from, to, direction);
  StreamEntry entry;
  while (walk.next(entry)) text += (text.empty() ? "" : " ") + entry.id.text();
  return text;
}

TEST(StreamId, IsReadAndWritten) {
  EXPECT_EQ(parse_stream_id("5-3"), (StreamId{5, 3}));
  EXPECT_EQ(parse_stream_id("5", 7), (StreamId{5, 7}));
  EXPECT_EQ(parse_stream_id("18446744073709551615-18446744073709551615"), kMaxStreamId);
  for (const char* text : {"", "-", "+", "5-", "-5", "a-1", "1-a", "1-2-3", "1-*", "-1-1",
                           "18446744073709551616-0", "1-1 ", "++1", "+-1"}) {
    EXPECT_EQ(parse_stream_id(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_stream_id(" +01- 002"), (StreamId{1, 2}));
  EXPECT_EQ(kMaxStreamId.text(), "18446744073709551615-18446744073709551615");
  EXPECT_EQ((StreamId{0, 1}.text()), "0-1");
}

TEST(StreamId, HasNeighbours) {
  EXPECT_EQ((StreamId{1, kMaxStreamPart}.after()), (StreamId{2, 0}));
  EXPECT_EQ((StreamId{2, 0}.before()), (StreamId{1, kMaxStreamPart}));
  EXPECT_EQ(kMaxStreamId.after(), std::nullopt);
  EXPECT_EQ(kMinStreamId.before(), std::nullopt);
}

TEST(Stream, EntriesRoundTrip) {
  Stream stream;
  add(stream, {1, 1}, {"name", "a", "age", "7"});
  add(stream, {1, 2}, {"name", "b", "age", "-12"});
  add(stream, {1, 3}, {"other", ""});
  add(stream, {1, 4}, {"name", std::string(5000, 'x'), "age", "007"});
  EXPECT_EQ(fields_of(*stream.find({1, 1})), (Texts{"name", "a", "age", "7"}));
  EXPECT_EQ(fields_of(*stream.find({1, 2})), (Texts{"name", "b", "age", "-12"}));
  EXPECT_EQ(fields_of(*stream.find({1, 3})), (Texts{"other", ""}));
  EXPECT_EQ(fields_of(*stream.find({1, 4})), (Texts{"name", std::string(5000, 'x'), "age", "007"}));
  EXPECT_EQ(stream.find({1, 5}), std::nullopt);
  EXPECT_EQ(stream.find({0, 5}), std::nullopt);
  EXPECT_EQ(stream.length(), 4u);
}

TEST(Stream, NodesAreBounded) {
  Stream by_entries;
  for (uint64_t i = 1; i <= 23; i++) add(by_entries, {i, 0}, {"f", "v"});
  EXPECT_EQ(by_entries.node_count(), 5u);
  Stream by_bytes;
  for (uint64_t i = 1; i <= 10; i++) {
    add(by_bytes, {i, 0}, {"f", std::string(600, 'v')}, {.node_bytes = 1024, .node_entries = 0});
  }
  EXPECT_EQ(by_bytes.node_count(), 10u);
  Stream unbounded;
  for (uint64_t i = 1; i <= 1000; i++) add(unbounded, {i, 0}, {"f", "v"}, {0, 0});
  EXPECT_EQ(unbounded.node_count(), 1u);
}

// The bytes that Redis writes for XADD s 1-1 f v, XADD s 1-2 f w, as in dumps.
TEST(Stream, NodeLayoutIsThatOfRedis) {
  const std::string_view first[] = {"f", "v"};
  const std::string_view second[] = {"f", "w"};
  auto node = stream_node::make(first);
  node = stream_node::append(node, {1, 1}, {1, 1}, first);
  node = stream_node::append(node, {1, 1}, {1, 2}, second);
  const std::string_view expected(
      "\x28\x00\x00\x00\x0f\x00"
      "\x02\x01\x00\x01\x01\x01\x81"
      "f\x02\x00\x01"
      "\x02\x01\x00\x01\x00\x01\x81v\x02\x04\x01"
      "\x02\x01\x00\x01\x01\x01\x81w\x02\x04\x01"
      "\xff",
      40);
  EXPECT_EQ(listpack::view(node), expected);
  listpack::free(node);
}

TEST(Stream, WalksWithinBounds) {
  Stream stream;
  for (uint64_t i = 1; i <= 12; i++) add(stream, {i, i % 3}, {"f", "v"});
  EXPECT_EQ(ids(stream, {4, 0}, {6, 0}), "4-1 5-2 6-0");
  EXPECT_EQ(ids(stream, {4, 2}, {6, 0}), "5-2 6-0");
  EXPECT_EQ(ids(stream, {4, 0}, {6, 0}, Direction::kDown), "6-0 5-2 4-1");
  EXPECT_EQ(ids(stream, {6, 0}, {4, 0}), "");
  EXPECT_EQ(ids(stream, {13, 0}, kMaxStreamId), "");
  EXPECT_EQ(ids(stream, {13, 0}, kMaxStreamId, Direction::kDown), "");
  EXPECT_EQ(ids(stream, {0, 1}, {0, 9}, Direction::kDown), "");
}

TEST(Stream, ErasingMovesTheEdges) {
  Stream stream;
  for (uint64_t i = 1; i <= 6; i++) add(stream, {i, 0}, {"f", "v"});
  EXPECT_TRUE(stream.erase({1, 0}));
  EXPECT_FALSE(stream.erase({1, 0}));
  EXPECT_EQ(stream.first_id(), (StreamId{2, 0}));
  EXPECT_TRUE(stream.erase({6, 0}));  // alone in its node
  EXPECT_EQ(stream.node_count(), 1u);
  EXPECT_EQ(stream.last_id(), (StreamId{6, 0}));
  EXPECT_EQ(stream.last_entry_id(), (StreamId{5, 0}));
  EXPECT_EQ(stream.max_deleted_id(), (StreamId{6, 0}));
  for (uint64_t i = 2; i <= 5; i++) EXPECT_TRUE(stream.erase({i, 0}));
  EXPECT_EQ(stream.node_count(), 0u);
  EXPECT_EQ(stream.first_id(), StreamId{});
  EXPECT_EQ(stream.memory_bytes(), Stream().memory_bytes());
}

TEST(Stream, TrimsByLength) {
  Stream stream;
  for (uint64_t i = 1; i <= 20; i++) add(stream, {i, 0}, {"f", "v"});
  StreamTrim rule{.kind = StreamTrim::Kind::kMaxLength, .max_length = 12, .approximate = true};
  EXPECT_EQ(stream.trim(rule), 5u);
  EXPECT_EQ(stream.first_id(), (StreamId{6, 0}));
  rule.approximate = false;
  EXPECT_EQ(stream.trim(rule), 3u);
  EXPECT_EQ(ids(stream, kMinStreamId, {10, 0}), "9-0 10-0");
  rule = {.kind = StreamTrim::Kind::kMaxLength, .approximate = true, .limit = 3};
  EXPECT_EQ(stream.trim(rule), 2u);
  rule.limit = 0;
  EXPECT_EQ(stream.trim(rule), 10u);
  EXPECT_EQ(stream.length(), 0u);
  EXPECT_EQ(stream.memory_bytes(), Stream().memory_bytes());
}

TEST(Stream, TrimsByIdOverTombstones) {
  Stream stream;
  for (uint64_t i = 1; i <= 5; i++) add(stream, {i, 0}, {"f", "v"});
  stream.erase({5, 0});
  stream.erase({2, 0});
  EXPECT_EQ(stream.trim({.kind = StreamTrim::Kind::kMinId, .min_id = {3, 0}}), 1u);
  EXPECT_EQ(ids(stream), "3-0 4-0");
  EXPECT_EQ(stream.trim({.kind = StreamTrim::Kind::kMinId, .min_id = {5, 0}}), 2u);
  EXPECT_EQ(stream.node_count(), 0u);
}

TEST(Stream, RandomEditsAgreeWithAModel) {
  Random random(7);
  Stream stream;
  std::map<StreamId, Texts> model;
  uint64_t ms = 0;
  for (int round = 0; round < 4000; round++) {
    const uint64_t what = random.below(10);
    if (what < 6) {
      const StreamId id{ms += random.below(3) + 1, random.below(4)};
      Texts texts;
      for (uint64_t i = 0; i <= random.below(3); i++) {
        texts.push_back("f" + std::to_string(random.below(3)));
        texts.push_back(std::to_string(random.below(100000)) + (random.below(2) ? "x" : ""));
      }
      add(stream, id, texts);
      model[id] = texts;
    } else if (what < 9 && !model.empty()) {
      auto at = model.lower_bound({random.below(ms + 1), 0});
      if (at == model.end()) continue;
      EXPECT_TRUE(stream.erase(at->first));
      model.erase(at);
    } else if (random.below(20) == 0) {
      const uint64_t keep = random.below(model.size() + 1);
      stream.trim({.kind = StreamTrim::Kind::kMaxLength, .max_length = keep});
      while (model.size() > keep) model.erase(model.begin());
    }
    ASSERT_EQ(stream.length(), model.size());
    ASSERT_EQ(stream.first_id(), model.empty() ? StreamId{} : model.begin()->first);
  }
  const Stream copy(stream);
  EXPECT_EQ(copy.memory_bytes(), stream.memory_bytes());
  StreamWalk walk(copy, kMinStreamId, kMaxStreamId);
  StreamWalk down(copy, kMinStreamId, kMaxStreamId, Direction::kDown);
  StreamEntry entry;
  for (const auto& [id, texts] : model) {
    ASSERT_TRUE(walk.next(entry));
    EXPECT_EQ(entry.id, id);
    EXPECT_EQ(fields_of(entry), texts);
  }
  EXPECT_FALSE(walk.next(entry));
  for (auto at = model.rbegin(); at != model.rend(); ++at) {
    ASSERT_TRUE(down.next(entry));
    EXPECT_EQ(entry.id, at->first);
  }
  EXPECT_FALSE(down.next(entry));
}

TEST(Stream, GroupsShareTheirPendingEntries) {
  Stream stream;
  for (uint64_t i = 1; i <= 4; i++) add(stream, {i, 0}, {"f", "v"});
  const size_t before = stream.memory_bytes();
  StreamGroup& group = *stream.add_group("g", {}, 0);
  EXPECT_EQ(stream.add_group("g", {}, 0), nullptr);
  StreamConsumer& alice = stream.add_consumer(group, "alice", 5);
  StreamConsumer& bob = stream.add_consumer(group, "bob", 5);
  stream.assign(group, {1, 0}, alice, 10);
  stream.assign(group, {2, 0}, alice, 10).deliveries = 4;
  stream.assign(group, {3, 0}, bob, 10);
  StreamPending& moved = stream.assign(group, {2, 0}, bob, 20);
  EXPECT_EQ(moved.deliveries, 4);
  EXPECT_EQ(moved.delivered_ms, 10);
  EXPECT_EQ(alice.pending.size(), 1u);
  EXPECT_EQ(bob.pending.size(), 2u);
  EXPECT_TRUE(stream.acknowledge(group, {3, 0}));
  EXPECT_FALSE(stream.acknowledge(group, {3, 0}));

  Stream copy(stream);
  EXPECT_EQ(copy.memory_bytes(), stream.memory_bytes());
  EXPECT_EQ(copy.group("g")->pending.at({2, 0}).consumer->name, "bob");
  EXPECT_NE(copy.group("g")->pending.at({2, 0}).consumer, &bob);

  EXPECT_EQ(stream.erase_consumer(group, "bob"), 1u);
  EXPECT_EQ(stream.erase_consumer(group, "bob"), 0u);
  EXPECT_EQ(group.pending.size(), 1u);
  EXPECT_TRUE(stream.erase_group("g"));
  EXPECT_FALSE(stream.erase_group("g"));
  EXPECT_EQ(stream.memory_bytes(), before);
}

TEST(Stream, LagIsKnownWhileNothingIsMissing) {
  Stream stream;
  StreamGroup& group = *stream.add_group("g", {}, StreamGroup::kUnknown);
  EXPECT_EQ(stream.lag(group), 0);
  for (uint64_t i = 1; i <= 5; i++) add(stream, {i, 0}, {"f", "v"});
  EXPECT_EQ(stream.lag(group), 5);
  stream.advance(group, {1, 0});
  EXPECT_EQ(group.entries_read, 1);
  stream.advance(group, {2, 0});
  EXPECT_EQ(stream.lag(group), 3);
  stream.erase({4, 0});
  EXPECT_EQ(stream.lag(group), std::nullopt);
  stream.advance(group, {3, 0});
  EXPECT_EQ(group.entries_read, StreamGroup::kUnknown);
  stream.advance(group, {5, 0});
  EXPECT_EQ(group.entries_read, 5);
  EXPECT_EQ(stream.lag(group), 0);
}

}  // namespace
}  // namespace sorrel
