#include "persist/commit_group.h"

#include <algorithm>

namespace sorrel::persist {

void CommitGroup::begin_sync(uint64_t seen, int64_t now_ns) {
  if (complete_at_ != 0) {
    if (seen >= complete_at_) {
      disappointments_ = 0;
    } else {
      disappointments_ = std::min(disappointments_ + 1, kRarest);
      skip_ = 1 << disappointments_;
    }
    complete_at_ = 0;
    told_ = true;
  }
  synced_before_ = begin_seen_;
  begin_seen_ = seen;
  begin_ns_ = now_ns;
}

void CommitGroup::end_sync(uint64_t seen, int64_t now_ns) {
  const int64_t took_ns = std::max<int64_t>(now_ns - begin_ns_, 0);
  usual_ns_ += (took_ns - usual_ns_) / 8;
  const uint64_t answered = begin_seen_ - synced_before_;
  if (answered < kCrowd) return;
  if (skip_ > 0) {
    skip_--;
    return;
  }
  // The last few may have something else to do.
  complete_at_ = seen + answered - answered / 8;
  give_up_ns_ = now_ns + std::min(usual_ns_ / 2, kLongestWaitNs);
  told_ = false;
}

}  // namespace sorrel::persist
