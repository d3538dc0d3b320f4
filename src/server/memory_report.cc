#include "server/memory_report.h"

#include <algorithm>

#include "io/process.h"
#include "server/server.h"

namespace sorrel::server {

MemoryReport make_memory_report(Server& server) {
  MemoryReport report;
  report.allocator = allocator_stats();
  report.resident = io::resident_bytes();
  report.startup = server.facts().startup_memory;
  report.clients = server.client_memory();
  const Keyspace& keyspace = server.keyspace();
  for (unsigned p = 0; p < keyspace.partition_count(); p++) {
    for (const auto& database : keyspace.partition(p).databases) {
      if (database == nullptr) continue;
      report.tables += database->table.memory_bytes();
      report.records += database->arena.used_bytes();
    }
  }
  report.used = report.startup + report.clients + report.tables + report.records;
  // The peak is sampled; what is seen now may be a little above it.
  ServerFacts& facts = server.facts();
  facts.peak_memory = std::max(facts.peak_memory, report.used);
  report.peak = facts.peak_memory;
  return report;
}

}  // namespace sorrel::server
