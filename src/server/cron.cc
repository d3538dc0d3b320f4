// The server-wide timer of worker 0, ten times a second: rates and memory.

#include <algorithm>

#include "io/process.h"
#include "server/server.h"
#include "session/client_eviction.h"

namespace sorrel::server {

void Server::cron() {
  // Everything here reads what other workers write.
  workers_[0]->executor().exclusively([this] {
    sample_rates();
    facts_.peak_memory = std::max(facts_.peak_memory, used_memory());
    recount_memory();
    evict_clients();
    adjust_hz();
    persistence_.cron();
    script_debugging_.cron();
    admin_.migrate().cron();
    shut_down_if_wanted();
  });
}

void Server::sample_rates() {
  const int64_t now_ns = clock_.monotonic_ns();
  uint64_t commands = 0;
  uint64_t input = 0;
  uint64_t output = 0;
  uint64_t turns = 0;
  uint64_t busy_us = 0;
  for (const auto& worker : workers_) {
    commands += worker->executor().stats().processed;
    input += worker->host().stats().input_bytes;
    output += worker->host().stats().output_bytes;
    turns += worker->turn_stats().turns;
    busy_us += worker->turn_stats().busy_ns / 1000;
  }
  const double seconds = static_cast<double>(now_ns - sampler_.last_ns) / 1e9;
  if (sampler_.last_ns != 0 && seconds > 0) {
    facts_.ops_per_second = sampler_.commands.add(sampler_.at, commands, seconds);
    facts_.input_kbps = sampler_.input.add(sampler_.at, input, seconds) / 1024;
    facts_.output_kbps = sampler_.output.add(sampler_.at, output, seconds) / 1024;
    facts_.turns_per_second = sampler_.turns.add(sampler_.at, turns, seconds);
    const double busy_share = sampler_.busy_us.add(sampler_.at, busy_us, seconds);
    facts_.turn_us = facts_.turns_per_second > 0 ? busy_share / facts_.turns_per_second : 0;
    sampler_.at = (sampler_.at + 1) % RateSampler::kSamples;
  } else {
    sampler_.commands.last = commands;
    sampler_.input.last = input;
    sampler_.output.last = output;
    sampler_.turns.last = turns;
    sampler_.busy_us.last = busy_us;
  }
  sampler_.last_ns = now_ns;
}

// A round of the cron looks at some of the clients; many clients get more rounds (dynamic-hz).
void Server::adjust_hz() {
  constexpr int64_t kMostHz = 500;
  constexpr int64_t kClientsPerRound = 200;
  const ProcessOptions& process = options_.process;
  int64_t hz = std::max<int64_t>(process.hz, 1);
  const int64_t clients = sessions_.connected.load(std::memory_order_relaxed);
  while (process.dynamic_hz && hz < kMostHz && clients / hz > kClientsPerRound) {
    hz = std::min(2 * hz, kMostHz);
  }
  expiry_.hz = hz;
}

// One client that never reads must not take the machine down with it: without a limit of its own,
// all clients together may hold a quarter of the machine's memory.
void Server::evict_clients() {
  uint64_t limit = sessions_.options.max_total_memory;
  if (limit == 0 || limit == SessionOptions::kOnlyCounted) limit = io::total_system_memory() / 4;
  if (limit != 0) sorrel::evict_clients(sessions_, limit);
}

}  // namespace sorrel::server
