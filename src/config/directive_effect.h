#pragma once

#include <set>

#include "base/log.h"
#include "base/result.h"
#include "config/option_table.h"

namespace sorrel::config {

// Directives that do not act: rows with kNoEffectYet, kNeedless or kUnsupported.

// The value is not the default.
bool is_changed(const Table& table, const Directive& row, const Values& options);

// An Error names the first directive with kUnsupported that is changed: a program that ignored it
// would lose data or take part in something that it does not know.
Status check_supported(const Table& table, const Values& options);
// The same of one row; the text is the reason alone, fit for CONFIG SET.
Status check_supported(const Table& table, const Directive& row, const Values& options);

// Warns of directives that have no effect and are changed, of each once in the life of a program.
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
