#include "persist/aof_reader.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sorrel::persist {
namespace {

using Found = AofReader::Found;

std::string command(std::initializer_list<std::string_view> args) {
  std::string text = "*" + std::to_string(args.size()) + "\r\n";
  for (const std::string_view arg : args) {
    text += "$" + std::to_string(arg.size()) + "\r\n" + std::string(arg) + "\r\n";
  }
  return text;
}

// How reading ends, and where.
struct End {
  Found found;
  uint64_t position;
  std::string problem;
  size_t commands = 0;
};
End read_all(std::string_view bytes) {
  AofReader reader(bytes);
  size_t commands = 0;
  for (;;) {
    const Found found = reader.next();
    if (found == Found::kCommand) {
      commands++;
    } else if (found != Found::kTimestamp) {
      return {found, reader.position(), reader.problem(), commands};
    }
  }
}

TEST(AofReaderTest, CommandsAndTimestampsInOrder) {
  const std::string log = "#TS:12\r\n" + command({"SET", "k", std::string_view("a\r\n\0b", 5)}) +
                          "#note\r\n" + command({"DEL", ""});
  AofReader reader(log);
  EXPECT_EQ(reader.next(), Found::kTimestamp);
  EXPECT_EQ(reader.timestamp(), 12);
  EXPECT_EQ(reader.lines(), 1u);
  ASSERT_EQ(reader.next(), Found::kCommand);
  ASSERT_EQ(reader.args().size(), 3u);
  EXPECT_EQ(reader.args()[2], std::string_view("a\r\n\0b", 5));
  EXPECT_EQ(reader.lines(), 8u);
  EXPECT_EQ(reader.next(), Found::kTimestamp);
  EXPECT_EQ(reader.timestamp(), 12);
  ASSERT_EQ(reader.next(), Found::kCommand);
  EXPECT_EQ(reader.args()[1], "");
  EXPECT_EQ(reader.position(), log.size());
  EXPECT_EQ(reader.next(), Found::kEnd);
  EXPECT_EQ(reader.next(), Found::kEnd);
}

TEST(AofReaderTest, ItBeginsWhereItIsTold) {
  const std::string log = "REDIS0011 and so on" + command({"PING"});
  AofReader reader(log, 19);
  EXPECT_EQ(reader.next(), Found::kCommand);
  EXPECT_EQ(reader.next(), Found::kEnd);
}

TEST(AofReaderTest, EveryCutIsTornAndWholeUpToTheLastCommand) {
  const std::string first = command({"SET", "key", "value"});
  const std::string log = first + "#TS:1628217470\r\n" + command({"RPUSH", "list", "", "x"});
  for (size_t size = first.size() + 1; size < log.size(); size++) {
    const End end = read_all(std::string_view(log).substr(0, size));
    const bool behind_note = size == first.size() + 16;
    EXPECT_EQ(end.found, behind_note ? Found::kEnd : Found::kTorn) << size;
    EXPECT_EQ(end.commands, 1u);
    EXPECT_EQ(end.position, size < first.size() + 16 ? first.size() : first.size() + 16);
  }
}

TEST(AofReaderTest, RoomThatWasNeverWrittenIsTorn) {
  const std::string first = command({"SET", "key", "value"});
  const std::string second = command({"SET", "another", "value"});
  for (size_t kept = 0; kept < second.size(); kept++) {
    std::string log = first + second.substr(0, kept);
    log.resize(first.size() + 4096);
    const End end = read_all(log);
    EXPECT_EQ(end.found, Found::kTorn) << kept << " " << end.problem;
    EXPECT_EQ(end.position, first.size());
  }
}

TEST(AofReaderTest, DamageIsToldWithItsOffset) {
  const std::string good = command({"SET", "k", "v"});
  const auto problem = [&](std::string_view bad) {
    const End end = read_all(good + std::string(bad) + good);
    EXPECT_EQ(end.found, Found::kDamaged) << bad;
    EXPECT_EQ(end.position, good.size());
    return end.problem;
  };
  EXPECT_EQ(good.size(), 27u);
  EXPECT_EQ(problem("!!!"), "offset 27: '*' was expected");
  EXPECT_EQ(problem("*0\r\n"), "offset 27: a command without a name");
  EXPECT_EQ(problem("*-1\r\n"), "offset 28: a number was expected");
  EXPECT_EQ(problem("*1\n"), "offset 29: the number is not followed by the end of its line");
  EXPECT_EQ(problem("*1\r\n+OK\r\n"), "offset 31: '$' was expected");
  EXPECT_EQ(problem("*1\r\n$1\r\nab\r\n"), "offset 36: the argument is longer than it should be");
  EXPECT_EQ(problem("*99999999999999999999\r\n"), "offset 27: this number is too long");
  EXPECT_EQ(problem("#TS:soon\r\n"), "offset 27: a timestamp that is no number");
  EXPECT_EQ(problem("#" + std::string(2000, 'x') + "\n"), "offset 27: this note has no end");
}

// To cut such a log there would lose what stands behind it.
TEST(AofReaderTest, ALengthThatReachesBeyondTheEndIsDamageWhenCommandsFollow) {
  const std::string good = command({"SET", "k", "v"});
  const End end = read_all(good + "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$901\r\nv\r\n" + good + good);
  EXPECT_EQ(end.found, Found::kDamaged);
  EXPECT_EQ(end.position, good.size());
  EXPECT_EQ(end.problem,
            "offset 27: a command that would reach beyond the end of the file, and whole commands "
            "behind it");
  // A value that looks like a log is none.
  const std::string holder = command({"SET", "k", good + good + "end"});
  EXPECT_EQ(read_all(good + holder.substr(0, holder.size() - 2)).found, Found::kTorn);
}

// Every place could be the beginning of a command: looking at all of them takes bounded time.
TEST(AofReaderTest, LookingForCommandsBehindATornOneTakesLittleTime) {
  std::string bytes = "*1\r\n$99999999\r\n";
  for (int i = 0; i < 300'000; i++) bytes += "\r\n*1\r\n$1\r\nx\r\n*2\r\n$5\r\n\r\n*1\r\n\r\n";
  EXPECT_EQ(read_all(bytes + "!").found, Found::kTorn);
}

// Flipped bits either hit a value, or are found; the reader never leaves its bytes.
TEST(AofReaderTest, FlippedBitsDoNoHarm) {
  std::string log;
  for (int i = 0; i < 20; i++) log += command({"SET", "key" + std::to_string(i), "value"});
  Random random(11);
  for (int round = 0; round < 20'000; round++) {
    std::string bad = log;
    bad[random.below(bad.size())] ^= static_cast<char>(1 << random.below(8));
    const End end = read_all(bad);
    EXPECT_LE(end.position, bad.size());
    EXPECT_EQ(end.found == Found::kEnd, end.position == bad.size());
  }
}

}  // namespace
}  // namespace sorrel::persist
