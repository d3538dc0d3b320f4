#pragma once

#include <cstdint>
#include <span>

#include "server/option_table.h"

namespace sorrel::server {

// The chapters of the directive table, in the order of sorrel.conf. Each is one option_table_*.cc.
// Only option_table.cc includes this; everybody else asks directive_groups().
// Bounds that many rows share.
inline constexpr int64_t kIntMin = INT32_MIN;
inline constexpr int64_t kIntMax = INT32_MAX;
inline constexpr int64_t kUnsignedMax = UINT32_MAX;
inline constexpr int64_t kLongMax = INT64_MAX;
inline constexpr int64_t kPortMax = 65535;

std::span<const Directive> network_directives();
std::span<const Directive> tls_directives();
std::span<const Directive> client_directives();
std::span<const Directive> security_directives();
std::span<const Directive> memory_directives();
std::span<const Directive> encoding_directives();
std::span<const Directive> rdb_directives();
std::span<const Directive> aof_directives();
std::span<const Directive> replication_directives();
std::span<const Directive> cluster_directives();
std::span<const Directive> monitor_directives();
std::span<const Directive> logging_directives();
std::span<const Directive> process_directives();

}  // namespace sorrel::server
