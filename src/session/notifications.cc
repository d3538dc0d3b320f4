#include "session/notifications.h"

#include <fmt/format.h>

namespace sorrel {

void Notifications::on_change(const Change& change) {
  const std::string_view event = change.event.name;
  if ((wanted_.classes & static_cast<uint32_t>(change.event.kind)) == 0 || event.empty()) return;
  if (wanted_.by_key) publish(change, "__keyspace@", change.key, event);
  if (wanted_.by_event) publish(change, "__keyevent@", event, change.key);
}

void Notifications::publish(const Change& change, std::string_view prefix, std::string_view about,
                            std::string_view text) {
  if (!pubsub_.anybody_listens()) return;
  const std::string channel = fmt::format("{}{}__:{}", prefix, change.db, about);
  pubsub_.publish(*hosts_[change.worker], {false, channel, text});
}

}  // namespace sorrel
