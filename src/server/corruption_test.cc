// Damage anywhere in what a server finds on disk when it starts: RDB files, logs, manifests. A
// clear refusal that names the file and the place, a repair that is documented, or data that
// nothing could tell from sound data; never a crash, never more memory than the file accounts for,
// and never other data where there is a checksum. The files go through the very functions that a
// start uses.
//
// SORREL_DAMAGES sets how many damaged files are read (a fast number by default),
// SORREL_DAMAGE_SEED another seed.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "io/files.h"
#include "persist/aof_reader.h"
#include "persist/command_base.h"
#include "rdb/file_fixture.h"
#include "server/damage_fixture.h"
#include "server/server.h"
#include "types/string.h"

namespace sorrel::server {
namespace {

using namespace testing;
using rdb::testing::NamedFile;
using rdb::testing::StringSink;
using rdb::testing::Texts;

uint64_t damage_count() {
  return from_environment("SORREL_DAMAGES", 3000);
}
uint64_t damage_seed() {
  return from_environment("SORREL_DAMAGE_SEED", 1);
}

class TextLog final : public Logger {
 public:
  void write(LogLevel level, std::string_view message) override {
    if (level >= LogLevel::kWarning) (text += message) += '\n';
  }
  void write_raw(std::string_view message) override { text += message; }
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }

  std::string text;  // warnings
};

// Every key with its value and all its deadlines, one text each, sorted.
Texts contents_of(const Keyspace& keyspace) {
  Texts all;
  for (int db = 0; db < keyspace.database_count(); db++) {
    for (unsigned p = 0; p < keyspace.partition_count(); p++) {
      const Database* database = keyspace.find_database(p, db);
      if (database == nullptr) continue;
      database->table.for_each([&](void* entry) {
        const auto& record = *static_cast<const Record*>(entry);
        std::string line = fmt::format("{}:{}@{}", db, record.key(), record.expiry());
        if (record.type() == Type::kString) {
          IntegerText scratch;
          line += string_bytes(record, scratch);
        } else {
          rdb::Value value(record.type(), collection_of(record));
          for (const std::string& text : rdb::testing::texts_of(value)) (line += '\n') += text;
          if (value.type() == Type::kBloom) line += rdb::testing::written(value, {});
          (void)value.release();
        }
        all.push_back(std::move(line));
      });
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

struct Loaded {
  bool ok = false;
  std::string log;  // what was said about it
  Texts contents;   // when it is ok
  bool repaired() const { return log.find("loaded anyway because") != std::string::npos; }
};

// A whole server in a folder of its own, which starts again and again without ever running.
class House {
 public:
  House() {
    char folder[] = "/tmp/sorrel-corruption-test-XXXXXX";
    folder_ = mkdtemp(folder);
    Options options;
    options.network.port = 0;
    options.network.unix_socket = folder_ + "/socket";
    options.process.threads = 1;
    options.persistence.dir = folder_;
    server_ = std::make_unique<Server>(options, clock_, log_, config::FileAccess{});
    const Status started = server_->start();
    EXPECT_TRUE(started) << started.error().text;
    // Small bounds, so that small files have every encoding.
    const std::vector<config::ConfigStore::Setting> settings = {
        {"list-max-listpack-size", "6"},    {"hash-max-listpack-entries", "6"},
        {"set-max-intset-entries", "6"},    {"set-max-listpack-entries", "6"},
        {"zset-max-listpack-entries", "6"}, {"stream-node-max-entries", "4"}};
    EXPECT_TRUE(server_->config().set(settings, {.may_set_protected = true}));
    EXPECT_TRUE(io::make_directory(path("appendonlydir")));
  }
  ~House() {
    server_.reset();
    for (const std::string& name : written_) (void)unlink(path(name).c_str());
    (void)rmdir(path("appendonlydir").c_str());
    (void)unlink(path("socket").c_str());
    (void)rmdir(folder_.c_str());
  }

  void put(const std::string& name, std::string_view bytes) {
    written_.insert(name);
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), ptrdiff_t(bytes.size()));
  }
  Loaded start(bool from_log) {
    PersistenceOptions& options = server_->options().persistence;
    options.append_only = from_log;
    Keyspace& keyspace = server_->keyspace();
    for (int db = 0; db < keyspace.database_count(); db++) keyspace.flush(db, false);
    server_->scripting().functions.flush();
    log_.text.clear();
    persist::Persistence& persistence = server_->persistence();
    Loaded loaded;
    watch_.begin();
    const auto began = std::chrono::steady_clock::now();
    loaded.ok = !persistence.has_data() || persistence.load_at_start().ok();
    longest_ = std::max(longest_, std::chrono::steady_clock::now() - began);
    watch_.end();
    loaded.log = log_.text;
    if (loaded.ok) loaded.contents = contents_of(keyspace);
    return loaded;
  }
  Server& server() { return *server_; }
  const MemoryWatch& memory() const { return watch_; }
  std::chrono::steady_clock::duration longest() const { return longest_; }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  io::SystemClock clock_;
  TextLog log_;
  std::set<std::string> written_;
  std::unique_ptr<Server> server_;
  MemoryWatch watch_;
  std::chrono::steady_clock::duration longest_{};
};

std::string command(const Texts& words) {
  std::string out = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) out += fmt::format("${}\r\n{}\r\n", word.size(), word);
  return out;
}

// Lines of words; "x*9" stands for nine letters x.
std::string commands(std::initializer_list<const char*> lines) {
  std::string out;
  for (std::string_view line : lines) {
    Texts words;
    while (!line.empty()) {
      const size_t end = std::min(line.find(' '), line.size());
      std::string word(line.substr(0, end));
      if (const size_t star = word.find('*'); star == 1) {
        word = std::string(parse_uint64(word.substr(2)).value_or(0), word[0]);
      }
      words.push_back(std::move(word));
      line.remove_prefix(std::min(line.size(), end + 1));
    }
    out += words[0].starts_with('#') ? words[0] + "\r\n" : command(words);
  }
  return out;
}

// Every type in every encoding, deadlines of keys and of fields, several databases.
std::string first_half() {
  return commands({
      "#TS:1700000000",
      "SELECT 0",
      "SET text hello",
      "SET number -123456789",
      "SET small 7",
      "SET long z*300",
      "SET timed v PXAT 2000000000123",
      "SETBIT bits 500 1",
      "PFADD sketch a b c d e f g",
      "RPUSH list:small a 1 -70000",
      "RPUSH list:big a b c d e f g h 9",
      "RPUSH list:plain y*300 short",
      "SADD set:numbers 1 2 300000",
      "SADD set:small a 1 b",
      "SADD set:big a b c d e f g h i",
      "SADD set:many 1 2 3 4 5 6 7 8 9",
      "HSET hash:small f v g 12",
      "HSET hash:big a 1 b 2 c 3 d 4 e 5 f 6 g 7",
      "HSET hash:long f w*200",
      "HSET hash:timed a 1 b 2",
      "HPEXPIREAT hash:timed 2000000000456 FIELDS 1 a",
      "HSET hash:timed:big a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8",
      "HPEXPIREAT hash:timed:big 2000000000789 FIELDS 2 a h",
      "ZADD zset:small 1.5 m -3 n inf o",
      "ZADD zset:big 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8.25 h",
      "BF.RESERVE filter 0.01 20",
      "BF.MADD filter a b c",
  });
}
std::string second_half() {
  return commands({
      "#TS:1700000005",
      "SELECT 0",
      "XADD stream 1-1 f v",
      "XADD stream 2-0 f v g w",
      "XADD stream 3-0 f v",
      "XADD stream 4-0 other x*80",
      "XADD stream 5-0 f v",
      "XADD stream 6-1 f 17",
      "XDEL stream 3-0",
      "XGROUP CREATE stream readers 0",
      "XCLAIM stream readers alice 0 2-0 TIME 1700000000000 RETRYCOUNT 2 FORCE JUSTID LASTID 2-0",
      "XGROUP CREATECONSUMER stream readers bob",
      "MULTI",
      "SET in:multi 1",
      "INCR in:multi",
      "SELECT 9",
      "SET elsewhere 9",
      "EXEC",
      "#TS:1700000009",
      "SELECT 0",
      "DEL text",
      "APPEND small 890",
      "LPOP list:big",
      "SREM set:big a",
      "HDEL hash:big a",
      "ZINCRBY zset:big 2 a",
      "PEXPIREAT number 2000000000999",
      "MULTI",
      "RPUSH list:small end",
      "PERSIST timed",
      "EXEC",
      "SET last word",
  });
}

// How damaged files ended, by kind of damage.
class Tally {
 public:
  void add(const std::string& where, Damage damage, const std::string& how) {
    ends_[where][how]++;
    kinds_[kDamageNames[static_cast<size_t>(damage)]][how]++;
    total_++;
  }
  uint64_t total() const { return total_; }
  void print(const House& house) const {
    const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(house.longest());
    fmt::print("seed {}, {} damaged files, the longest took {} ms\n", damage_seed(), total_,
               longest.count());
    print(ends_);
    print(kinds_);
  }

 private:
  using Ends = std::map<std::string, std::map<std::string, uint64_t>>;
  static void print(const Ends& all) {
    for (const auto& [name, ends] : all) {
      fmt::print("  {:<34}", name);
      for (const auto& [how, count] : ends) fmt::print(" {} {}", count, how);
      fmt::print("\n");
    }
  }
  Ends ends_;
  Ends kinds_;
  uint64_t total_ = 0;
};

// Tables, the reading of a file and its log lines need this much whatever the file is.
constexpr uint64_t kFixedMemory = uint64_t{2} << 20;
// What LZF may make of a byte, and what a value may need on the way into the keyspace.
constexpr uint64_t kMemoryPerByte = 2 * 88;

class Corruption : public ::testing::Test {
 protected:
  // Fills the keyspace, as it is from then on.
  void fill() {
    house_.put("appendonlydir/appendonly.aof.manifest", "file all.aof seq 1 type i\n");
    house_.put("appendonlydir/all.aof", first_half() + second_half());
    const Loaded loaded = house_.start(true);
    ASSERT_TRUE(loaded.ok && loaded.log.empty()) << loaded.log;
  }
  std::string snapshot(const persist::SnapshotOptions& options) {
    StringSink sink;
    EXPECT_TRUE(persist::write_snapshot(house_.server().keyspace(), options, sink));
    return std::move(sink.bytes);
  }
  void check_bounds(const std::string& about, size_t file_bytes) {
    const uint64_t bound = kFixedMemory + kMemoryPerByte * file_bytes;
    ASSERT_LE(house_.memory().peak(), bound) << about;
    ASSERT_LE(house_.memory().biggest(), bound / 2) << about;
    ASSERT_LT(house_.longest(), std::chrono::seconds(10)) << about;
  }
  // It says which file, and where in it.
  static void check_refusal(const Loaded& loaded, const std::string& file,
                            const std::string& about) {
    ASSERT_NE(loaded.log.find(file), std::string::npos) << about << ": " << loaded.log;
    ASSERT_TRUE(loaded.log.find("offset ") != std::string::npos ||
                loaded.log.find(", line ") != std::string::npos)
        << about << ": " << loaded.log;
  }

  House house_;
  Tally tally_;
};

// ---------------------------------------------------------------- RDB files

struct RdbSample {
  NamedFile file;
  bool has_sum;
};

bool has_sum(std::string_view bytes) {
  if (bytes.starts_with("REDIS000") && bytes[8] < '5') return false;
  return bytes.substr(bytes.size() - 8) != std::string_view("\0\0\0\0\0\0\0\0", 8);
}

TEST_F(Corruption, OfRdbFiles) {
  fill();
  std::vector<RdbSample> samples;
  for (NamedFile& file : rdb::testing::files_of_all_versions()) {
    samples.push_back({file, has_sum(file.bytes)});
  }
  const auto add = [&](const char* name, const persist::SnapshotOptions& options) {
    samples.push_back({{name, snapshot(options)}, options.checksum});
  };
  // Those of the whole data set count more than once.
  for (int i = 0; i < 3; i++) {
    add("data set", {});
    add("data set, not compressed", {.compress = false});
    add("data set, no sum", {.checksum = false});
  }
  Random random(damage_seed());
  std::vector<Texts> sound;
  for (const RdbSample& sample : samples) {
    house_.put("dump.rdb", sample.file.bytes);
    const Loaded loaded = house_.start(false);
    ASSERT_TRUE(loaded.ok) << sample.file.name << ": " << loaded.log;
    ASSERT_FALSE(loaded.contents.empty()) << sample.file.name;
    sound.push_back(loaded.contents);
  }
  for (uint64_t i = 0; i < damage_count() * 6 / 10; i++) {
    const size_t which = random.below(samples.size());
    const RdbSample& sample = samples[which];
    const Damage damage = random_damage(random);
    const std::string bytes = damaged(sample.file.bytes, damage, random);
    const std::string about = fmt::format("seed {}, case {}, {}, {}", damage_seed(), i,
                                          sample.file.name, kDamageNames[size_t(damage)]);
    house_.put("dump.rdb", bytes);
    const Loaded loaded = house_.start(false);
    check_bounds(about, bytes.size());
    const bool is_same = loaded.ok && loaded.contents == sound[which];
    if (sample.has_sum) {
      ASSERT_TRUE(!loaded.ok || is_same) << about;
    }
    if (!loaded.ok) check_refusal(loaded, "dump.rdb", about);
    if (HasFatalFailure()) return;
    tally_.add(sample.has_sum ? "RDB with a sum" : "RDB without a sum", damage,
               !loaded.ok ? "refused"
               : is_same  ? "same data"
                          : "other data");
  }
  tally_.print(house_);
}

// How many lines of what was said hold this.
size_t lines_with(const Loaded& loaded, std::string_view part) {
  size_t count = 0;
  std::istringstream lines(loaded.log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) count++;
  }
  return count;
}

// An RDB file with a sound key and a damaged one.
std::string file_with_damage() {
  using namespace rdb::testing;
  FileBuilder file("REDIS0009");
  file.aux("many", "words").database(0).key("sound", text_value("v"));
  file.key("twice", packed_value(rdb::ObjectType::kHashZiplist, ziplist({"f", "1", "f", "2"})));
  return file.end();
}

// The log of a server that ends names the damage twice: where the loading stopped, and in what the
// checker says of the file.
void check_report(const Loaded& loaded) {
  EXPECT_FALSE(loaded.ok);
  const auto count = [&loaded](std::string_view part) { return lines_with(loaded, part); };
  EXPECT_EQ(count("Hash ziplist integrity check failed: ziplist with dup elements"), 2u)
      << loaded.log;
  EXPECT_EQ(count("--- RDB ERROR DETECTED ---"), 1u) << loaded.log;
  EXPECT_EQ(count("AUX FIELD"), 0u);
  EXPECT_EQ(count("Reading key 'twice'"), 1u);
  EXPECT_EQ(count("[info] 1 keys read"), 1u);
}

TEST_F(Corruption, IsLookedIntoBeforeTheEnd) {
  house_.put("dump.rdb", file_with_damage());
  const Loaded loaded = house_.start(false);
  check_report(loaded);
  EXPECT_EQ(lines_with(loaded, "Terminating server after rdb file reading failure."), 1u);
}

// ---------------------------------------------------------------- logs

struct LogSample {
  std::string name;
  std::map<std::string, std::string> files;  // of appendonlydir
  std::string damaged;                       // which of them
  bool is_last = false;
  bool has_sum = false;
};

class CorruptionOfLogs : public Corruption {
 protected:
  static constexpr const char* kManifestName = "appendonly.aof.manifest";

  void put_all(const std::map<std::string, std::string>& files) {
    for (const auto& [name, bytes] : files) house_.put("appendonlydir/" + name, bytes);
  }
  Loaded load(const LogSample& sample, std::string_view bytes) {
    // The others are as they were, but for what a repair may have cut.
    put_all(sample.files);
    house_.put("appendonlydir/" + sample.damaged, bytes);
    return house_.start(true);
  }
  std::vector<LogSample> samples() {
    fill();
    // The first half as a base, the second as increments.
    house_.put("appendonlydir/all.aof", first_half());
    EXPECT_TRUE(house_.start(true).ok);
    const std::string rdb = snapshot({});
    StringSink plain;
    EXPECT_TRUE(persist::write_commands(house_.server().keyspace(), {}, 1700000000, plain));
    const std::string second = second_half();
    const std::string tail = commands({"#TS:1700000020", "SELECT 9", "SET tail 1", "INCR tail",
                                       "MULTI", "SET m 1", "LPUSH l a b", "EXEC", "DEL m"});
    const std::map<std::string, std::string> parts = {
        {kManifestName,
         "file appendonly.aof.2.base.rdb seq 2 type b\n"
         "file appendonly.aof.1.incr.aof seq 1 type h\n"
         "file appendonly.aof.1.base.rdb seq 1 type h\n"
         "file appendonly.aof.2.incr.aof seq 2 type i\n"
         "file appendonly.aof.3.incr.aof seq 3 type i\n"},
        {"appendonly.aof.2.base.rdb", rdb},
        {"appendonly.aof.2.incr.aof", second},
        {"appendonly.aof.3.incr.aof", tail}};
    std::map<std::string, std::string> in_words = {
        {kManifestName,
         "file appendonly.aof.1.base.aof seq 1 type b\n"
         "file appendonly.aof.1.incr.aof seq 1 type i\n"},
        {"appendonly.aof.1.base.aof", plain.bytes},
        {"appendonly.aof.1.incr.aof", second}};
    std::map<std::string, std::string> old = {{kManifestName, "file appendonly.aof seq 1 type b\n"},
                                              {"appendonly.aof", rdb + second}};
    return {
        {"base, an RDB file", parts, "appendonly.aof.2.base.rdb", false, true},
        {"increment", parts, "appendonly.aof.2.incr.aof", false, false},
        {"last increment", parts, "appendonly.aof.3.incr.aof", true, false},
        {"base of commands", in_words, "appendonly.aof.1.base.aof", false, false},
        {"increment behind commands", in_words, "appendonly.aof.1.incr.aof", true, false},
        {"old log, RDB in front", old, "appendonly.aof", true, false},
    };
  }
  // What a log may be when it is cut anywhere: as it was after some command.
  std::set<Texts> states_of(const LogSample& sample) {
    std::set<Texts> states;
    const std::string& bytes = sample.files.at(sample.damaged);
    uint64_t begin = 0;
    if (rdb::FileReader::recognises(bytes)) {
      rdb::testing::Listing listing;
      const rdb::FileReadOptions options{.limits = rdb::testing::limits()};
      rdb::FileReader reader(bytes, options, listing);
      EXPECT_TRUE(reader.read());
      begin = reader.position();
    }
    persist::AofReader reader(bytes, begin);
    using Found = persist::AofReader::Found;
    for (Found found = Found::kCommand; found == Found::kCommand || found == Found::kTimestamp;) {
      const Loaded loaded = load(sample, std::string_view(bytes).substr(0, reader.position()));
      if (loaded.ok) states.insert(loaded.contents);
      found = reader.next();
    }
    return states;
  }
  std::string judge(const LogSample& sample, Damage damage, const Loaded& loaded,
                    const Texts& sound, const std::string& about);
};

std::string CorruptionOfLogs::judge(const LogSample& sample, Damage damage, const Loaded& loaded,
                                    const Texts& sound, const std::string& about) {
  if (!loaded.ok) {
    check_refusal(loaded, sample.damaged, about);
    return "refused";
  }
  const bool is_same = loaded.contents == sound;
  if (loaded.repaired()) {
    EXPECT_TRUE(sample.is_last || damage == Damage::kCut) << about << ": " << loaded.log;
    EXPECT_NE(loaded.log.find("offset "), std::string::npos) << loaded.log;
    // What was repaired is whole from then on.
    const Loaded again = house_.start(true);
    EXPECT_TRUE(again.ok && !again.repaired()) << about << ": " << again.log;
    EXPECT_EQ(again.contents, loaded.contents) << about;
    return "repaired";
  }
  EXPECT_TRUE(is_same || !sample.has_sum) << about;
  return is_same ? "same data" : "other data";
}

TEST_F(CorruptionOfLogs, InOneOfTheirFiles) {
  const std::vector<LogSample> all = samples();
  Random random(damage_seed() + 1);
  std::vector<Texts> sound;
  std::vector<std::set<Texts>> states;
  for (const LogSample& sample : all) {
    const Loaded loaded = load(sample, sample.files.at(sample.damaged));
    ASSERT_TRUE(loaded.ok && loaded.log.empty()) << sample.name << ": " << loaded.log;
    sound.push_back(loaded.contents);
    states.push_back(sample.has_sum ? std::set<Texts>{} : states_of(sample));
  }
  for (uint64_t i = 0; i < damage_count() * 3 / 10; i++) {
    const size_t which = random.below(all.size());
    const LogSample& sample = all[which];
    const Damage damage = random_damage(random);
    const std::string bytes = damaged(sample.files.at(sample.damaged), damage, random);
    const std::string about = fmt::format("seed {}, case {}, {}, {}", damage_seed(), i, sample.name,
                                          kDamageNames[size_t(damage)]);
    const Loaded loaded = load(sample, bytes);
    size_t total = bytes.size();
    for (const auto& [name, others] : sample.files) total += others.size();
    check_bounds(about, total);
    const std::string how = judge(sample, damage, loaded, sound[which], about);
    // What is cut, by whoever, is as it was after some command.
    if (loaded.ok && sample.is_last &&
        (damage == Damage::kCut || (damage == Damage::kBit && loaded.repaired()))) {
      EXPECT_TRUE(states[which].contains(loaded.contents)) << about;
    }
    if (HasFailure()) return;
    tally_.add("log: " + sample.name, damage, how);
  }
  tally_.print(house_);
}

// As of an RDB file that is not part of a log: in a base, and in front of a log of old.
TEST_F(CorruptionOfLogs, IsLookedIntoBeforeTheEnd) {
  put_all({{kManifestName,
            "file appendonly.aof.1.base.rdb seq 1 type b\n"
            "file appendonly.aof.1.incr.aof seq 1 type i\n"},
           {"appendonly.aof.1.base.rdb", file_with_damage()},
           {"appendonly.aof.1.incr.aof", commands({"SET k v"})}});
  Loaded loaded = house_.start(true);
  check_report(loaded);
  check_refusal(loaded, "appendonly.aof.1.base.rdb", "base");
  put_all({{kManifestName, "file old.aof seq 1 type b\n"},
           {"old.aof", file_with_damage() + commands({"SET k v"})}});
  loaded = house_.start(true);
  check_report(loaded);
  check_refusal(loaded, "old.aof", "log of old");
}

// What is sound and yet cannot be loaded is told as what it is, and not as damage.
TEST_F(CorruptionOfLogs, IsNotSuspectedWhereThereIsNone) {
  rdb::testing::FileBuilder file("REDIS0009");
  file.database(99).key("k", rdb::testing::text_value("v"));
  put_all({{kManifestName, "file appendonly.aof.1.base.rdb seq 1 type b\n"},
           {"appendonly.aof.1.base.rdb", file.end()}});
  const Loaded loaded = house_.start(true);
  EXPECT_FALSE(loaded.ok);
  EXPECT_EQ(lines_with(loaded, "keys in database 99"), 1u) << loaded.log;
  EXPECT_EQ(lines_with(loaded, "--- RDB ERROR DETECTED ---"), 0u) << loaded.log;
}

// A log is data. What rules the server is not run, or a log could end it, or load itself for ever.
TEST_F(CorruptionOfLogs, CannotRuleTheServer) {
  put_all({{kManifestName, "file a.1.incr.aof seq 1 type i\n"},
           {"a.1.incr.aof",
            commands({"SET a 1", "CONFIG SET databases 1", "SHUTDOWN NOSAVE", "DEBUG LOADAOF",
                      "MULTI", "SHUTDOWN NOSAVE", "SET b 1", "EXEC", "SET c 1"})}});
  const Loaded loaded = house_.start(true);
  EXPECT_TRUE(loaded.ok) << loaded.log;
  EXPECT_EQ(loaded.contents.size(), 3u);
  EXPECT_EQ(lines_with(loaded, "4 commands of the append only file were refused"), 1u)
      << loaded.log;
  EXPECT_FALSE(house_.server().stopping());
}

// Else its keys would come into another database, and over those that are there.
TEST_F(CorruptionOfLogs, ForDatabasesThatAreNotThere) {
  for (const std::string& body : {commands({"SET a 1", "SELECT 16", "SET a 2"}),
                                  commands({"SET a 1", "MULTI", "SELECT 16", "SET a 2", "EXEC"}),
                                  commands({"SET a 1", "SELECT -1", "SET a 2"})}) {
    put_all({{kManifestName, "file a.1.incr.aof seq 1 type i\n"}, {"a.1.incr.aof", body}});
    const Loaded loaded = house_.start(true);
    EXPECT_FALSE(loaded.ok) << loaded.log;
    check_refusal(loaded, "a.1.incr.aof", "database");
    EXPECT_EQ(lines_with(loaded, "there are only 16 databases"), 1u) << loaded.log;
  }
}

TEST_F(CorruptionOfLogs, InTheManifest) {
  LogSample sample = samples()[0];
  sample.damaged = kManifestName;
  const std::string good = sample.files.at(kManifestName);
  const Texts sound = load(sample, good).contents;
  Random random(damage_seed() + 2);
  for (uint64_t i = 0; i < damage_count() / 10; i++) {
    const Damage damage = random_damage(random);
    const std::string bytes = damaged(good, damage, random);
    const std::string about = fmt::format("seed {}, case {}, {}: {}", damage_seed(), i,
                                          kDamageNames[size_t(damage)], bytes);
    const Loaded loaded = load(sample, bytes);
    check_bounds(about, 1 << 16);
    const bool is_same = loaded.ok && loaded.contents == sound;
    // One bit makes no other log of it, but for one more increment in a history that is not deleted
    // yet. A manifest that is cut between two lines, or in which a line has become a comment, is
    // one like any other.
    const bool is_more_history = bytes.find("2.incr.aof seq 2 type h") != std::string::npos;
    if (damage == Damage::kBit && !is_more_history) {
      ASSERT_TRUE(!loaded.ok || is_same) << about;
    }
    if (!loaded.ok) {
      // The manifest and its line, or the file that is named wrongly and is not there.
      ASSERT_TRUE(loaded.log.find("AOF manifest") != std::string::npos ||
                  loaded.log.find("append only file ") != std::string::npos)
          << about << loaded.log;
    }
    if (HasFatalFailure()) return;
    tally_.add("manifest", damage, !loaded.ok ? "refused" : is_same ? "same data" : "other data");
  }
  tally_.print(house_);
}

}  // namespace
}  // namespace sorrel::server
