#include <gtest/gtest.h>

#include <string>

#include "commands/test_harness.h"

namespace sorrel::commands {
namespace {

class GeoTest : public ::testing::TestWithParam<TestServer::Shape> {
 protected:
  TestServer server{{string_bindings(), keys_bindings(), zset_bindings(), zset_range_bindings(),
                     geo_bindings(), geo_search_bindings()},
                    GetParam()};

  void SetUp() override {
    server("GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania");
    server.events(), server.effects();
  }
  void expect(std::string_view line, const std::string& answer, const Texts& events) {
    EXPECT_EQ(server(line), answer) << line;
    EXPECT_EQ(server.events(), events) << line;
    EXPECT_EQ(server.effects(), events.empty() ? Texts{} : Texts{std::string(line)}) << line;
  }
  void quiet(std::string_view line, const std::string& answer) { expect(line, answer, {}); }
};

INSTANTIATE_TEST_SUITE_P(Shapes, GeoTest, ::testing::Values(kOneWorker, kFourWorkers), ShapeName());

TEST_P(GeoTest, AddNotifiesOnlyChanges) {
  expect("GEOADD k 1 1 a 2 2 b", "(integer) 2", {"zadd k"});
  quiet("GEOADD k 1 1 a", "(integer) 0");
  quiet("GEOADD k NX 5 5 a", "(integer) 0");
  quiet("GEOADD none XX 5 5 a", "(integer) 0");
  quiet("GEOADD k 1 1 c 200 1 d",
        "(error) ERR invalid longitude,latitude pair 200.000000,1.000000");
  expect("GEOADD k CH 5 5 a 1 1 e", "(integer) 2", {"zadd k"});
  quiet("EXISTS none", "(integer) 0");
}

TEST_P(GeoTest, Asking) {
  quiet("GEODIST Sicily Palermo Catania km", R"("166.2742")");
  quiet("GEOHASH Sicily Palermo none", R"(["sqc8b49rny0", (nil)])");
  quiet("GEOPOS Sicily Catania none",
        R"([["15.08726745843887329", "37.50266842333162032"], (nil array)])");
  quiet("GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 200 km ASC WITHDIST WITHHASH",
        R"([["Catania", "56.4413", (integer) 3479447370796909], )"
        R"(["Palermo", "190.4424", (integer) 3479099956230698]])");
  quiet("GEORADIUS Sicily 15 37 100 km", R"(["Catania"])");
}

TEST_P(GeoTest, StoresReplaceAndDelete) {
  server("SET d text"), server.events(), server.effects();
  expect("GEOSEARCHSTORE d Sicily FROMMEMBER Palermo BYBOX 400 400 km", "(integer) 2",
         {"geosearchstore d"});
  expect("GEORADIUS Sicily 15 37 100 km STORE d", "(integer) 1", {"georadiusstore d"});
  quiet("ZRANGE d 0 -1", R"(["Catania"])");
  expect("GEORADIUSBYMEMBER Sicily Catania 1 km STOREDIST d", "(integer) 1", {"georadiusstore d"});
  quiet("ZSCORE d Catania", "(double) 0");
  expect("GEORADIUS Sicily 0 0 1 km STORE d", "(integer) 0", {"del d"});
  quiet("GEORADIUS Sicily 0 0 1 km STORE d", "(integer) 0");
  // The destination is the source.
  expect("GEOSEARCHSTORE Sicily Sicily FROMLONLAT 15 37 BYRADIUS 100 km", "(integer) 1",
         {"geosearchstore Sicily"});
  expect("GEOSEARCHSTORE Sicily none FROMLONLAT 15 37 BYRADIUS 100 km", "(integer) 0",
         {"del Sicily"});
}

}  // namespace
}  // namespace sorrel::commands
