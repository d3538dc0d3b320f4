#include "server/processors.h"

#include <fmt/format.h>

#include <string_view>
#include <thread>

namespace sorrel::server {
namespace {

// The mask of a list, once a thread has run with it.
io::CpuMask tried(std::string_view directive, std::string_view list, Logger& log) {
  const auto refuse = [&](const std::string& reason) -> io::CpuMask {
    log.warning(fmt::format("{} '{}' has no effect: {}", directive, list, reason));
    return {};
  };
  Result<io::CpuMask> mask = io::CpuMask::parse(list);
  if (!mask) return refuse(mask.error().text);
  if (mask->empty()) return {};
  Status applied;
  std::thread([&] { applied = mask->apply(); }).join();
  if (!applied) return refuse(applied.error().text);
  return std::move(*mask);
}

}  // namespace

void Processors::prepare(const ProcessOptions& options, Logger& log) {
  workers_ = tried("server_cpulist", options.server_cpus, log);
  background_ = tried("bio_cpulist", options.background_cpus, log);
  rewrite_ = tried("aof_rewrite_cpulist", options.aof_rewrite_cpus, log);
  snapshot_ = tried("bgsave_cpulist", options.bgsave_cpus, log);
  if (background_.empty() && !workers_.empty()) background_ = io::CpuMask::of_this_thread();
}

const io::CpuMask& Processors::child(persist::ChildKind kind) const {
  if (kind == persist::ChildKind::kSnapshot) return snapshot_;
  return kind == persist::ChildKind::kRewrite ? rewrite_ : none_;
}

const io::CpuMask& Processors::snapshot_writer(bool as_aof_base) const {
  const io::CpuMask& listed = as_aof_base ? rewrite_ : snapshot_;
  return listed.empty() ? background_ : listed;
}

}  // namespace sorrel::server
