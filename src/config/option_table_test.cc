// The table, the configuration file, CONFIG at run time and the command line, on the sample
// program.

#include "config/option_table.h"

#include <gtest/gtest.h>

#include <memory>

#include "config/command_line.h"
#include "config/config_document.h"
#include "config/config_file.h"
#include "config/config_rewrite.h"
#include "config/config_store.h"
#include "config/directive_effect.h"
#include "config/sample_options.h"

namespace sorrel::config {
namespace {

using Settings = std::vector<ConfigStore::Setting>;
using Words = std::vector<std::string>;

Status load(std::string_view text, SampleOptions& options, const LoadEnvironment& with = {}) {
  return load_config(sample_table(), text, options, with);
}

std::string reason(std::string_view text) {
  SampleOptions options;
  const Status status = load(text, options);
  return status ? "" : status.error().text;
}

const Directive& row(std::string_view name) {
  return *sample_table().find(name);
}

TEST(OptionTable, FindsRowsOfAllChapters) {
  EXPECT_EQ(sample_table().rows().size(), 9u);
  EXPECT_EQ(&row("PORT"), sample_table().rows()[0]);
  EXPECT_EQ(&row("Pool-Connections"), &row("pool-size")) << "by its alias";
  EXPECT_EQ(sample_table().find("group"), nullptr) << "a file word is no directive";
  EXPECT_EQ(sample_table().chapters()[1].title, "Pool");
}

TEST(OptionTable, RowsReachIntoTheirStruct) {
  SampleOptions options;
  EXPECT_TRUE(assign(row("pool-size"), options, Words{"50"}));
  EXPECT_TRUE(assign(row("pool-max-bytes"), options, Words{"2kb"}));
  EXPECT_TRUE(assign(row("port"), options, Words{"65535"}));
  EXPECT_TRUE(assign(row("mode"), options, Words{"FAST"}));
  EXPECT_EQ(options.pool.size, 50);
  EXPECT_EQ(options.pool.max_bytes, 2048u);
  EXPECT_EQ(options.listen.port, 65535);
  EXPECT_EQ(options.mode, Mode::kFast);
  EXPECT_EQ(show(row("pool-size"), options), "50");
  EXPECT_EQ(show(row("pool-size"), sample_table().defaults()), "8");
  const Status status = assign(row("pool-size"), options, Words{"101"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text, "argument must be between 1 and 100 inclusive");
}

TEST(OptionTable, PartsComeFromTheRowOrItsChapter) {
  EXPECT_EQ(row("pool-size").part, &kPoolPart);
  EXPECT_EQ(row("port").part, &kListenPart);
  EXPECT_EQ(row("encrypted").part, nullptr);
  EXPECT_EQ(row("later").part, nullptr);
}

TEST(ConfigFile, DirectivesFileWordsAndIncludes) {
  LoadEnvironment environment;
  environment.files.read = [](const std::string&) -> Result<std::string> {
    return std::string("mode fast\n");
  };
  environment.files.change_dir = [](const std::string& path) -> Result<std::string> {
    return "/start/" + path;
  };
  SampleOptions options;
  const Status status = load(
      "# comment\nPORT 1\ngroup x\nold-word y\nhosts b\nhosts c\ninclude other\nfolder \"a b\"\n",
      options, environment);
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_EQ(options.listen.port, 1);
  EXPECT_EQ(options.groups, Words{"x"});
  EXPECT_EQ(options.hosts, (Words{"b", "c"})) << "lines add up";
  EXPECT_EQ(options.mode, Mode::kFast);
  EXPECT_EQ(options.folder, "/start/a b");
}

TEST(ConfigFile, ErrorsNameProgramLineAndReason) {
  EXPECT_EQ(reason("\nport x"),
            "\n*** FATAL CONFIG FILE ERROR (Sample 1) ***\n"
            "Reading the configuration file, at line 2\n"
            ">>> 'port x'\n"
            "argument couldn't be parsed into an integer\n");
  EXPECT_NE(reason("group"), "") << "too few arguments";
  EXPECT_NE(reason("unheard of"), "");
  EXPECT_EQ(reason("encrypted yes\nmode fast\n"),
            "\n*** FATAL CONFIG FILE ERROR (Sample 1) ***\ntoo good to be true\n");
}

TEST(ConfigFile, ValuesAreNormalized) {
  SampleOptions options;
  ASSERT_TRUE(load("pool-size 1", options));
  EXPECT_EQ(options.pool.size, 2);
}

class ConfigStoreTest : public ::testing::Test {
 protected:
  std::string set(const Settings& settings, ConfigStore::Caller caller = {}) {
    const Status status = store_.set(settings, caller);
    return status ? "OK" : status.error().text;
  }
  ConfigStore::Apply count(int& calls) {
    return [&calls]() -> Status {
      calls++;
      return {};
    };
  }

  SampleOptions options_;
  ConfigStore store_{sample_table(), options_};
};

TEST_F(ConfigStoreTest, Get) {
  EXPECT_EQ(store_.get(Words{"p*"}), (Settings{{"port", "7000"},
                                               {"pool-size", "8"},
                                               {"pool-connections", "8"},
                                               {"pool-max-bytes", "0"}}));
  EXPECT_EQ(store_.get(Words{"s*"}), Settings{}) << "hidden";
  EXPECT_EQ(store_.get(Words{"SECRET"}), (Settings{{"SECRET", ""}}));
}

TEST_F(ConfigStoreTest, ARegisteredPartIsNotifiedOnce) {
  int listen = 0;
  int pool = 0;
  int without_effect = 0;
  store_.on_change(kListenPart, count(listen));
  store_.on_change(kPoolPart, count(pool));
  store_.on_change_without_effect(count(without_effect));
  EXPECT_EQ(set({{"port", "7000"}}), "OK") << "the same value";
  EXPECT_EQ(listen, 0);
  EXPECT_TRUE(store_.has_receiver(kPoolPart));
  EXPECT_FALSE(store_.has_receiver(kModePart));
  EXPECT_EQ(set({{"port", "1"}, {"hosts", "x y"}, {"mode", "fast"}}), "OK");
  EXPECT_EQ(listen, 1);
  EXPECT_EQ(pool, 0);
  EXPECT_EQ(set({{"pool-connections", "9"}, {"later", "yes"}}), "OK");
  EXPECT_EQ(pool, 1);
  EXPECT_EQ(without_effect, 1);
}

TEST_F(ConfigStoreTest, ARejectionRestoresEverything) {
  std::vector<int> sizes;
  store_.on_change(kPoolPart, [&]() -> Status {
    sizes.push_back(options_.pool.size);
    return {};
  });
  store_.on_change(kModePart, [&]() -> Status {
    if (options_.mode == Mode::kFast) return Error{"not today"};
    return {};
  });
  EXPECT_EQ(set({{"pool-size", "20"}, {"mode", "fast"}}),
            "ERR CONFIG SET failed (possibly related to argument 'mode') - not today");
  EXPECT_EQ(options_.pool.size, 8);
  EXPECT_EQ(options_.mode, Mode::kSlow);
  EXPECT_EQ(sizes, (std::vector<int>{20, 8}));
}

TEST_F(ConfigStoreTest, FlagsForbid) {
  const std::string failed = "ERR CONFIG SET failed (possibly related to argument ";
  EXPECT_EQ(set({{"encrypted", "yes"}}), failed + "'encrypted') - can't set immutable config");
  EXPECT_EQ(set({{"folder", "x"}}), failed + "'folder') - can't set protected config");
  EXPECT_EQ(set({{"folder", "x"}}, {.may_set_protected = true}), "OK");
  EXPECT_EQ(options_.folder, "x");
}

TEST_F(ConfigStoreTest, RewriteKeepsFileWordsAndAddsChanges) {
  std::string content = "# mine\ngroup x\nport 1\nold-word y\n";
  FileAccess files;
  files.read = [&](const std::string&) -> Result<std::string> { return content; };
  files.replace = [&](const std::string&, std::string_view text) -> Status {
    content = text;
    return {};
  };
  store_.set_config_file("/sample.conf");
  EXPECT_EQ(set({{"pool-size", "9"}, {"port", "2"}}), "OK");
  ASSERT_TRUE(store_.rewrite(files, {}));
  EXPECT_EQ(content,
            "# mine\ngroup x\nport 2\n# ??? old-word y\n# Generated by CONFIG REWRITE\n"
            "pool-size 9\n");
  ASSERT_TRUE(store_.rewrite(files, {.words = {{"group", {"y", "z"}}}}));
  EXPECT_EQ(content,
            "# mine\ngroup y\nport 2\n# ??? old-word y\n# Generated by CONFIG REWRITE\n"
            "pool-size 9\ngroup z\n");
}

TEST(ConfigDocument, LoadsAndNamesTheChapters) {
  const std::string text = documented_config(sample_table());
  EXPECT_EQ(text.find("# A sample.\n\n# General ==="), 0u);
  EXPECT_NE(text.find("\n# Pool ==="), std::string::npos);
  EXPECT_NE(text.find("# Connections kept open. From 1 to 100. Older name: pool-connections.\n"
                      "pool-size 8\n"),
            std::string::npos);
  SampleOptions options;
  EXPECT_TRUE(load(text, options));
  EXPECT_EQ(rewrite_config(sample_table(), "", options, {}), "");
}

TEST(CommandLine, FileStandardInputAndDirectives) {
  const Words words = {"a.conf", "--port", "1", "--hosts", "--mode", "fast", "-"};
  const CommandLine line = parse_command_line(sample_table(), words);
  EXPECT_EQ(line.config_path, "a.conf");
  EXPECT_TRUE(line.config_from_stdin);
  EXPECT_EQ(line.directives, "port \"1\" \nhosts \"\"\nmode \"fast\" ");
  LoadEnvironment environment;
  environment.files.read = [](const std::string&) -> Result<std::string> {
    return std::string("port 5\npool-size 30");
  };
  SampleOptions options;
  ASSERT_TRUE(load_from_command_line(sample_table(), line, "\nmode slow\npool-size 31\n", options,
                                     environment));
  EXPECT_EQ(options.listen.port, 1);
  EXPECT_EQ(options.pool.size, 31);
  EXPECT_EQ(options.mode, Mode::kFast);
}

}  // namespace
}  // namespace sorrel::config
