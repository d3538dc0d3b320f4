#pragma once

#include "dispatch/watches.h"
#include "keyspace/change.h"

namespace sorrel {

// Receives the changes of all Doors and passes them on to the listeners. One for the node.
//
//   Door ── interest().who() != 0 ──> ChangeHub ──> Watches
//                                               ├─> notifications
//                                               └─> tracking
class ChangeHub final : public ChangeObserver {
 public:
  ChangeInterest& interest() { return interest_; }
  Watches& watches() { return watches_; }
  const Watches& watches() const { return watches_; }

  // Before any worker starts. Each is notified while its bit of the listener mask is set. Null:
  // none.
  void set_notifications(ChangeObserver* observer) { notifications_ = observer; }
  void set_tracking(ChangeObserver* observer) { tracking_ = observer; }

  void on_change(const Change& change) override {
    const uint32_t mask = interest_.who();
    if (change.event.modifies) {
      if ((mask & ChangeInterest::kWatchers) != 0) watches_.touch(change);
      if (is_listening(mask, ChangeInterest::kTracking, tracking_)) tracking_->on_change(change);
    }
    if (is_listening(mask, ChangeInterest::kNotifications, notifications_)) {
      notifications_->on_change(change);
    }
  }
  void on_flush(int db, Door& door) override {
    const uint32_t mask = interest_.who();
    if ((mask & ChangeInterest::kWatchers) != 0) watches_.flush(db, door);
    if (is_listening(mask, ChangeInterest::kTracking, tracking_)) tracking_->on_flush(db, door);
    if (is_listening(mask, ChangeInterest::kNotifications, notifications_)) {
      notifications_->on_flush(db, door);
    }
  }
  void on_swap(int a, int b, Door& door) override {
    const uint32_t mask = interest_.who();
    if ((mask & ChangeInterest::kWatchers) != 0) watches_.swap(a, b, door);
    if (is_listening(mask, ChangeInterest::kTracking, tracking_)) tracking_->on_swap(a, b, door);
    if (is_listening(mask, ChangeInterest::kNotifications, notifications_)) {
      notifications_->on_swap(a, b, door);
    }
  }

 private:
  static bool is_listening(uint32_t mask, ChangeInterest::Who bit, const ChangeObserver* observer) {
    return (mask & bit) != 0 && observer != nullptr;
  }

  ChangeInterest interest_;
  Watches watches_{interest_};
  ChangeObserver* notifications_ = nullptr;
  ChangeObserver* tracking_ = nullptr;
};

}  // namespace sorrel
