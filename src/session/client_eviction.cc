#include "session/client_eviction.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "session/client_list.h"

namespace sorrel {

void evict_clients(SessionWorld& world, uint64_t limit) {
  uint64_t held = 0;
  std::vector<std::pair<size_t, Session*>> clients;
  for (Session* session : all_sessions(world)) {
    const size_t bytes = session->count_memory();
    held += bytes;
    if (!session->caller().no_evict) clients.emplace_back(bytes, session);
  }
  if (held <= limit) return;
  std::sort(clients.begin(), clients.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [bytes, session] : clients) {
    if (held <= limit) return;
    session->host().evict(*session);
    held -= bytes;
  }
}

}  // namespace sorrel
