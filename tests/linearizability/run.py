#!/usr/bin/python3
"""Many short histories of concurrent commands against Sorrel, each checked for linearizability.

    tests/linearizability/run.py                       a few seconds of histories, four threads
    tests/linearizability/run.py --seed 7 --count 100  the commands of these histories again
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import random
import select
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(0, HERE)

import checker_test  # noqa: E402
import model  # noqa: E402
from checker import Event, TooHard, explain  # noqa: E402
from lib.resp import Aggregate, ConnectionClosed, Error, Nil, ProtocolError, ReplyTimeout, Simple, encode_command  # noqa: E402
from lib.server import Server, ServerFailed  # noqa: E402

KEYS = 5
CLIENTS = 6
OPS_PER_CLIENT = 12
IN_FLIGHT = (1, 1, 1, 2, 3)  # how many a connection sends at once; more make histories that are hard to check
BOUND_S = 30.0
MOST_UNCHECKED = 20


def plain(reply, names):
    """A reply as the model writes answers."""
    if isinstance(reply, Simple):
        return reply.text.decode()
    if isinstance(reply, Error):
        return reply.text.decode()
    if isinstance(reply, Nil):
        return None
    if isinstance(reply, bytes):
        return reply.decode()
    if isinstance(reply, Aggregate):
        return tuple(plain(item, names) for item in reply.items)
    return reply


class Client:
    """One connection with its commands of one history; up to three are under way at once."""

    def __init__(self, number, connection):
        self.number = number
        self.connection = connection
        self.todo = []
        self.in_flight = []  # [(op, sent)]
        self.events = []

    def send_some(self, rng, history):
        if self.in_flight or not self.todo:
            return
        count = min(rng.choice(IN_FLIGHT), len(self.todo))
        ops, self.todo = self.todo[:count], self.todo[count:]
        data = b"".join(encode_command([w.encode() for w in model.words(op, *history)]) for op in ops)
        sent = time.monotonic_ns()
        self.in_flight = [(op, sent) for op in ops]
        self.connection.send_raw(data)

    def read_some(self, history):
        """Takes the next answer; more may be there already."""
        op, sent = self.in_flight.pop(0)
        reply = self.connection.read()
        answered = time.monotonic_ns()
        answer = plain(reply, history[0])
        if op[0] == "KEYS" and isinstance(answer, tuple):
            answer = tuple(sorted(history[0].index(name) for name in answer))
        self.events.append(Event(self.number, op, sent, answered, answer))


class Player:
    def __init__(self, server):
        self.connections = [server.connect(BOUND_S) for _ in range(CLIENTS)]

    def close(self):
        for connection in self.connections:
            connection.close()

    def play(self, seed):
        """One history on keys of its own; the last command reads everything when all is quiet."""
        rng = random.Random(seed)
        prefix = f"h{seed}:"
        history = ([f"{prefix}{rng.randrange(1 << 30):x}" for _ in range(KEYS)], prefix)
        values = iter(range(1, 1 << 30))

        def unique():
            return str(next(values) * 1000)

        clients = [Client(n, c) for n, c in enumerate(self.connections)]
        for client in clients:
            client.todo = [model.random_op(rng, KEYS, unique) for _ in range(OPS_PER_CLIENT)]
        self.drive(clients, rng, history)
        clients[0].todo = [("MGET", *range(KEYS))]
        self.drive(clients[:1], rng, history)
        return [event for client in clients for event in client.events]

    def drive(self, clients, rng, history):
        by_fd = {client.connection.socket.fileno(): client for client in clients}
        poll = select.poll()
        for fd in by_fd:
            poll.register(fd, select.POLLIN)
        deadline = time.monotonic() + BOUND_S
        for client in rng.sample(clients, len(clients)):
            client.send_some(rng, history)
        while any(client.in_flight or client.todo for client in clients):
            ready = poll.poll(1000)
            if time.monotonic() > deadline:
                raise ReplyTimeout()
            for fd, _ in ready:
                client = by_fd[fd]
                client.read_some(history)
                while client.in_flight and client.connection.buffer:
                    client.read_some(history)
                client.send_some(rng, history)


def check(events):
    """True, False, or None for a history that is too hard to decide."""
    try:
        return explain(events, (None,) * KEYS) is not None
    except TooHard:
        return None


def overlaps(events):
    """How many other commands were under way while one was, on average."""
    count = sum(a.sent < b.answered and b.sent < a.answered for a in events for b in events) - len(events)
    return count / max(1, len(events))


def written(seed, events):
    lines = [f"seed {seed}: no order of these commands explains the answers"]
    first = min(event.sent for event in events)
    for e in sorted(events, key=lambda e: (e.sent, e.client)):
        lines.append(
            f"  {(e.sent - first) / 1e3:9.1f} .. {(e.answered - first) / 1e3:9.1f} us  client {e.client}  {e.op} -> {e.answer!r}"
        )
    return "\n".join(lines)


def play_all(arguments, server, pool):
    """Plays histories while others are checked; yields (seed, events, verdict)."""
    player = Player(server)
    pending = {}
    seed = arguments.seed if arguments.seed is not None else int(time.time()) * 1000
    end = time.monotonic() + arguments.seconds
    played = 0
    try:
        while played < arguments.count if arguments.count else time.monotonic() < end:
            events = player.play(seed)
            pending[pool.submit(check, events)] = (seed, events)
            seed, played = seed + 1, played + 1
            # Not too far ahead of the checking, so that both end together.
            wait = concurrent.futures.FIRST_COMPLETED if len(pending) > MOST_UNCHECKED else None
            for future in finished(pending, wait):
                yield *pending.pop(future), future.result()
    finally:
        player.close()
    for future in concurrent.futures.as_completed(pending):
        yield *pending[future], future.result()


def finished(pending, wait):
    if wait:
        return concurrent.futures.wait(pending, return_when=wait).done
    return [future for future in pending if future.done()]


def self_test():
    result = unittest.TextTestRunner(verbosity=0).run(unittest.defaultTestLoader.loadTestsFromModule(checker_test))
    return result.testsRun, len(result.failures) + len(result.errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=8.0, help="new histories for so long")
    parser.add_argument("--seed", type=int, help="of the first history")
    parser.add_argument("--count", type=int, default=0, help="so many histories instead")
    parser.add_argument("--show", type=int, default=2, help="bad histories shown")
    arguments = parser.parse_args()

    tests, broken = self_test()
    server = Server(os.path.abspath(arguments.server), arguments.threads)
    verdicts = {True: 0, False: 0, None: 0}
    commands, together = 0, 0.0
    # The pool starts first: its processes must not inherit the connections.
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        list(pool.map(abs, range(4)))
        try:
            server.start()
            for seed, events, verdict in play_all(arguments, server, pool):
                verdicts[verdict] += 1
                commands += len(events)
                together += overlaps(events)
                if verdict is False and verdicts[False] <= arguments.show:
                    print(written(seed, events))
            server.end()
        except (ServerFailed, ConnectionClosed, ReplyTimeout, ProtocolError) as error:
            print(f"{type(error).__name__}: {error}\n{server.log_tail()}")
            broken += 1
        finally:
            server.remove()
    histories = sum(verdicts.values())
    print(
        f"{histories} histories, {commands} commands, {together / max(1, histories):.1f} others under way beside each, "
        f"{verdicts[None]} histories too hard to decide"
    )
    print(f"{tests + verdicts[True] - broken} passed, {verdicts[False] + broken} failed")
    return 1 if verdicts[False] or broken or not verdicts[True] else 0


if __name__ == "__main__":
    sys.exit(main())
