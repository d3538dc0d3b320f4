#include "config/sample_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace sorrel::config {
namespace {

using InPool = In<PoolOptions>;
using InSample = In<SampleOptions>;

constexpr InPool::Row kPool[] = {
    {.name = "pool-size",
     .alias = "pool-connections",
     .kind = InPool::integer<&PoolOptions::size>(1, 100),
     .help = "Connections kept open."},
    {.name = "pool-max-bytes",
     .kind = InPool::wide_bytes<&PoolOptions::max_bytes>(),
     .help = "Memory of all connections; 0 sets no limit."},
};

constexpr Word kModes[] = {
    {"slow", static_cast<int>(Mode::kSlow)},
    {"fast", static_cast<int>(Mode::kFast)},
};

Status parse_hosts(SampleOptions& options, Arguments args, Repeat repeat) {
  if (args.size() > 3) return Error{"Too many hosts"};
  if (repeat == Repeat::kReplaces) options.hosts.clear();
  options.hosts.insert(options.hosts.end(), args.begin(), args.end());
  return {};
}

std::string show_hosts(const SampleOptions& options) {
  return fmt::format("{}", fmt::join(options.hosts, " "));
}

std::vector<std::string> host_lines(const SampleOptions& options) {
  return options.hosts;
}

constexpr InSample::Row kGeneral[] = {
    {.name = "port",
     .part = &kListenPart,
     .kind = InSample::integer<&SampleOptions::listen, &SampleOptions::Listen::port>(1, 65535),
     .help = "Port for clients."},
    {.name = "encrypted",
     .flags = kStartupOnly,
     .kind = InSample::boolean<&SampleOptions::listen, &SampleOptions::Listen::encrypted>(),
     .help = "Whether clients speak TLS."},
    {.name = "folder",
     .flags = kProtected | kWorkingDirectory,
     .kind = InSample::optional_text<&SampleOptions::folder>(),
     .help = "Working directory."},
    {.name = "secret",
     .flags = kSecret | kHidden,
     .kind = InSample::optional_text<&SampleOptions::secret>(),
     .help = "Password."},
    {.name = "mode",
     .part = &kModePart,
     .kind = InSample::words<&SampleOptions::mode>(kModes),
     .help = "Manner of work."},
    {.name = "hosts",
     .flags = kMultiArg | kMayStandAlone,
     .part = &kListenPart,
     .kind = InSample::special<&parse_hosts, &show_hosts, &host_lines>(),
     .help = "Peers."},
    {.name = "later",
     .flags = kNoEffectYet,
     .kind = InSample::boolean<&SampleOptions::later>(),
     .help = "Something to come."},
};

Status read_group(Values& values, Arguments args, const LoadEnvironment&) {
  static_cast<SampleOptions&>(values).groups.push_back(args[0]);
  return {};
}

constexpr FileWord kFileWords[] = {
    {"group", 1, 1, &read_group, true},
    {"old-word", 1, 1, nullptr},
};

constexpr std::string_view kPreamble[] = {"A sample."};

void normalize(Values& values) {
  auto& size = static_cast<SampleOptions&>(values).pool.size;
  size = std::max(size, 2);
}

Status check(const Values& values) {
  const auto& options = static_cast<const SampleOptions&>(values);
  if (options.listen.encrypted && options.mode == Mode::kFast) return Error{"too good to be true"};
  return {};
}

}  // namespace

std::span<const In<PoolOptions>::Row> pool_directives() {
  return kPool;
}

const Table& sample_table() {
  static const Table the_table(
      std::make_unique<const SampleOptions>(),
      {chapter<SampleOptions>("General", kGeneral),
       chapter_of<&SampleOptions::pool>("Pool", pool_directives(), &kPoolPart)},
      {.version = "Sample 1",
       .preamble = kPreamble,
       .file_words = kFileWords,
       .normalize = &normalize,
       .check = &check});
  return the_table;
}

}  // namespace sorrel::config
