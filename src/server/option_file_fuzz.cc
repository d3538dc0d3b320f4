#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/config_file.h"
#include "server/config_rewrite.h"
#include "server/config_store.h"
#include "server/option_table.h"

namespace sorrel::server {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool same_values(const Options& a, const Options& b) {
  for (const DirectiveGroup& group : directive_groups()) {
    for (const Directive& row : group.rows) {
      if (show(row, a) != show(row, b)) return false;
    }
  }
  return true;
}

// What loads can be rewritten, the result says the same, and rewriting it again changes nothing.
void rewrite_round_trip(std::string_view text, const Options& options) {
  const std::string once = rewrite_config(text, options, {});
  Options again;
  require(load_config(once, again, {}).ok());
  require(same_values(options, again));
  require(again.security.users == options.security.users);
  require(again.security.renamed_commands == options.security.renamed_commands);
  require(rewrite_config(once, again, {}) == once);
}

// The first line as a name, the rest as its value: taken, or refused without a trace.
void set_at_run_time(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return;
  Options options;
  options.security.protected_configs = Allowed::kYes;
  const Options before = options;
  ConfigStore store(options);
  const ConfigStore::Setting setting = {std::string(text.substr(0, end)),
                                        std::string(text.substr(end + 1))};
  if (store.set(std::span(&setting, 1), {})) {
    rewrite_round_trip("", options);
  } else {
    require(same_values(options, before));
  }
}

}  // namespace
}  // namespace sorrel::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sorrel::server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Options options;
  if (load_config(text, options, {})) rewrite_round_trip(text, options);
  set_at_run_time(text);
  return 0;
}
