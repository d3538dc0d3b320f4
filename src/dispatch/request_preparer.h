#pragma once

#include <span>

#include "dispatch/call.h"
#include "dispatch/executor_world.h"
#include "dispatch/reply_durability.h"

namespace sorrel {

// Looks up everything about requests that can be known before they run, so that the cache lines of
// the last one of a pipeline batch are on their way while the first one runs. One per worker.
class RequestPreparer {
 public:
  RequestPreparer(const ExecutorWorld& world, ReplyDurability& durability)
      : commands_(world.commands),
        keyspace_(world.keyspace),
        durability_(durability),
        threaded_(world.gate.threaded()),
        finds_slots_(world.gate.threaded() || world.slots != nullptr) {}

  // Step one of a batch: finds the command of each request and, where it has a first key at a fixed
  // place, hashes that and, if asked to, prefetches its bucket.
  enum class Look : uint8_t { kAhead, kNot };
  void prepare(std::span<Request> requests, int db, Look look = Look::kAhead);
  // The second half of that, for one request whose command is known.
  void look_ahead(Request& request, int db);
  // Step two: prefetches the record.
  static void prefetch(Request& request) {
    if (request.hint.guess.stamp != 0) Table::prefetch_entry(request.hint.guess, request.hash);
  }

 private:
  const Database* database_ahead(int db) const;
  void find_first_key(Request& request, const Database* ahead);
  void find_slots(std::span<Request> requests);

  const CommandTable& commands_;
  const Keyspace& keyspace_;
  ReplyDurability& durability_;
  const bool threaded_;
  const bool finds_slots_;  // latches or cluster mode need them
  CommandTable::Recent recent_;
};

}  // namespace sorrel
