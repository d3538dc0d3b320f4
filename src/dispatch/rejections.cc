#include "dispatch/rejections.h"

namespace sorrel {

WriteBlock write_block(const NodeState& node) {
  if ((node.reasons & NodeState::kNoWrites) == 0) [[likely]]
    return WriteBlock::kNone;
  if ((node.reasons & NodeState::kSnapshotFailed) != 0) return WriteBlock::kSnapshotFailed;
  if ((node.reasons & NodeState::kLogFailed) != 0) return WriteBlock::kLogFailed;
  if ((node.reasons & NodeState::kTooFewReplicas) != 0) return WriteBlock::kTooFewReplicas;
  return WriteBlock::kReadOnly;
}

WriteBlock script_write_block(const NodeState& node) {
  if ((node.reasons & NodeState::kReadOnlyReplica) != 0) return WriteBlock::kReadOnly;
  return write_block(node);
}

std::string write_block_error(WriteBlock block, const NodeState& node) {
  switch (block) {
    case WriteBlock::kNone:
      break;
    case WriteBlock::kSnapshotFailed:
      return "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
             "persist to disk. Commands that may modify the data set are disabled, because this "
             "instance is configured to report errors during writes if RDB snapshotting fails "
             "(stop-writes-on-bgsave-error option). Please check the Redis logs for details about "
             "the RDB error.";
    case WriteBlock::kLogFailed:
      return "MISCONF Errors writing to the AOF file: " + node.log_problem;
    case WriteBlock::kTooFewReplicas:
      return "NOREPLICAS Not enough good replicas to write.";
    case WriteBlock::kReadOnly:
      return "READONLY You can't write against a read only replica.";
  }
  return {};
}

std::string script_block_error(WriteBlock block, const NodeState& node) {
  constexpr char kBlocked[] =
      ", but it's currently unable to persist to disk. Writable scripts are blocked. Use "
      "'no-writes' flag for read only scripts.";
  if (block == WriteBlock::kSnapshotFailed) {
    return std::string("MISCONF Redis is configured to save RDB snapshots") + kBlocked;
  }
  if (block == WriteBlock::kLogFailed) {
    return std::string("MISCONF Redis is configured to persist data to AOF") + kBlocked +
           " AOF error: " + node.log_problem;
  }
  return write_block_error(block, node);
}

}  // namespace sorrel
