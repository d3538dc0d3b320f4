#pragma once

#include <cstdint>
#include <vector>

namespace sorrel::persist {

// The hand-over of an AOF rewrite from the old files to the new ones, as a state machine: no files,
// no clock, no threads. Its owner reports events and carries out the actions that each returns, in
// their order.
//
//            begin()               on_base_written           on_base_put
//    kIdle ───────────> kWriting ─────────────────> kPutting ───────────> kIdle
//      ^                   │  │                        ^  │
//      │   base failed,    │  │ base is whole, the     │  │ failed
//      │   cancelled       │  v increment is not open  │  │
//      │                   │ kAwaitingIncrement ───────┘  │
//      └───────────────────┴──────────┴───────────────────┘
//
// Three parties report: the background job that writes the base, the writer's thread that opens an
// increment (only while the AOF is on) and puts the base in its place, and commands that turn the
// AOF off or end the server. Events of the writer's thread come late and carry the id of their
// rewrite; those of any other than the one under way change nothing.
class RewriteMachine {
 public:
  enum class State : uint8_t { kIdle, kWriting, kAwaitingIncrement, kPutting };
  // The AOF when the rewrite begins.
  enum class Aof : uint8_t {
    kOff,    // only the files are made, as BGREWRITEAOF does with appendonly no
    kFirst,  // turned on: it counts once the base is there
    kOn,
  };
  enum class Action : uint8_t {
    kOpenFirstIncrement,  // a temporary one, and the writer begins
    kSwitchIncrement,     // by the writer's thread; on_increment() follows
    kStartBase,           // by a background job; on_base_written() follows
    kStopBase,            // ends that job
    kRemoveBase,          // its file is of no use
    kPutBase,             // by the writer's thread, if it runs; on_base_put() follows
    kDropFirstIncrement,  // the writer stops, and the temporary increment goes
    kBeginAgain,          // when a background job may run
    kCountAof,            // from now on the AOF makes effects durable
    kReportUnusable,      // the base is whole, but there is no increment to go with it
    kNoteSuccess,
    kNoteFailure,
  };
  using Actions = std::vector<Action>;

  enum class Base : uint8_t {
    kWhole,
    kFailed,
    kKilled,      // by a signal sent on purpose: not counted as a failure
    kBeginAgain,  // databases were emptied or swapped meanwhile
  };

  State state() const { return state_; }
  bool active() const { return state_ != State::kIdle; }
  // Of the rewrite that began last.
  uint64_t id() const { return id_; }
  Aof aof() const { return aof_; }

  // Precondition: !active().
  [[nodiscard]] Actions begin(Aof aof);
  // One of the actions of begin() could not be carried out; the ones after it were not tried.
  [[nodiscard]] Actions on_begin_failed();
  // The writer's thread has opened an increment and writes to it, or could not.
  [[nodiscard]] Actions on_increment(uint64_t id, bool opened);
  [[nodiscard]] Actions on_base_written(Base base);
  [[nodiscard]] Actions on_base_put(uint64_t id, bool done);
  // The rewrite is to end without effect. One whose base is on its way into a running AOF goes on:
  // that takes no longer than the AOF itself.
  [[nodiscard]] Actions cancel();
  // The AOF is turned off, and the writer is about to stop. Whatever state it was in, no rewrite is
  // active afterwards.
  [[nodiscard]] Actions turn_off();

 private:
  enum class Increment : uint8_t { kPending, kOpen, kFailed };

  Actions put_or_reject();
  // Ends with these actions; a first AOF drops its increment and, unless cancelled, begins again.
  Actions end(Actions actions);
  Actions end_to_begin_again(Actions actions);

  State state_ = State::kIdle;
  Aof aof_ = Aof::kOff;
  Increment increment_ = Increment::kOpen;
  uint64_t id_ = 0;
};

}  // namespace sorrel::persist
