#include "server/process_title.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace sorrel::server {
namespace {

std::string listen_address(const NetworkOptions& network, int64_t tls_port) {
  const int64_t port = network.port != 0 ? network.port : tls_port;
  if (port == 0) return network.unix_socket;
  return fmt::format("{}:{}", network.bind.empty() ? "*" : network.bind[0], port);
}

std::string variable(std::string_view name, const Options& options, std::string_view program,
                     std::string_view config_file) {
  if (name == "title") return std::string(program);
  if (name == "listen-addr") return listen_address(options.network, options.tls.port);
  if (name == "server-mode") return options.cluster.enabled ? "[cluster]" : "";
  if (name == "port") return std::to_string(options.network.port);
  if (name == "tls-port") return std::to_string(options.tls.port);
  if (name == "unixsocket") return options.network.unix_socket;
  if (name == "config-file") return std::string(config_file);
  return {};
}

}  // namespace

std::string process_title(const Options& options, std::string_view program,
                          std::string_view config_file) {
  std::string_view rest = options.process.proc_title_template;
  std::string title;
  while (!rest.empty()) {
    const size_t close = rest.find('}');
    if (rest.starts_with("{{")) {
      title += '{';
      rest.remove_prefix(2);
    } else if (rest[0] == '{' && close != std::string_view::npos) {
      title += variable(rest.substr(1, close - 1), options, program, config_file);
      rest.remove_prefix(close + 1);
    } else {
      title += rest[0];
      rest.remove_prefix(1);
    }
  }
  return std::string(trim(title));
}

}  // namespace sorrel::server
