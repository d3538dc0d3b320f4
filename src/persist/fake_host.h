#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "persist/background_job.h"
#include "persist/host.h"
#include "persist/snapshot.h"
#include "types/string.h"

// A server around persistence, for tests: no workers, no loop, a clock that tests move.
namespace sorrel::persist::testing {

// Read by the AOF's thread, so it is one that may be moved meanwhile.
class SharedClock final : public Clock {
 public:
  int64_t wall_us() const override { return wall_us_.load(); }
  int64_t monotonic_ns() const override { return monotonic_ns_.load(); }
  void advance_ms(int64_t ms) {
    wall_us_ += ms * 1000;
    monotonic_ns_ += ms * 1'000'000;
  }

 private:
  std::atomic<int64_t> wall_us_{1'700'000'000'000'000};
  std::atomic<int64_t> monotonic_ns_{1'000'000'000};
};

class TextLog final : public Logger {
 public:
  void write(LogLevel, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    (text_ += message) += '\n';
  }
  void write_raw(std::string_view) override {}
  bool has(std::string_view part) const {
    const std::lock_guard lock(mutex_);
    return text_.find(part) != std::string::npos;
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

class FakeHost final : public Host {
 public:
  FakeHost() : keyspace_({}, nullptr) {
    char folder[] = "/tmp/sorrel-persist-test-XXXXXX";
    folder_ = mkdtemp(folder);
    settings.dir = folder_;
  }
  ~FakeHost() override { std::filesystem::remove_all(folder_); }

  const Clock& clock() const override { return time; }
  Logger& log() override { return lines; }
  const PersistenceOptions& options() const override { return settings; }
  NodeState& node() override { return state; }
  EffectStream& effects() override { return effects_; }
  Keyspace& keyspace() override { return keyspace_; }
  const ExecutorWorld& executors() const override { return world_; }
  unsigned worker_count() const override { return 1; }
  uint64_t changes() const override { return change_count; }
  SnapshotFacts snapshot_facts(bool) const override {
    SnapshotFacts facts;
    facts.redis_version = "7.0.0";
    for (const std::string& code : libraries) facts.libraries.push_back(code);
    return facts;
  }
  Status load_library(std::string_view code, bool) override {
    libraries.emplace_back(code);
    return {};
  }
  void flush_libraries() override { libraries.clear(); }
  void report_damage(const std::string& path, std::string_view, bool) override {
    damaged.push_back(path);
  }
  void flush_effects() override { effect_log_.flush(); }
  void on_loading() override { loads++; }
  Status yield(unsigned, LoadPhase) override {
    yields++;
    return is_stopping ? Status(Error{"the server was asked to end"}) : Status();
  }
  void end_yielding(unsigned) override {}
  bool stopping() const override { return is_stopping; }
  void post_exclusive(std::function<void()> task) override {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(task));
    is_posted_.notify_one();
  }

  // Runs what was posted so far.
  size_t run_posted() {
    std::vector<std::function<void()>> tasks;
    {
      const std::lock_guard lock(posted_mutex_);
      tasks.swap(posted_);
    }
    for (const auto& task : tasks) task();
    return tasks.size();
  }
  // The same once there is something. Bounded, so that a thread that posts nothing fails the test.
  bool await_posted() {
    {
      std::unique_lock lock(posted_mutex_);
      is_posted_.wait_for(lock, std::chrono::seconds(10), [this] { return !posted_.empty(); });
    }
    return run_posted() > 0;
  }
  // A change as a command makes it: a key and an effect.
  void set(std::string_view key, std::string_view text) {
    Database& database = keyspace_.database(keyspace_.partition_of(key), 0);
    database.table.insert(keyspace_.hash(key), database.arena.make_string(key, text, kNoExpiry));
    const std::string_view args[] = {"set", key, text};
    effect_log_.append(0, args, Audience::kAll);
    effect_log_.flush();
    change_count++;
  }
  uint64_t keys() { return keys_in(keyspace_); }
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  bool has_file(std::string_view name) const { return std::filesystem::exists(path(name)); }

  SharedClock time;
  TextLog lines;
  PersistenceOptions settings;
  NodeState state;
  uint64_t change_count = 0;
  std::vector<std::string> libraries;
  std::vector<std::string> damaged;
  int loads = 0;
  int yields = 0;
  bool is_stopping = false;

 private:
  std::string folder_;
  Keyspace keyspace_;
  EffectStream effects_;
  EffectLog effect_log_{effects_};
  WorldGate gate_{1};
  std::unique_ptr<CommandTable> commands_ = std::move(*CommandTable::build({}));
  ExecutorWorld world_{*commands_, keyspace_, effects_, gate_, state, CycleScale(1)};
  std::mutex posted_mutex_;
  std::condition_variable is_posted_;
  std::vector<std::function<void()>> posted_;
};

// Writes its file when the test says so, in the same thread.
class FakeJob final : public BackgroundJob {
 public:
  explicit FakeJob(Host& host) : host_(host) {}

  Status start(BackgroundWork work) override {
    if (fails_to_start) return Error{"fork: Cannot allocate memory"};
    work_ = std::move(work);
    return {};
  }
  ChildKind kind() const override { return work_ ? work_->kind : ChildKind::kNone; }
  int pid() const override { return 0; }
  BackgroundFacts facts() const override {
    BackgroundFacts facts;
    facts.kind = kind();
    return facts;
  }
  std::optional<ChildEnd> poll() override { return std::nullopt; }
  ChildEnd stop() override {
    ChildEnd end = take_end();
    end.killed = true;
    return end;
  }
  std::optional<ChildEnd> cancel() override { return stop(); }
  void on_rearrangement() override { rearrangements++; }

  // The work ends, and this is how. It has written the keys that are there now.
  ChildEnd finish() {
    ChildEnd end = take_end();
    const Status saved = write();
    end.ok = saved.ok();
    if (!saved) end.problem = saved.error().text;
    return end;
  }
  ChildEnd fail(const std::string& problem) {
    ChildEnd end = take_end();
    end.problem = problem;
    return end;
  }
  ChildEnd begin_again() {
    ChildEnd end = take_end();
    end.begin_again = true;
    return end;
  }

  bool fails_to_start = false;
  int rearrangements = 0;

 private:
  ChildEnd take_end() {
    last_ = std::exchange(work_, std::nullopt);
    ChildEnd end;
    if (last_) end.kind = last_->kind;
    return end;
  }
  Status write() {
    if (last_->live_file) {
      const auto saved = save_snapshot(host_.keyspace(), last_->options, *last_->live_file);
      return saved ? Status() : Status(saved.error());
    }
    ChildVoice voice(-1, host_.clock());
    return last_->in_child(last_->options, voice);
  }

  Host& host_;
  std::optional<BackgroundWork> work_;
  std::optional<BackgroundWork> last_;
};

}  // namespace sorrel::persist::testing
