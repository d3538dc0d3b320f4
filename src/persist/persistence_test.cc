#include "persist/persistence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "persist/fake_host.h"

namespace sorrel::persist {
namespace {

using testing::FakeHost;

class Fields final : public FieldSink {
 public:
  void text(std::string_view name, std::string_view value) override {
    values[std::string(name)] = value;
  }
  void number(std::string_view name, int64_t value) override { text(name, std::to_string(value)); }
  void ratio(std::string_view name, double value) override { text(name, std::to_string(value)); }

  std::map<std::string, std::string> values;
};

class PersistenceTest : public ::testing::Test {
 protected:
  PersistenceTest() {
    host.settings.snapshot_method = SnapshotMethod::kLive;  // no child processes
    persistence.connect();
  }
  ~PersistenceTest() override { persistence.stop(); }

  std::string info(const std::string& name) const {
    Fields fields;
    persistence.write_info(fields);
    return fields.values.contains(name) ? fields.values.at(name) : "(none)";
  }
  // As CONFIG SET has one applied.
  Status apply(const config::Part& part) {
    for (const DirectiveHook& hook : persistence.directive_hooks()) {
      if (&hook.part == &part) return hook.apply(false);
    }
    return Error{"no such part"};
  }

  FakeHost host;
  Persistence persistence{host};
};

TEST_F(PersistenceTest, RegistersItsCommands) {
  std::set<std::string_view> names;
  for (const Binding& binding : persistence.bindings()) names.insert(binding.name);
  EXPECT_EQ(names,
            (std::set<std::string_view>{"bgrewriteaof", "bgsave", "lastsave", "save", "waitaof"}));
}

TEST_F(PersistenceTest, StartsWithNothing) {
  EXPECT_TRUE(persistence.check_files());
  EXPECT_FALSE(persistence.has_data());
  EXPECT_TRUE(persistence.open_at_start());
  EXPECT_EQ(info("loading"), "0");
  EXPECT_EQ(info("aof_enabled"), "0");
  EXPECT_EQ(info("aof_current_size"), "(none)");
}

TEST_F(PersistenceTest, LoadsWhatAShutdownSaved) {
  for (int i = 0; i < 100; i++) host.set("key" + std::to_string(i), "value");
  EXPECT_EQ(info("rdb_changes_since_last_save"), "100");
  ASSERT_TRUE(persistence.prepare_shutdown({.save = true}));
  EXPECT_EQ(info("rdb_changes_since_last_save"), "0");
  ASSERT_TRUE(persistence.reload({.save = false}, {.worker = 0, .may_yield = true}));
  EXPECT_EQ(host.keys(), 100u);
  ASSERT_TRUE(persistence.has_data());
  DatasetLoad::Place place{.worker = 0, .may_yield = false};
  // Without a flush the keys are there already, and MERGE replaces them.
  EXPECT_FALSE(persistence.reload({.save = false, .flush = false}, place));
  EXPECT_TRUE(persistence.reload({.save = false, .flush = false, .merge = true}, place));
  EXPECT_EQ(info("rdb_last_load_keys_loaded"), "100");
}

TEST_F(PersistenceTest, YieldsDuringALongLoad) {
  for (int i = 0; i < 5000; i++) host.set("key" + std::to_string(i), std::string(100, 'x'));
  host.settings.rdb_compression = false;
  host.settings.loading_events_interval_bytes = 64 << 10;
  ASSERT_TRUE(persistence.reload({}, {.worker = 0, .may_yield = true}));
  EXPECT_GE(host.yields, 5);
  host.yields = 0;
  ASSERT_TRUE(persistence.reload({}, {.worker = 0, .may_yield = false}));
  EXPECT_EQ(host.yields, 0);
  host.is_stopping = true;
  EXPECT_FALSE(persistence.reload({}, {.worker = 0, .may_yield = true}));
  EXPECT_FALSE(persistence.loading());
}

TEST_F(PersistenceTest, ADamagedFileIsReported) {
  host.set("a", "1");
  ASSERT_TRUE(persistence.prepare_shutdown({.save = true}));
  std::filesystem::resize_file(host.path("dump.rdb"), 12);
  ASSERT_TRUE(persistence.has_data());
  EXPECT_FALSE(persistence.load_at_start());
  EXPECT_EQ(host.damaged, std::vector<std::string>{host.path("dump.rdb")});
  EXPECT_TRUE(host.lines.has("Terminating server after rdb file reading failure."));
}

TEST_F(PersistenceTest, DirectivesActAtOnce) {
  host.settings.append_only = true;
  ASSERT_TRUE(apply(part::kAppendOnly));
  EXPECT_EQ(info("aof_enabled"), "1");
  EXPECT_EQ(info("aof_rewrite_in_progress"), "1");
  host.settings.append_only = false;
  ASSERT_TRUE(apply(part::kAppendOnly));
  EXPECT_EQ(info("aof_enabled"), "0");
  EXPECT_EQ(info("aof_rewrite_in_progress"), "0");
  EXPECT_TRUE(apply(part::kSnapshots));
  EXPECT_TRUE(apply(part::kAppendOnlyHistory));
  host.settings.dir = host.path("missing");
  host.settings.append_only = true;
  EXPECT_FALSE(apply(part::kAppendOnly));
}

TEST_F(PersistenceTest, AShutdownThatCannotSaveIsRefused) {
  EXPECT_TRUE(persistence.saves_at_shutdown({}));
  host.settings.dir = host.path("missing");
  EXPECT_FALSE(persistence.prepare_shutdown({}));
  EXPECT_TRUE(host.lines.has("Errors trying to shut down the server."));
  EXPECT_TRUE(persistence.prepare_shutdown({.nosave = true}));
}

}  // namespace
}  // namespace sorrel::persist
