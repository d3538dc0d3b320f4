#include "server/server_directives.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/bytes.h"
#include "config/config_text.h"
#include "server/options.h"

namespace sorrel::server {
namespace {

using namespace config;

struct Expected {
  std::string_view name;
  std::string_view value;
};

// CONFIG GET * of Redis 7.0.15 started without a configuration. Left out: dir, which is wherever
// the server was started.
constexpr Expected kReference[] = {
    {"acl-pubsub-default", "resetchannels"},
    {"aclfile", ""},
    {"acllog-max-len", "128"},
    {"active-defrag-cycle-max", "25"},
    {"active-defrag-cycle-min", "1"},
    {"active-defrag-ignore-bytes", "104857600"},
    {"active-defrag-max-scan-fields", "1000"},
    {"active-defrag-threshold-lower", "10"},
    {"active-defrag-threshold-upper", "100"},
    {"active-expire-effort", "1"},
    {"activedefrag", "no"},
    {"activerehashing", "yes"},
    {"always-show-logo", "no"},
    {"aof-disable-auto-gc", "no"},
    {"aof-load-truncated", "yes"},
    {"aof-rewrite-incremental-fsync", "yes"},
    {"aof-timestamp-enabled", "no"},
    {"aof-use-rdb-preamble", "yes"},
    {"aof_rewrite_cpulist", ""},
    {"appenddirname", "appendonlydir"},
    {"appendfilename", "appendonly.aof"},
    {"appendfsync", "everysec"},
    {"appendonly", "no"},
    {"auto-aof-rewrite-min-size", "67108864"},
    {"auto-aof-rewrite-percentage", "100"},
    {"bgsave_cpulist", ""},
    {"bind-source-addr", ""},
    {"bind", "* -::*"},
    {"bio_cpulist", ""},
    {"busy-reply-threshold", "5000"},
    {"client-output-buffer-limit",
     "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"},
    {"client-query-buffer-limit", "1073741824"},
    {"cluster-allow-pubsubshard-when-down", "yes"},
    {"cluster-allow-reads-when-down", "no"},
    {"cluster-allow-replica-migration", "yes"},
    {"cluster-announce-bus-port", "0"},
    {"cluster-announce-hostname", ""},
    {"cluster-announce-ip", ""},
    {"cluster-announce-port", "0"},
    {"cluster-announce-tls-port", "0"},
    {"cluster-config-file", "nodes.conf"},
    {"cluster-enabled", "no"},
    {"cluster-link-sendbuf-limit", "0"},
    {"cluster-migration-barrier", "1"},
    {"cluster-node-timeout", "15000"},
    {"cluster-port", "0"},
    {"cluster-preferred-endpoint-type", "ip"},
    {"cluster-replica-no-failover", "no"},
    {"cluster-replica-validity-factor", "10"},
    {"cluster-require-full-coverage", "yes"},
    {"cluster-slave-no-failover", "no"},
    {"cluster-slave-validity-factor", "10"},
    {"crash-log-enabled", "yes"},
    {"crash-memcheck-enabled", "yes"},
    {"daemonize", "no"},
    {"databases", "16"},
    {"dbfilename", "dump.rdb"},
    {"disable-thp", "yes"},
    {"dynamic-hz", "yes"},
    {"enable-debug-command", "no"},
    {"enable-module-command", "no"},
    {"enable-protected-configs", "no"},
    {"hash-max-listpack-entries", "512"},
    {"hash-max-listpack-value", "64"},
    {"hash-max-ziplist-entries", "512"},
    {"hash-max-ziplist-value", "64"},
    {"hll-sparse-max-bytes", "3000"},
    {"hz", "10"},
    {"ignore-warnings", ""},
    {"io-threads-do-reads", "no"},
    {"io-threads", "1"},
    {"jemalloc-bg-thread", "yes"},
    {"latency-monitor-threshold", "0"},
    {"latency-tracking-info-percentiles", "50 99 99.9"},
    {"latency-tracking", "yes"},
    {"lazyfree-lazy-eviction", "no"},
    {"lazyfree-lazy-expire", "no"},
    {"lazyfree-lazy-server-del", "no"},
    {"lazyfree-lazy-user-del", "no"},
    {"lazyfree-lazy-user-flush", "no"},
    {"lfu-decay-time", "1"},
    {"lfu-log-factor", "10"},
    {"list-compress-depth", "0"},
    {"list-max-listpack-size", "-2"},
    {"list-max-ziplist-size", "-2"},
    {"logfile", ""},
    {"loglevel", "notice"},
    {"lua-time-limit", "5000"},
    {"masterauth", ""},
    {"masteruser", ""},
    {"maxclients", "10000"},
    {"maxmemory-clients", "0"},
    {"maxmemory-eviction-tenacity", "10"},
    {"maxmemory-policy", "noeviction"},
    {"maxmemory-samples", "5"},
    {"maxmemory", "0"},
    {"min-replicas-max-lag", "10"},
    {"min-replicas-to-write", "0"},
    {"min-slaves-max-lag", "10"},
    {"min-slaves-to-write", "0"},
    {"no-appendfsync-on-rewrite", "no"},
    {"notify-keyspace-events", ""},
    {"oom-score-adj-values", "0 200 800"},
    {"oom-score-adj", "no"},
    {"pidfile", ""},
    {"port", "6379"},
    {"proc-title-template", "{title} {listen-addr} {server-mode}"},
    {"propagation-error-behavior", "ignore"},
    {"protected-mode", "yes"},
    {"proto-max-bulk-len", "536870912"},
    {"rdb-del-sync-files", "no"},
    {"rdb-save-incremental-fsync", "yes"},
    {"rdbchecksum", "yes"},
    {"rdbcompression", "yes"},
    {"repl-backlog-size", "1048576"},
    {"repl-backlog-ttl", "3600"},
    {"repl-disable-tcp-nodelay", "no"},
    {"repl-diskless-load", "disabled"},
    {"repl-diskless-sync-delay", "5"},
    {"repl-diskless-sync-max-replicas", "0"},
    {"repl-diskless-sync", "yes"},
    {"repl-ping-replica-period", "10"},
    {"repl-ping-slave-period", "10"},
    {"repl-timeout", "60"},
    {"replica-announce-ip", ""},
    {"replica-announce-port", "0"},
    {"replica-announced", "yes"},
    {"replica-ignore-disk-write-errors", "no"},
    {"replica-ignore-maxmemory", "yes"},
    {"replica-lazy-flush", "no"},
    {"replica-priority", "100"},
    {"replica-read-only", "yes"},
    {"replica-serve-stale-data", "yes"},
    {"replicaof", ""},
    {"requirepass", ""},
    {"sanitize-dump-payload", "no"},
    {"save", "3600 1 300 100 60 10000"},
    {"server_cpulist", ""},
    {"set-max-intset-entries", "512"},
    {"set-proc-title", "yes"},
    {"shutdown-on-sigint", "default"},
    {"shutdown-on-sigterm", "default"},
    {"shutdown-timeout", "10"},
    {"slave-announce-ip", ""},
    {"slave-announce-port", "0"},
    {"slave-ignore-maxmemory", "yes"},
    {"slave-lazy-flush", "no"},
    {"slave-priority", "100"},
    {"slave-read-only", "yes"},
    {"slave-serve-stale-data", "yes"},
    {"slaveof", ""},
    {"slowlog-log-slower-than", "10000"},
    {"slowlog-max-len", "128"},
    {"socket-mark-id", "0"},
    {"stop-writes-on-bgsave-error", "yes"},
    {"stream-node-max-bytes", "4096"},
    {"stream-node-max-entries", "100"},
    {"supervised", "no"},
    {"syslog-enabled", "no"},
    {"syslog-facility", "local0"},
    {"syslog-ident", "redis"},
    {"tcp-backlog", "511"},
    {"tcp-keepalive", "300"},
    {"timeout", "0"},
    {"tls-auth-clients", "yes"},
    {"tls-ca-cert-dir", ""},
    {"tls-ca-cert-file", ""},
    {"tls-cert-file", ""},
    {"tls-ciphersuites", ""},
    {"tls-ciphers", ""},
    {"tls-client-cert-file", ""},
    {"tls-client-key-file-pass", ""},
    {"tls-client-key-file", ""},
    {"tls-cluster", "no"},
    {"tls-dh-params-file", ""},
    {"tls-key-file-pass", ""},
    {"tls-key-file", ""},
    {"tls-port", "0"},
    {"tls-prefer-server-ciphers", "no"},
    {"tls-protocols", ""},
    {"tls-replication", "no"},
    {"tls-session-cache-size", "20480"},
    {"tls-session-cache-timeout", "300"},
    {"tls-session-caching", "yes"},
    {"tracking-table-max-keys", "1000000"},
    {"unixsocketperm", "0"},
    {"unixsocket", ""},
    {"zset-max-listpack-entries", "128"},
    {"zset-max-listpack-value", "64"},
    {"zset-max-ziplist-entries", "128"},
    {"zset-max-ziplist-value", "64"},
};

// Names that Redis 7.0 does not show, and why we do.
constexpr Expected kNotInReference[] = {
    {"aof-rewrite-cpulist", "7.4 spells it with hyphens"},
    {"bgsave-cpulist", "7.4 spells it with hyphens"},
    {"bio-cpulist", "7.4 spells it with hyphens"},
    {"server-cpulist", "7.4 spells it with hyphens"},
    {"cluster-announce-human-nodename", "since 7.2"},
    {"locale-collate", "since 7.2"},
    {"set-max-listpack-entries", "since 7.2"},
    {"set-max-listpack-value", "since 7.2"},
    {"hide-user-data-from-log", "since 7.4"},
    {"max-new-connections-per-cycle", "since 7.4"},
    {"max-new-tls-connections-per-cycle", "since 7.4"},
    {"dir", "left out above"},
    {"threads", "our own"},
    {"rdb-compat-version", "our own"},
    {"snapshot-method", "our own"},
    {"tls-auth-clients-user", "of Redis 8.6"},
    {"commandlog-request-larger-than", "of Valkey 8.1"},
    {"commandlog-large-request-max-len", "of Valkey 8.1"},
    {"commandlog-reply-larger-than", "of Valkey 8.1"},
    {"commandlog-large-reply-max-len", "of Valkey 8.1"},
};

std::span<const Directive* const> all_rows() {
  return server_directives().rows();
}

const Directive* find_directive(std::string_view name) {
  return server_directives().find(name);
}

Status assign_one(const Directive& row, Options& options, std::string value) {
  const std::vector<std::string> args = {std::move(value)};
  return assign(row, options, args);
}

Status assign_one(std::string_view name, Options& options, std::string value) {
  return assign_one(*find_directive(name), options, std::move(value));
}

std::string reason_of(const Status& status) {
  return status ? "" : status.error().text;
}

int count_with(DirectiveFlags flag) {
  int count = 0;
  for (const Directive* row : all_rows()) count += row->has(flag);
  return count;
}

TEST(OptionTable, HasEveryDirective) {
  int aliases = 0;
  for (const Directive* row : all_rows()) aliases += !row->alias.empty();
  EXPECT_EQ(all_rows().size(), 188u + 8);  // and what is not of Redis 7
  EXPECT_EQ(aliases, 23 + 2);
  EXPECT_EQ(count_with(kHidden), 9);
  EXPECT_EQ(count_with(kStartupOnly), 34 + 1);
  EXPECT_EQ(count_with(kProtected), 2);
  EXPECT_EQ(count_with(kSecret), 5);
  EXPECT_EQ(count_with(kMultiArg), 8);
}

TEST(OptionTable, NamesAreLowerCaseAndUnique) {
  std::set<std::string_view> names;
  for (const Directive* row : all_rows()) {
    EXPECT_EQ(lower_copy(row->name), row->name);
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    if (!row->alias.empty()) {
      EXPECT_TRUE(names.insert(row->alias).second) << row->alias;
    }
  }
}

TEST(OptionTable, HelpIsOneSentence) {
  for (const Directive* row : all_rows()) {
    ASSERT_FALSE(row->help.empty()) << row->name;
    EXPECT_EQ(row->help.back(), '.') << row->name;
    EXPECT_EQ(row->help.find(". "), std::string_view::npos) << row->name;
  }
}

TEST(OptionTable, DefaultsAreTheReferences) {
  const Options defaults;
  for (const Expected& expected : kReference) {
    const Directive* row = find_directive(expected.name);
    ASSERT_NE(row, nullptr) << expected.name;
    EXPECT_EQ(show(*row, defaults), expected.value) << expected.name;
  }
}

TEST(OptionTable, NamesBeyondTheReferenceAreKnown) {
  std::set<std::string_view> known;
  for (const Expected& expected : kReference) known.insert(expected.name);
  for (const Expected& expected : kNotInReference) known.insert(expected.name);
  for (const Directive* row : all_rows()) {
    if (!row->has(kHidden)) {
      EXPECT_TRUE(known.contains(row->name)) << row->name;
    }
  }
}

TEST(OptionTable, LaterDefaults) {
  const Options defaults;
  EXPECT_EQ(show(*find_directive("set-max-listpack-entries"), defaults), "128");
  EXPECT_EQ(show(*find_directive("set-max-listpack-value"), defaults), "64");
  EXPECT_EQ(show(*find_directive("threads"), defaults), "1");
  EXPECT_EQ(show(*find_directive("max-new-connections-per-cycle"), defaults), "10");
  EXPECT_EQ(show(*find_directive("client-default-resp"), defaults), "2");
  EXPECT_EQ(show(*find_directive("loading-process-events-interval-bytes"), defaults), "2097152");
}

TEST(OptionTable, EveryValueReadsBack) {
  const Options defaults;
  for (const Directive* row : all_rows()) {
    for (const std::string& line : file_lines(*row, defaults)) {
      EXPECT_FALSE(line.empty()) << row->name;
    }
    if (row->has(kMultiArg)) continue;
    Options options;
    const Status status = assign_one(*row, options, show(*row, defaults));
    EXPECT_EQ(reason_of(status), "") << row->name;
    EXPECT_EQ(show(*row, options), show(*row, defaults)) << row->name;
  }
}

// A value is either taken exactly or refused with the bounds, and a refusal changes nothing.
TEST(OptionTable, NumbersAtTheEdges) {
  const std::string kTexts[] = {"0",
                                "1",
                                "-1",
                                "2147483647",
                                "2147483648",
                                "4294967296",
                                "-2147483649",
                                "9223372036854775807",
                                "9223372036854775808",
                                "-9223372036854775808",
                                "-9223372036854775809",
                                "18446744073709551615",
                                "18446744073709551616",
                                "99999999999999999999999999"};
  for (const Directive* row : all_rows()) {
    const auto* kind = std::get_if<IntegerKind>(&row->kind);
    if (kind == nullptr || kind->unit == Unit::kOctal) continue;
    for (const std::string& text : kTexts) {
      Options options;
      const std::string before = show(*row, options);
      const Status status = assign_one(*row, options, text);
      __int128 value = 0;
      for (char c : text) value = c == '-' ? value : value * 10 + (c - '0');
      if (text[0] == '-') value = -value;
      const bool signs = kind->unit == Unit::kCount;  // byte counts take no minus sign
      const bool fits = value >= kind->min && value <= kind->max && (signs || value >= 0);
      EXPECT_EQ(status.ok(), fits) << row->name << " " << text;
      EXPECT_EQ(show(*row, options), fits ? text : before) << row->name << " " << text;
      if (!fits && signs && value >= INT64_MIN && value <= INT64_MAX) {
        EXPECT_EQ(status.error().text, "argument must be between " + std::to_string(kind->min) +
                                           " and " + std::to_string(kind->max) + " inclusive");
      }
    }
  }
}

TEST(OptionTable, NumberErrors) {
  Options options;
  const std::string not_integer = "argument couldn't be parsed into an integer";
  for (const char* text : {"", " 1", "+1", "01", "1k", "0x1", "1.0", "9223372036854775808"}) {
    EXPECT_EQ(reason_of(assign_one("timeout", options, text)), not_integer) << text;
  }
  EXPECT_EQ(reason_of(assign_one("timeout", options, "-1")),
            "argument must be between 0 and 2147483647 inclusive");
  EXPECT_EQ(reason_of(assign_one("maxclients", options, "0")),
            "argument must be between 1 and 4294967295 inclusive");
  EXPECT_EQ(reason_of(assign_one("unixsocketperm", options, "8")),
            "argument couldn't be parsed as an octal number");
  EXPECT_EQ(reason_of(assign_one("unixsocketperm", options, "1000")),
            "argument must be between 0 and 777 inclusive");
  EXPECT_TRUE(assign_one("unixsocketperm", options, "700"));
  EXPECT_EQ(options.network.unix_socket_mode, 0700);
  EXPECT_EQ(show(*find_directive("unixsocketperm"), options), "700");
}

TEST(OptionTable, ByteCounts) {
  Options options;
  const std::map<std::string, uint64_t> good = {{"", 0},
                                                {"kb", 0},
                                                {"1b", 1},
                                                {"1K", 1000},
                                                {"1kB", 1024},
                                                {"2m", 2000000},
                                                {"2mb", 2097152},
                                                {"3g", 3000000000},
                                                {"3GB", 3221225472},
                                                {"007", 7},
                                                {"18446744073709551615", UINT64_MAX}};
  for (const auto& [text, value] : good) {
    EXPECT_TRUE(assign_one("maxmemory", options, text)) << text;
    EXPECT_EQ(options.memory.limit.max_bytes, value) << text;
  }
  for (const char* text : {"1 kb", "-1", "1.5gb", "+5", " 5", "1T", "0x10", "18446744073709551616",
                           "99999999999999gb"}) {
    EXPECT_EQ(reason_of(assign_one("maxmemory", options, text)), "argument must be a memory value")
        << text;
  }
  EXPECT_EQ(reason_of(assign_one("proto-max-bulk-len", options, "9223372036854775808")),
            "argument must be between 1048576 and 9223372036854775807 inclusive");
}

TEST(OptionTable, PercentOrBytes) {
  Options options;
  const Directive& row = *find_directive("maxmemory-clients");
  EXPECT_TRUE(assign_one(row, options, "50%"));
  EXPECT_EQ(options.clients.max_memory, -50);
  EXPECT_EQ(show(row, options), "50%");
  EXPECT_EQ(file_lines(row, options), std::vector<std::string>{"50%"});
  EXPECT_EQ(reason_of(assign_one(row, options, "101%")),
            "percentage argument must be less or equal to 100");
  for (const char* text : {"-5", "%", "-5%", "5 %"}) {
    EXPECT_EQ(reason_of(assign_one(row, options, text)),
              "argument must be a memory or percent value");
  }
  EXPECT_TRUE(assign_one(row, options, "1gb"));
  EXPECT_EQ(show(row, options), "1073741824");
  EXPECT_EQ(file_lines(row, options), std::vector<std::string>{"1gb"});
}

TEST(OptionTable, Words) {
  Options options;
  EXPECT_EQ(reason_of(assign_one("loglevel", options, "foo")),
            "argument(s) must be one of the following: debug, verbose, notice, warning, nothing");
  EXPECT_TRUE(assign_one("loglevel", options, "DEBUG"));
  EXPECT_EQ(options.logging.level, LogLevel::kDebug);
  EXPECT_TRUE(assign_one("oom-score-adj", options, "relative"));
  EXPECT_EQ(show(*find_directive("oom-score-adj"), options), "yes");
  EXPECT_EQ(reason_of(assign_one("appendfsync", options, "")),
            "argument(s) must be one of the following: everysec, always, no");
  EXPECT_EQ(reason_of(assign_one("appendonly", options, "1")), "argument must be 'yes' or 'no'");
  EXPECT_TRUE(assign_one("appendonly", options, "YES"));
  EXPECT_TRUE(options.persistence.append_only);
}

TEST(OptionTable, CombinedWords) {
  Options options;
  const Directive& row = *find_directive("shutdown-on-sigterm");
  const std::vector<std::string> several = {"force", "now", "save"};
  EXPECT_TRUE(assign(row, options, several));
  EXPECT_EQ(show(row, options), "save now force");
  const std::vector<std::string> contrary = {"save", "nosave"};
  EXPECT_EQ(reason_of(assign(row, options, contrary)),
            "shutdown options SAVE and NOSAVE can't be used simultaneously");
  EXPECT_EQ(reason_of(assign(row, options, {})),
            "argument(s) must be one of the following: default, save, nosave, now, force");
  EXPECT_EQ(show(row, options), "save now force");
}

TEST(OptionTable, ArgumentCount) {
  Options options;
  const std::vector<std::string> two = {"1", "2"};
  for (const Directive* row : all_rows()) {
    if (row->has(kMultiArg)) continue;
    EXPECT_EQ(reason_of(assign(*row, options, two)), "wrong number of arguments") << row->name;
    EXPECT_EQ(reason_of(assign(*row, options, {})), "wrong number of arguments") << row->name;
  }
}

TEST(OptionTable, NoLineBreaksNorNulBytesUnlessMarkedSo) {
  for (const Directive* row : all_rows()) {
    if (row->has(kLineBreaks)) continue;
    Options options;
    const std::string before = show(*row, options);
    EXPECT_FALSE(assign_one(*row, options, "a\nport 1")) << row->name;
    EXPECT_FALSE(assign_one(*row, options, "a\rb")) << row->name;
    EXPECT_EQ(assign_one(*row, options, std::string("a\0b", 3)).ok(), row->has(kBinary))
        << row->name;
    if (!row->has(kBinary)) {
      EXPECT_EQ(show(*row, options), before) << row->name;
    }
  }
}

TEST(OptionTable, ANameOfLogFilesMayHaveLineBreaksAndIsRewrittenInOneLine) {
  const Directive* row = find_directive("appendfilename");
  ASSERT_NE(row, nullptr);
  Options options;
  ASSERT_TRUE(assign_one(*row, options, " a\nport 1"));
  EXPECT_EQ(show(*row, options), " a\nport 1");
  EXPECT_EQ(quoted_if_needed(show(*row, options)), "\" a\\nport 1\"");
  EXPECT_FALSE(assign_one(*row, options, std::string("a\0b", 3)));
}

}  // namespace
}  // namespace sorrel::server
