// sorrel-check-aof: reports and repairs, also of randomly damaged files.

#include "tools/check_aof.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/random.h"
#include "rdb/file_fixture.h"

namespace sorrel::tools {
namespace {

std::string command(const std::vector<std::string>& args) {
  std::string text = "*" + std::to_string(args.size()) + "\r\n";
  for (const std::string& arg : args) {
    text += "$" + std::to_string(arg.size()) + "\r\n" + arg + "\r\n";
  }
  return text;
}

const std::string kSet = command({"SET", "foo", "hello"});

std::string small_rdb() {
  rdb::testing::FileBuilder file("REDIS0011");
  file.database(0);
  file.key("k", rdb::testing::text_value("v"));
  return file.end();
}

class CheckAof : public ::testing::Test {
 protected:
  CheckAof() : folder_(std::filesystem::temp_directory_path() / "sorrel-check-aof-XXXXXX") {
    std::string name = folder_.string();
    folder_ = mkdtemp(name.data());
  }
  ~CheckAof() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void put(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string get(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int run(const std::string& name, const AofCheckOptions& options = {}, bool answer = true) {
    report_.clear();
    return check_aof(path(name), options,
                     {.print = [this](std::string_view text) { report_ += text; },
                      .confirm = [answer] { return answer; },
                      .now_ms = 1});
  }
  bool says(std::string_view text) const { return report_.find(text) != std::string::npos; }
  // A base and an increment.
  void put_log(std::string_view base, std::string_view increment) const {
    put("log.1.base.aof", base);
    put("log.1.incr.aof", increment);
    put("log.manifest", "file log.1.base.aof seq 1 type b\nfile log.1.incr.aof seq 1 type i\n");
  }

  std::filesystem::path folder_;
  std::string report_;
};

TEST_F(CheckAof, OldFile) {
  put("log", kSet + kSet);
  EXPECT_EQ(run("log"), 0);
  EXPECT_TRUE(says("Start checking Old-Style AOF\n"));
  EXPECT_TRUE(says("size=66, ok_up_to=66, ok_up_to_line=15, diff=0\n"));
  EXPECT_TRUE(says("AOF " + path("log") + " is valid\n"));
}

TEST_F(CheckAof, OldFileThatResemblesAManifest) {
  put("log", command({"set", "file", "file log.1.base.aof seq 1 type b"}));
  EXPECT_EQ(run("log"), 0);
  EXPECT_TRUE(says("Start checking Old-Style AOF\n"));
}

TEST_F(CheckAof, EmptyFile) {
  put("log", "");
  EXPECT_EQ(run("log"), 0);
  EXPECT_TRUE(says(" is empty\n"));
}

TEST_F(CheckAof, RdbInFront) {
  put("log", small_rdb() + kSet);
  EXPECT_EQ(run("log"), 0);
  EXPECT_TRUE(says("RDB preamble is OK, proceeding with AOF tail...\n"));
  std::string bytes = small_rdb() + kSet;
  bytes[15] ^= 1;
  put("log", bytes);
  EXPECT_EQ(run("log", {.fix = true}), 1);
  EXPECT_TRUE(says("RDB preamble of AOF file is not sane, aborting.\n"));
  EXPECT_EQ(get("log"), bytes);
}

TEST_F(CheckAof, IncompleteTailIsReportedAndFixed) {
  put("log", kSet + "!!!");
  EXPECT_EQ(run("log"), 1);
  EXPECT_TRUE(says("ok_up_to=33, ok_up_to_line=8, diff=3\n"));
  EXPECT_TRUE(says("is not valid. Use the --fix option to try fixing it.\n"));
  EXPECT_EQ(run("log", {.fix = true}, false), 1);
  EXPECT_TRUE(says("Continue? [y/N]: Aborting...\n"));
  EXPECT_EQ(get("log"), kSet + "!!!");
  EXPECT_EQ(run("log", {.fix = true}), 0);
  EXPECT_TRUE(says("from 36 bytes, with 3 bytes, to 33 bytes\n"));
  EXPECT_TRUE(says("Successfully truncated AOF"));
  EXPECT_EQ(get("log"), kSet);
  EXPECT_EQ(run("log", {.fix = true}), 0);
}

TEST_F(CheckAof, IncompleteTransactionsAreInvalid) {
  const std::string multi = command({"multi"});
  const std::string exec = command({"EXEC"});
  put("log", multi + kSet + exec);
  EXPECT_EQ(run("log"), 0);
  put("log", kSet + multi + kSet);
  EXPECT_EQ(run("log"), 1);
  EXPECT_TRUE(says("Reached EOF before reading EXEC for MULTI\n"));
  EXPECT_TRUE(says("ok_up_to=33, ok_up_to_line=8,"));
  EXPECT_EQ(run("log", {.fix = true}), 0);
  EXPECT_EQ(get("log"), kSet);
  put("log", multi + kSet + multi);
  EXPECT_EQ(run("log"), 1);
  EXPECT_TRUE(says("Unexpected MULTI"));
  EXPECT_TRUE(says("ok_up_to=0,"));
  put("log", kSet + exec);
  EXPECT_EQ(run("log"), 1);
  EXPECT_TRUE(says("Unexpected EXEC"));
}

TEST_F(CheckAof, AllFilesOfAManifest) {
  put_log(kSet, kSet);
  EXPECT_EQ(run("log.manifest"), 0);
  EXPECT_TRUE(says("Start checking Multi Part AOF\nStart to check BASE AOF (RESP format).\n"));
  EXPECT_TRUE(says("BASE AOF log.1.base.aof is valid\nStart to check INCR files.\n"));
  EXPECT_TRUE(says("INCR AOF log.1.incr.aof is valid\nAll AOF files and manifest are valid\n"));
  put_log(small_rdb(), "");
  EXPECT_EQ(run("log.manifest"), 0);
  EXPECT_TRUE(says("Start to check BASE AOF (RDB format).\n"));
  EXPECT_TRUE(says("INCR AOF log.1.incr.aof is empty\n"));
}

TEST_F(CheckAof, OnlyTheLastFileIsCut) {
  put_log(kSet + "*", kSet + "*");
  EXPECT_EQ(run("log.manifest"), 1);
  EXPECT_TRUE(says("AOF log.1.base.aof is not valid."));
  EXPECT_EQ(run("log.manifest", {.fix = true}), 1);
  EXPECT_TRUE(says("Failed to truncate AOF log.1.base.aof because it is not the last file\n"));
  EXPECT_EQ(get("log.1.base.aof"), kSet + "*");
  put_log(kSet, kSet + "*");
  EXPECT_EQ(run("log.manifest", {.fix = true}), 0);
  EXPECT_EQ(get("log.1.incr.aof"), kSet);
}

TEST_F(CheckAof, ManifestProblems) {
  put_log(kSet, kSet);
  put("log.manifest", "# a comment\nfile log.1.base.aof seq 1 type b\n!!!\n");
  EXPECT_EQ(run("log.manifest"), 1);
  EXPECT_TRUE(says("at line 3\n>>> '!!!'\nInvalid AOF manifest file format\n"));
  put("log.manifest", "file ../log.1.base.aof seq 1 type b\n");
  EXPECT_EQ(run("log.manifest"), 1);
  EXPECT_TRUE(says("File can't be a path"));
  put("log.manifest", "file gone.aof seq 1 type b\n");
  EXPECT_EQ(run("log.manifest"), 1);
  EXPECT_TRUE(
      says("Cannot open file " + path("gone.aof") + ": No such file or directory, aborting...\n"));
  EXPECT_EQ(run("absent"), 1);
}

std::string log_with_times() {
  return "#TS:100\r\n" + kSet + "#TS:101\r\n" + kSet + "#TS:102\r\n#TS:103\r\n" + kSet +
         "#TS:104\r\n";
}

TEST_F(CheckAof, CutAtAMoment) {
  put("log", log_with_times());
  EXPECT_EQ(run("log", {.until_seconds = 105}), 0);
  EXPECT_TRUE(says("Truncate nothing in AOF"));
  EXPECT_EQ(run("log", {.until_seconds = 103}), 0);
  EXPECT_TRUE(says("to timestamp 103\n"));
  EXPECT_EQ(get("log"), log_with_times().substr(0, log_with_times().size() - 9));
  EXPECT_EQ(run("log", {.until_seconds = 101}), 0);
  EXPECT_EQ(get("log"), "#TS:100\r\n" + kSet + "#TS:101\r\n" + kSet);
  EXPECT_EQ(run("log", {.until_seconds = 100}), 0);
  EXPECT_EQ(get("log"), "#TS:100\r\n" + kSet);
  EXPECT_EQ(run("log", {.until_seconds = 99}), 1);
  EXPECT_TRUE(says("has nothing before timestamp 99, aborting...\n"));
  EXPECT_EQ(get("log"), "#TS:100\r\n" + kSet);
}

TEST_F(CheckAof, CutAtAMomentOnlyInTheLastFile) {
  put_log(log_with_times(), kSet);
  EXPECT_EQ(run("log.manifest", {.until_seconds = 103}), 1);
  EXPECT_TRUE(says("Failed to truncate AOF log.1.base.aof to timestamp 103 to offset"));
  EXPECT_TRUE(says("because it is not the last file"));
  EXPECT_EQ(get("log.1.base.aof"), log_with_times());
}

TEST_F(CheckAof, AMomentInsideATransaction) {
  const std::string before = "#TS:100\r\n" + kSet;
  put("log", before + command({"MULTI"}) + "#TS:200\r\n" + kSet + command({"EXEC"}));
  EXPECT_EQ(run("log", {.until_seconds = 150}), 0);
  EXPECT_EQ(get("log"), before);
}

// The result of --fix, for any bytes, is a valid AOF and a prefix of the input.
TEST_F(CheckAof, FixedFilesAreValid) {
  const std::string good =
      kSet + command({"multi"}) + kSet + kSet + command({"exec"}) + log_with_times() + kSet;
  Random random(11);
  for (int round = 0; round < 300; round++) {
    std::string bytes = good;
    if (round % 3 == 0) {
      bytes.resize(random.below(bytes.size()));
    } else {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    put("log", bytes);
    if (run("log", {.fix = true}) == 0) {
      EXPECT_EQ(run("log"), 0) << report_;
      EXPECT_TRUE(bytes.starts_with(get("log")));
    } else {
      // An RDB signature or a manifest by accident.
      EXPECT_EQ(get("log"), bytes);
    }
  }
}

TEST_F(CheckAof, ABaseThatShouldBeAnRdbFileIsOne) {
  put("log.manifest", "file log.1.base.rdb seq 1 type b\n");
  for (const std::string_view bytes : {std::string_view(), std::string_view(kSet)}) {
    put("log.1.base.rdb", bytes);
    EXPECT_EQ(run("log.manifest", {.fix = true}), 1);
    EXPECT_TRUE(says("0: BASE AOF log.1.base.rdb should be an RDB file and is none\n")) << report_;
    EXPECT_EQ(get("log.1.base.rdb"), bytes);
  }
}

// Any file of an AOF may be damaged: the report has an offset, and no file changes unless
// requested.
TEST_F(CheckAof, DamageIsReportedWithItsOffset) {
  std::string rdb;
  for (const auto& file : rdb::testing::files_of_all_versions()) {
    if (file.name == "version 11") rdb = file.bytes;
  }
  const std::map<std::string, std::string> sound = {
      {"log.manifest", "file log.1.base.rdb seq 1 type b\nfile log.1.incr.aof seq 1 type i\n"},
      {"log.1.base.rdb", rdb},
      {"log.1.incr.aof", kSet + command({"multi"}) + kSet + command({"exec"}) + log_with_times()}};
  Random random(13);
  for (int round = 0; round < 600; round++) {
    for (const auto& [name, bytes] : sound) put(name, bytes);
    const auto& [name, good] = *std::next(sound.begin(), round % 3);
    std::string bytes = good;
    if (round % 4 == 0) {
      bytes.resize(random.below(bytes.size()));
    } else {
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
    }
    put(name, bytes);
    const bool is_valid = run("log.manifest") == 0;
    EXPECT_LT(report_.size(), 10'000u);
    EXPECT_EQ(get(name), bytes);
    EXPECT_FALSE(is_valid && name == "log.1.base.rdb") << round;
    if (!is_valid) {
      EXPECT_TRUE(says("offset ") || says("0x") || says("at line ") || says("Cannot open file"))
          << report_;
    }
  }
}

TEST_F(CheckAof, Program) {
  std::string out;
  const auto call = [&](const std::vector<std::string>& args) {
    out.clear();
    return check_aof_program("redis-check-aof", args,
                             {.print = [&](std::string_view text) { out += text; },
                              .confirm = [] { return true; },
                              .now_ms = 1});
  };
  const std::string_view usage = "Usage: redis-check-aof [--fix|--truncate-to-timestamp";
  EXPECT_EQ(call({}), 1);
  EXPECT_TRUE(out.starts_with(usage));
  EXPECT_EQ(call({"--fix"}), 1);
  EXPECT_TRUE(out.starts_with(usage));
  EXPECT_EQ(call({"--mend", "log"}), 1);
  EXPECT_TRUE(out.starts_with(usage));
  EXPECT_EQ(call({"--truncate-to-timestamp", "soon", "log"}), 1);
  EXPECT_EQ(out, "Invalid timestamp, aborting...\n");
  put("log", kSet + "*3");
  EXPECT_EQ(call({path("log")}), 1);
  EXPECT_EQ(call({"--fix", path("log")}), 0);
  EXPECT_EQ(call({"--version"}), 0);
}

}  // namespace
}  // namespace sorrel::tools
