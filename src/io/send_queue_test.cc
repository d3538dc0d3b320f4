#include "io/send_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace sorrel::io {
namespace {

std::string front_text(const SendQueue& queue, size_t pieces) {
  std::vector<iovec> views(pieces);
  const size_t filled = queue.front(views);
  std::string text;
  for (size_t i = 0; i < filled; ++i) {
    text.append(static_cast<const char*>(views[i].iov_base), views[i].iov_len);
  }
  return text;
}

TEST(SendQueue, KeepsTheOrderUnderRandomUse) {
  SendQueue queue;
  Random random(7);
  std::string expected;
  for (int step = 0; step < 3000; ++step) {
    if (random.below(2) == 0) {
      const size_t size = random.below(random.below(10) == 0 ? 600'000 : 3000);
      std::string bytes(size, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random.next());
      queue.append(bytes);
      expected += bytes;
    } else {
      const std::string front = front_text(queue, 1 + random.below(20));
      ASSERT_TRUE(expected.starts_with(front));
      ASSERT_EQ(expected.empty(), front.empty());
      const size_t count = random.below(front.size() + 1);
      queue.consume(count);
      expected.erase(0, count);
    }
    ASSERT_EQ(expected.size(), queue.bytes());
    ASSERT_GE(queue.memory(), queue.bytes());
  }
}

TEST(SendQueue, GivesMemoryBackWhileItDrains) {
  SendQueue queue;
  const size_t empty = queue.memory();
  queue.append(std::string(4'000'000, 'x'));
  const size_t full = queue.memory();
  EXPECT_LT(full, 4'400'000u);
  queue.consume(3'000'000);
  EXPECT_LT(queue.memory(), full - 2'500'000);
  queue.consume(1'000'000);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(empty, queue.memory());
}

}  // namespace
}  // namespace sorrel::io
