#include "persist/rewrite_machine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace sorrel::persist {
namespace {

using Machine = RewriteMachine;
using Action = Machine::Action;
using Actions = Machine::Actions;
using Aof = Machine::Aof;
using Base = Machine::Base;
using State = Machine::State;

// A machine in which a rewrite has begun.
Machine begun(Aof aof) {
  Machine machine;
  EXPECT_FALSE(machine.begin(aof).empty());
  return machine;
}

// A machine whose base is on its way to its place.
Machine putting(Aof aof) {
  Machine machine = begun(aof);
  if (aof == Aof::kOn) {
    EXPECT_EQ(machine.on_increment(machine.id(), true), Actions{});
  }
  EXPECT_EQ(machine.on_base_written(Base::kWhole), Actions{Action::kPutBase});
  return machine;
}

TEST(RewriteMachine, BeginsWithTheIncrement) {
  Machine machine;
  EXPECT_FALSE(machine.active());
  EXPECT_EQ(machine.begin(Aof::kOff), (Actions{Action::kStartBase}));
  EXPECT_EQ(Machine().begin(Aof::kFirst),
            (Actions{Action::kOpenFirstIncrement, Action::kStartBase}));
  EXPECT_EQ(Machine().begin(Aof::kOn), (Actions{Action::kSwitchIncrement, Action::kStartBase}));
  EXPECT_EQ(machine.state(), State::kWriting);
}

TEST(RewriteMachine, PutsTheBaseOnceTheIncrementIsOpen) {
  Machine machine = putting(Aof::kOn);
  EXPECT_EQ(machine.state(), State::kPutting);
  EXPECT_EQ(machine.on_base_put(machine.id(), true), Actions{Action::kNoteSuccess});
  EXPECT_FALSE(machine.active());
}

TEST(RewriteMachine, WaitsForTheIncrementWithAWholeBase) {
  Machine machine = begun(Aof::kOn);
  EXPECT_EQ(machine.on_base_written(Base::kWhole), Actions{});
  EXPECT_EQ(machine.state(), State::kAwaitingIncrement);
  EXPECT_EQ(machine.on_increment(machine.id(), true), Actions{Action::kPutBase});
  EXPECT_EQ(machine.state(), State::kPutting);
}

TEST(RewriteMachine, FailsWithoutAnIncrement) {
  const Actions unusable{Action::kRemoveBase, Action::kReportUnusable, Action::kNoteFailure};
  Machine before = begun(Aof::kOn);
  EXPECT_EQ(before.on_increment(before.id(), false), Actions{});
  EXPECT_EQ(before.state(), State::kWriting);
  EXPECT_EQ(before.on_base_written(Base::kWhole), unusable);
  EXPECT_FALSE(before.active());

  Machine after = begun(Aof::kOn);
  EXPECT_EQ(after.on_base_written(Base::kWhole), Actions{});
  EXPECT_EQ(after.on_increment(after.id(), false), unusable);
  EXPECT_FALSE(after.active());
}

TEST(RewriteMachine, AFailedBaseIsReportedOnceWhateverTheIncrement) {
  for (const bool opened : {true, false}) {
    Machine machine = begun(Aof::kOn);
    EXPECT_EQ(machine.on_increment(machine.id(), opened), Actions{});
    EXPECT_EQ(machine.on_base_written(Base::kFailed),
              (Actions{Action::kRemoveBase, Action::kNoteFailure}));
    EXPECT_FALSE(machine.active());
    EXPECT_EQ(machine.on_base_written(Base::kFailed), Actions{});
  }
  Machine machine = begun(Aof::kOn);
  EXPECT_EQ(machine.on_base_written(Base::kFailed),
            (Actions{Action::kRemoveBase, Action::kNoteFailure}));
  EXPECT_EQ(machine.on_increment(machine.id(), true), Actions{});  // too late to matter
  EXPECT_FALSE(machine.active());
}

TEST(RewriteMachine, ABaseThatWasKilledIsNoFailure) {
  Machine machine = begun(Aof::kOn);
  EXPECT_EQ(machine.on_base_written(Base::kKilled), Actions{Action::kRemoveBase});
  EXPECT_FALSE(machine.active());
}

TEST(RewriteMachine, BeginsAgainWhenDatabasesWereSwapped) {
  Machine on = begun(Aof::kOn);
  EXPECT_EQ(on.on_base_written(Base::kBeginAgain),
            (Actions{Action::kRemoveBase, Action::kBeginAgain}));
  Machine first = begun(Aof::kFirst);
  EXPECT_EQ(first.on_base_written(Base::kBeginAgain),
            (Actions{Action::kRemoveBase, Action::kDropFirstIncrement, Action::kBeginAgain}));
}

TEST(RewriteMachine, AFailedPutIsAFailure) {
  Machine machine = putting(Aof::kOn);
  EXPECT_EQ(machine.on_base_put(machine.id(), false), Actions{Action::kNoteFailure});
  EXPECT_FALSE(machine.active());
}

TEST(RewriteMachine, TheFirstBaseMakesTheAofCount) {
  Machine machine = putting(Aof::kFirst);
  EXPECT_EQ(machine.on_base_put(machine.id(), true),
            (Actions{Action::kCountAof, Action::kNoteSuccess}));
}

TEST(RewriteMachine, AFirstAofThatFailsBeginsAgain) {
  const auto drops = [](const Actions& actions) {
    return std::ranges::count(actions, Action::kDropFirstIncrement) == 1 &&
           std::ranges::count(actions, Action::kBeginAgain) == 1;
  };
  Machine put = putting(Aof::kFirst);
  EXPECT_TRUE(drops(put.on_base_put(put.id(), false)));
  EXPECT_TRUE(drops(begun(Aof::kFirst).on_base_written(Base::kFailed)));
  EXPECT_TRUE(drops(begun(Aof::kFirst).on_base_written(Base::kKilled)));
  EXPECT_TRUE(drops(begun(Aof::kFirst).on_begin_failed()));
}

TEST(RewriteMachine, WithoutAnAofOnlyFilesAreMade) {
  Machine machine = putting(Aof::kOff);
  EXPECT_EQ(machine.on_base_put(machine.id(), true), Actions{Action::kNoteSuccess});
  EXPECT_EQ(begun(Aof::kOff).on_base_written(Base::kFailed),
            (Actions{Action::kRemoveBase, Action::kNoteFailure}));
}

TEST(RewriteMachine, ABeginningThatFailsLeavesNothingActive) {
  Machine machine = begun(Aof::kOn);
  EXPECT_EQ(machine.on_begin_failed(), Actions{Action::kNoteFailure});
  EXPECT_FALSE(machine.active());
  // The writer switches all the same, and reports that.
  EXPECT_EQ(machine.on_increment(machine.id(), true), Actions{});
  EXPECT_EQ(machine.on_begin_failed(), Actions{});
}

TEST(RewriteMachine, CancelStopsWhatIsWritten) {
  Machine idle;
  EXPECT_EQ(idle.cancel(), Actions{});
  Machine writing = begun(Aof::kOn);
  EXPECT_EQ(writing.cancel(), (Actions{Action::kStopBase, Action::kRemoveBase}));
  EXPECT_FALSE(writing.active());
  EXPECT_EQ(writing.on_increment(writing.id(), true), Actions{});

  Machine awaiting = begun(Aof::kOn);
  EXPECT_EQ(awaiting.on_base_written(Base::kWhole), Actions{});
  EXPECT_EQ(awaiting.cancel(), Actions{Action::kRemoveBase});
  EXPECT_EQ(awaiting.on_increment(awaiting.id(), true), Actions{});
  EXPECT_FALSE(awaiting.active());
}

TEST(RewriteMachine, CancelOfAFirstAofDropsItsIncrementAndDoesNotBeginAgain) {
  Machine writing = begun(Aof::kFirst);
  EXPECT_EQ(writing.cancel(),
            (Actions{Action::kStopBase, Action::kRemoveBase, Action::kDropFirstIncrement}));
  Machine put = putting(Aof::kFirst);
  EXPECT_EQ(put.cancel(), Actions{Action::kDropFirstIncrement});
  EXPECT_FALSE(put.active());
  EXPECT_EQ(put.on_base_put(put.id(), true), Actions{});
}

// SHUTDOWN: the writer stops after it has put the base.
TEST(RewriteMachine, CancelLetsABaseOnItsWayArrive) {
  Machine machine = putting(Aof::kOn);
  EXPECT_EQ(machine.cancel(), Actions{});
  EXPECT_EQ(machine.state(), State::kPutting);
  EXPECT_EQ(machine.on_base_put(machine.id(), true), Actions{Action::kNoteSuccess});
}

TEST(RewriteMachine, NothingIsActiveAfterTheAofIsOff) {
  Machine put = putting(Aof::kOn);
  EXPECT_EQ(put.turn_off(), Actions{});
  EXPECT_FALSE(put.active());
  EXPECT_EQ(put.on_base_put(put.id(), true), Actions{});
  Machine writing = begun(Aof::kOn);
  EXPECT_EQ(writing.turn_off(), (Actions{Action::kStopBase, Action::kRemoveBase}));
  EXPECT_FALSE(writing.active());
  EXPECT_EQ(Machine().turn_off(), Actions{});
}

// appendonly no, yes, and the messages of the first rewrite come during the second.
TEST(RewriteMachine, EventsOfAnOlderRewriteChangeNothing) {
  Machine machine = begun(Aof::kOn);
  const uint64_t old = machine.id();
  EXPECT_EQ(machine.turn_off(), (Actions{Action::kStopBase, Action::kRemoveBase}));
  EXPECT_FALSE(machine.begin(Aof::kOn).empty());
  EXPECT_NE(machine.id(), old);
  EXPECT_EQ(machine.on_increment(old, false), Actions{});
  EXPECT_EQ(machine.on_base_written(Base::kWhole), Actions{});
  EXPECT_EQ(machine.state(), State::kAwaitingIncrement);  // the old message opened nothing
  EXPECT_EQ(machine.on_increment(old, true), Actions{});
  EXPECT_EQ(machine.on_increment(machine.id(), true), Actions{Action::kPutBase});
  EXPECT_EQ(machine.on_base_put(old, false), Actions{});
  EXPECT_EQ(machine.state(), State::kPutting);
}

TEST(RewriteMachine, EventsThatDoNotFitTheStateChangeNothing) {
  Machine idle;
  EXPECT_EQ(idle.on_increment(0, true), Actions{});
  EXPECT_EQ(idle.on_base_written(Base::kWhole), Actions{});
  EXPECT_EQ(idle.on_base_put(0, true), Actions{});
  Machine writing = begun(Aof::kOn);
  EXPECT_EQ(writing.on_base_put(writing.id(), true), Actions{});
  EXPECT_EQ(writing.state(), State::kWriting);
  Machine put = putting(Aof::kOn);
  EXPECT_EQ(put.on_increment(put.id(), false), Actions{});
  EXPECT_EQ(put.on_base_written(Base::kFailed), Actions{});
  EXPECT_EQ(put.state(), State::kPutting);
}

// What the files and the job would be, if the actions were carried out.
struct Model {
  bool job = false;
  bool base = false;             // a whole one, not put and not removed
  bool first_increment = false;  // the writer fills a temporary one
  bool increment = false;        // the running AOF has switched for this rewrite

  void carry_out(const Actions& actions) {
    for (const Action action : actions) {
      switch (action) {
        case Action::kOpenFirstIncrement:
          ASSERT_FALSE(std::exchange(first_increment, true));
          break;
        case Action::kStartBase:
          ASSERT_FALSE(std::exchange(job, true));
          break;
        case Action::kStopBase:
          ASSERT_TRUE(std::exchange(job, false));
          break;
        case Action::kPutBase:
          ASSERT_TRUE(base);
          ASSERT_TRUE(first_increment || increment);
          break;
        case Action::kRemoveBase:
          base = false;
          break;
        case Action::kDropFirstIncrement:
        case Action::kCountAof:
          ASSERT_TRUE(std::exchange(first_increment, false));
          break;
        default:
          break;
      }
    }
  }
};

// Any order of events: a base is put only with an increment, at most one job runs, and a rewrite
// that has ended leaves no job, no base and no temporary increment.
TEST(RewriteMachine, AnyOrderOfEvents) {
  Random random(7);
  for (int round = 0; round < 2000; round++) {
    Machine machine;
    Model model;
    for (int step = 0; step < 30 && !HasFatalFailure(); step++) {
      const uint64_t id = machine.id() - (random.below(8) == 0 ? 1 : 0);
      const bool is_mine = id == machine.id();
      const bool ok = random.below(3) != 0;
      switch (random.below(7)) {
        case 0: {
          if (machine.active()) break;
          const Aof aof = random.below(2) == 0 ? Aof::kFirst : Aof::kOn;
          model.increment = false;
          model.carry_out(machine.begin(aof));
          break;
        }
        case 1:
          if (machine.aof() != Aof::kOn) break;
          // A writer reports one outcome for each rewrite.
          if (is_mine && machine.active() && machine.state() != State::kPutting) {
            if (model.increment) break;
            model.increment = ok;
          }
          model.carry_out(machine.on_increment(id, ok));
          break;
        case 2:
        case 3:
          if (!std::exchange(model.job, false)) break;
          model.base = ok;
          model.carry_out(machine.on_base_written(ok                     ? Base::kWhole
                                                  : random.below(2) == 0 ? Base::kFailed
                                                                         : Base::kBeginAgain));
          break;
        case 4:
          if (machine.state() == State::kPutting && is_mine) model.base = false;
          model.carry_out(machine.on_base_put(id, ok));
          break;
        case 5:
          if (machine.state() == State::kPutting) model.base = false;  // put while it stops
          model.carry_out(machine.turn_off());
          ASSERT_FALSE(machine.active());
          break;
        default:
          if (machine.state() == State::kPutting) break;
          model.carry_out(machine.cancel());
          break;
      }
      if (machine.active()) continue;
      ASSERT_FALSE(model.job);
      ASSERT_FALSE(model.base);
      ASSERT_FALSE(model.first_increment);
    }
  }
}

}  // namespace
}  // namespace sorrel::persist
