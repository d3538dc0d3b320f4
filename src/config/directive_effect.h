#pragma once

#include <set>

#include "base/log.h"
#include "base/result.h"
#include "config/option_table.h"

namespace sorrel::config {

// Directives without effect: rows with kNoEffectYet, kNeedless or kUnsupported.

// Does the value differ from the default?
bool is_changed(const Table& table, const Directive& row, const Values& options);

// An Error naming the first changed directive with kUnsupported: ignoring such a value could lose
// data or violate a protocol.
Status check_supported(const Table& table, const Values& options);
// The same for one row; the text is the reason only, for CONFIG SET.
Status check_supported(const Table& table, const Directive& row, const Values& options);

// Warns of changed directives without effect, once per directive and process.
//
// Thread rule: the main thread only, or inside an exclusive section.
class NoEffectWarnings {
 public:
  // Both outlive it.
  NoEffectWarnings(const Table& table, Logger& log) : table_(table), log_(log) {}
  void warn(const Values& options);

 private:
  const Table& table_;
  Logger& log_;
  std::set<const Directive*> warned_;
};

}  // namespace sorrel::config
