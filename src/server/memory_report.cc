#include "server/memory_report.h"

#include <fmt/format.h>

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
  report.aof_buffers = server.aof_memory();
  const Keyspace& keyspace = server.keyspace();
  for (unsigned p = 0; p < keyspace.partition_count(); p++) {
    for (const auto& database : keyspace.partition(p).databases) {
      if (database == nullptr) continue;
      report.tables += database->table.memory_bytes();
      report.records += database->arena.memory_bytes();
    }
  }
  report.used = server.used_memory();
  // The peak is sampled; what is seen now may be a little above it.
  ServerFacts& facts = server.facts();
  facts.peak_memory = std::max(facts.peak_memory, report.used);
  report.peak = facts.peak_memory;
  return report;
}

std::string memory_advice(const MemoryReport& report, size_t client_count) {
  // Below this the process's own memory drowns every ratio.
  constexpr uint64_t kWorthLooking = 5 << 20;
  constexpr double kHighRatio = 1.4;
  constexpr double kHighAllocatorRatio = 1.1;
  constexpr int64_t kMuchWaste = 10 << 20;
  constexpr uint64_t kBigClient = 200 << 10;
  if (report.used < kWorthLooking) {
    return "This server holds so little that there is nothing to examine. Fill it with data and "
           "ask again.\n";
  }
  std::string text;
  const auto add = [&text](std::string_view sentence) { text += fmt::format("- {}\n", sentence); };
  if (static_cast<double>(report.peak) > 1.5 * static_cast<double>(report.used)) {
    add("The peak was more than one and a half times of what is used now. The allocator may keep "
        "pages from that time, which shows as fragmentation; MEMORY PURGE asks it to give them "
        "back.");
  }
  if (report.fragmentation_ratio() > kHighRatio && report.fragmentation_bytes() > kMuchWaste) {
    add("The process occupies more than 1.4 times the memory that is used. If the peak does not "
        "explain it, the sizes of values have changed a lot since they were written.");
  }
  if (report.allocator_frag_ratio() > kHighAllocatorRatio &&
      report.allocator_frag_bytes() > kMuchWaste) {
    add("The allocator holds more than a tenth in holes between blocks.");
  }
  if (report.allocator_rss_ratio() > kHighAllocatorRatio &&
      report.allocator_rss_bytes() > kMuchWaste) {
    add("The allocator holds many free pages; MEMORY PURGE asks it to give them back.");
  }
  if (report.rss_overhead_ratio() > kHighAllocatorRatio &&
      report.rss_overhead_bytes() > kMuchWaste) {
    add("Much of the process is neither data nor the allocator's: scripts, or threads.");
  }
  if (client_count > 0 && report.clients / client_count > kBigClient) {
    add("Clients hold more than 200 KB each on average. Look for slow readers with CLIENT LIST "
        "(omem), and at client-output-buffer-limit and maxmemory-clients.");
  }
  if (text.empty()) return "Nothing about the memory of this server is striking.\n";
  return "What is striking about the memory of this server:\n\n" + text;
}

}  // namespace sorrel::server
