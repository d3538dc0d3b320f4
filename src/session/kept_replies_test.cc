// Replies that wait for the disk.

#include <functional>

#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

class KeptRepliesTest : public SessionTest {
 protected:
  struct Listener final : EffectSink {
    void on_effect(const Effect& effect) override { last = effect.sequence; }
    bool before_replies(uint64_t sequence) override {
      if (std::exchange(released, sequence) == sequence) return true;
      releases++;
      if (on_release) on_release();
      return true;
    }
    uint64_t last = 0;
    uint64_t released = 1;
    int releases = 0;  // what was answered may leave, as far as the disk lets it
    std::function<void()> on_release;
  };

  void SetUp() override {
    effects.attach(&disk);
    effects.durability().set_durable(0);
    effects.durability().hold(0);
  }
  void sync() {
    effects.durability().set_durable(disk.last);
    run();
  }
  Listener disk;
};

TEST_F(KeptRepliesTest, AWriteIsAnsweredWhenItIsDurable) {
  auto client = connect();
  EXPECT_EQ(ask(client, "SET a b\r\n"), "");
  EXPECT_EQ(disk.last, effects.last_sequence());  // the log has it before anybody knows
  EXPECT_EQ(host().kept_back_count(), 1u);
  EXPECT_EQ(ask(client, "PING\r\n"), "");  // nor is anything behind it answered
  sync();
  EXPECT_EQ(client->take(), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(host().kept_back_count(), 0u);
}

TEST_F(KeptRepliesTest, ReadersOfOtherKeysGoOn) {
  auto writer = connect();
  auto reader = connect();
  EXPECT_EQ(ask(writer, "SET a b\r\n"), "");
  EXPECT_EQ(ask(reader, "EXISTS b\r\n"), ":0\r\n");
  EXPECT_EQ(ask(reader, "PING\r\n"), "+PONG\r\n");
  EXPECT_EQ(ask(reader, "CLIENT GETNAME\r\n"), "$-1\r\n");
  // What could be lost is seen by nobody.
  EXPECT_EQ(ask(reader, "EXISTS a\r\n"), "");
  sync();
  EXPECT_EQ(reader->take(), ":1\r\n");
  EXPECT_EQ(writer->take(), "+OK\r\n");
}

// An answer that tells of no key has nothing to wait for, also when the disk never comes back.
TEST_F(KeptRepliesTest, WhoIsRefusedDoesNotWait) {
  auto writer = connect();
  auto other = connect();
  EXPECT_EQ(ask(writer, "SET a b\r\n"), "");
  EXPECT_EQ(ask(other, "MULTI\r\nEXISTS a\r\nNONSENSE\r\nEXEC\r\n"),
            "+OK\r\n+QUEUED\r\n"
            "-ERR unknown command 'NONSENSE', with args beginning with: \r\n"
            "-EXECABORT Transaction discarded because of previous errors.\r\n");
  EXPECT_EQ(ask(other, "MULTI\r\nEXISTS a\r\nEXEC\r\n"), "");  // one that has run does
  sync();
  EXPECT_EQ(other->take(), "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
}

// No AOF holds what these do, so a disk that hangs is nothing to them.
TEST_F(KeptRepliesTest, MessagesAreCountedAtOnce) {
  auto writer = connect();
  auto other = connect();
  EXPECT_EQ(ask(writer, "SET a b\r\n"), "");
  EXPECT_EQ(ask(other, "PUBLISH news hello\r\n"), ":0\r\n");
  EXPECT_EQ(ask(other, "SPUBLISH news hello\r\n"), ":0\r\n");
  EXPECT_EQ(ask(other, "PUBSUB NUMPAT\r\n"), ":0\r\n");
  EXPECT_EQ(ask(other, "PUBSUB CHANNELS\r\n"), "*0\r\n");
  EXPECT_EQ(ask(other, "MULTI\r\nPUBLISH news hello\r\nEXEC\r\n"),
            "+OK\r\n+QUEUED\r\n*1\r\n:0\r\n");
  // After an unanswered write of its own it is answered in order.
  EXPECT_EQ(ask(writer, "PUBLISH news hello\r\n"), "");
  EXPECT_EQ(ask(other, "SET c d\r\nPUBLISH news hello\r\n"), "");
  sync();
  EXPECT_EQ(other->take(), "+OK\r\n:0\r\n");
}

// The deletion of an expired key is an effect like any other: a reply that shows it waits.
TEST_F(KeptRepliesTest, AnExpiredKeyIsGoneWhenItsDeletionIsDurable) {
  auto client = connect();
  auto other = connect();
  ask(client, "SET a b 10\r\nSET c d\r\n");
  sync();
  client->take();
  advance(20);
  EXPECT_EQ(ask(client, "EXISTS a\r\n"), "");
  EXPECT_EQ(ask(other, "EXISTS c\r\n"), ":1\r\n");
  EXPECT_EQ(ask(other, "EXISTS a\r\n"), "");
  sync();
  EXPECT_EQ(client->take(), ":0\r\n");
  EXPECT_EQ(other->take(), ":0\r\n");
  EXPECT_EQ(ask(other, "EXISTS a\r\n"), ":0\r\n");
}

// A long turn gives the disk what there is, and its readers their answers, before its end.
TEST_F(KeptRepliesTest, ALongTurnIsReleasedInParts) {
  std::vector<std::shared_ptr<io::FakeClient>> clients;
  std::string writes;
  for (int i = 0; i < 1200; i++) writes += "SET a b\r\n";
  for (int i = 0; i < 4; i++) clients.push_back(connect());
  for (auto& client : clients) client->push(writes);
  run();
  EXPECT_EQ(disk.releases, 2);
  sync();
  for (auto& client : clients) EXPECT_EQ(client->take().size(), 1200 * 5u);
  // Where nothing waits, turns stay whole.
  effects.durability().stop_holding();
  disk.releases = 0;
  for (auto& client : clients) client->push(writes);
  run();
  EXPECT_EQ(disk.releases, 1);
}

// Who waits for nothing is answered before the log has seen anything of the turn; nobody else is.
TEST_F(KeptRepliesTest, ReadersAreAnsweredInTheMiddleOfALongTurn) {
  auto writer = connect();
  auto reader = connect();
  auto curious = connect();
  auto last = connect();
  const auto many = [](std::string_view request) {
    std::string all;
    for (int i = 0; i < 300; i++) all += request;
    return all;
  };
  std::string seen[3];
  disk.on_release = [&] {
    seen[0] += writer->take();
    seen[1] += reader->take();
    seen[2] += curious->take();
  };
  writer->push(many("SET a b\r\n"));
  reader->push(many("EXISTS b\r\n"));
  curious->push(many("EXISTS a\r\n"));
  last->push(many("SET c d\r\n"));
  run();
  disk.on_release = nullptr;
  EXPECT_EQ(disk.releases, 1);
  EXPECT_EQ(seen[0], "");
  EXPECT_EQ(seen[1], many(":0\r\n"));
  EXPECT_EQ(seen[2], "");
  sync();
  EXPECT_EQ(writer->take(), many("+OK\r\n"));
  EXPECT_EQ(curious->take(), many(":1\r\n"));
}

// The disk works while the others are answered.
TEST_F(KeptRepliesTest, WhoHasWaitedForTheDiskGoesFirst) {
  auto one = connect();
  auto two = connect();
  auto writer = connect();
  const auto known_to_disk_before_the_last_reader = [&] {
    const uint64_t before = disk.last;
    uint64_t known = 0;
    during = [&](Call&) { known = disk.last; };
    one->push("TOUCH b\r\n");
    two->push("TOUCH b\r\n");
    writer->push("SET a b\r\n");
    run();
    sync();
    EXPECT_EQ(writer->take(), "+OK\r\n");
    return known > before;
  };
  EXPECT_FALSE(known_to_disk_before_the_last_reader());
  EXPECT_TRUE(known_to_disk_before_the_last_reader());
  EXPECT_TRUE(known_to_disk_before_the_last_reader());
  // Who does not change anything any more has nothing to go first for.
  EXPECT_EQ(ask(writer, "EXISTS b\r\n"), ":0\r\n");
  EXPECT_FALSE(known_to_disk_before_the_last_reader());
  // Nor have those who need not wait.
  effects.durability().stop_holding();
  cron();
  EXPECT_FALSE(known_to_disk_before_the_last_reader());
}

TEST_F(KeptRepliesTest, WhatTheDiskHasIsAnsweredInTheMiddleOfALongTurn) {
  auto writer = connect();
  auto first = connect();
  auto second = connect();
  auto last = connect();
  EXPECT_EQ(ask(writer, "SET a b\r\n"), "");
  std::string answered = "not asked";
  during = [&](Call&) {
    if (effects.durability().durable() < disk.last) {
      effects.durability().set_durable(disk.last);
    } else {
      answered = writer->take();
    }
  };
  std::string many;
  for (int i = 0; i < 2000; i++) many += "EXISTS b\r\n";
  first->push("TOUCH b\r\n");
  second->push(many);
  last->push("TOUCH b\r\n");
  run();
  EXPECT_EQ(answered, "+OK\r\n");
}

// Whoever has changed a key knows what it saw before; of what it sees later it must ask again.
TEST_F(KeptRepliesTest, AReaderWaitsForAnotherWorkerAlsoIfItHasWritten) {
  start(2);
  auto here = connect(0);
  auto there = connect(1);
  EXPECT_EQ(ask(there, "SET x y\r\n"), "");
  sync();
  EXPECT_EQ(there->take(), "+OK\r\n");
  EXPECT_EQ(ask(here, "SET a b\r\n"), "");
  EXPECT_EQ(ask(there, "EXISTS a\r\n"), "");
  sync();
  EXPECT_EQ(there->take(), ":1\r\n");
  EXPECT_EQ(here->take(), "+OK\r\n");
  const uint64_t before = disk.last;
  EXPECT_EQ(ask(there, "SET x y\r\n"), "");
  EXPECT_EQ(ask(here, "SET a b\r\n"), "");
  // Its own change is durable, that of the other is not.
  effects.durability().set_durable(before + 1);
  run();
  EXPECT_EQ(there->take(), "+OK\r\n");
  EXPECT_EQ(ask(there, "SET x y\r\nEXISTS a\r\n"), "");
  sync();
  EXPECT_EQ(there->take(), "+OK\r\n:1\r\n");
}

TEST_F(KeptRepliesTest, EachWaitsForItsOwn) {
  auto one = connect();
  auto two = connect();
  EXPECT_EQ(ask(one, "SET a 1\r\n"), "");
  const uint64_t first = disk.last;
  EXPECT_EQ(ask(two, "SET b 1\r\n"), "");
  effects.durability().set_durable(first);
  run();
  EXPECT_EQ(one->take(), "+OK\r\n");
  EXPECT_EQ(two->take(), "");
  sync();
  EXPECT_EQ(two->take(), "+OK\r\n");
}

TEST_F(KeptRepliesTest, TransactionsWaitForTheLastChangeThereIs) {
  auto writer = connect();
  auto other = connect();
  EXPECT_EQ(ask(writer, "SET a b\r\n"), "");
  EXPECT_EQ(ask(other, "MULTI\r\nEXISTS b\r\n"), "+OK\r\n+QUEUED\r\n");
  EXPECT_EQ(ask(other, "EXEC\r\n"), "");
  sync();
  EXPECT_EQ(other->take(), "*1\r\n:0\r\n");
}

TEST_F(KeptRepliesTest, APipelineIsAnsweredInOrderAndAtOnce) {
  auto client = connect();
  EXPECT_EQ(ask(client, "EXISTS a\r\nSET a 1\r\nEXISTS a\r\nPING\r\n"), "");
  sync();
  EXPECT_EQ(client->take(), ":0\r\n+OK\r\n:1\r\n+PONG\r\n");
}

TEST_F(KeptRepliesTest, MuchIsKeptInOrder) {
  auto client = connect();
  std::string requests = "SET a 1\r\n";
  std::string wanted = "+OK\r\n";
  for (int i = 0; i < 8; i++) {
    requests += "GET 100000\r\n";
    wanted += "$100000\r\n" + std::string(100'000, 'x') + "\r\n";
  }
  EXPECT_EQ(ask(client, requests), "");
  sync();
  EXPECT_EQ(client->take(), wanted);
}

TEST_F(KeptRepliesTest, MessagesDoNotOvertake) {
  auto listener = connect();
  EXPECT_EQ(ask(listener, "HELLO 3\r\nSUBSCRIBE news\r\n").substr(0, 1), "%");
  auto writer = connect();
  EXPECT_EQ(ask(listener, "SET a b\r\n"), "");
  ask(writer, "PUBLISH news hello\r\n");
  EXPECT_EQ(listener->take(), "");
  sync();
  EXPECT_EQ(listener->take(), "+OK\r\n>3\r\n" + bulk("message") + bulk("news") + bulk("hello"));
}

TEST_F(KeptRepliesTest, WhoLeavesIsClosedBehindItsAnswers) {
  auto client = connect();
  EXPECT_EQ(ask(client, "SET a b\r\nQUIT\r\n"), "");
  EXPECT_FALSE(client->closed_by_server());
  sync();
  EXPECT_EQ(client->take(), "+OK\r\n+OK\r\n");
  EXPECT_TRUE(client->closed_by_server());
}

TEST_F(KeptRepliesTest, WhoIsGoneIsForgotten) {
  auto client = connect();
  EXPECT_EQ(ask(client, "SET a b\r\n"), "");
  client->close();
  run();
  EXPECT_EQ(host().kept_back_count(), 0u);
  auto killer = connect();
  auto killed = connect();
  EXPECT_EQ(ask(killed, "SET b c\r\n"), "");
  ask(killer, "CLIENT KILL ID " + std::to_string(id_of(killed)) + "\r\n");
  sync();
  EXPECT_EQ(killed->take(), "");
  EXPECT_TRUE(killed->closed_by_server());
}

TEST_F(KeptRepliesTest, NobodyWaitsOnceItIsOver) {
  auto client = connect();
  EXPECT_EQ(ask(client, "SET a b\r\n"), "");
  effects.durability().stop_holding();
  EXPECT_EQ(ask(client, "PING\r\n"), "");  // in order, still
  sync();
  EXPECT_EQ(client->take(), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(ask(client, "SET a b\r\n"), "+OK\r\n");
}

TEST_F(KeptRepliesTest, EveryWorkerIsWoken) {
  start(2);
  auto one = connect(0);
  auto two = connect(1);
  EXPECT_EQ(ask(one, "SET a b\r\n"), "");
  EXPECT_EQ(ask(two, "EXISTS a\r\n"), "");
  sync();
  EXPECT_EQ(one->take(), "+OK\r\n");
  EXPECT_EQ(two->take(), ":1\r\n");
}

}  // namespace
}  // namespace sorrel::testing
