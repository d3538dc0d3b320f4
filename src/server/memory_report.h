#pragma once

#include <cstdint>
#include <string>

#include "server/allocator.h"

namespace sorrel::server {

class Server;

// Where the memory went, for INFO and MEMORY. Ratios are Redis's: each layer divided by the one
// inside it, and 1 when nothing is known.
struct MemoryReport {
  uint64_t used = 0;
  uint64_t peak = 0;
  uint64_t startup = 0;
  uint64_t resident = 0;
  uint64_t tables = 0;   // of the keyspace: directories and buckets
  uint64_t records = 0;  // keys and values
  uint64_t clients = 0;
  uint64_t aof_buffers = 0;  // not counted for maxmemory
  AllocatorStats allocator;

  uint64_t overhead() const { return startup + tables + clients + aof_buffers; }
  uint64_t dataset() const { return used > overhead() ? used - overhead() : 0; }
  uint64_t net_usage() const { return used > startup ? used - startup : 1; }
  double peak_percent() const { return percent(used, peak); }
  double dataset_percent() const { return percent(dataset(), net_usage()); }

  double allocator_frag_ratio() const { return ratio(allocator.active, allocator.allocated); }
  int64_t allocator_frag_bytes() const { return difference(allocator.active, allocator.allocated); }
  double allocator_rss_ratio() const { return ratio(allocator.resident, allocator.active); }
  int64_t allocator_rss_bytes() const { return difference(allocator.resident, allocator.active); }
  double rss_overhead_ratio() const { return ratio(resident, allocator.resident); }
  int64_t rss_overhead_bytes() const { return difference(resident, allocator.resident); }
  double fragmentation_ratio() const { return ratio(resident, used); }
  int64_t fragmentation_bytes() const { return difference(resident, used); }

 private:
  static double percent(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  }
  static double ratio(uint64_t outer, uint64_t inner) {
    return inner == 0 ? 1 : static_cast<double>(outer) / static_cast<double>(inner);
  }
  static int64_t difference(uint64_t outer, uint64_t inner) {
    return static_cast<int64_t>(outer) - static_cast<int64_t>(inner);
  }
};

// Under the gate.
MemoryReport make_memory_report(Server& server);

// What is striking about it, in sentences, for MEMORY DOCTOR.
std::string memory_advice(const MemoryReport& report, size_t client_count);

}  // namespace sorrel::server
