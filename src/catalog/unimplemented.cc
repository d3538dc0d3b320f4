#include "catalog/check.h"
#include "catalog/families.h"

namespace sorrel::catalog {
namespace {

// Commands of Redis that are not implemented. ACL rules and rename-command may name them, so that
// users and files made for Redis are accepted unchanged; they are invisible everywhere else, see
// known().
//
// An entry holds the facts that ACL categories are derived from. Implementing a command moves its
// entry into its family's table, where the rest is added; rules that name it keep their meaning.

constexpr CommandSpec top(std::string_view name, Group group, uint64_t flags = 0,
                          uint64_t categories = 0) {
  return {.name = name, .group = group, .flags = flags, .acl_categories = categories};
}

constexpr CommandSpec sub(std::string_view parent, std::string_view name, Group group,
                          uint64_t flags = 0, uint64_t categories = 0) {
  return {
      .name = name, .parent = parent, .group = group, .flags = flags, .acl_categories = categories};
}

constexpr CommandSpec kCommands[] = {
    // Replication and failover.
    top("wait", Group::kGeneric, kNoScript, kAclConnection),
    top("failover", Group::kServer, kAdmin | kNoScript | kStale),
    top("psync", Group::kServer, kAdmin | kNoScript | kNoAsyncLoading | kNoMulti),
    top("replconf", Group::kServer, kAdmin | kNoScript | kLoading | kStale | kAllowBusy),
    top("replicaof", Group::kServer, kAdmin | kNoScript | kStale | kNoAsyncLoading),
    top("role", Group::kServer, kNoScript | kLoading | kStale | kFast, kAclAdmin | kAclDangerous),
    top("slaveof", Group::kServer, kAdmin | kNoScript | kStale | kNoAsyncLoading),
    top("sync", Group::kServer, kAdmin | kNoScript | kNoAsyncLoading | kNoMulti),
    // Cluster.
    top("asking", Group::kCluster, kFast, kAclConnection),
    top("trimslots", Group::kCluster, kWrite, kAclKeyspace | kAclDangerous),
    top("cluster", Group::kCluster),
    sub("cluster", "addslots", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "addslotsrange", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "bumpepoch", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "count-failure-reports", Group::kCluster, kAdmin | kStale),
    sub("cluster", "countkeysinslot", Group::kCluster, kStale),
    sub("cluster", "delslots", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "delslotsrange", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "failover", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "flushslots", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "forget", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "getkeysinslot", Group::kCluster, kStale),
    sub("cluster", "help", Group::kCluster, kLoading | kStale),
    sub("cluster", "info", Group::kCluster, kStale),
    sub("cluster", "keyslot", Group::kCluster, kStale),
    sub("cluster", "links", Group::kCluster, kStale),
    sub("cluster", "meet", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "migration", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "myid", Group::kCluster, kStale),
    sub("cluster", "myshardid", Group::kCluster, kStale),
    sub("cluster", "nodes", Group::kCluster, kStale),
    sub("cluster", "replicas", Group::kCluster, kAdmin | kStale),
    sub("cluster", "replicate", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "reset", Group::kCluster, kAdmin | kNoScript | kStale),
    sub("cluster", "saveconfig", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "set-config-epoch", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "setslot", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    sub("cluster", "shards", Group::kCluster, kStale),
    sub("cluster", "slaves", Group::kCluster, kAdmin | kStale),
    sub("cluster", "slot-stats", Group::kCluster, kLoading | kStale),
    sub("cluster", "slots", Group::kCluster, kStale),
    sub("cluster", "syncslots", Group::kCluster, kAdmin | kStale | kNoAsyncLoading),
    // Sentinel.
    top("sentinel", Group::kSentinel, kAdmin),
    sub("sentinel", "ckquorum", Group::kSentinel, kAdmin),
    sub("sentinel", "config", Group::kSentinel, kAdmin),
    sub("sentinel", "debug", Group::kSentinel, kAdmin),
    sub("sentinel", "failover", Group::kSentinel, kAdmin),
    sub("sentinel", "flushconfig", Group::kSentinel, kAdmin),
    sub("sentinel", "get-master-addr-by-name", Group::kSentinel, kAdmin),
    sub("sentinel", "help", Group::kSentinel, kLoading | kStale),
    sub("sentinel", "info-cache", Group::kSentinel, kAdmin),
    sub("sentinel", "is-master-down-by-addr", Group::kSentinel, kAdmin),
    sub("sentinel", "master", Group::kSentinel, kAdmin),
    sub("sentinel", "masters", Group::kSentinel, kAdmin),
    sub("sentinel", "monitor", Group::kSentinel, kAdmin),
    sub("sentinel", "myid", Group::kSentinel, kAdmin),
    sub("sentinel", "pending-scripts", Group::kSentinel, kAdmin),
    sub("sentinel", "remove", Group::kSentinel, kAdmin),
    sub("sentinel", "replicas", Group::kSentinel, kAdmin),
    sub("sentinel", "reset", Group::kSentinel, kAdmin),
    sub("sentinel", "sentinels", Group::kSentinel, kAdmin),
    sub("sentinel", "set", Group::kSentinel, kAdmin),
    sub("sentinel", "simulate-failure", Group::kSentinel, kAdmin),
    sub("sentinel", "slaves", Group::kSentinel, kAdmin),
    // Administration since 8.6.
    top("backup", Group::kServer),
    sub("backup", "abort", Group::kServer, kAdmin | kNoScript),
    sub("backup", "cleanup", Group::kServer, kAdmin | kNoScript),
    sub("backup", "help", Group::kServer, kLoading | kStale),
    sub("backup", "list", Group::kServer, kAdmin | kNoScript),
    sub("backup", "seal", Group::kServer, kAdmin | kNoScript),
    sub("backup", "start", Group::kServer, kAdmin | kNoScript),
    sub("backup", "status", Group::kServer, kAdmin | kNoScript),
    top("hotkeys", Group::kServer),
    sub("hotkeys", "get", Group::kServer, kAdmin | kNoScript),
    sub("hotkeys", "help", Group::kServer, kLoading | kStale),
    sub("hotkeys", "reset", Group::kServer, kAdmin | kNoScript),
    sub("hotkeys", "start", Group::kServer, kAdmin | kNoScript),
    sub("hotkeys", "stop", Group::kServer, kAdmin | kNoScript),
    // Data types since 8.6.
    top("blmovem", Group::kList, kWrite | kDenyOom | kNoScript | kBlocking, kAclList),
    top("lmovem", Group::kList, kWrite | kDenyOom, kAclList),
    top("himport", Group::kHash),
    sub("himport", "discard", Group::kHash, 0, kAclHash),
    sub("himport", "discardall", Group::kHash, 0, kAclHash),
    sub("himport", "prepare", Group::kHash, 0, kAclHash),
    sub("himport", "set", Group::kHash, kWrite | kDenyOom, kAclHash),
    top("sdiffcard", Group::kSet, kReadonly, kAclSet),
    top("sunioncard", Group::kSet, kReadonly, kAclSet),
    top("xcfgset", Group::kStream, kWrite | kFast, kAclStream),
    top("xidmprecord", Group::kStream, kWrite | kFast, kAclStream),
    top("xnack", Group::kStream, kWrite | kFast, kAclStream),
    top("arcount", Group::kModule, kReadonly),
    top("ardel", Group::kModule, kWrite),
    top("ardelrange", Group::kModule, kWrite),
    top("arget", Group::kModule, kReadonly),
    top("argetrange", Group::kModule, kReadonly),
    top("argrep", Group::kModule, kReadonly),
    top("arinfo", Group::kModule, kReadonly),
    top("arinsert", Group::kModule, kWrite | kDenyOom),
    top("arlastitems", Group::kModule, kReadonly),
    top("arlen", Group::kModule, kReadonly),
    top("armget", Group::kModule, kReadonly),
    top("armset", Group::kModule, kWrite | kDenyOom),
    top("arnext", Group::kModule, kReadonly),
    top("arop", Group::kModule, kReadonly),
    top("arring", Group::kModule, kWrite | kDenyOom),
    top("arscan", Group::kModule, kReadonly),
    top("arseek", Group::kModule, kWrite),
    top("arset", Group::kModule, kWrite | kDenyOom),
};

static_assert(names_well_formed(kCommands));

}  // namespace

constinit const std::span<const CommandSpec> kUnimplementedFamily{kCommands};

}  // namespace sorrel::catalog
