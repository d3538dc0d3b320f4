#include "server/descriptor_limit.h"

#include <fmt/format.h>

#include "io/process.h"

namespace sorrel::server {
namespace {

constexpr uint64_t kOfOneWorker = 32;
constexpr uint64_t kOfEachFurtherWorker = 2;
constexpr uint64_t kListenersIncluded = 4;
// What is assumed where the system does not say.
constexpr uint64_t kUsualLimit = 1024;

uint64_t listeners(const Options& options) {
  const NetworkOptions& network = options.network;
  const uint64_t ports = (network.port != 0 ? 1U : 0U) + (options.tls.port != 0 ? 1U : 0U);
  return network.bind.size() * ports + (network.unix_socket.empty() ? 0 : 1);
}

}  // namespace

uint64_t own_descriptors(const Options& options) {
  const auto further_workers = static_cast<uint64_t>(options.process.threads - 1);
  const uint64_t listening = listeners(options);
  return kOfOneWorker + kOfEachFurtherWorker * further_workers +
         (listening > kListenersIncluded ? listening - kListenersIncluded : 0);
}

bool fit_max_clients(Options& options, Logger& log) {
  int64_t& max_clients = options.clients.max_clients;
  const uint64_t own = own_descriptors(options);
  const uint64_t wanted = static_cast<uint64_t>(max_clients) + own;
  io::DescriptorLimit limit = io::raise_descriptor_limit(wanted);
  if (limit.before == 0) {
    log.warning(
        fmt::format("Unable to obtain the current NOFILE limit ({}), assuming {} and "
                    "setting the max clients configuration accordingly.",
                    limit.reason, kUsualLimit));
    limit.now = kUsualLimit;
  } else if (limit.now >= wanted) {
    if (limit.now > limit.before) {
      log.notice(
          fmt::format("Increased maximum number of open files to {} (it was originally set to {}).",
                      limit.now, limit.before));
    }
    return true;
  }
  if (limit.now <= own) {
    log.warning(
        fmt::format("Your current 'ulimit -n' of {} is not enough for the server to start. "
                    "Please increase your open file limit to at least {}. Exiting.",
                    limit.now, wanted));
    return false;
  }
  if (limit.now >= wanted) return true;
  const int64_t asked = max_clients;
  max_clients = static_cast<int64_t>(limit.now - own);
  if (limit.before == 0) return true;
  log.warning(
      fmt::format("You requested maxclients of {} requiring at least {} max file "
                  "descriptors.",
                  asked, wanted));
  log.warning(fmt::format("Server can't set maximum open files to {} because of OS error: {}.",
                          wanted, limit.reason));
  log.warning(
      fmt::format("Current maximum open files is {}. maxclients has been reduced to {} to "
                  "compensate for low ulimit. If you need higher maxclients increase "
                  "'ulimit -n'.",
                  limit.now, max_clients));
  return true;
}

}  // namespace sorrel::server
