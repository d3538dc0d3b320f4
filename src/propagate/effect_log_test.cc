// Order and completeness of the stream with one and several workers, atomic groups, borrowed text,
// and held replies.

#include "propagate/effect_log.h"

#include <gtest/gtest.h>

#include <mutex>
#include <random>
#include <thread>

namespace sorrel {
namespace {

struct Collector : EffectSink {
  void on_effect(const Effect& effect) override {
    sequences.push_back(effect.sequence - 1);
    bodies.emplace_back(effect.body);
    audiences.push_back(effect.audience);
    EXPECT_TRUE(in_batch);
  }
  void begin_batch() override { in_batch = true; }
  void end_batch() override {
    in_batch = false;
    batches++;
  }
  // Workers call this side by side.
  bool before_replies(uint64_t sequence) override {
    const std::lock_guard lock(replies_mutex);
    replied_at.push_back(sequence - 1);
    return keeps;
  }
  std::vector<uint64_t> sequences;  // 1 is that of the first effect
  std::vector<std::string> bodies;
  std::vector<Audience> audiences;
  std::mutex replies_mutex;
  std::vector<uint64_t> replied_at;  // guarded by replies_mutex
  bool keeps = true;
  int batches = 0;
  bool in_batch = false;
};

void append(EffectLog& log, std::string_view word) {
  const std::string_view args[] = {word};
  log.append(0, args);
}

TEST(EffectLogTest, EncodesNothingWithoutASink) {
  EffectStream stream;
  EffectLog log(stream);
  append(log, "a");
  EXPECT_EQ(stream.next_sequence(), 2u);
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
  two.hand_over_finished();
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

TEST(EffectLogTest, LateSinkDoesNotGetEarlierEffectsHandedOverLater) {
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

TEST(EffectLogTest, AGroupOfSeveralIsATransactionUnderOneNumber) {
  EffectStream stream;
  Collector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  log.begin_unit();
  append(log, "a");
  log.begin_unit();  // nested: joins the outer group
  append(log, "b");
  log.end_unit();
  log.flush();
  EXPECT_TRUE(sink.bodies.empty());  // the group is incomplete
  log.end_unit();
  append(log, "c");
  log.flush();
  ASSERT_EQ(sink.bodies.size(), 2u);
  EXPECT_EQ(sink.bodies[0], command("MULTI") + command("a") + command("b") + command("EXEC"));
  EXPECT_EQ(sink.bodies[1], command("c"));
  EXPECT_EQ(sink.sequences, (std::vector<uint64_t>{1, 2}));
}

TEST(EffectLogTest, AGroupOfOneIsThatCommandAndOfNoneIsNothing) {
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

TEST(EffectLogTest, AGroupEndsInTheDatabaseItBeganWith) {
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

void append_to(EffectLog& log, int db, std::string_view word, Audience to) {
  const std::string_view args[] = {word};
  log.append(db, args, to);
}

TEST(EffectLogTest, EffectsCarryTheirAudience) {
  EffectStream stream;
  Collector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  append_to(log, 0, "a", Audience::kReplicas);
  log.set_audience(Audience::kLog);
  append_to(log, 0, "b", Audience::kAll);
  append_to(log, 0, "nobody's", Audience::kReplicas);
  log.set_audience(Audience::kNobody);
  EXPECT_FALSE(log.active());
  append_to(log, 0, "nobody's", Audience::kAll);
  log.flush();
  EXPECT_EQ(sink.bodies, (std::vector<std::string>{command("a"), command("b")}));
  EXPECT_EQ(sink.audiences, (std::vector<Audience>{Audience::kReplicas, Audience::kLog}));
}

TEST(EffectLogTest, AGroupForSeveralAudiencesGivesEachItsParts) {
  EffectStream stream;
  Collector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  log.begin_unit();
  append_to(log, 1, "message", Audience::kReplicas);
  append_to(log, 2, "a", Audience::kAll);
  append_to(log, 2, "b", Audience::kAll);
  log.end_unit();
  log.begin_unit();
  append_to(log, 0, "c", Audience::kAll);
  append_to(log, 0, "message", Audience::kReplicas);
  log.end_unit();
  log.flush();
  const std::string select1 = "*2\r\n$6\r\nSELECT\r\n$1\r\n1\r\n";
  const std::string select2 = "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n";
  ASSERT_EQ(sink.bodies.size(), 4u);
  EXPECT_EQ(sink.bodies[0], command("MULTI") + command("a") + command("b") + command("EXEC"));
  EXPECT_EQ(sink.bodies[1], command("MULTI") + command("message") + select2 + command("a") +
                                command("b") + select1 + command("EXEC"));
  EXPECT_EQ(sink.bodies[2], command("c"));
  EXPECT_EQ(sink.bodies[3], command("MULTI") + command("c") + command("message") + command("EXEC"));
  EXPECT_EQ(sink.audiences, (std::vector<Audience>{Audience::kLog, Audience::kReplicas,
                                                   Audience::kLog, Audience::kReplicas}));
}

TEST(EffectLogTest, ChangedKeysAreKnownByTheNumberOfTheirEffect) {
  EffectStream stream;
  Collector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  Durability& durability = stream.durability();
  EXPECT_FALSE(log.tells_keys());
  append(log, "a");
  durability.hold(stream.last_sequence());
  ASSERT_TRUE(log.tells_keys());
  EXPECT_EQ(durability.needed_for(77), 2u);  // changed before hold(): counts for every key
  log.changes_key(5);
  append(log, "b");
  EXPECT_EQ(durability.needed_for(5), 3u);
  EXPECT_EQ(durability.needed_for(6), 2u);
  log.begin_unit();
  log.changes_key(6);
  append(log, "c");
  EXPECT_EQ(durability.needed_for(6), 2u);
  log.end_unit();
  EXPECT_EQ(durability.needed_for(6), 4u);
  log.changes_any_key();
  append(log, "d");
  EXPECT_EQ(durability.needed_for(5), 5u);
  // Keys of several latches may share a place; the later number stays.
  durability.note_change(9, 9);
  durability.note_change(9, 7);
  EXPECT_EQ(durability.needed_for(9), 9u);
}

struct RunCollector final : Collector {
  bool takes_runs() const override { return true; }
};

TEST(EffectLogTest, ConsecutiveEffectsArriveInOneCallWhereRunsAreTaken) {
  EffectStream stream;
  RunCollector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  append(log, 0, "a");
  append(log, 0, "b");
  stream.cut();
  append(log, 0, "c");
  append(log, 0, "d");
  append(log, 1, "e");
  append(log, 1, "f");
  append_to(log, 1, "g", Audience::kReplicas);
  log.flush();
  EXPECT_EQ(sink.sequences, (std::vector<uint64_t>{2, 4, 6, 7}));
  EXPECT_EQ(sink.bodies,
            (std::vector<std::string>{command("a") + command("b"), command("c") + command("d"),
                                      command("e") + command("f"), command("g")}));
}

TEST(EffectLogTest, ARunEndsWhereAnotherReaderBegins) {
  EffectStream stream;
  RunCollector early;
  RunCollector late;
  stream.attach(&early);
  EffectLog log(stream);
  append(log, "a");
  append(log, "b");
  stream.attach(&late);
  append(log, "c");
  append(log, "d");
  log.flush();
  EXPECT_EQ(early.sequences, (std::vector<uint64_t>{2, 4}));
  EXPECT_EQ(late.bodies, std::vector<std::string>{command("c") + command("d")});
  // A sink that takes no runs gets each effect alone, whatever the other sinks take.
  Collector single;
  stream.attach(&single);
  append(log, "e");
  append(log, "f");
  log.flush();
  EXPECT_EQ(single.sequences, (std::vector<uint64_t>{5, 6}));
}

// Effects that gather in a long loop iteration are handed over before its end, and the rest at its
// end.
TEST(EffectLogTest, ManyEffectsAreHandedOverWithinALoopIteration) {
  EffectStream stream;
  RunCollector sink;
  stream.attach(&sink);
  EffectLog log(stream);
  const std::string word(100, 'x');
  append(log, word);
  log.flush_much();
  EXPECT_EQ(sink.batches, 0);
  while (sink.batches == 0) {
    append(log, word);
    log.flush_much();
    ASSERT_LT(stream.last_sequence(), 10'000u);
  }
  EXPECT_TRUE(sink.replied_at.empty());
  EXPECT_EQ(sink.sequences.back(), stream.last_sequence() - 1);
  log.flush();
  EXPECT_EQ(sink.sequences.back(), stream.last_sequence() - 1);
  EXPECT_EQ(sink.replied_at, std::vector<uint64_t>{stream.last_sequence() - 1});
  // An atomic group is never split.
  sink.bodies.clear();
  log.begin_unit();
  for (int i = 0; i < 1000; i++) append(log, word);
  log.flush_much();
  EXPECT_TRUE(sink.bodies.empty());
  log.end_unit();
  log.flush_much();
  EXPECT_EQ(sink.bodies.size(), 1u);
}

// A reply must not leave before the effects that precede its own have reached the sinks, and those
// may be in the EffectLog of a worker in the middle of a long iteration.
TEST(EffectLogTest, AFlushCollectsFinishedEffectsOfOtherWorkers) {
  EffectStream stream;
  RunCollector sink;
  stream.attach(&sink);
  EffectLog one(stream);
  EffectLog two(stream);
  const std::string pipeline = command("a") + command("b");
  std::string buffer = pipeline;
  const size_t half = command("a").size();
  one.append_text(0, std::string_view(buffer).substr(0, half));
  one.append_text(0, std::string_view(buffer).substr(half));  // borrowed
  append(two, "c");
  one.begin_unit();
  append(one, "part");
  EXPECT_TRUE(two.flush());
  EXPECT_EQ(sink.bodies, (std::vector<std::string>{pipeline, command("c")}));
  EXPECT_EQ(sink.replied_at, std::vector<uint64_t>{3});
  // Effects that another worker has taken are not taken again, and the open group is unaffected.
  buffer.assign(buffer.size(), '?');
  append(one, "other part");
  one.end_unit();
  append(one, "d");
  sink.keeps = false;
  EXPECT_FALSE(one.flush());
  ASSERT_EQ(sink.bodies.size(), 3u);
  EXPECT_EQ(sink.bodies[2], command("MULTI") + command("part") + command("other part") +
                                command("EXEC") + command("d"));
  EXPECT_EQ(sink.replied_at, (std::vector<uint64_t>{3, 5}));
}

// Four workers with iterations of any length: whenever one of them replies, every effect drawn
// before has arrived, in order and once.
TEST(EffectLogTest, NothingDrawnIsMissingBeforeReplies) {
  struct Checker final : EffectSink {
    void on_effect(const Effect& effect) override {
      EXPECT_EQ(effect.sequence, arrived.load() + 1);
      arrived.store(effect.sequence);
    }
    bool before_replies(uint64_t sequence) override {
      EXPECT_GE(arrived.load(), sequence);
      return true;
    }
    std::atomic<uint64_t> arrived{1};
  } sink;
  EffectStream stream;
  stream.attach(&sink);
  std::vector<std::unique_ptr<EffectLog>> logs;
  for (int i = 0; i < 4; i++) logs.push_back(std::make_unique<EffectLog>(stream));
  std::vector<std::thread> workers;
  for (unsigned w = 0; w < 4; w++) {
    workers.emplace_back([&, w] {
      std::mt19937 random(w);
      EffectLog& log = *logs[w];
      const std::string text = command("borrowed");
      for (int i = 0; i < 3000; i++) {
        const bool unit = random() % 8 == 0;
        if (unit) log.begin_unit();
        append(log, "x");
        if (unit) append(log, "y");
        if (unit) log.end_unit();
        {
          const EffectLog::Lender lender(log);
          std::string buffer = text + text + text;
          for (size_t at = 0; at < buffer.size(); at += text.size()) {
            log.append_text(0, std::string_view(buffer).substr(at, text.size()));
          }
          log.settle();
        }
        if (random() % 16 == 0) log.flush();
      }
      log.flush();
    });
  }
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(sink.arrived.load(), stream.last_sequence());
}

TEST(EffectLogTest, ARunDoesNotSwallowWaitingEffects) {
  EffectStream stream;
  RunCollector sink;
  stream.attach(&sink);
  EffectLog one(stream);
  EffectLog two(stream);
  append(one, "a");
  append(two, "b");
  append(one, "c");
  append(one, "d");
  two.flush();
  one.flush();
  std::string all;
  for (const std::string& body : sink.bodies) all += body;
  EXPECT_EQ(all, command("a") + command("b") + command("c") + command("d"));
  EXPECT_EQ(sink.sequences.back(), 4u);
}

TEST(EffectLogTest, TextIsAppendedUnchangedAloneAndInAGroup) {
  for (const auto writers : {EffectStream::Writers::kOne, EffectStream::Writers::kSeveral}) {
    EffectStream stream(writers);
    Collector sink;
    EffectLog log(stream);
    const auto append_text = [&](int db, std::string_view word) {
      const std::string text = command(word);
      log.append_text(db, text);
      log.settle();
    };
    append_text(0, "nobody reads");
    stream.attach(&sink);
    append_text(0, "a");
    log.begin_unit();
    append_text(0, "b");
    append(log, 0, "c");
    append_text(2, "d");
    log.end_unit();
    log.set_audience(Audience::kNobody);
    append_text(0, "for nobody");
    log.flush();
    EXPECT_EQ(sink.sequences, (std::vector<uint64_t>{1, 2}));
    ASSERT_EQ(sink.bodies.size(), 2u);
    EXPECT_EQ(sink.bodies[0], command("a"));
    EXPECT_TRUE(sink.bodies[1].starts_with(command("MULTI") + command("b") + command("c")));
    EXPECT_NE(sink.bodies[1].find(command("d")), std::string::npos);
    EXPECT_EQ(stream.next_sequence(), 4u);
  }
}

// A pipeline: requests that follow each other in a buffer that is reused. Whatever comes between
// them, the effects are the same as if each request had been copied.
TEST(EffectLogTest, BorrowedTextIsCopiedBeforeItsBufferChanges) {
  for (const auto writers : {EffectStream::Writers::kOne, EffectStream::Writers::kSeveral}) {
    EffectStream stream(writers);
    RunCollector runs;
    Collector singles;
    stream.attach(&runs);
    EffectLog log(stream);
    EffectLog other(stream);
    std::string wanted;
    std::mt19937 random(7);
    for (int turn = 0; turn < 2000; turn++) {
      if (turn == 1000) {
        log.flush();
        other.flush();
        stream.attach(&singles);
        wanted.clear();
        runs.bodies.clear();
      }
      std::string buffer;
      std::vector<size_t> ends{0};
      for (int i = 0; i < 8; i++) {
        buffer += command("w" + std::to_string(turn) + "." + std::to_string(i));
        ends.push_back(buffer.size());
      }
      {
        const EffectLog::Lender lender(log);
        for (int i = 0; i < 8; i++) {
          const std::string_view text(buffer.data() + ends[i], ends[i + 1] - ends[i]);
          switch (random() % 24) {
            case 0:
              continue;  // changed nothing
            case 1:
              log.set_audience(Audience::kNobody);
              log.append_text(0, text);
              log.set_audience(Audience::kAll);
              continue;
            case 2:
              append(log, "between");
              wanted += command("between");
              break;
            case 3:
              append(other, "other's");
              wanted += command("other's");
              break;
            case 4:
              log.flush();
              break;
            case 5:
              stream.cut();
              break;
            case 6:
              log.begin_unit();
              log.append_text(0, text);
              log.end_unit();
              wanted += text;
              continue;
            case 7:
              log.changes_any_key();
              break;
            default:
              break;
          }
          log.append_text(0, text);
          wanted += text;
        }
      }
      buffer.assign(buffer.size(), '#');
      log.flush_much();
      if (random() % 4 == 0) log.flush();
      if (random() % 4 == 0) other.flush();
    }
    log.flush();
    other.flush();
    std::string got;
    for (const std::string& body : runs.bodies) got += body;
    EXPECT_TRUE(got == wanted);
    got.clear();
    for (const std::string& body : singles.bodies) got += body;
    EXPECT_TRUE(got == wanted);
    EXPECT_EQ(singles.sequences.size(), singles.sequences.back() - singles.sequences.front() + 1);
  }
}

TEST(DurabilityTest, AWorkerIsWokenWhenItsNumberIsDurable) {
  Durability durability;
  std::vector<unsigned> woken;
  durability.set_workers(2, [&](unsigned worker) { woken.push_back(worker); });
  EXPECT_TRUE(durability.await(0, 5));  // there is no AOF to wait for
  EXPECT_FALSE(durability.covers(0));
  durability.set_durable(0);
  EXPECT_FALSE(durability.await(0, 5));
  EXPECT_FALSE(durability.await(0, 3));
  EXPECT_FALSE(durability.await(1, 9));
  durability.set_durable(2);
  EXPECT_TRUE(woken.empty());
  durability.set_durable(3);
  EXPECT_EQ(woken, std::vector<unsigned>{0});
  EXPECT_TRUE(durability.await(0, 3));
  EXPECT_FALSE(durability.await(0, 5));  // the worker awaits the remaining effects
  durability.set_durable(UINT64_MAX);
  EXPECT_EQ(woken, (std::vector<unsigned>{0, 0, 1}));
}

// await() returns true at once, or the worker is woken later: it never waits for ever.
TEST(DurabilityTest, NoWakeIsLost) {
  Durability durability;
  std::atomic<uint64_t> wakes{0};
  durability.set_workers(1, [&](unsigned) {
    wakes.fetch_add(1);
    wakes.notify_one();
  });
  durability.set_durable(0);
  constexpr uint64_t kNumbers = 20'000;
  std::atomic<uint64_t> drawn{0};
  std::thread writer([&] {
    for (uint64_t done = 0; done < kNumbers;) {
      const uint64_t now = drawn.load();
      if (now > done) durability.set_durable(done = now);
    }
  });
  for (uint64_t i = 1; i <= kNumbers; i++) {
    drawn.store(i);
    for (;;) {
      const uint64_t before = wakes.load();
      if (durability.await(0, i)) break;
      wakes.wait(before);  // a late wake for the previous number is one too many, and harmless
    }
  }
  writer.join();
}

}  // namespace
}  // namespace sorrel
