#include "propagate/effect_log.h"

#include <gtest/gtest.h>

#include <thread>

namespace sorrel {
namespace {

struct Collector : EffectSink {
  void on_effect(const Effect& effect) override {
    sequences.push_back(effect.sequence);
    bodies.emplace_back(effect.body);
  }
  std::vector<uint64_t> sequences;
  std::vector<std::string> bodies;
};

void append(EffectLog& log, std::string_view word) {
  const std::string_view args[] = {word};
  log.append(0, args);
}

TEST(EffectLogTest, NothingIsMadeWhenNobodyReads) {
  EffectStream stream;
  EffectLog log(stream);
  append(log, "a");
  EXPECT_EQ(stream.next_sequence(), 1u);
}

TEST(EffectLogTest, EncodedOnceAsRespAndInOrder) {
  EffectStream stream;
  Collector first;
  Collector second;
  stream.attach(&first);
  stream.attach(&second);
  EffectLog one(stream);
  EffectLog two(stream);
  append(one, "a");
  append(two, "b");
  append(one, "c");
  two.flush();
  EXPECT_TRUE(first.bodies.empty());  // "a" is still missing
  one.flush();
  const std::vector<std::string> wanted = {"*1\r\n$1\r\na\r\n", "*1\r\n$1\r\nb\r\n",
                                           "*1\r\n$1\r\nc\r\n"};
  EXPECT_EQ(first.bodies, wanted);
  EXPECT_EQ(second.bodies, wanted);
}

TEST(EffectLogTest, LateSinkStartsWithTheNextEffect) {
  EffectStream stream;
  Collector early;
  stream.attach(&early);
  EffectLog log(stream);
  append(log, "a");
  log.flush();
  stream.detach(&early);
  append(log, "lost");
  Collector late;
  stream.attach(&late);
  append(log, "b");
  log.flush();
  EXPECT_EQ(late.bodies, std::vector<std::string>{"*1\r\n$1\r\nb\r\n"});
}

TEST(EffectLogTest, LateSinkDoesNotSeeWhatWasMadeBeforeAndHandedOverAfter) {
  EffectStream stream;
  Collector early;
  stream.attach(&early);
  EffectLog log(stream);
  append(log, "a");
  Collector late;
  stream.attach(&late);
  append(log, "b");
  log.flush();
  EXPECT_EQ(early.bodies.size(), 2u);
  EXPECT_EQ(late.bodies, std::vector<std::string>{"*1\r\n$1\r\nb\r\n"})
      << "\"a\" had changed the keyspace when it was attached";
}

TEST(EffectLogTest, ManyWorkersGiveOneGaplessStream) {
  EffectStream stream;
  Collector sink;
  stream.attach(&sink);
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; w++) {
    workers.emplace_back([&stream] {
      EffectLog log(stream);
      for (int i = 0; i < 5'000; i++) {
        append(log, "x");
        if (i % 7 == 0) log.flush();
      }
      log.flush();
    });
  }
  for (auto& worker : workers) worker.join();
  ASSERT_EQ(sink.sequences.size(), 20'000u);
  for (size_t i = 0; i < sink.sequences.size(); i++) ASSERT_EQ(sink.sequences[i], i + 1);
}

void append(EffectLog& log, int db, std::string_view word) {
  const std::string_view args[] = {word};
  log.append(db, args);
}

std::string command(std::string_view word) {
  return "*1\r\n$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
}

TEST(EffectLogTest, AUnitOfSeveralIsATransactionUnderOneNumber) {
  EffectStream stream;
  Collector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  log.begin_unit();
  append(log, "a");
  log.begin_unit();  // a part of it
  append(log, "b");
  log.end_unit();
  log.flush();
  EXPECT_TRUE(sink.bodies.empty());  // not whole yet
  log.end_unit();
  append(log, "c");
  log.flush();
  ASSERT_EQ(sink.bodies.size(), 2u);
  EXPECT_EQ(sink.bodies[0], command("MULTI") + command("a") + command("b") + command("EXEC"));
  EXPECT_EQ(sink.bodies[1], command("c"));
  EXPECT_EQ(sink.sequences, (std::vector<uint64_t>{1, 2}));
}

TEST(EffectLogTest, AUnitOfOneIsThatOneAndOfNoneIsNothing) {
  EffectStream stream;
  Collector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  log.begin_unit();
  log.end_unit();
  log.begin_unit();
  append(log, "a");
  log.end_unit();
  log.flush();
  EXPECT_EQ(sink.bodies, std::vector<std::string>{command("a")});
}

TEST(EffectLogTest, AUnitEndsInTheDatabaseItBeganWith) {
  EffectStream stream;
  Collector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  log.begin_unit();
  append(log, 2, "a");
  append(log, 7, "b");
  log.end_unit();
  log.flush();
  const std::string select7 = "*2\r\n$6\r\nSELECT\r\n$1\r\n7\r\n";
  const std::string select2 = "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n";
  ASSERT_EQ(sink.bodies.size(), 1u);
  EXPECT_EQ(sink.bodies[0],
            command("MULTI") + command("a") + select7 + command("b") + select2 + command("EXEC"));
}

}  // namespace
}  // namespace sorrel
