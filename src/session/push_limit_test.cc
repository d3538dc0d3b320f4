// Messages that a client does not ask for and does not read: invalidations, channels, MONITOR.

#include "session/invalidation_queue.h"
#include "session/session_fixture.h"

namespace sorrel::testing {
namespace {

class PushLimitTest : public SessionTest {
 protected:
  static constexpr size_t kMegabyte = 1024 * 1024;
  static constexpr size_t kKeyBytes = 100'000;
  static constexpr std::string_view kAll = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

  static std::string long_key(int number) {
    return fmt::format("{:06}", number) + std::string(kKeyBytes - 6, 'k');
  }

  static std::string request(std::initializer_list<std::string_view> args) {
    std::string text = fmt::format("*{}\r\n", args.size());
    for (const std::string_view arg : args) text += bulk(arg);
    return text;
  }

  // A request for each key from 0 on.
  template <class Make>
  static std::string for_keys(int count, Make make) {
    std::string text;
    for (int i = 0; i < count; i++) text += make(long_key(i));
    return text;
  }
  static std::string exists(std::string_view key) { return request({"EXISTS", key}); }
  static std::string set(std::string_view key) { return request({"SET", key, "x"}); }
  static std::string in_transaction(const std::string& requests) {
    return "MULTI\r\n" + requests + "EXEC\r\n";
  }

  Client client_with(std::string_view requests, size_t worker = 0) {
    Client client = connect(worker);
    ask(client, requests);
    return client;
  }
  size_t waiting_output(const Client& client) { return session_of(client)->output_bytes(); }
  // All that waits for it.
  std::string read_all(const Client& client) {
    client->set_window(std::numeric_limits<size_t>::max());
    run();
    return client->take();
  }
};

TEST_F(PushLimitTest, UnreadInvalidationsCollapseIntoOneOfAllKeys) {
  for (const char* options : {"", "BCAST"}) {
    auto client = client_with(fmt::format("HELLO 3\r\nCLIENT TRACKING ON {}\r\n", options));
    ask(client, for_keys(300, exists));
    client->set_window(0);
    auto writer = connect();
    for (int i = 0; i < 300; i++) ask(writer, set(long_key(i)));
    EXPECT_GT(waiting_output(client), 16 * kMegabyte);
    EXPECT_LT(waiting_output(client), 17 * kMegabyte);
    EXPECT_FALSE(client->closed_by_server());
    const std::string got = read_all(client);
    EXPECT_TRUE(got.ends_with(kAll));
    EXPECT_EQ(got.find(kAll), got.size() - kAll.size());
    // From now on it is told of each again.
    ask(client, "EXISTS k\r\n");
    ask(writer, "SET k x\r\n");
    EXPECT_EQ(client->take(), ">2\r\n" + bulk("invalidate") + "*1\r\n" + bulk("k"));
  }
}

TEST_F(PushLimitTest, SoDoThoseForAListenerOfRESP2) {
  sessions.options.pubsub_output = {};
  auto listener = client_with("SUBSCRIBE __redis__:invalidate\r\n");
  auto client = connect();
  ask(client, fmt::format("CLIENT TRACKING ON REDIRECT {} BCAST\r\n", id_of(listener)));
  listener->set_window(0);
  auto writer = connect();
  for (int i = 0; i < 300; i++) ask(writer, set(long_key(i)));
  EXPECT_LT(waiting_output(listener), 17 * kMegabyte);
  EXPECT_TRUE(read_all(listener).ends_with("*3\r\n" + bulk("message") +
                                           bulk("__redis__:invalidate") + "$-1\r\n"));
}

// A client that reads all the time, and one that was told of nothing yet.
TEST_F(PushLimitTest, InvalidationsOfOneRequestCollapseToo) {
  auto client = client_with("HELLO 3\r\nCLIENT TRACKING ON\r\n" + for_keys(300, exists));
  auto writer = connect();
  ask(writer, in_transaction(for_keys(300, set)));
  const std::string got = client->take();
  EXPECT_LT(got.size(), 17 * kMegabyte);
  EXPECT_TRUE(got.ends_with(kAll));
  std::vector<Client> others;
  for (int i = 0; i < 5; i++) {
    others.push_back(client_with("HELLO 3\r\nCLIENT TRACKING ON\r\n" + for_keys(160, exists)));
  }
  auto last = client_with("HELLO 3\r\nCLIENT TRACKING ON\r\nEXISTS last\r\n");
  ask(writer, in_transaction(for_keys(160, set) + set("last")));
  EXPECT_EQ(last->take(), kAll);
}

TEST_F(PushLimitTest, ABroadcastNamesOnlySoManyKeys) {
  auto client = client_with("HELLO 3\r\nCLIENT TRACKING ON BCAST PREFIX 0\r\n");
  auto own = client_with("HELLO 3\r\nCLIENT TRACKING ON BCAST NOLOOP\r\n");
  EXPECT_TRUE(ask(own, in_transaction(for_keys(300, set))).ends_with(kAll));
  EXPECT_EQ(client->take(), kAll);
}

// Replies are sent in the middle of a pipeline when they are large, and broadcasts before them.
TEST_F(PushLimitTest, ABroadcastToItsCauserIsSentWithinItsPipeline) {
  auto client = client_with("HELLO 3\r\nCLIENT TRACKING ON BCAST\r\n");
  const std::string got = ask(client, "SET k x\r\nGET 300000\r\nSET j x\r\nGET 300000\r\nPING\r\n");
  const std::string large = bulk(std::string(300'000, 'x'));
  const auto told = [](std::string_view key) {
    return ">2\r\n" + bulk("invalidate") + "*1\r\n" + bulk(key);
  };
  EXPECT_TRUE(got == "+OK\r\n" + large + told("k") + "+OK\r\n" + large + told("j") + "+PONG\r\n")
      << got.find(told("k")) << ' ' << got.find(told("j")) << ' ' << got.size();
}

TEST_F(PushLimitTest, AConfiguredLimitClosesInstead) {
  sessions.options.normal_output.hard_bytes = 32 * kMegabyte;
  auto client = client_with("HELLO 3\r\nCLIENT TRACKING ON\r\n" + for_keys(400, exists));
  client->set_window(0);
  auto writer = connect();
  for (int i = 0; i < 300; i++) ask(writer, set(long_key(i)));
  EXPECT_FALSE(client->closed_by_server());
  EXPECT_GT(waiting_output(client), 300 * kKeyBytes);
  for (int i = 300; i < 400; i++) ask(writer, set(long_key(i)));
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().stats().output_limit_closes, 1u);
}

TEST_F(PushLimitTest, InvalidationsForABusyWorkerCollapseInItsMailbox) {
  start(2);
  auto client = client_with("HELLO 3\r\nCLIENT TRACKING ON\r\n" + for_keys(400, exists));
  auto writer = connect(1);
  writer->push(for_keys(400, set));
  worker(1).loop.run();
  run();
  const std::string got = client->take();
  EXPECT_LT(got.size(), 30 * kMegabyte);
  EXPECT_TRUE(got.starts_with(kAll));
}

TEST_F(PushLimitTest, MessagesOfOneRequestKeepToTheLimit) {
  sessions.options.pubsub_output.hard_bytes = 8 * kMegabyte;
  sessions.options.normal_output.hard_bytes = 8 * kMegabyte;
  const std::string message(kMegabyte, 'm');
  auto listener = client_with("SUBSCRIBE a\r\n");
  auto monitor = client_with("MONITOR\r\n");
  auto writer = connect();
  std::string requests;
  for (int i = 0; i < 12; i++) requests += request({"PUBLISH", "a", message});
  ask(writer, in_transaction(requests));
  EXPECT_TRUE(listener->closed_by_server());
  EXPECT_TRUE(monitor->closed_by_server());
  EXPECT_EQ(host().stats().output_limit_closes, 2u);
  EXPECT_LT(host().stats().output_bytes, 2 * kMegabyte);
  EXPECT_EQ(ask(writer, "PUBLISH a x\r\n"), ":0\r\n");
}

TEST_F(PushLimitTest, UnreadMessagesFromAnotherWorkerKeepToTheLimit) {
  start(2);
  sessions.options.pubsub_output.hard_bytes = 2 * kMegabyte;
  auto listener = client_with("SUBSCRIBE a\r\n");
  listener->set_window(0);
  auto writer = connect(1);
  const std::string publish = request({"PUBLISH", "a", std::string(kKeyBytes, 'm')});
  for (int i = 0; i < 20; i++) EXPECT_EQ(ask(writer, publish), ":1\r\n");
  EXPECT_FALSE(listener->closed_by_server());
  EXPECT_LE(waiting_output(listener), 2 * kMegabyte);
  ask(writer, publish);
  EXPECT_TRUE(listener->closed_by_server());
}

TEST_F(PushLimitTest, UnreadInvalidationsCountAsMemoryOfClients) {
  sessions.options.max_total_memory = 8 * kMegabyte;
  auto client = client_with("HELLO 3\r\nCLIENT TRACKING ON BCAST\r\n");
  client->set_window(0);
  auto writer = connect();
  for (int i = 0; i < 60; i++) ask(writer, set(long_key(i)));
  EXPECT_FALSE(client->closed_by_server());
  for (int i = 60; i < 120; i++) ask(writer, set(long_key(i)));
  EXPECT_TRUE(client->closed_by_server());
  EXPECT_EQ(host().stats().evicted, 1u);
}

TEST(InvalidationQueueTest, KeepsOneForEachSessionAndKind) {
  InvalidationQueue queue;
  const auto keys = std::make_shared<const std::vector<std::string>>(1, std::string(1000, 'k'));
  using Kind = Invalidation::Kind;
  queue.add({Kind::kBrokenRedirect, 3, {}, nullptr});
  for (int i = 0; i < 100'000; i++) {
    const auto own = std::make_shared<const std::vector<std::string>>(*keys);
    for (const uint64_t id : {7, 8}) queue.add({Kind::kRead, id, {9, 0}, own});
    queue.add({Kind::kRedirected, 7, {5, 1}, own});
    queue.add({Kind::kRedirected, 7, {6, 1}, own});
    ASSERT_LE(queue.memory_bytes(), InvalidationQueue::kMostBytes);
  }
  const std::vector<Invalidation> words = queue.take();
  EXPECT_EQ(queue.memory_bytes(), 0u);
  EXPECT_TRUE(queue.take().empty());
  ASSERT_GE(words.size(), 5u);
  EXPECT_EQ(words[0].kind, Kind::kRead);
  EXPECT_EQ(words[0].target, 7u);
  EXPECT_EQ(words[0].origin.id, 0u);
  EXPECT_EQ(words[0].keys, nullptr);
  EXPECT_EQ(words[1].target, 8u);
  EXPECT_EQ(words[2].origin.id, 5u);
  EXPECT_EQ(words[3].origin.id, 6u);
  EXPECT_EQ(words[4].kind, Kind::kBrokenRedirect);
  EXPECT_EQ(words[4].target, 3u);
}

}  // namespace
}  // namespace sorrel::testing
