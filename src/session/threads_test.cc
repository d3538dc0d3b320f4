#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "session/test_server.h"

// Workers on threads of their own, all publishing, listening, reading and changing at once. Worth
// most under the thread sanitizer.

namespace sorrel::testing {
namespace {

constexpr unsigned kWorkers = 4;
constexpr int kMessages = 400;  // per publisher

// The texts of the messages in what a listener of RESP2 was sent.
std::vector<std::string> texts_of(std::string_view bytes) {
  std::vector<std::string> texts;
  constexpr std::string_view kBegin = "*3\r\n$7\r\nmessage\r\n";
  for (size_t at = bytes.find(kBegin); at != std::string_view::npos;
       at = bytes.find(kBegin, at + 1)) {
    // $n CR LF channel CR LF $n CR LF text CR LF
    size_t from = at + kBegin.size();
    for (int lines = 0; lines < 3; lines++) from = bytes.find("\r\n", from) + 2;
    texts.emplace_back(bytes.substr(from, bytes.find("\r\n", from) - from));
  }
  return texts;
}

int64_t sum_of(std::string_view replies) {
  int64_t sum = 0;
  for (size_t at = 0; (at = replies.find(':', at)) != std::string_view::npos; at++) {
    sum += stand_in_number(replies.substr(at + 1));
  }
  return sum;
}

class SessionThreads : public ::testing::Test, protected TestServer {
 protected:
  SessionThreads() { start(kWorkers); }

  // Runs `act(worker)` on a thread per worker. Whoever is done goes on serving until all are.
  template <class Act>
  void on_all(Act act) {
    std::atomic<unsigned> busy{kWorkers};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kWorkers; i++) {
      threads.emplace_back([this, act, i, &busy] {
        act(i);
        busy--;
        while (busy > 0) worker(i).loop.run();
      });
    }
    for (auto& thread : threads) thread.join();
    run();
  }
};

TEST_F(SessionThreads, EverybodyHearsEverythingInTheSameOrder) {
  std::vector<Client> listeners;
  std::vector<Client> publishers;
  for (unsigned i = 0; i < kWorkers; i++) {
    for (int k = 0; k < 2; k++) {
      listeners.push_back(connect(i));
      ask(listeners.back(), "SUBSCRIBE all\r\n");
    }
    publishers.push_back(connect(i));
  }
  std::atomic<int64_t> counted{0};
  on_all([&](unsigned i) {
    for (int n = 0; n < kMessages; n += 4) {
      for (int k = n; k < n + 4; k++) {
        publishers[i]->push("PUBLISH all " + std::to_string(i) + ":" + std::to_string(k) + "\r\n");
      }
      worker(i).loop.run();
      counted += sum_of(publishers[i]->take());
    }
  });
  EXPECT_EQ(counted, static_cast<int64_t>(kWorkers) * kMessages * int64_t{kWorkers} * 2);
  const std::vector<std::string> first = texts_of(listeners[0]->take());
  EXPECT_EQ(first.size(), size_t{kWorkers} * kMessages);
  std::map<char, int> next;
  for (const std::string& text : first) {
    EXPECT_EQ(text.substr(2), std::to_string(next[text[0]]++));
  }
  for (size_t i = 1; i < listeners.size(); i++) {
    EXPECT_EQ(texts_of(listeners[i]->take()), first) << i;
  }
}

// However sessions come and go, who was counted is who heard it.
TEST_F(SessionThreads, WhoIsCountedHearsIt) {
  std::vector<Client> listeners;
  std::vector<Client> publishers;
  for (unsigned i = 0; i < kWorkers; i++) {
    listeners.push_back(connect(i));
    publishers.push_back(connect(i));
  }
  std::atomic<int64_t> counted{0};
  on_all([&](unsigned i) {
    Random random(i + 1);
    for (int n = 0; n < kMessages; n++) {
      listeners[i]->push(random.below(2) == 0 ? "SUBSCRIBE c\r\n" : "UNSUBSCRIBE c\r\n");
      publishers[i]->push("PUBLISH c x\r\n");
      if (random.below(8) == 0) publishers[i]->push("CLIENT LIST\r\nPUBSUB CHANNELS\r\n");
      worker(i).loop.run();
      const std::string replies = publishers[i]->take();
      counted += replies[1] - '0';
    }
  });
  int64_t heard = 0;
  for (const Client& listener : listeners) {
    heard += static_cast<int64_t>(texts_of(listener->take()).size());
  }
  EXPECT_EQ(heard, counted);
}

// Whoever has read a key since the last word about it is told when it changes, on whatever worker.
TEST_F(SessionThreads, ReadersAreToldOfEveryChange) {
  constexpr int kKeys = 8;
  std::vector<Client> readers;
  std::vector<Client> writers;
  for (unsigned i = 0; i < kWorkers; i++) {
    readers.push_back(connect(i));
    ask(readers.back(), "HELLO 3\r\nCLIENT TRACKING ON\r\n");
    writers.push_back(connect(i));
  }
  std::vector<std::array<int, kKeys>> told(kWorkers);
  const auto count = [&](unsigned i, const std::string& bytes) {
    for (int key = 0; key < kKeys; key++) {
      const std::string word = "invalidate\r\n*1\r\n$2\r\nk" + std::to_string(key);
      for (size_t at = 0; (at = bytes.find(word, at)) != std::string::npos; at++) told[i][key]++;
    }
  };
  std::vector<std::array<int, kKeys>> reads(kWorkers);
  on_all([&](unsigned i) {
    Random random(i + 1);
    for (int n = 0; n < kMessages; n++) {
      const size_t key = random.below(kKeys);
      readers[i]->push("EXISTS k" + std::to_string(key) + "\r\n");
      reads[i][key]++;
      writers[i]->push("SET k" + std::to_string(random.below(kKeys)) + " x\r\n");
      if (random.below(64) == 0) writers[i]->push("CLIENT TRACKING ON BCAST PREFIX z\r\n");
      if (random.below(64) == 0) writers[i]->push("CLIENT TRACKING OFF\r\n");
      worker(i).loop.run();
    }
  });
  for (unsigned i = 0; i < kWorkers; i++) count(i, readers[i]->take());
  // A last read and a last change of each: exactly one word more.
  const auto before = told;
  for (int key = 0; key < kKeys; key++) {
    for (unsigned i = 0; i < kWorkers; i++) {
      count(i, ask(readers[i], "EXISTS k" + std::to_string(key) + "\r\n"));
    }
    ask(writers[0], "SET k" + std::to_string(key) + " y\r\n");
  }
  EXPECT_EQ(sessions.tracking.item_count(), 0u);
  for (unsigned i = 0; i < kWorkers; i++) {
    count(i, readers[i]->take());
    for (size_t key = 0; key < kKeys; key++) {
      EXPECT_EQ(told[i][key], before[i][key] + 1);
      EXPECT_LE(before[i][key], reads[i][key]);
    }
  }
}

}  // namespace
}  // namespace sorrel::testing
