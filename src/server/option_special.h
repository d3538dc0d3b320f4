#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "server/option_chapters.h"

namespace sorrel::server {

using config::Arguments;
using config::Repeat;

// The directives whose value is more than one scalar. Each error is the phrase that Redis uses,
// because tools and tests compare it.

Status parse_bind(Options& options, Arguments args, Repeat repeat);
std::string show_bind(const Options& options);
std::vector<std::string> bind_lines(const Options& options);

Status parse_save(Options& options, Arguments args, Repeat repeat);
std::string show_save(const Options& options);
std::vector<std::string> save_lines(const Options& options);

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

inline constexpr InOptions::Value kBindKind =
    InOptions::special<&parse_bind, &show_bind, &bind_lines>();
inline constexpr InOptions::Value kSaveKind =
    InOptions::special<&parse_save, &show_save, &save_lines>();
inline constexpr InOptions::Value kOutputLimitKind =
    InOptions::special<&parse_output_limits, &show_output_limits, &output_limit_lines>();
inline constexpr InOptions::Value kOomValuesKind =
    InOptions::special<&parse_oom_values, &show_oom_values, &oom_value_lines>();
inline constexpr InOptions::Value kKeyspaceEventsKind =
    InOptions::special<&parse_keyspace_events, &show_keyspace_events, &keyspace_event_lines>();
inline constexpr InOptions::Value kReplicaOfKind =
    InOptions::special<&parse_replicaof, &show_replicaof, &replicaof_lines>();
inline constexpr InOptions::Value kPercentilesKind =
    InOptions::special<&parse_percentiles, &show_percentiles, &percentile_lines>();

}  // namespace sorrel::server
