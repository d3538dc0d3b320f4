#include "server/oom_adjuster.h"

#include <algorithm>

#include "io/process.h"

namespace sorrel::server {

Status OomAdjuster::apply(const ProcessOptions& options) {
  constexpr int64_t kHighest = 1000;
  const bool wanted = options.oom_score_adj != OomScore::kNo;
  if (!wanted && !before_) return {};
  if (!before_) {
    const Result<int> now = io::oom_score_adj();
    if (!now) return now.error();
    before_ = *now;
  }
  int64_t score = *before_;
  if (wanted) {
    const int64_t value = options.oom_score_adj_values[0];  // a primary's
    score = options.oom_score_adj == OomScore::kRelative ? score + value : value;
  }
  const Status set =
      io::set_oom_score_adj(static_cast<int>(std::clamp(score, -kHighest, kHighest)));
  if (!wanted) before_.reset();
  return set;
}

}  // namespace sorrel::server
