#include "dispatch/latch_set.h"

#include <algorithm>

#include "dispatch/transaction.h"

namespace sorrel {

using catalog::Locking;

bool LatchSet::add_keys(const catalog::CommandSpec& spec, std::span<const std::string_view> args) {
  positions_.clear();
  if (catalog::extract_keys(spec, args, positions_) != catalog::KeyError::kNone) return false;
  for (const catalog::KeyPosition& key : positions_) add_key(args[key.position]);
  return true;
}

bool LatchSet::add_transaction(Transaction& transaction) {
  for (const Transaction::Queued& queued : transaction.commands()) {
    const Locking locking = queued.command->locking;
    if (locking == Locking::kNone) continue;
    if (locking != Locking::kKeys || !add_keys(*queued.command->spec, queued.args)) return false;
  }
  for (const Watcher::Key& key : transaction.watcher.keys()) add_key(key.text);
  return true;
}

void LatchSet::lock() {
  std::sort(partitions_.begin(), partitions_.end());
  partitions_.erase(std::unique(partitions_.begin(), partitions_.end()), partitions_.end());
  for (const unsigned partition : partitions_) keyspace_.partition(partition).latch.lock();
}

void LatchSet::unlock(Memory memory) {
  for (const unsigned partition : partitions_) {
    if (memory == Memory::kCounted) [[unlikely]]
      keyspace_.count_memory(partition);
    keyspace_.partition(partition).latch.unlock();
  }
}

}  // namespace sorrel
