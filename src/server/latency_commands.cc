#include "server/latency_commands.h"

#include <fmt/format.h>

#include "base/excerpt.h"
#include "dispatch/call.h"
#include "server/latency_report.h"

namespace sorrel::server {
namespace {

constexpr size_t kFirstArgument = 2;

LatencyCommands& latency_commands_of(const Call& call) {
  return call.context<LatencyCommands>();
}

int64_t now_s(const Call& call) {
  return latency_commands_of(call).clock.wall_ms() / 1000;
}

void latency_latest(Call& call) {
  const std::vector<LatencyEvent> events = latency_commands_of(call).monitor.events();
  call.reply.array(static_cast<int64_t>(events.size()));
  for (const LatencyEvent& event : events) {
    call.reply.array(4);
    call.reply.bulk(event.name);
    call.reply.integer(event.samples.back().time_s);
    call.reply.integer(event.samples.back().latency_ms);
    call.reply.integer(event.max_ms);
  }
}

void latency_history(Call& call) {
  const LatencyEvent event = latency_commands_of(call).monitor.event(call.arg(2));
  call.reply.array(static_cast<int64_t>(event.samples.size()));
  for (const LatencySample& sample : event.samples) {
    call.reply.array(2);
    call.reply.integer(sample.time_s);
    call.reply.integer(sample.latency_ms);
  }
}

void latency_reset(Call& call) {
  LatencyMonitor& monitor = latency_commands_of(call).monitor;
  size_t count = 0;
  if (call.argc() == kFirstArgument) count = monitor.reset_all();
  for (std::string_view name : call.args.subspan(kFirstArgument)) count += monitor.reset(name);
  call.reply.integer(static_cast<int64_t>(count));
}

void latency_graph_command(Call& call) {
  const LatencyEvent event = latency_commands_of(call).monitor.event(call.arg(2));
  if (event.samples.empty()) {
    return call.reply.error(
        fmt::format("ERR No samples available for event '{}'", excerpt(call.arg(2))));
  }
  call.reply.verbatim("txt", latency_graph(event, now_s(call)));
}

void latency_doctor_command(Call& call) {
  const LatencyCommands& commands = latency_commands_of(call);
  call.reply.verbatim("txt", latency_doctor(commands.monitor.events(),
                                            commands.node.latency_threshold_ms, now_s(call)));
}

// The upper ends of the buckets shown, in nanoseconds, double each time, from a microsecond on.
constexpr uint64_t kFirstBucketNs = 1024;
constexpr int kMostBuckets = 21;

// The figure Redis names a bucket by: its histogram is a little coarser than a power of two.
int64_t bucket_us(uint64_t end_ns) {
  return static_cast<int64_t>((end_ns + end_ns / 128 - 1) / 1000);
}

void answer_histogram(Call& call, const Command& command, const CommandStats& stats) {
  std::vector<std::pair<int64_t, uint64_t>> buckets;
  const uint64_t total = stats.durations.count();
  uint64_t counted = 0;
  uint64_t end_ns = kFirstBucketNs;
  for (int i = 0; i < kMostBuckets && counted < total; i++, end_ns *= 2) {
    const bool last = i + 1 == kMostBuckets;
    const uint64_t up_to = last ? total : stats.durations.count_up_to(end_ns - 1);
    if (up_to > counted) buckets.emplace_back(bucket_us(end_ns), up_to);
    counted = up_to;
  }
  call.reply.bulk(command.name);
  call.reply.map(2);
  call.reply.bulk("calls");
  call.reply.integer(static_cast<int64_t>(total));
  call.reply.bulk("histogram_usec");
  call.reply.map(static_cast<int64_t>(buckets.size()));
  for (const auto& [us, count] : buckets) {
    call.reply.integer(us);
    call.reply.integer(static_cast<int64_t>(count));
  }
}

// The commands of these names; of a container also everything in it. Unknown names are left out.
std::vector<const Command*> commands_named(const CommandTable& table,
                                           std::span<const std::string_view> names) {
  std::vector<const Command*> found;
  for (std::string_view name : names) {
    const size_t bar = name.find('|');
    const Command* command = table.find(name.substr(0, bar));
    if (command == nullptr) continue;
    if (bar != std::string_view::npos) {
      if (const Command* sub = command->subcommand(name.substr(bar + 1))) found.push_back(sub);
      continue;
    }
    found.push_back(command);
    found.insert(found.end(), command->subcommands.begin(), command->subcommands.end());
  }
  return found;
}

void latency_histogram(Call& call) {
  const LatencyCommands& commands = latency_commands_of(call);
  std::vector<const Command*> wanted;
  if (call.argc() == kFirstArgument) {
    for (const auto& command : commands.table->all()) wanted.push_back(command.get());
  } else {
    wanted = commands_named(*commands.table, call.args.subspan(kFirstArgument));
  }
  const std::vector<CommandStats> statistics = commands.statistics();
  std::erase_if(wanted, [&](const Command* command) {
    return statistics[command->index].durations.count() == 0;
  });
  call.reply.map(static_cast<int64_t>(wanted.size()));
  for (const Command* command : wanted) {
    answer_histogram(call, *command, statistics[command->index]);
  }
}

void latency_help(Call& call) {
  answer::help(call, {
                         "DOCTOR",
                         "    Explain what was slow and give advice.",
                         "GRAPH <event>",
                         "    Draw the samples of an event.",
                         "HISTORY <event>",
                         "    List the samples of an event: time and milliseconds.",
                         "LATEST",
                         "    List the latest sample of every event.",
                         "RESET [<event> ...]",
                         "    Forget the samples of these events, or of all.",
                         "HISTOGRAM [<command> ...]",
                         "    Show how the run times of these commands, or of all, are spread.",
                     });
}

}  // namespace

std::vector<Binding> latency_bindings(LatencyCommands& commands) {
  return {
      {"latency|doctor", &latency_doctor_command, &commands},
      {"latency|graph", &latency_graph_command, &commands},
      {"latency|help", &latency_help, &commands},
      {"latency|histogram", &latency_histogram, &commands},
      {"latency|history", &latency_history, &commands},
      {"latency|latest", &latency_latest, &commands},
      {"latency|reset", &latency_reset, &commands},
  };
}

}  // namespace sorrel::server
