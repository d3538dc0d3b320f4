#pragma once

#include "persist/host.h"

namespace sorrel::server {

class Server;

// What persistence needs of this server.
class PersistenceHost final : public persist::Host {
 public:
  // `server` outlives it.
  explicit PersistenceHost(Server& server) : server_(server) {}

  const Clock& clock() const override;
  Logger& log() override;
  const persist::PersistenceOptions& options() const override;
  NodeState& node() override;
  EffectStream& effects() override;
  Keyspace& keyspace() override;
  const ExecutorWorld& executors() const override;
  unsigned worker_count() const override;
  uint64_t changes() const override;
  persist::SnapshotFacts snapshot_facts(bool as_aof_base) const override;
  Status load_library(std::string_view code, bool replace) override;
  void flush_libraries() override;
  void report_damage(const std::string& path, std::string_view bytes, bool stands_alone) override;
  void flush_effects() override;
  void on_loading() override;
  Status yield(unsigned worker, persist::LoadPhase phase) override;
  void end_yielding(unsigned worker) override;
  bool stopping() const override;
  void post_exclusive(std::function<void()> task) override;

 private:
  Server& server_;
};

}  // namespace sorrel::server
