#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/config_file.h"
#include "config/config_rewrite.h"
#include "config/config_store.h"
#include "server/options.h"
#include "server/server_directives.h"

namespace sorrel::server {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool same_values(const Options& a, const Options& b) {
  for (const config::Directive* row : server_directives().rows()) {
    if (show(*row, a) != show(*row, b)) return false;
  }
  return true;
}

// A text that loads can be rewritten: the result loads to the same values, and rewriting it again
// changes nothing.
void rewrite_round_trip(std::string_view text, const Options& options) {
  const std::string once = config::rewrite_config(server_directives(), text, options, {});
  Options again;
  require(config::load_config(server_directives(), once, again, {}).ok());
  require(same_values(options, again));
  require(again.security.users == options.security.users);
  require(again.security.renamed_commands == options.security.renamed_commands);
  require(config::rewrite_config(server_directives(), once, again, {}) == once);
}

// The first line as a name, the rest as its value: taken, or refused without a trace.
void set_at_run_time(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return;
  Options options;
  const Options before = options;
  config::ConfigStore store(server_directives(), options);
  const config::ConfigStore::Setting setting = {std::string(text.substr(0, end)),
                                                std::string(text.substr(end + 1))};
  if (store.set(std::span(&setting, 1), {.may_set_protected = true})) {
    rewrite_round_trip("", options);
  } else {
    require(same_values(options, before));
  }
}

}  // namespace
}  // namespace sorrel::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sorrel;
  using namespace sorrel::server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Options options;
  if (config::load_config(server_directives(), text, options, {}))
    rewrite_round_trip(text, options);
  set_at_run_time(text);
  return 0;
}
