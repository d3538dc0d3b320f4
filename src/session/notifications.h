#pragma once

#include <cstdint>
#include <vector>

#include "keyspace/change.h"
#include "session/pubsub.h"

namespace sorrel {

// Keyspace notifications: what happens to keys is published, as notify-keyspace-events asks for.
//
//   __keyspace@<db>__:<key>     the name of the event
//   __keyevent@<db>__:<event>   the key
//
// Messages are in the order of changes for each key, since they are published under its latch.
// Emptying and exchanging databases are no events of keys, as in Redis.
class Notifications final : public ChangeObserver {
 public:
  struct Wanted {
    bool by_key = false;    // K
    bool by_event = false;  // E
    uint32_t classes = 0;   // bits of EventClass

    bool any() const { return (by_key || by_event) && classes != 0; }
  };

  // `hosts` and `pubsub` outlive it.
  Notifications(PubSub& pubsub, const std::vector<SessionHost*>& hosts)
      : pubsub_(pubsub), hosts_(hosts) {}

  // Under the gate. Whoever calls it sets or clears the interest in changes, too.
  void set_wanted(const Wanted& wanted) { wanted_ = wanted; }

  void on_change(const Change& change) override;
  void on_flush(int, Door&) override {}
  void on_swap(int, int, Door&) override {}

 private:
  void publish(const Change& change, std::string_view prefix, std::string_view about,
               std::string_view text);

  PubSub& pubsub_;
  const std::vector<SessionHost*>& hosts_;
  Wanted wanted_;
};

}  // namespace sorrel
