#pragma once

#include "base/log.h"
#include "server/options.h"
#include "tools/print.h"

namespace sorrel::server {

// --check-system: a line for each check, and the advice below it. The exit code: 1 when there is
// any.
int check_system(const tools::Print& print);

// Settings of the system, and options that do not fit them, that a start logs. `huge_pages_off`:
// this process gets none whatever the system says. False: a bug of the kernel could lose data, and
// ignore-warnings does not say to go on. Before the first thread is made: forks on ARM64.
bool warn_of_system(const Options& options, bool huge_pages_off, Logger& log);

}  // namespace sorrel::server
