#pragma once

#include <cstdint>

#include "keyspace/keyspace.h"

namespace sorrel {

// Every key as it was at one moment, while commands go on:
//
//   Keyspace::begin_keeping()   the moment; from now on all records that are there are to be kept
//   a change of such a record   its door shows it to the keeper first, as it still is
//   a walk, in steps            shows those that nobody has changed
//   Keyspace::end_keeping()     the walk has seen all
//
// Whoever comes first, a record is shown once: a bit in it says in which phase it was last seen or
// written, and begin_keeping() turns the phase. So there is nothing to remember about records that
// are made meanwhile, move, or go.
class RecordKeeper {
 public:
  virtual ~RecordKeeper() = default;

  // Under the latch of the record's partition, on that worker's thread.
  virtual void keep(unsigned worker, int db, const Record& record) = 0;
  // Databases are about to be emptied or swapped, so what is not kept yet can't be. Under the gate.
  virtual void on_rearrangement() = 0;
};

// Where a walk through one partition stands.
struct KeepingPlace {
  int db = 0;
  uint64_t position = 0;  // in the table
};

// Shows the records of one segment that are to be kept; false: there is none left in the partition.
// Under its latch. Precondition: keeping has begun.
bool keep_segment(Keyspace& keyspace, unsigned worker, unsigned partition, KeepingPlace& place);

}  // namespace sorrel
