#pragma once

#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "commands/test_harness.h"
#include "rdb/old_forms.h"
#include "rdb/payload.h"

// Shared by the tests of hostile payloads: values of every encoding, ways to damage them, and a
// server that restores them and runs every applicable command on those that it accepts.
namespace sorrel::commands::testing {

class DumpExercise {
 public:
  DumpExercise()
      : server_({
            dump_bindings(),         keys_bindings(),         string_bindings(),
            string_set_bindings(),   bitmap_bindings(),       hyperloglog_bindings(),
            list_bindings(),         list_search_bindings(),  list_move_bindings(),
            set_bindings(),          set_random_bindings(),   set_algebra_bindings(),
            hash_bindings(),         hash_counter_bindings(), hash_walk_bindings(),
            zset_bindings(),         zset_range_bindings(),   zset_pop_bindings(),
            zset_combine_bindings(), stream_bindings(),       bloom_bindings(),
        }) {
    // Small limits, so that few bytes reach every encoding.
    KeyspaceLimits& limits = server_.keyspace().limits();
    limits.list_max_listpack_size = 8;
    limits.list_compress_depth = 1;
    limits.hash_max_listpack_entries = 8;
    limits.set_max_intset_entries = 8;
    limits.set_max_listpack_entries = 8;
    limits.zset_max_listpack_entries = 8;
    limits.stream_node_max_entries = 6;
    server_.no_observers();
  }

  // Type and value, without version and checksum. True when it was accepted; then it was read,
  // changed, dumped and freed as well. A violated invariant aborts the process.
  bool run(std::string_view body) {
    std::string payload(body);
    rdb::seal_payload(payload, rdb::kNewestVersion);
    const std::string answer = call({"RESTORE", "k", "0", payload});
    require(answer == "OK" || answer == "(error) ERR Bad data format");
    require(server_("EXISTS k") == (answer == "OK" ? "(integer) 1" : "(integer) 0"));
    if (answer != "OK") return false;
    const std::string type = server_("TYPE k");
    // An accepted value can be dumped, and its dump is accepted again.
    const std::string dumped = dump();
    require(call({"RESTORE", "copy", "0", dumped}) == "OK");
    require(server_("TYPE copy") == type);
    require(count(type, "copy") == count(type, "k"));
    use(type);
    dump();
    server_("DEL k copy other");
    return true;
  }

  // Values of all types in all encodings, as bodies: in the current format, in newer and in old
  // ones.
  std::vector<std::string> samples();

  TestServer& server() { return server_; }

 private:
  static void require(bool holds) {
    if (!holds) std::abort();
  }

  std::string call(std::initializer_list<std::string_view> args) {
    NotationSink sink;
    const std::vector<std::string_view> words(args);
    server_.execute(words, sink);
    return sink.text();
  }
  // The payload of DUMP for "k".
  std::string dump() { return dump_of("k"); }
  std::string dump_of(std::string_view key) {
    const std::string reply = server_.resp("DUMP " + std::string(key));
    const size_t begin = reply.find("\r\n") + 2;
    return reply.substr(begin, reply.size() - begin - 2);
  }
  std::string body_of(std::string_view key) {
    std::string body = dump_of(key);
    body.resize(body.size() - 10);
    return body;
  }
  std::string count(const std::string& type, const std::string& key) {
    if (type == "string") return server_("STRLEN " + key);
    if (type == "list") return server_("LLEN " + key);
    if (type == "set") return server_("SCARD " + key);
    if (type == "hash") return server_("HLEN " + key);
    if (type == "zset") return server_("ZCARD " + key);
    if (type == "MBbloom--") return server_("BF.CARD " + key);
    return server_("XLEN " + key);
  }

  void use(const std::string& type) {
    for (const std::string_view line : lines(type)) {
      const std::string answer = server_(line);
      require(!answer.starts_with("(incomplete)"));
      // A string need not be a HyperLogLog.
      require(type == "string" || answer.find("WRONGTYPE") == std::string::npos);
      require(answer.find("unknown command") == std::string::npos);
    }
    server_("COPY k other REPLACE");
    server_("DEL k");
    server_("RENAME other k");
  }
  static std::span<const std::string_view> lines(const std::string& type);

  TestServer server_;
};

// Commands for a value of each type: reads, then changes, then deletions of its elements.
// clang-format off
inline constexpr std::string_view kStringLines[] = {
    "OBJECT ENCODING k", "GET k", "BITCOUNT k", "PFCOUNT k", "PFADD k a b", "APPEND k x",
};
inline constexpr std::string_view kListLines[] = {
    "OBJECT ENCODING k", "LRANGE k 0 -1", "LINDEX k 0", "LINDEX k -1", "LINDEX k 5",
    "LPOS k 1 COUNT 0", "LPOS k a RANK -1", "LSET k 0 new", "LSET k -1 5",
    "LINSERT k AFTER new x", "LINSERT k BEFORE 5 y", "RPUSH k 1 2 3 4", "LPUSH k a b c d",
    "LREM k 0 1", "LREM k -2 a", "LTRIM k 1 -2", "LPOP k", "RPOP k 2", "LMOVE k k LEFT RIGHT",
    "LRANGE k -3 -1", "RPUSH k last",
};
inline constexpr std::string_view kSetLines[] = {
    "OBJECT ENCODING k", "SMEMBERS k", "SISMEMBER k 1", "SMISMEMBER k a 1", "SSCAN k 0",
    "SRANDMEMBER k 5", "SRANDMEMBER k -5", "SINTER k copy", "SUNION k copy", "SDIFF k copy",
    "SADD k a 1 new 123456789012", "SREM k a 1", "SPOP k 2", "SADD k last",
};
inline constexpr std::string_view kHashLines[] = {
    "OBJECT ENCODING k", "HGETALL k", "HKEYS k", "HVALS k", "HGET k f", "HSCAN k 0",
    "HRANDFIELD k 5 WITHVALUES", "HRANDFIELD k -5", "HSTRLEN k f", "HSET k f v g 1",
    "HINCRBY k g 1", "HDEL k f", "HSETNX k h 1", "HMGET k a b g",
};
inline constexpr std::string_view kZsetLines[] = {
    "OBJECT ENCODING k", "ZRANGE k 0 -1 WITHSCORES", "ZREVRANGE k 0 -1",
    "ZRANGEBYSCORE k -inf +inf", "ZRANGEBYLEX k - +", "ZCOUNT k 0 10", "ZSCORE k a", "ZRANK k a",
    "ZSCAN k 0", "ZRANDMEMBER k 5 WITHSCORES", "ZUNION 2 k copy WITHSCORES",
    "ZADD k 1 a 2 new -inf low", "ZINCRBY k 1.5 a", "ZREM k a", "ZPOPMIN k", "ZPOPMAX k 2",
    "ZREMRANGEBYRANK k 0 0", "ZADD k 3 last",
};
inline constexpr std::string_view kStreamLines[] = {
    "XRANGE k - +", "XREVRANGE k + -", "XRANGE k 2 5", "XINFO STREAM k FULL COUNT 0",
    "XINFO STREAM k", "XINFO GROUPS k", "XINFO CONSUMERS k g", "XPENDING k g",
    "XPENDING k g - + 100", "XPENDING k g IDLE 1 - + 10 alice", "XREAD COUNT 3 STREAMS k 0",
    "XREADGROUP GROUP g alice STREAMS k 0", "XREADGROUP GROUP g carol COUNT 3 STREAMS k >",
    "XCLAIM k g dave 0 1-1 2-2 3-0 FORCE", "XAUTOCLAIM k g erin 0 0 COUNT 3", "XACK k g 1-1 2-2",
    "XDEL k 2-2 3-0", "XGROUP DELCONSUMER k g alice", "XADD k * f v", "XADD k * name v other w",
    "XTRIM k MAXLEN ~ 5", "XTRIM k MINID = 4", "XREVRANGE k + - COUNT 1", "XGROUP DESTROY k g",
};
inline constexpr std::string_view kBloomLines[] = {
    "OBJECT ENCODING k", "BF.INFO k", "BF.MEXISTS k a b 1 2", "BF.SCANDUMP k 0", "BF.SCANDUMP k 1",
    "BF.SCANDUMP k 60", "BF.MADD k a b new", "BF.LOADCHUNK k 9 12345678", "BF.CARD k",
};
// clang-format on

inline std::span<const std::string_view> DumpExercise::lines(const std::string& type) {
  if (type == "string") return kStringLines;
  if (type == "list") return kListLines;
  if (type == "set") return kSetLines;
  if (type == "hash") return kHashLines;
  if (type == "zset") return kZsetLines;
  if (type == "MBbloom--") return kBloomLines;
  return kStreamLines;
}

// Commands that create a value of each type and encoding; every line is a value.
inline std::vector<std::string> DumpExercise::samples() {
  const std::vector<std::vector<std::string>> values = {
      {"SET k hello"},
      {"SET k 1234567"},
      {"SET k -5"},
      {"PFADD k a b c d"},
      {"SET k aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbb"},
      {"RPUSH k a 1 -300 70000 x"},
      {"RPUSH k a b c d e f g h i j k l m n o p q r s t u v w x y z"},
      {"RPUSH k 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28"},
      {"SADD k 1 2 3 -7"},
      {"SADD k 1 70000 5000000000"},
      {"SADD k a b 1"},
      {"SADD k a b c d e f g h i j k"},
      {"HSET k f v g 1 h 300"},
      {"HSET k a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8 i 9 j 10"},
      {"ZADD k 1 a 2 b 2.5 c inf d"},
      {"ZADD k 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 1.5 j"},
      {"XADD k 1-1 f v", "XADD k 2-2 f w", "XADD k 3-0 f x", "XGROUP CREATE k g 0"},
      {"XADD k 1-1 f v", "XADD k 2-2 f w g 1", "XADD k 3-0 f x", "XADD k 4-0 f 1", "XADD k 5-0 f 2",
       "XADD k 6-0 f 3", "XADD k 7-0 f y", "XADD k 8-0 f z", "XDEL k 3-0", "XGROUP CREATE k g 0",
       "XGROUP CREATE k h 5-0", "XREADGROUP GROUP g alice COUNT 2 STREAMS k >",
       "XREADGROUP GROUP g bob COUNT 2 STREAMS k >",
       "XREADGROUP GROUP h carol COUNT 1 STREAMS k >"},
      {"BF.RESERVE k 0.1 2", "BF.MADD k 1 2 3 4 5 6"},
      {"BF.RESERVE k 0.1 3 NONSCALING", "BF.MADD k 1 2"},
  };
  std::vector<std::string> bodies;
  for (const auto& commands : values) {
    for (const std::string& line : commands) server_(line);
    for (const bool compress : {false, true}) {
      server_.keyspace().limits().rdb_compression = compress;
      bodies.push_back(body_of("k"));
    }
    Caller& caller = server_.caller;
    Door& door = server_.worker(0).door();
    door.begin(caller.db, server_.now_ms(), false);
    const Record* record = door.peek(door.key("k"));
    if (record->type() != Type::kString) {
      bodies.emplace_back();
      rdb::write_collection(record->type(), collection_of(*record), {12, false}, bodies.back());
    }
    server_("DEL k");
  }
  using namespace rdb::testing;
  using rdb::ObjectType;
  const Texts texts = {"a", "1", "-300", "70000", "x", "5000000000"};
  bodies.push_back(flat_value(ObjectType::kList, texts));
  bodies.push_back(packed_value(ObjectType::kListZiplist, ziplist(texts)));
  bodies.push_back(quicklist_of_ziplists({texts, {"b"}, texts}));
  bodies.push_back(packed_value(ObjectType::kHashZiplist, ziplist(texts)));
  bodies.push_back(packed_value(ObjectType::kHashZipmap, zipmap(texts, 2)));
  bodies.push_back(packed_value(ObjectType::kZsetZiplist, ziplist({"a", "1", "b", "1.5"})));
  bodies.push_back(zset_with_text_scores({"a", "1", "b", "1.5", "c", "-inf"}));
  return bodies;
}

// Damages a body in one to some places, at random and with hostile values.
class Mutator {
 public:
  Mutator(uint64_t seed, std::vector<std::string> samples)
      : random_(seed), samples_(std::move(samples)) {}

  std::string next() {
    std::string body = samples_[random_.below(samples_.size())];
    const uint64_t times = 1 + random_.below(random_.below(4) == 0 ? 8 : 2);
    for (uint64_t i = 0; i < times; i++) spoil(body);
    return body;
  }

 private:
  size_t place(const std::string& body) { return random_.below(body.size()); }
  // Boundary values of one of the formats.
  uint8_t boundary_byte() {
    static constexpr uint8_t kBoundaries[] = {0,    1,    2,    3,    4,    5,    0x7f,
                                              0x80, 0x81, 0xc0, 0xc3, 0xe0, 0xf0, 0xf1,
                                              0xf2, 0xf3, 0xf4, 0xfd, 0xfe, 0xff};
    if (random_.below(2) == 0) return static_cast<uint8_t>(random_.next());
    return kBoundaries[random_.below(std::size(kBoundaries))];
  }
  void spoil(std::string& body) {
    if (body.empty()) body.push_back(static_cast<char>(boundary_byte()));
    const size_t at = place(body);
    const size_t most = std::min<size_t>(body.size() - at, 24);
    const size_t run = 1 + random_.below(most);
    switch (random_.below(10)) {
      case 0:
        body[at] = static_cast<char>(body[at] ^ (1 << random_.below(8)));
        return;
      case 1:
      case 2:
        body[at] = static_cast<char>(boundary_byte());
        return;
      case 3:
        body[at] = static_cast<char>(body[at] + (random_.below(2) == 0 ? 1 : -1));
        return;
      case 4:
        body.erase(at, run);
        return;
      case 5:
        body.insert(at, 1, static_cast<char>(boundary_byte()));
        return;
      case 6:
        body.insert(at, body.substr(place(body), run));
        return;
      case 7: {
        const std::string piece = body.substr(place(body), run);
        body.replace(at, std::min(piece.size(), body.size() - at), piece);
        return;
      }
      case 8: {
        const std::string& other = samples_[random_.below(samples_.size())];
        const size_t from = random_.below(other.size());
        body.replace(at, run, other, from, run);
        return;
      }
      default:
        // Another type for the same bytes.
        body[0] = static_cast<char>(random_.below(27));
    }
  }

  Random random_;
  std::vector<std::string> samples_;
};

}  // namespace sorrel::commands::testing
