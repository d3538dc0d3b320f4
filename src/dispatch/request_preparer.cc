#include "dispatch/request_preparer.h"

#include "base/key_slot.h"

namespace sorrel {

void RequestPreparer::prepare(std::span<Request> requests, int db, Look look) {
  const Database* ahead = look == Look::kAhead ? database_ahead(db) : nullptr;
  durability_.begin_requests();
  for (Request& request : requests) {
    request.command = commands_.find(request.args[0], recent_);
    request.tells_nothing = false;
    find_first_key(request, ahead);
  }
  if (finds_slots_) find_slots(requests);
}

void RequestPreparer::look_ahead(Request& request, int db) {
  find_first_key(request, database_ahead(db));
}

// Other workers may be rebuilding tables; looking without the latch is only safe when there are
// none. Null: nothing to look into.
const Database* RequestPreparer::database_ahead(int db) const {
  return threaded_ ? nullptr : keyspace_.find_database(0, db);
}

[[gnu::always_inline]] inline void RequestPreparer::find_first_key(Request& request,
                                                                   const Database* ahead) {
  request.hint.guess.stamp = 0;
  request.hashed = 0;
  if (request.command == nullptr) return;
  const unsigned key = request.command->first_key;
  if (key == 0 || key >= request.args.size()) return;
  request.hash = keyspace_.hash(request.args[key]);
  request.hashed = key;
  if (ahead != nullptr) request.hint.guess = ahead->table.prefetch_bucket(request.hash);
}

// Once for cluster mode, the latch and the table. Commands with several keys compute theirs
// together.
void RequestPreparer::find_slots(std::span<Request> requests) {
  for (Request& request : requests) {
    const bool found = request.hashed != 0 && request.command->only_key == request.hashed;
    request.hint.slot =
        found ? static_cast<uint16_t>(key_slot(request.args[request.hashed])) : kNoSlot;
  }
}

}  // namespace sorrel
