#include "server/directive_effect.h"

#include <fmt/format.h>

namespace sorrel::server {

bool is_changed(const Directive& row, const Options& options) {
  return show(row, options) != show(row, Options{});
}

Status check_supported(const Directive& row, const Options& options) {
  if (!row.has(kUnsupported) || !is_changed(row, options)) return {};
  return Error{
      fmt::format("not supported yet, it must stay at its default '{}'", show(row, Options{}))};
}

Status check_supported(const Options& options) {
  for (const DirectiveGroup& group : directive_groups()) {
    for (const Directive& row : group.rows) {
      if (const Status status = check_supported(row, options); !status) {
        return Error{fmt::format("Directive '{}' is {}.", row.name, status.error().text)};
      }
    }
  }
  return {};
}

void NoEffectWarnings::warn(const Options& options) {
  for (const DirectiveGroup& group : directive_groups()) {
    for (const Directive& row : group.rows) {
      const bool later = row.has(kNoEffectYet);
      if ((!later && !row.has(kNeedless)) || !is_changed(row, options)) continue;
      if (!warned_.insert(&row).second) continue;
      log_.warning(fmt::format("Directive '{}' is accepted but has no effect{}", row.name,
                               later ? " yet" : ""));
    }
  }
}

}  // namespace sorrel::server
