#pragma once

#include <cstdint>

namespace sorrel::persist {

// Who belongs into one sync, for `appendfsync always`.
//
// Writers that wait for their answers come back all at once when a sync has ended. A sync that
// begins with the first of them leaves the others for the next: they fall into two halves, and
// every one waits for two syncs. So the next sync waits for those who were just answered, for at
// most half as long as a sync takes. On a disk so fast that they take longer to come back, two
// halves are better, one being served while the other is written; so after each disappointment it
// is tried more rarely.
//
// Counts effects, not writers. No clock and no lock of its own.
class CommitGroup {
 public:
  // Now a sync begins that takes in everything up to `seen`.
  void begin_sync(uint64_t seen, int64_t now_ns);
  // It has ended; `seen` came meanwhile.
  void end_sync(uint64_t seen, int64_t now_ns);
  // Until when the next sync should wait for more; not in the future: no longer.
  int64_t wait_until(uint64_t seen) const { return seen >= complete_at_ ? 0 : give_up_ns_; }
  // Has the effect come that was still waited for? Says so once.
  bool just_complete(uint64_t seen) {
    if (seen < complete_at_ || told_) return false;
    told_ = true;
    return true;
  }

  // Syncs of fewer effects are not worth a wait.
  static constexpr uint64_t kCrowd = 4;
  static constexpr int64_t kLongestWaitNs = 5'000'000;
  static constexpr int kRarest = 10;  // once in 2^10 syncs

 private:
  uint64_t synced_before_ = 0;  // where the last sync but one had come to
  uint64_t begin_seen_ = 0;
  int64_t begin_ns_ = 0;
  int64_t usual_ns_ = 0;      // how long a sync takes
  uint64_t complete_at_ = 0;  // when this effect has come, all are there; 0: nobody is waited for
  int64_t give_up_ns_ = 0;
  int disappointments_ = 0;
  int skip_ = 0;  // so many syncs do not wait
  bool told_ = true;
};

}  // namespace sorrel::persist
