#include "server/server_directives.h"

#include <algorithm>
#include <memory>

#include "base/version.h"
#include "server/file_words.h"
#include "server/option_chapters.h"

namespace sorrel::server {
namespace {

// In the errors of configuration files, which tools compare.
constexpr std::string_view kProgram = "Redis 7.2.4";
static_assert(kProgram.ends_with(kRedisVersion));

constexpr int64_t kMinHz = 1;
constexpr int64_t kMaxHz = 500;
// A smaller backlog could not hold even one ordinary write.
constexpr int64_t kMinBacklogBytes = 16 * 1024;

constexpr std::string_view kPreamble[] = {
    "Configuration of the Sorrel server, with every directive at its default. Start the server "
    "with the path of a copy of this file as its first argument. One directive stands on each "
    "line, blanks separate its arguments, and an argument with blanks stands in quotes. Sizes take "
    "the units k, m, g (powers of 1000) and kb, mb, gb (powers of 1024). The last of several lines "
    "for the same directive wins, except that save and user lines add up.",

    "Words that only this file knows: include PATH reads another file (or all that match a glob) "
    "in this place; rename-command OLD NEW gives a command another name, and an empty NEW takes it "
    "away; user NAME RULES... makes a user as ACL SETUSER does.",
};

// hz to 1..500, repl-backlog-size to at least 16 kB, one database in cluster mode.
void normalize(config::Values& values) {
  auto& options = static_cast<Options&>(values);
  options.process.hz = std::clamp(options.process.hz, kMinHz, kMaxHz);
  options.replication.backlog_bytes = std::max(options.replication.backlog_bytes, kMinBacklogBytes);
  if (options.cluster.enabled) options.process.databases = 1;
}

Status check(const config::Values& values) {
  const auto& options = static_cast<const Options&>(values);
  if (options.cluster.enabled && !options.replication.primary_host.empty()) {
    return Error{"replicaof directive not allowed in cluster mode"};
  }
  return {};
}

// In the order of sorrel.conf. A component's own chapter is one line:
//     config::chapter_of<&Options::replication>("Replication", ..., &kReplicationPart),
std::vector<config::Chapter> all_chapters() {
  const auto chapter = &config::chapter<Options>;
  return {
      chapter("Process", process_directives(), nullptr),
      chapter("Network", network_directives(), nullptr),
      chapter("TLS", tls_directives(), &part::kTlsKeys),
      chapter("Clients", client_directives(), &part::kClients),
      chapter("Security", security_directives(), &part::kAccess),
      chapter("Memory and eviction", memory_directives(), &part::kMemory),
      chapter("Compact encodings", encoding_directives(), &part::kKeyspaceLimits),
      chapter("Snapshots (RDB)", rdb_directives(), nullptr),
      chapter("Append only file (AOF)", aof_directives(), nullptr),
      chapter("Replication", replication_directives(), nullptr),
      chapter("Cluster", cluster_directives(), nullptr),
      chapter("Monitoring", monitor_directives(), &part::kMonitoring),
      chapter("Logging", logging_directives(), nullptr),
  };
}

}  // namespace

const config::Table& server_directives() {
  static const config::Table the_table(std::make_unique<const Options>(), all_chapters(),
                                       {.version = kProgram,
                                        .preamble = kPreamble,
                                        .file_words = file_words(),
                                        .unknown_word = &unknown_word_error,
                                        .normalize = &normalize,
                                        .check = &check});
  return the_table;
}

}  // namespace sorrel::server
