#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/option_table.h"

namespace sorrel::server {

// The directives whose value is more than one scalar, and the checks on texts. Each error is the
// phrase that Redis uses, because tools and tests compare it.

Status parse_bind(Options& options, Arguments args, Repeat repeat);
std::string show_bind(const Options& options);
std::vector<std::string> bind_lines(const Options& options);

Status parse_save(Options& options, Arguments args, Repeat repeat);
std::string show_save(const Options& options);
std::vector<std::string> save_lines(const Options& options);

Status parse_dir(Options& options, Arguments args, Repeat repeat);
std::string show_dir(const Options& options);
std::vector<std::string> dir_lines(const Options& options);

Status parse_output_limits(Options& options, Arguments args, Repeat repeat);
std::string show_output_limits(const Options& options);
std::vector<std::string> output_limit_lines(const Options& options);

Status parse_oom_values(Options& options, Arguments args, Repeat repeat);
std::string show_oom_values(const Options& options);
std::vector<std::string> oom_value_lines(const Options& options);

Status parse_keyspace_events(Options& options, Arguments args, Repeat repeat);
std::string show_keyspace_events(const Options& options);
std::vector<std::string> keyspace_event_lines(const Options& options);

Status parse_replicaof(Options& options, Arguments args, Repeat repeat);
std::string show_replicaof(const Options& options);
std::vector<std::string> replicaof_lines(const Options& options);

Status parse_percentiles(Options& options, Arguments args, Repeat repeat);
std::string show_percentiles(const Options& options);
std::vector<std::string> percentile_lines(const Options& options);

inline constexpr SpecialKind kBindKind{&parse_bind, &show_bind, &bind_lines};
inline constexpr SpecialKind kSaveKind{&parse_save, &show_save, &save_lines};
// `dir` only keeps the text. Going there, and putting the absolute path back, is for whoever may
// touch the file system (FileAccess in config_file.h, an apply hook in config_store.h).
inline constexpr SpecialKind kDirKind{&parse_dir, &show_dir, &dir_lines};
inline constexpr SpecialKind kOutputLimitKind{&parse_output_limits, &show_output_limits,
                                              &output_limit_lines};
inline constexpr SpecialKind kOomValuesKind{&parse_oom_values, &show_oom_values, &oom_value_lines};
inline constexpr SpecialKind kKeyspaceEventsKind{&parse_keyspace_events, &show_keyspace_events,
                                                 &keyspace_event_lines};
inline constexpr SpecialKind kReplicaOfKind{&parse_replicaof, &show_replicaof, &replicaof_lines};
inline constexpr SpecialKind kPercentilesKind{&parse_percentiles, &show_percentiles,
                                              &percentile_lines};

Status check_dbfilename(std::string_view text);
Status check_appendfilename(std::string_view text);
Status check_appenddirname(std::string_view text);
Status check_announced_hostname(std::string_view text);
Status check_announced_nodename(std::string_view text);
Status check_proc_title_template(std::string_view text);
Status check_shutdown_bits(int value);

// A byte count with unit as Redis reads it: digits, then nothing, b, k, kb, m, mb, g or gb in any
// case. No digits at all count as 0 (Redis takes `maxmemory ""`). Overflow is nullopt, where Redis
// would wrap around.
std::optional<uint64_t> parse_byte_count(std::string_view text);

// 1073741824 as "1gb", 1536 as "1536": the largest unit that divides the value.
std::string format_byte_count(uint64_t bytes);

}  // namespace sorrel::server
