#pragma once

// Why requests are refused, in the words that clients know, where more than one place says so.
namespace sorrel {

// NodeState::kSnapshotFailed; with the sign of an error in front of it, and without.
inline constexpr char kSnapshotFailedRefusal[] =
    "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Commands that may modify the data set are disabled, because this instance is "
    "configured to report errors during writes if RDB snapshotting fails "
    "(stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB "
    "error.";
inline constexpr const char* kSnapshotFailedError = &kSnapshotFailedRefusal[1];
inline constexpr char kSnapshotFailedScriptError[] =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Writable scripts are blocked. Use 'no-writes' flag for read only scripts.";

// NodeState::kLogFailed; what the system says follows.
inline constexpr char kLogFailedRefusal[] = "-MISCONF Errors writing to the AOF file: ";
inline constexpr const char* kLogFailedError = &kLogFailedRefusal[1];
inline constexpr char kLogFailedScriptError[] =
    "MISCONF Redis is configured to persist data to AOF, but it's currently unable to persist to "
    "disk. Writable scripts are blocked. Use 'no-writes' flag for read only scripts. AOF error: ";

}  // namespace sorrel
