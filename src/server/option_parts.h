#pragma once

#include "config/directive.h"

namespace sorrel::server::part {

// The parts of the server that receive changed values; the rows of the chapters name them and
// apply_options.cc registers their functions. A part of its own has a directive whose failure has
// an error text of its own, or whose change does more than hand a value over.

using config::Part;

inline constexpr Part kAccess{"access"};  // of users: new users, ACL LOG
inline constexpr Part kAllocator{"allocator"};
inline constexpr Part kBind{"addresses"};
inline constexpr Part kClients{"clients"};
inline constexpr Part kConnectionRate{"connection rate"};
inline constexpr Part kCrashReport{"crash report"};
inline constexpr Part kCronRate{"cron rate"};
inline constexpr Part kDirectory{"working directory"};
inline constexpr Part kKeyspaceLimits{"keyspace limits"};
inline constexpr Part kLogLevel{"log level"};
inline constexpr Part kMaxClients{"number of clients"};
inline constexpr Part kMemory{"memory"};
inline constexpr Part kMonitoring{"monitoring"};
inline constexpr Part kNotifications{"keyspace notifications"};
inline constexpr Part kOomScore{"oom score"};
inline constexpr Part kPassword{"password"};
inline constexpr Part kPort{"port"};
inline constexpr Part kProcessTitle{"process title"};
inline constexpr Part kScripting{"scripting"};
inline constexpr Part kTlsKeys{"TLS keys"};
inline constexpr Part kTlsPolicy{"TLS policy"};
inline constexpr Part kTlsPort{"TLS port"};
inline constexpr Part kWatchdog{"watchdog"};

}  // namespace sorrel::server::part
