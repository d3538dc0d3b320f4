// INFO about what the server holds: memory, the keys.

#include "base/numbers.h"
#include "io/process.h"
#include "server/allocator.h"
#include "server/info_sections.h"
#include "server/memory_report.h"
#include "server/server.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

void write_script_memory(InfoText& out, const script::Scripting& scripting) {
  const script::ScriptCache& scripts = scripting.scripts;
  const script::FunctionRegistry& functions = scripting.functions;
  const uint64_t heap = scripts.heap_bytes();
  out.field("used_memory_lua", heap);
  out.field("used_memory_vm_eval", heap);
  out.field("used_memory_lua_human", human_bytes(heap));
  out.field("used_memory_scripts_eval", scripts.memory_bytes());
  out.field("number_of_cached_scripts", scripts.count());
  out.field("number_of_functions", functions.function_count());
  out.field("number_of_libraries", functions.libraries().size());
  out.field("used_memory_vm_functions", functions.heap_bytes());
  out.memory("used_memory_vm_total", heap + functions.heap_bytes());
  out.field("used_memory_functions", functions.memory_bytes());
  out.memory("used_memory_scripts", scripts.memory_bytes() + functions.memory_bytes());
}

}  // namespace

void write_memory_section(InfoText& out, Server& server) {
  const MemoryReport report = make_memory_report(server);
  const AllocatorStats& allocator = report.allocator;
  out.section("Memory");
  out.memory("used_memory", report.used);
  out.memory("used_memory_rss", report.resident);
  out.memory("used_memory_peak", report.peak);
  out.percent("used_memory_peak_perc", report.peak_percent());
  out.field("used_memory_overhead", report.overhead());
  out.field("used_memory_startup", report.startup);
  out.field("used_memory_dataset", report.dataset());
  out.percent("used_memory_dataset_perc", report.dataset_percent());
  out.field("allocator_allocated", allocator.allocated);
  out.field("allocator_active", allocator.active);
  out.field("allocator_resident", allocator.resident);
  out.field("allocator_muzzy", 0);
  out.memory("total_system_memory", io::total_system_memory());
  write_script_memory(out, server.scripting());
  out.memory("maxmemory", server.options().memory.limit.max_bytes);
  out.field("maxmemory_policy",
            show(*server_directives().find("maxmemory-policy"), server.options()));
  out.ratio("allocator_frag_ratio", report.allocator_frag_ratio());
  out.field("allocator_frag_bytes", report.allocator_frag_bytes());
  out.ratio("allocator_rss_ratio", report.allocator_rss_ratio());
  out.field("allocator_rss_bytes", report.allocator_rss_bytes());
  out.ratio("rss_overhead_ratio", report.rss_overhead_ratio());
  out.field("rss_overhead_bytes", report.rss_overhead_bytes());
  out.ratio("mem_fragmentation_ratio", report.fragmentation_ratio());
  out.field("mem_fragmentation_bytes", report.fragmentation_bytes());
  out.field("mem_not_counted_for_evict", report.aof_buffers);
  out.zeros({"mem_replication_backlog", "mem_total_replication_buffers", "mem_clients_slaves"});
  out.field("mem_clients_normal", report.clients);
  out.zeros({"mem_cluster_links"});
  out.field("mem_aof_buffer", report.aof_buffers);
  out.field("mem_allocator", allocator_name());
  out.zeros({"mem_overhead_db_hashtable_rehashing", "active_defrag_running"});
  out.field("lazyfree_pending_objects", server.reclaimer().pending_objects());
  out.field("lazyfreed_objects", server.reclaimer().freed_objects());
}

void write_keyspace_section(InfoText& out, Server& server) {
  const Keyspace& keyspace = server.keyspace();
  out.section("Keyspace");
  for (int db = 0; db < keyspace.database_count(); db++) {
    const size_t keys = keyspace.key_count(db);
    if (keys == 0) continue;
    out.field(fmt::format("db{}", db),
              fmt::format("keys={},expires={},avg_ttl={}", keys, keyspace.expiring_count(db),
                          keyspace.average_ttl_ms(db)));
  }
}

}  // namespace sorrel::server
