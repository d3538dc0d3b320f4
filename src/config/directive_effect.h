#pragma once

#include <set>

#include "base/log.h"
#include "base/result.h"
#include "server/option_table.h"
#include "server/options.h"

namespace sorrel::server {

// What happens to directives that do not act: rows with kNoEffectYet, kNeedless or kUnsupported.

// Its value is not that of a fresh server.
bool is_changed(const Directive& row, const Options& options);

// An Error names the first directive with kUnsupported that is changed: a server that ignored it
// would lose data or speak for a node that it is not.
Status check_supported(const Options& options);
// The same of one row; the text is the reason alone, fit for CONFIG SET.
Status check_supported(const Directive& row, const Options& options);

// Warns of directives that have no effect and are changed, of each once in the life of a server.
//
// Thread rule: the main thread only, or under the gate.
class NoEffectWarnings {
 public:
  explicit NoEffectWarnings(Logger& log) : log_(log) {}
  void warn(const Options& options);

 private:
  Logger& log_;
  std::set<const Directive*> warned_;
};

}  // namespace sorrel::server
