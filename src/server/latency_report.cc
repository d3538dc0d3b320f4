#include "server/latency_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sorrel::server {
namespace {

constexpr size_t kMostColumns = 80;
constexpr int kLevels = 4;

// "59s", "12m", "3h", "20d": at most three characters for about three months.
std::string age_text(int64_t seconds) {
  seconds = std::max<int64_t>(seconds, 0);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 24 * 3600) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / (24 * 3600));
}

std::vector<LatencySample> last_columns(const LatencyEvent& event) {
  const size_t skipped = event.samples.size() - std::min(event.samples.size(), kMostColumns);
  return {event.samples.begin() + static_cast<std::ptrdiff_t>(skipped), event.samples.end()};
}

struct Range {
  int64_t low;
  int64_t high;
};

Range range_of(const std::vector<LatencySample>& samples) {
  const auto [low, high] =
      std::minmax_element(samples.begin(), samples.end(),
                          [](const auto& a, const auto& b) { return a.latency_ms < b.latency_ms; });
  return {low->latency_ms, high->latency_ms};
}

// How high the column of a sample is: 1 for the lowest, kLevels for the highest.
int level_of(int64_t value, const Range& range) {
  if (range.high == range.low) return 1;
  return 1 + static_cast<int>((value - range.low) * (kLevels - 1) / (range.high - range.low));
}

std::string without_blanks_at_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

struct Figures {
  double average = 0;
  double deviation = 0;  // mean absolute
  double period_s = 0;   // between two samples
};

Figures figures_of(const LatencyEvent& event, int64_t now_s) {
  Figures figures;
  const auto count = static_cast<double>(event.samples.size());
  for (const auto& sample : event.samples)
    figures.average += static_cast<double>(sample.latency_ms);
  figures.average /= count;
  for (const auto& sample : event.samples) {
    const double distance = static_cast<double>(sample.latency_ms) - figures.average;
    figures.deviation += distance < 0 ? -distance : distance;
  }
  figures.deviation /= count;
  figures.period_s = static_cast<double>(now_s - event.samples.front().time_s) / count;
  return figures;
}

struct Advice {
  std::string_view event;
  std::string_view text;
};

constexpr Advice kAdvice[] = {
    {"command",
     "Look at SLOWLOG GET for the commands that took so long; SLOWLOG records them from "
     "slowlog-log-slower-than on. Replace KEYS, SMEMBERS and the like on large keys by SCAN and "
     "its relatives."},
    {"fast-command",
     "Commands that should never be slow were. The machine may be short of processor time or may "
     "be swapping: look at its load and at mem_fragmentation_ratio and used_memory_rss in INFO."},
    {"expire-cycle",
     "Many keys expire in the same moment, or some of them are very large. Spread their times a "
     "little, and let lazyfree-lazy-expire free large ones in the background."},
};

}  // namespace

std::string latency_graph(const LatencyEvent& event, int64_t now_s) {
  const std::vector<LatencySample> samples = last_columns(event);
  const Range range = range_of(samples);
  std::string text = fmt::format("{} - high {} ms, low {} ms (all time high {} ms)\n", event.name,
                                 range.high, range.low, event.max_ms);
  text += std::string(kMostColumns, '-') + "\n";
  for (int level = kLevels; level >= 1; level--) {
    std::string line;
    for (const LatencySample& sample : samples) {
      const int height = level_of(sample.latency_ms, range);
      line += height < level ? ' ' : height == level ? (level == 1 ? '_' : '#') : '|';
    }
    // The lowest level is the ground on which every column stands.
    text += without_blanks_at_end(line);
  }
  text += "\n";
  std::vector<std::string> ages;
  size_t longest = 0;
  for (const LatencySample& sample : samples) {
    ages.push_back(age_text(now_s - sample.time_s));
    longest = std::max(longest, ages.back().size());
  }
  for (size_t row = 0; row < longest; row++) {
    std::string line;
    for (const std::string& age : ages) line += row < age.size() ? age[row] : ' ';
    text += without_blanks_at_end(line);
  }
  return text;
}

std::string latency_doctor(std::span<const LatencyEvent> events, int64_t threshold_ms,
                           int64_t now_s) {
  if (threshold_ms <= 0) {
    return "Latency monitoring is off, so there is nothing to examine. Turn it on with CONFIG SET "
           "latency-monitor-threshold <milliseconds>, wait until the problem shows, and ask "
           "again.\n";
  }
  if (events.empty()) {
    return fmt::format(
        "Nothing has taken {} ms or longer so far. If your clients see latency all the same, lower "
        "latency-monitor-threshold, or look at the network and at the clients.\n",
        threshold_ms);
  }
  std::string text = fmt::format("What took {} ms or longer:\n\n", threshold_ms);
  for (size_t i = 0; i < events.size(); i++) {
    const LatencyEvent& event = events[i];
    const Figures figures = figures_of(event, now_s);
    text += fmt::format(
        "{}. {}: {} latency spikes, {:.0f} ms on average (mean deviation {:.0f} ms), one every "
        "{:.2f} seconds. The worst took {} ms.\n",
        i + 1, event.name, event.samples.size(), figures.average, figures.deviation,
        figures.period_s, event.max_ms);
  }
  text += "\nAdvice:\n\n";
  bool any = false;
  for (const Advice& advice : kAdvice) {
    const bool seen = std::any_of(events.begin(), events.end(), [&](const LatencyEvent& event) {
      return event.name == advice.event;
    });
    if (!seen) continue;
    any = true;
    text += fmt::format("- {}: {}\n", advice.event, advice.text);
  }
  if (!any) text += "- None for these events.\n";
  return text;
}

}  // namespace sorrel::server
