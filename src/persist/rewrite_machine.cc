#include "persist/rewrite_machine.h"

#include <cassert>
#include <utility>

namespace sorrel::persist {

RewriteMachine::Actions RewriteMachine::begin(Aof aof) {
  assert(!active());
  id_++;
  aof_ = aof;
  state_ = State::kWriting;
  increment_ = aof == Aof::kOn ? Increment::kPending : Increment::kOpen;
  switch (aof) {
    case Aof::kOff:
      return {Action::kStartBase};
    case Aof::kFirst:
      return {Action::kOpenFirstIncrement, Action::kStartBase};
    case Aof::kOn:
      break;
  }
  // The increment first: effects after the snapshot must not go to the old one alone.
  return {Action::kSwitchIncrement, Action::kStartBase};
}

RewriteMachine::Actions RewriteMachine::end(Actions actions) {
  state_ = State::kIdle;
  if (aof_ == Aof::kFirst) actions.push_back(Action::kDropFirstIncrement);
  return actions;
}

RewriteMachine::Actions RewriteMachine::end_to_begin_again(Actions actions) {
  actions = end(std::move(actions));
  if (aof_ == Aof::kFirst) actions.push_back(Action::kBeginAgain);
  return actions;
}

RewriteMachine::Actions RewriteMachine::on_begin_failed() {
  if (state_ != State::kWriting) return {};
  return end_to_begin_again({Action::kNoteFailure});
}

RewriteMachine::Actions RewriteMachine::put_or_reject() {
  switch (increment_) {
    case Increment::kPending:
      state_ = State::kAwaitingIncrement;
      return {};
    case Increment::kOpen:
      state_ = State::kPutting;
      return {Action::kPutBase};
    case Increment::kFailed:
      break;
  }
  return end({Action::kRemoveBase, Action::kReportUnusable, Action::kNoteFailure});
}

RewriteMachine::Actions RewriteMachine::on_increment(uint64_t id, bool opened) {
  if (id != id_ || !active() || increment_ != Increment::kPending) return {};
  increment_ = opened ? Increment::kOpen : Increment::kFailed;
  // A base without an increment is found out when it is whole, since the job cannot tell sooner.
  return state_ == State::kAwaitingIncrement ? put_or_reject() : Actions{};
}

RewriteMachine::Actions RewriteMachine::on_base_written(Base base) {
  if (state_ != State::kWriting) return {};
  switch (base) {
    case Base::kWhole:
      return put_or_reject();
    case Base::kFailed:
      return end_to_begin_again({Action::kRemoveBase, Action::kNoteFailure});
    case Base::kKilled:
      return end_to_begin_again({Action::kRemoveBase});
    case Base::kBeginAgain:
      break;
  }
  Actions actions = end({Action::kRemoveBase});
  actions.push_back(Action::kBeginAgain);
  return actions;
}

RewriteMachine::Actions RewriteMachine::on_base_put(uint64_t id, bool done) {
  if (id != id_ || state_ != State::kPutting) return {};
  if (!done) return end_to_begin_again({Action::kNoteFailure});
  state_ = State::kIdle;
  if (aof_ == Aof::kFirst) return {Action::kCountAof, Action::kNoteSuccess};
  return {Action::kNoteSuccess};
}

RewriteMachine::Actions RewriteMachine::cancel() {
  switch (state_) {
    case State::kIdle:
      return {};
    case State::kWriting:
      return end({Action::kStopBase, Action::kRemoveBase});
    case State::kAwaitingIncrement:
      return end({Action::kRemoveBase});
    case State::kPutting:
      break;
  }
  return aof_ == Aof::kOn ? Actions{} : end({});
}

RewriteMachine::Actions RewriteMachine::turn_off() {
  Actions actions = cancel();
  state_ = State::kIdle;  // a base that is on its way is put while the writer stops
  return actions;
}

}  // namespace sorrel::persist
