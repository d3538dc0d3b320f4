#include "config/directive_effect.h"

#include <fmt/format.h>

namespace sorrel::config {

bool is_changed(const Table& table, const Directive& row, const Values& options) {
  return show(row, options) != show(row, table.defaults());
}

Status check_supported(const Table& table, const Directive& row, const Values& options) {
  if (!row.has(kUnsupported) || !is_changed(table, row, options)) return {};
  return Error{fmt::format("not supported yet, it must stay at its default '{}'",
                           show(row, table.defaults()))};
}

Status check_supported(const Table& table, const Values& options) {
  for (const Directive* row : table.rows()) {
    if (const Status status = check_supported(table, *row, options); !status) {
      return Error{fmt::format("Directive '{}' is {}.", row->name, status.error().text)};
    }
  }
  return {};
}

void NoEffectWarnings::warn(const Values& options) {
  for (const Directive* row : table_.rows()) {
    const bool later = row->has(kNoEffectYet);
    if ((!later && !row->has(kNeedless)) || !is_changed(table_, *row, options)) continue;
    if (!warned_.insert(row).second) continue;
    log_.warning(fmt::format("Directive '{}' is accepted but has no effect{}", row->name,
                             later ? " yet" : ""));
  }
}

}  // namespace sorrel::config
