#include "server/memory_commands.h"

#include <fmt/format.h>

#include "base/numbers.h"
#include "dispatch/call.h"
#include "dispatch/option_parser.h"
#include "server/memory_report.h"
#include "server/server.h"

namespace sorrel::server {
namespace {

Server& server_of(const Call& call) {
  return call.context<Server>();
}

// What one key costs the table that holds it: its fair share.
size_t table_share(const Keyspace& keyspace, std::string_view key, int db) {
  const Database* database = keyspace.find_database(keyspace.partition_of(key), db);
  if (database == nullptr || database->table.size() == 0) return 0;
  return database->table.memory_bytes() / database->table.size();
}

// SAMPLES is understood, but nothing needs sampling yet: strings are measured as a whole.
void memory_usage(Call& call) {
  OptionParser options(call.args, 3);
  while (options.more()) {
    if (options.word("SAMPLES", 1)) {
      if (options.integer() < 0) options.fail_syntax();
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) return call.reply.error(options.error());
  const Record* record = call.keys.peek(call.key(2));
  if (record == nullptr) return call.reply.null();
  // A table with one key is a block of many empty places, which are not the key's.
  constexpr size_t kMostShare = 64;
  const size_t share = table_share(call.keys.keyspace(), call.arg(2), call.keys.db());
  call.reply.integer(
      static_cast<int64_t>(RecordArena::memory_of(record) + std::min(share, kMostShare)));
}

// The pairs of MEMORY STATS, collected first because a map begins with their number.
class Pairs {
 public:
  explicit Pairs(Call& call) : call_(call) {}
  void bytes(std::string_view name, uint64_t value) {
    writes_.emplace_back(name, [this, value] { call_.reply.integer(static_cast<int64_t>(value)); });
  }
  void signed_bytes(std::string_view name, int64_t value) {
    writes_.emplace_back(name, [this, value] { call_.reply.integer(value); });
  }
  void real(std::string_view name, double value) {
    writes_.emplace_back(name, [this, value] { call_.reply.real(value); });
  }
  void nested(std::string name, std::function<void()> write) {
    writes_.emplace_back(std::move(name), std::move(write));
  }
  void answer() {
    call_.reply.map(static_cast<int64_t>(writes_.size()));
    for (const auto& [name, write] : writes_) {
      call_.reply.bulk(name);
      write();
    }
  }

 private:
  Call& call_;
  std::vector<std::pair<std::string, std::function<void()>>> writes_;
};

struct DatabaseBytes {
  size_t keys = 0;
  size_t table_bytes = 0;
};

DatabaseBytes measure(const Keyspace& keyspace, int db) {
  DatabaseBytes sum;
  for (unsigned p = 0; p < keyspace.partition_count(); p++) {
    const Database* database = keyspace.find_database(p, db);
    if (database == nullptr) continue;
    sum.keys += database->table.size();
    sum.table_bytes += database->table.memory_bytes();
  }
  return sum;
}

void add_databases(Pairs& pairs, Call& call, const Keyspace& keyspace) {
  for (int db = 0; db < keyspace.database_count(); db++) {
    const DatabaseBytes bytes = measure(keyspace, db);
    if (bytes.keys == 0) continue;
    pairs.nested(fmt::format("db.{}", db), [&call, bytes] {
      call.reply.map(2);
      call.reply.bulk("overhead.hashtable.main");
      call.reply.integer(static_cast<int64_t>(bytes.table_bytes));
      // Deadlines lie in the records; there is no second table.
      call.reply.bulk("overhead.hashtable.expires");
      call.reply.integer(0);
    });
  }
}

void memory_stats(Call& call) {
  Server& server = server_of(call);
  const MemoryReport report = make_memory_report(server);
  const Keyspace& keyspace = server.keyspace();
  size_t keys = 0;
  for (int db = 0; db < keyspace.database_count(); db++) keys += keyspace.key_count(db);
  Pairs pairs(call);
  pairs.bytes("peak.allocated", report.peak);
  pairs.bytes("total.allocated", report.used);
  pairs.bytes("startup.allocated", report.startup);
  pairs.bytes("replication.backlog", 0);
  pairs.bytes("clients.slaves", 0);
  pairs.bytes("clients.normal", report.clients);
  pairs.bytes("cluster.links", 0);
  pairs.bytes("aof.buffer", report.aof_buffers);
  pairs.bytes("lua.caches", server.scripting().scripts.memory_bytes());
  pairs.bytes("functions.caches", server.scripting().functions.memory_bytes());
  add_databases(pairs, call, keyspace);
  pairs.bytes("overhead.total", report.overhead());
  pairs.bytes("keys.count", keys);
  pairs.bytes("keys.bytes-per-key", keys == 0 ? 0 : report.net_usage() / keys);
  pairs.bytes("dataset.bytes", report.dataset());
  pairs.real("dataset.percentage", report.dataset_percent());
  pairs.real("peak.percentage", report.peak_percent());
  pairs.bytes("allocator.allocated", report.allocator.allocated);
  pairs.bytes("allocator.active", report.allocator.active);
  pairs.bytes("allocator.resident", report.allocator.resident);
  pairs.real("allocator-fragmentation.ratio", report.allocator_frag_ratio());
  pairs.signed_bytes("allocator-fragmentation.bytes", report.allocator_frag_bytes());
  pairs.real("allocator-rss.ratio", report.allocator_rss_ratio());
  pairs.signed_bytes("allocator-rss.bytes", report.allocator_rss_bytes());
  pairs.real("rss-overhead.ratio", report.rss_overhead_ratio());
  pairs.signed_bytes("rss-overhead.bytes", report.rss_overhead_bytes());
  pairs.real("fragmentation", report.fragmentation_ratio());
  pairs.signed_bytes("fragmentation.bytes", report.fragmentation_bytes());
  pairs.answer();
}

void memory_doctor(Call& call) {
  Server& server = server_of(call);
  call.reply.verbatim("txt", memory_advice(make_memory_report(server),
                                           static_cast<size_t>(server.sessions().connected)));
}

void memory_malloc_stats(Call& call) {
  const std::string report = allocator_report();
  call.reply.verbatim("txt",
                      report.empty() ? "Stats not supported for the current allocator" : report);
}

void memory_purge(Call& call) {
  purge_allocator();
  call.reply.ok();
}

void memory_help(Call& call) {
  answer::help(call, {
                         "DOCTOR",
                         "    Explain memory problems and give advice.",
                         "MALLOC-STATS",
                         "    Show the statistics of the allocator.",
                         "PURGE",
                         "    Ask the allocator to give unused pages back.",
                         "STATS",
                         "    Show what the memory is used for.",
                         "USAGE <key> [SAMPLES <count>]",
                         "    Estimate the bytes that a key and its value take. A large value is "
                         "measured by",
                         "    <count> of its elements, 0 for all of them.",
                     });
}

}  // namespace

std::vector<Binding> memory_bindings(Server& server) {
  return {
      {"memory|doctor", &memory_doctor, &server},
      {"memory|help", &memory_help, &server},
      {"memory|malloc-stats", &memory_malloc_stats, &server},
      {"memory|purge", &memory_purge, &server},
      {"memory|stats", &memory_stats, &server},
      {"memory|usage", &memory_usage, &server},
  };
}

}  // namespace sorrel::server
