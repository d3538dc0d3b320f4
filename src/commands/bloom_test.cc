// Bloom filter commands: options, errors, and dumps in chunks.

#include <gtest/gtest.h>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class BloomCommands : public testing::TestWithParam<TestServer::Shape> {
 protected:
  TestServer server{{bloom_bindings(), keys_bindings(), string_set_bindings()}, GetParam()};

  struct Piece {
    std::string position;
    std::string bytes;
  };
  Piece scandump(const std::string& position) {
    const std::string reply = server.resp("BF.SCANDUMP f " + position);
    const size_t number_ends = reply.find("\r\n", 5);
    const size_t size_ends = reply.find("\r\n", number_ends + 2);
    const size_t size = std::stoul(reply.substr(number_ends + 3));
    return {reply.substr(5, number_ends - 5), reply.substr(size_ends + 2, size)};
  }
  std::string loadchunk(const Piece& piece) {
    const std::string_view args[] = {"BF.LOADCHUNK", "g", piece.position, piece.bytes};
    NotationSink sink(server.caller.protocol);
    server.execute(args, sink);
    return sink.text();
  }
};
INSTANTIATE_TEST_SUITE_P(Shapes, BloomCommands, testing::Values(kOneWorker, kFourWorkers),
                         ShapeName());

TEST_P(BloomCommands, ItemsAreThereOnceAdded) {
  EXPECT_EQ(server("BF.EXISTS f a"), "(integer) 0");
  EXPECT_EQ(server("BF.ADD f a"), "(integer) 1");
  EXPECT_EQ(server("BF.ADD f a"), "(integer) 0");
  EXPECT_EQ(server("BF.MADD f a b b c"), "[(integer) 0, (integer) 1, (integer) 0, (integer) 1]");
  EXPECT_EQ(server("BF.MEXISTS f a b x"), "[(integer) 1, (integer) 1, (integer) 0]");
  EXPECT_EQ(server("BF.CARD f"), "(integer) 3");
  EXPECT_EQ(server("BF.CARD none"), "(integer) 0");
  EXPECT_EQ(server("TYPE f"), "MBbloom--");
  EXPECT_EQ(server.effects(), (Texts{"BF.ADD f a", "BF.MADD f a b b c"}));
  EXPECT_EQ(server.events(), (Texts{" f", " f"})) << "a change without a name";
  server.caller.protocol = 3;
  EXPECT_EQ(server("BF.ADD f a"), "(false)");
  EXPECT_EQ(server("BF.MEXISTS f a x"), "[(true), (false)]");
  EXPECT_EQ(server("BF.INSERT f ITEMS a d"), "[(false), (true)]");
}

TEST_P(BloomCommands, ReserveAndInfo) {
  EXPECT_EQ(server("BF.RESERVE f 0.01 100"), "OK");
  EXPECT_EQ(server("BF.RESERVE f 0.01 100"), "(error) ERR item exists");
  EXPECT_EQ(server("BF.INFO f"),
            "{Capacity => (integer) 100, Size => (integer) 240, Number of filters => (integer) 1, "
            "Number of items inserted => (integer) 0, Expansion rate => (integer) 2}");
  EXPECT_EQ(server("BF.INFO f capacity"), "[(integer) 100]");
  EXPECT_EQ(server("BF.INFO f nothing"), "(error) Invalid information value");
  EXPECT_EQ(server("BF.INFO none"), "(error) ERR not found");
  EXPECT_EQ(server("BF.RESERVE n 0.01 100 NONSCALING"), "OK");
  EXPECT_EQ(server("BF.INFO n EXPANSION"), "[(nil)]");
  EXPECT_EQ(server("BF.RESERVE z 0.01 100 EXPANSION 0"), "OK");
  EXPECT_EQ(server("BF.INFO z EXPANSION"), "[(nil)]");
  EXPECT_EQ(server("BF.RESERVE e 0.9 1000 EXPANSION 4"), "OK");
  EXPECT_EQ(server("BF.INFO e EXPANSION"), "[(integer) 4]");
  server.caller.protocol = 3;
  EXPECT_EQ(server("BF.INFO f ITEMS"), "{Number of items inserted => (integer) 0}");
}

TEST_P(BloomCommands, MistakesInReserve) {
  const std::pair<const char*, const char*> cases[] = {
      {"x 100", "ERR bad error rate"},
      {"nan 100", "ERR bad error rate"},
      {"0 100", "ERR error rate must be in the range (0.000000, 1.000000)"},
      {"1 100", "ERR error rate must be in the range (0.000000, 1.000000)"},
      {"-1 100", "ERR error rate must be in the range (0.000000, 1.000000)"},
      {"inf 100", "ERR error rate must be in the range (0.000000, 1.000000)"},
      {"0.01 x", "ERR bad capacity"},
      {"0.01 9223372036854775808", "ERR bad capacity"},
      {"0.01 0", "ERR capacity must be in the range [1, 1073741824]"},
      {"0.01 -1", "ERR capacity must be in the range [1, 1073741824]"},
      {"0.01 1073741825", "ERR capacity must be in the range [1, 1073741824]"},
      {"0.01 9223372036854775807", "ERR capacity must be in the range [1, 1073741824]"},
      {"1e-300 1073741824", "ERR Insufficient memory to create filter"},
      {"0.01 100 EXPANSION", "ERR no expansion"},
      {"0.01 100 EXPANSION x", "ERR bad expansion"},
      {"0.01 100 EXPANSION -1", "ERR expansion must be in the range [0, 32768]"},
      {"0.01 100 EXPANSION 32769", "ERR expansion must be in the range [0, 32768]"},
      {"0.01 100 NONSCALING EXPANSION 2", "Nonscaling filters cannot expand"},
      {"0.01 100 a b c d", "ERR wrong number of arguments for 'bf.reserve' command"},
  };
  for (const auto& [words, error] : cases) {
    EXPECT_EQ(server(std::string("BF.RESERVE f ") + words), std::string("(error) ") + error);
  }
  EXPECT_EQ(server("EXISTS f"), "(integer) 0");
  server("SET t v");
  EXPECT_EQ(server("BF.RESERVE t 0.01 100"),
            "(error) WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_EQ(server("BF.EXISTS t a"), "(integer) 0") << "as in Redis";
}

TEST_P(BloomCommands, Insert) {
  EXPECT_EQ(server("BF.INSERT f NOCREATE ITEMS a"), "(error) ERR not found");
  EXPECT_EQ(server("BF.INSERT f CAPACITY 2 ERROR 0.001 NONSCALING ITEMS a b c d"),
            "[(integer) 1, (integer) 1, (error) ERR non scaling filter is full]");
  EXPECT_EQ(server("BF.ADD f c"), "(error) ERR non scaling filter is full");
  EXPECT_EQ(server("BF.INSERT f NOCREATE ITEMS a"), "[(integer) 0]");
  EXPECT_EQ(server("BF.INSERT g EXPANSION 3 CAPACITY 1 ITEMS a b c d e f"),
            "[(integer) 1, (integer) 1, (integer) 1, (integer) 1, (integer) 1, (integer) 1]");
  EXPECT_EQ(server("BF.INFO g FILTERS"), "[(integer) 3]");
  EXPECT_EQ(server("BF.INFO g CAPACITY"), "[(integer) 13]");
  for (const char* words : {"ITEMS", "CAPACITY", "ERROR 0.1", "a ITEMS"}) {
    EXPECT_TRUE(server(std::string("BF.INSERT h ") + words).starts_with("(error) ")) << words;
  }
  EXPECT_EQ(server("BF.INSERT h ERROR 1 ITEMS a"), "(error) Bad error rate");
  EXPECT_EQ(server("BF.INSERT h CAPACITY 0 ITEMS a"), "(error) Bad capacity");
  EXPECT_EQ(server("BF.INSERT h EXPANSION 32769 ITEMS a"), "(error) Bad expansion");
  EXPECT_EQ(server("BF.INSERT h WHAT ITEMS a"), "(error) Unknown argument received");
  EXPECT_EQ(server("EXISTS h"), "(integer) 0");
}

TEST_P(BloomCommands, CopiesAndNewNames) {
  server("BF.MADD f a b");
  EXPECT_EQ(server("COPY f g"), "(integer) 1");
  server("BF.ADD g c");
  EXPECT_EQ(server("BF.EXISTS f c"), "(integer) 0");
  EXPECT_EQ(server("BF.CARD g"), "(integer) 3");
  EXPECT_EQ(server("RENAME g h"), "OK");
  EXPECT_EQ(server("BF.MEXISTS h a b c"), "[(integer) 1, (integer) 1, (integer) 1]");
  EXPECT_EQ(server("OBJECT ENCODING h"), "\"raw\"");
  EXPECT_EQ(server("DEL f h"), "(integer) 2");
}

TEST_P(BloomCommands, CarriedFromOneKeyToAnother) {
  server("BF.RESERVE f 0.01 10");
  for (int i = 0; i < 100; i++) server("BF.ADD f " + std::to_string(i));
  Piece piece{"0", ""};
  int pieces = 0;
  while (true) {
    piece = scandump(piece.position);
    if (piece.position == "0") break;
    EXPECT_EQ(loadchunk(piece), "OK");
    pieces++;
  }
  EXPECT_EQ(pieces, 5) << "the header and four layers";
  EXPECT_EQ(server("BF.INFO g"), server("BF.INFO f"));
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(server("BF.EXISTS g " + std::to_string(i)), "(integer) 1");
  }
  EXPECT_EQ(loadchunk({"1", "again"}), "(error) ERR received bad data");
}

TEST_P(BloomCommands, ChunksThatDoNotFit) {
  server("BF.RESERVE f 0.01 100");
  EXPECT_EQ(server("BF.SCANDUMP none 0"), "(error) ERR not found");
  EXPECT_EQ(server("BF.SCANDUMP f x"), "(error) Second argument must be numeric");
  for (const char* behind : {"-1", "145", "146", "9223372036854775807", "-9223372036854775808"}) {
    EXPECT_EQ(server(std::string("BF.SCANDUMP f ") + behind), "[(integer) 0, \"\"]") << behind;
  }
  EXPECT_EQ(server("BF.LOADCHUNK f x d"), "(error) ERR Second argument must be numeric");
  EXPECT_EQ(server("BF.LOADCHUNK none 2 d"), "(error) ERR not found");
  EXPECT_EQ(server("BF.LOADCHUNK none 1 d"), "(error) ERR received bad data");
  EXPECT_EQ(server("BF.LOADCHUNK f 0 d"), "(error) ERR received bad data");
  EXPECT_EQ(server("BF.LOADCHUNK f -1 d"), "(error) ERR received bad data");
  EXPECT_EQ(server("BF.LOADCHUNK f 1 dd"), "(error) ERR received bad data");
  EXPECT_EQ(server("BF.LOADCHUNK f 1 d"), "(error) ERR invalid offset - no link found");
  EXPECT_EQ(server("BF.LOADCHUNK f 146 d"), "(error) ERR invalid offset - no link found");
  EXPECT_EQ(server("BF.LOADCHUNK f 9223372036854775807 d"),
            "(error) ERR invalid offset - no link found");
  EXPECT_EQ(server("BF.LOADCHUNK f 146 dd"),
            "(error) ERR invalid chunk - Too big for current filter");
  EXPECT_EQ(server("BF.LOADCHUNK f 145 d"), "OK");
}

}  // namespace
}  // namespace sorrel::commands
