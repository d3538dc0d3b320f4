"""Is there an order of the commands that explains what was seen?

An order is allowed when a command that was answered before another was sent comes before it, and commands of one connection
keep their order. The search takes, again and again, one of the commands that may be next and whose answer the model gives in
the present state, and goes back when there is none. A pair of (commands taken, state) that led nowhere is never tried again.
"""

from dataclasses import dataclass

import model


class TooHard(Exception):
    """More states than it is worth; the history is neither explained nor refused."""


@dataclass(frozen=True)
class Event:
    client: int
    op: tuple
    sent: int  # any clock that does not go back
    answered: int
    answer: object


def links(events):
    """For every event the one before it on the same connection, or None."""
    last, before = {}, []
    for at, event in enumerate(events):
        before.append(last.get(event.client))
        last[event.client] = at
    return before


def explain(events, start, most_states=100_000):
    """An order (positions in `events`) that explains every answer, or None. Events of one client are in their order."""
    order = sorted(range(len(events)), key=lambda i: (events[i].sent, i))
    events = [events[i] for i in order]
    before = links(events)
    everything = (1 << len(events)) - 1
    tried = set()
    path, done, state = [], 0, start
    choices = [iter(next_steps(events, before, done, state))]
    while done != everything:
        for at, after in choices[-1]:
            if (done | 1 << at, after) in tried:
                continue
            tried.add((done | 1 << at, after))
            if len(tried) > most_states:
                raise TooHard()
            path.append((at, state))
            done, state = done | 1 << at, after
            choices.append(iter(next_steps(events, before, done, state)))
            break
        else:
            choices.pop()
            if not path:
                return None
            at, state = path.pop()
            done ^= 1 << at
    return [order[at] for at, _ in path]


def next_steps(events, before, done, state):
    """The commands that may come next and whose answers fit, each with the state it leads to. When one of them can have
    changed nothing, it alone: in any order that explains the rest, it may as well come first. (That it changes nothing in
    this state would not do: a COPY onto an equal value may have to come later, when it is one no more.)"""
    steps = []
    for at in candidates(events, before, done):
        after, answer = model.apply(state, events[at].op)
        if answer != events[at].answer:
            continue
        if model.is_quiet(events[at].op, answer):
            return [(at, after)]
        steps.append((at, after))
    return steps


def candidates(events, before, done):
    """Those that may come next, the first answered first. No command may pass one that was answered before it was sent."""
    first_answer, found = None, []
    for at, event in enumerate(events):
        if done >> at & 1:
            continue
        if first_answer is not None and event.sent > first_answer:
            break
        if first_answer is None or event.answered < first_answer:
            first_answer = event.answered
        if before[at] is None or done >> before[at] & 1:
            found.append(at)
    return sorted((at for at in found if events[at].sent <= first_answer), key=lambda at: events[at].answered)
