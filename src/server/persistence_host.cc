#include "server/persistence_host.h"

#include <utility>

#include "server/rdb_damage.h"
#include "server/server.h"
#include "server/version.h"
#include "session/pause.h"

namespace sorrel::server {

const Clock& PersistenceHost::clock() const {
  return server_.clock();
}

Logger& PersistenceHost::log() {
  return server_.log();
}

const persist::PersistenceOptions& PersistenceHost::options() const {
  return server_.options().persistence;
}

NodeState& PersistenceHost::node() {
  return server_.node();
}

EffectStream& PersistenceHost::effects() {
  return server_.effects();
}

Keyspace& PersistenceHost::keyspace() {
  return server_.keyspace();
}

const ExecutorWorld& PersistenceHost::executors() const {
  return server_.executors();
}

unsigned PersistenceHost::worker_count() const {
  return static_cast<unsigned>(server_.workers().size());
}

uint64_t PersistenceHost::changes() const {
  return server_.changes();
}

persist::SnapshotFacts PersistenceHost::snapshot_facts(bool as_aof_base) const {
  persist::SnapshotFacts facts{
      .redis_version = std::string(kRedisVersion),
      .used_memory = server_.used_memory(),
      .eviction = server_.options().memory.eviction.policy,
      .processors = server_.processors().snapshot_writer(as_aof_base),
      .libraries = {},
  };
  for (const auto& [name, library] : server_.scripting().functions.libraries()) {
    facts.libraries.push_back(library->code);
  }
  return facts;
}

Status PersistenceHost::load_library(std::string_view code, bool replace) {
  const auto loaded = server_.scripting().functions.load(code, replace, 0);
  return loaded ? Status{} : Status{loaded.error()};
}

void PersistenceHost::flush_libraries() {
  server_.scripting().functions.flush();
}

void PersistenceHost::report_damage(const std::string& path, std::string_view bytes,
                                    bool stands_alone) {
  log_rdb_damage(path, bytes, stands_alone, server_.clock().wall_ms(), server_.log());
}

void PersistenceHost::flush_effects() {
  for (const auto& worker : server_.workers()) worker->executor().effects().flush();
}

void PersistenceHost::on_loading() {
  update_expiry_mode(server_.sessions());
}

Status PersistenceHost::yield(unsigned worker, persist::LoadPhase phase) {
  Worker& here = *server_.workers()[worker];
  if (phase == persist::LoadPhase::kStarting) {
    here.take_turn_between();
  } else {
    here.let_others_in();
  }
  if (server_.stopping()) return Error{"the server was asked to end"};
  return {};
}

void PersistenceHost::end_yielding(unsigned worker) {
  server_.workers()[worker]->host().end_serving_others();
}

bool PersistenceHost::stopping() const {
  return server_.stopping();
}

void PersistenceHost::post_exclusive(std::function<void()> task) {
  Worker& worker = *server_.workers()[0];
  worker.host().post([&worker, task = std::move(task)] { worker.executor().exclusively(task); });
}

}  // namespace sorrel::server
