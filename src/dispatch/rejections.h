#pragma once

#include <cstdint>
#include <string>

#include "dispatch/node_state.h"

// Error texts of rejected commands that more than one place answers with.
namespace sorrel {

inline constexpr char kStaleReplicaError[] =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";

// The state of the node that forbids writes, if there is one; in the order of rejection.
enum class WriteBlock : uint8_t {
  kNone,
  kSnapshotFailed,  // MISCONF
  kLogFailed,       // MISCONF
  kTooFewReplicas,  // NOREPLICAS
  kReadOnly,        // READONLY
};
WriteBlock write_block(const NodeState& node);
// Of a script at its first write: its order begins with kReadOnly.
WriteBlock script_write_block(const NodeState& node);

// The error reply to a write command; empty for kNone.
std::string write_block_error(WriteBlock block, const NodeState& node);
// The same for a script that has declared that it writes.
std::string script_block_error(WriteBlock block, const NodeState& node);

}  // namespace sorrel
