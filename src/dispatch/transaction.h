#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/command_table.h"
#include "dispatch/watches.h"

namespace sorrel {

// The commands that one caller has queued after MULTI, and the keys it watches. Belongs to the
// caller's worker.
//
//   MULTI ──> open ── a command ──> queued ── EXEC ──> run, closed
//               │       └─ rejected ─> aborted ── EXEC ──> EXECABORT, closed
//               └─ DISCARD ──> closed
class Transaction {
 public:
  Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  bool open() const { return open_; }
  void begin() { open_ = true; }
  // A request after MULTI was rejected: EXEC will reject all of them.
  void abort() { aborted_ = true; }
  bool aborted() const { return aborted_; }
  // Forgets the queued commands. Watched keys stay watched.
  void close();

  // `command` is the one that will run: of a container, the subcommand.
  void queue(const Command& command, std::span<const std::string_view> args);
  size_t size() const { return commands_.size(); }
  // Catalog flags of the queued commands together.
  uint64_t flags() const { return flags_; }
  // The flags that each of them has; all flags when there are none.
  uint64_t common_flags() const { return common_flags_; }
  size_t argument_bytes() const { return bytes_.size(); }
  size_t memory_bytes() const;

  struct Queued {
    const Command* command;
    std::span<const std::string_view> args;  // until the next queue() or close()
  };
  // All of them, in order.
  std::span<const Queued> commands();

  Watcher watcher;

 private:
  struct Place {
    const Command* command;
    size_t arguments;
  };

  bool open_ = false;
  bool aborted_ = false;
  uint64_t flags_ = 0;
  uint64_t common_flags_ = ~uint64_t{0};
  // All arguments one after the other; few allocations however many commands there are.
  std::string bytes_;
  std::vector<size_t> ends_;
  std::vector<Place> commands_;
  std::vector<std::string_view> views_;
  std::vector<Queued> queued_;
};

}  // namespace sorrel
