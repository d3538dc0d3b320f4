#pragma once

#include <span>

#include "catalog/spec.h"

namespace sorrel::catalog {

// The tables, one per family. Constant-initialised, so they may be read at any time.
extern const std::span<const CommandSpec> kStringFamily;
extern const std::span<const CommandSpec> kBitmapFamily;
extern const std::span<const CommandSpec> kListFamily;
extern const std::span<const CommandSpec> kListBlockingFamily;
extern const std::span<const CommandSpec> kGenericFamily;
extern const std::span<const CommandSpec> kDumpFamily;
extern const std::span<const CommandSpec> kHyperLogLogFamily;
extern const std::span<const CommandSpec> kZsetFamily;
extern const std::span<const CommandSpec> kZsetBlockingFamily;
extern const std::span<const CommandSpec> kConnectionFamily;
extern const std::span<const CommandSpec> kClientFamily;
extern const std::span<const CommandSpec> kClusterFamily;
extern const std::span<const CommandSpec> kCommandFamily;
extern const std::span<const CommandSpec> kStreamFamily;
extern const std::span<const CommandSpec> kAclFamily;
extern const std::span<const CommandSpec> kConfigFamily;
extern const std::span<const CommandSpec> kLatencyFamily;
extern const std::span<const CommandSpec> kMemoryFamily;
extern const std::span<const CommandSpec> kCommandLogFamily;
extern const std::span<const CommandSpec> kModuleFamily;
extern const std::span<const CommandSpec> kServerFamily;
extern const std::span<const CommandSpec> kPubSubFamily;
extern const std::span<const CommandSpec> kHashFamily;
extern const std::span<const CommandSpec> kHashExpiryFamily;
extern const std::span<const CommandSpec> kSetFamily;
extern const std::span<const CommandSpec> kGeoFamily;
extern const std::span<const CommandSpec> kSortFamily;
extern const std::span<const CommandSpec> kBloomFamily;
extern const std::span<const CommandSpec> kTransactionFamily;
extern const std::span<const CommandSpec> kScriptingFamily;
extern const std::span<const CommandSpec> kFunctionFamily;

// Of known(), but not of all().
extern const std::span<const CommandSpec> kUnimplementedFamily;
extern const std::span<const CommandSpec> kUnimplementedModuleFamily;

}  // namespace sorrel::catalog
