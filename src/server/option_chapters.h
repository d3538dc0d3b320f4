#pragma once

#include <cstdint>
#include <span>

#include "config/option_rows.h"
#include "server/option_parts.h"
#include "server/options.h"

namespace sorrel::server {

// The server's own chapters of the directive table, in the order of sorrel.conf. Each is one
// option_table_*.cc; server_directives.cc puts them together. A component with an options struct of
// its own brings its chapter from its own folder.

using InOptions = config::In<Options>;
using OptionRows = std::span<const InOptions::Row>;
using config::Unit;
using config::Word;
using enum config::DirectiveFlags;

// Bounds that many rows share.
inline constexpr int64_t kIntMin = INT32_MIN;
inline constexpr int64_t kIntMax = INT32_MAX;
inline constexpr int64_t kUnsignedMax = UINT32_MAX;
inline constexpr int64_t kLongMax = INT64_MAX;
inline constexpr int64_t kPortMax = 65535;

OptionRows process_directives();
OptionRows network_directives();
OptionRows tls_directives();
OptionRows client_directives();
OptionRows security_directives();
OptionRows memory_directives();
OptionRows encoding_directives();
OptionRows rdb_directives();
OptionRows aof_directives();
OptionRows replication_directives();
OptionRows cluster_directives();
OptionRows monitor_directives();
OptionRows logging_directives();

}  // namespace sorrel::server
