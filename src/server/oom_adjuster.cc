#include "server/oom_adjuster.h"

#include <algorithm>

#include "io/process.h"

namespace sorrel::server {

Status OomAdjuster::set(const ProcessOptions& options, size_t place, int before) {
  constexpr int64_t kHighest = 1000;
  int64_t score = before;
  if (options.oom_score_adj != OomScore::kNo) {
    const int64_t value = options.oom_score_adj_values[place];
    score = options.oom_score_adj == OomScore::kRelative ? score + value : value;
  }
  return io::set_oom_score_adj(static_cast<int>(std::clamp(score, -kHighest, kHighest)));
}

Status OomAdjuster::apply_in_child(const ProcessOptions& options) const {
  return before_ ? set(options, kChild, *before_) : Status{};
}

Status OomAdjuster::apply(const ProcessOptions& options) {
  const bool wanted = options.oom_score_adj != OomScore::kNo;
  if (!wanted && !before_) return {};
  if (!before_) {
    const Result<int> now = io::oom_score_adj();
    if (!now) return now.error();
    before_ = *now;
  }
  const Status done = set(options, kPrimary, *before_);
  if (!wanted) before_.reset();
  return done;
}

}  // namespace sorrel::server
