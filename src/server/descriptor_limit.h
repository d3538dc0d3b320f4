#pragma once

#include <cstdint>

#include "base/log.h"
#include "server/options.h"

namespace sorrel::server {

// How many descriptors the server needs besides those of its clients, so that files can be written
// however many clients there are. 32, as in Redis, holds for one worker with up to four listening
// sockets:
//
//   12  standard streams, server log, epoll, its event, signals, four listeners, the spare one
//    6  AOF and its successor, each also past the cache; a base file or snapshot; a child's pipe
//    4  at one time: configuration, ACL or manifest file, its folder, a look-up of a name
//    6  connections that MIGRATE keeps
//    4  replication and cluster: the link to a primary, the file that comes over it, the bus and
//       its file
//
// Each further worker has two for its loop, each further listening socket one.
uint64_t own_descriptors(const Options& options);

// Raises the limit of descriptors for options.clients.max_clients, as far as the system lets it,
// and lowers that number to what is left when it does not. What happened is in the log, in Redis's
// words. False: not even one client could be served; nothing has changed then.
bool fit_max_clients(Options& options, Logger& log);

}  // namespace sorrel::server
