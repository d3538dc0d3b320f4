#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "dispatch/call.h"
#include "keyspace/keyspace.h"

namespace sorrel {

class Transaction;

// The partitions that one command locks: collected from its keys, then locked in ascending order
// and each once, so that no two commands can hold a latch that the other one waits for.
//
//   clear() ── add_*() ──> lock() ── the command runs ──> unlock()
//
// One per worker. Thread rule: lock() and unlock() by that worker, which holds no latch before.
class LatchSet {
 public:
  explicit LatchSet(Keyspace& keyspace) : keyspace_(keyspace) {}

  void clear() { partitions_.clear(); }
  void add_key(std::string_view key) { partitions_.push_back(keyspace_.partition_of(key)); }
  // All keys of one command. False: the arguments do not determine those keys, and the command
  // needs the exclusive section.
  bool add_keys(const catalog::CommandSpec& spec, std::span<const std::string_view> args);
  // All keys that were queued or are watched: no other command comes between the check of watched
  // keys and the end of EXEC. False: a queued command needs the exclusive section.
  bool add_transaction(Transaction& transaction);

  void lock();
  enum class Memory : uint8_t { kIgnored, kCounted };
  // kCounted: the growth of the partitions is added to the node's sum while they are locked.
  void unlock(Memory memory);

  // Where the key at `position` lies, for commands with one key.
  unsigned partition_of(const Request& request, size_t position) const {
    const uint16_t slot = request.hashed == position ? request.hint.slot : kNoSlot;
    return keyspace_.partition_of(request.args[position], slot);
  }

  // After lock(): ascending, each once.
  std::span<const unsigned> partitions() const { return partitions_; }

 private:
  Keyspace& keyspace_;
  std::vector<unsigned> partitions_;
  std::vector<catalog::KeyPosition> positions_;
};

}  // namespace sorrel
