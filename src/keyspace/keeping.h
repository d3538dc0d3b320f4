#pragma once

#include "keyspace/keyspace.h"

namespace sorrel {

// Every key as it was at one moment, while commands go on:
//
//   Keyspace::begin_keeping()   the moment; from now on all records that are there are to be kept
//   a change of such a record   its door shows it to the keeper first, as it still is
//   keep_segment(), in steps    a walk: shows the records that no command changed
//   Keyspace::end_keeping()     the walk has seen all
//
// Whoever comes first, a record is shown once: a bit in it says in which phase it was last seen or
// written, and begin_keeping() turns the phase. So there is nothing to remember about records that
// are made meanwhile, move, or go.
//
// Each partition lists the databases that it had at the moment, and the walk follows that list:
//
//   SWAPDB            the databases on the list are still the same; only their numbers are others,
//                     and records are shown with the number of the moment (kept_numbers_)
//   FLUSHDB, FLUSHALL a database that has not been walked to its end goes to the list instead of
//                     being freed, which is done when the walk is through with it
//
// So memory is bounded by what was there at the moment, however often databases are emptied.
class RecordKeeper {
 public:
  virtual ~RecordKeeper() = default;

  // Under the latch of the record's partition, on that worker's thread. `db`: at the moment.
  virtual void keep(unsigned worker, int db, const Record& record) = 0;
};

}  // namespace sorrel
