#!/usr/bin/python3
"""Peers that mean no good: the server stays up, within bounds, and answers the others. With one thread and with four.

    tests/hostile/run.py [--server PATH] [--filter NAME] [--connections N]
"""

import argparse
import os
import random
import re
import resource
import socket
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Aggregate, Error, Nil, Simple, encode_command  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import attempt, holds, same, summary, wait_until  # noqa: E402

import fairness  # noqa: E402

MEGABYTE = 1 << 20
PONG = Simple(b"PONG")
# A bystander waits this long at most. A turn takes some milliseconds; the rest is for a busy machine.
ANSWER_BOUND_S = 1.0
VALUE = b"x" * 100_000


class Bench:
    """A server, a bystander who must be answered all the time, and how many come at once."""

    def __init__(self, path, threads, connections):
        self.connections = connections
        self.server = Server(path, threads, options=[("maxclients", str(connections + 100))])
        self.server.start()
        self.bystander = self.server.connect()

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=10.0)

    def resident_bytes(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) * 1024

    def answers_soon(self):
        began = time.monotonic()
        same(self.bystander.call("PING"), PONG)
        took = time.monotonic() - began
        holds(took < ANSWER_BOUND_S, f"a bystander waited for {took:.2f} s")


def push_without_reading(peer, data, bound_s):
    """Sends until the server takes no more, or for so long. How much went."""
    peer.settimeout(0.2)
    deadline = time.monotonic() + bound_s
    sent = 0
    while time.monotonic() < deadline:
        try:
            sent += peer.send(data)
        except TimeoutError:
            break
    return sent


def one_that_never_reads(bench):
    """Large answers, and none of them is taken."""
    same(bench.bystander.call("SET", "large", VALUE), Simple(b"OK"))
    before = bench.resident_bytes()
    with bench.raw() as peer:
        holds(push_without_reading(peer, b"GET large\r\n" * 1000, 2.0) > 100_000, "nothing was read of it")
        for _ in range(20):
            bench.answers_soon()
        # What waits for it is bounded, whatever it has asked for.
        grown = bench.resident_bytes() - before
        holds(grown < 400 * MEGABYTE, f"memory grew by {grown // MEGABYTE} MB")


def many_that_never_read(bench):
    before = bench.resident_bytes()
    same(bench.bystander.call("SET", "large", VALUE), Simple(b"OK"))
    peers = [bench.raw() for _ in range(4)]
    for peer in peers:
        push_without_reading(peer, b"GET large\r\n" * 1000, 0.3)
    bench.answers_soon()
    for peer in peers:
        peer.close()
    bench.answers_soon()
    grown = bench.resident_bytes() - before
    holds(grown < 1000 * MEGABYTE, f"memory grew by {grown // MEGABYTE} MB")


def one_that_reads_late(bench):
    """It sends all its requests before it reads the first answer. None is missing, and none comes twice."""
    count = 3000
    same(bench.bystander.call("SET", "large", VALUE), Simple(b"OK"))
    late = bench.server.connect(60.0)
    late.send_raw(b"".join(b"GET large\r\nECHO %d\r\n" % i for i in range(count)))
    bench.answers_soon()
    for i in range(count):
        holds(late.read() == VALUE, f"answer {i} is another one")
        same(late.read(), b"%d" % i)
    late.close()


def used_bytes_alone(bench):
    """Once the peers of earlier tests are gone."""
    wait_until(lambda: b"connected_clients:1\r" in bench.bystander.call("INFO", "clients"), "the others are gone")
    return used_bytes(bench)


def used_bytes(bench):
    return int(re.search(rb"used_memory:(\d+)", bench.bystander.call("INFO", "memory")).group(1))


def trackers_that_never_read(bench):
    """Invalidations of keys that others change: many megabytes, of which little is kept, and no change is concealed."""
    keys, rounds, trackers = 2000, 30, 4  # 1 KB names: 60 MB for each tracker
    before, resident = used_bytes_alone(bench), bench.resident_bytes()
    peers = [bench.server.connect(30.0) for _ in range(trackers)]  # with threads, of every worker
    for peer in peers:
        peer.call("HELLO", "3")
        same(peer.call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "track"), Simple(b"OK"))
    names = [b"track%04d" % i + b"x" * 1000 for i in range(keys)]
    for _ in range(rounds):
        bench.bystander.send_raw(b"".join(encode_command([b"SET", name, b"v"]) for name in names))
        for _ in names:
            same(bench.bystander.read(), Simple(b"OK"))
        bench.answers_soon()
    # Each may leave 16 MB unread, and what one loop iteration brought.
    grown = used_bytes(bench) - before
    holds(grown < trackers * 24 * MEGABYTE, f"used_memory grew by {grown // MEGABYTE} MB")
    grown = bench.resident_bytes() - resident
    holds(grown < trackers * 50 * MEGABYTE, f"memory grew by {grown // MEGABYTE} MB")
    for peer in peers:
        while not isinstance(peer.read().items[1], Nil):  # ["invalidate", null]: all keys
            pass
    bench.bystander.call("SET", "track", "v")
    for peer in peers:
        while peer.read().items[1] != Aggregate("array", [b"track"]):
            pass
        peer.close()
    bench.bystander.call("DEL", *names)


def a_listener_that_never_reads(bench):
    """It is closed at the limit of its class, 32 MB, wherever the publisher lives."""
    message = b"m" * MEGABYTE
    for _ in range(4):  # with threads, from every worker
        before = used_bytes_alone(bench)
        with bench.raw() as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.sendall(b"SUBSCRIBE channel\r\n")
            holds(peer.recv(100).startswith(b"*3"), "it is not subscribed")
            most = 0
            for _ in range(100):
                if bench.bystander.call("PUBLISH", "channel", message) == 0:
                    break
                most = max(most, used_bytes(bench) - before)
            else:
                holds(False, "it is still there")
            holds(20 * MEGABYTE < most < 35 * MEGABYTE, f"{most // MEGABYTE} MB waited for it")


def a_byte_at_a_time(bench):
    with bench.raw() as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n":
            peer.sendall(bytes([byte]))
            bench.answers_soon()
        same(peer.recv(100), b"$5\r\nhello\r\n")


def garbage(bench):
    """Whatever it is: the connection is closed or answered, and the server is still there."""
    rng = random.Random(1)
    for _ in range(200):
        with bench.raw() as peer:
            peer.sendall(rng.randbytes(rng.randrange(1, 3000)) + b"\r\n")
            peer.shutdown(socket.SHUT_WR)
            try:
                while peer.recv(65536):
                    pass
            except ConnectionResetError:
                pass
    bench.answers_soon()


def more_than_it_may_announce(bench):
    before = bench.resident_bytes()
    for request, error in (
        (b"*2\r\n$3\r\nGET\r\n$629145600\r\n", b"ERR Protocol error: invalid bulk length"),
        (b"*2000000000\r\n", b"ERR Protocol error: invalid multibulk length"),
        (b"*1\r\n$-5\r\n", b"ERR Protocol error: invalid bulk length"),
        (b"x" * 70_000, b"ERR Protocol error: too big inline request"),
    ):
        peer = bench.server.connect()
        peer.send_raw(request)
        same(peer.read(), Error(error))
        holds(peer.wait_closed()[0], "the connection stays open")
        peer.close()
    # As much as it may, and then nothing of it.
    peers = [bench.raw() for _ in range(100)]
    for peer in peers:
        peer.sendall(b"*1000000\r\n$500000000\r\nx")
    bench.answers_soon()
    grown = bench.resident_bytes() - before
    holds(grown < 64 * MEGABYTE, f"memory grew by {grown // MEGABYTE} MB for what was only announced")
    for peer in peers:
        peer.close()


def pipelines_of_slow_commands(bench):
    """Each would take minutes: one command of each runs between two looks at the others."""
    fill = "for i = 1, 5000 do redis.call('set', 'slow:' .. i, 1) end"
    bench.bystander.call("EVAL", fill, "0")
    for request in (b"KEYS nothing\r\n", b"EVAL 'for i = 1, 20000 do end' 0\r\n"):
        peers = [bench.raw() for _ in range(10)]
        for peer in peers:
            push_without_reading(peer, request * 5000, 0.05)
        for _ in range(20):
            bench.answers_soon()
        for peer in peers:
            peer.close()
    bench.answers_soon()


def the_end_behind_a_pipeline(bench):
    """A client that sends all it has, and says that this was all, is answered all of it."""
    count = 9000  # the answers fit into the buffers of the kernel: what does not is lost with the end, as in Redis
    for request, answer in ((b"PING\r\n", b"+PONG\r\n"), (b"SETRANGE x 0 y\r\n", b":1\r\n")):
        bench.bystander.call("DEL", "x")
        with bench.raw() as peer:
            peer.settimeout(0.01)
            left, got, ended = memoryview(request * count), 0, False
            while not ended:
                try:
                    if left:
                        left = left[peer.send(left) :]
                        if not left:
                            peer.shutdown(socket.SHUT_WR)
                    piece = peer.recv(1 << 20)
                    got += len(piece)
                    ended = not piece
                except TimeoutError:
                    pass
            same(got, count * len(answer))


def as_many_as_may_come(bench):
    before = bench.resident_bytes()
    peers = []
    for i in range(bench.connections):
        peers.append(bench.raw())
        peers[-1].sendall(b"PING\r\n")
        if i % 1000 == 0:
            bench.answers_soon()
    for peer in peers:
        same(peer.recv(100), b"+PONG\r\n")
    bench.answers_soon()
    each = (bench.resident_bytes() - before) / len(peers)
    holds(each < 2048, f"a connection holds {each:.0f} bytes")
    for peer in peers:
        peer.close()
    bench.answers_soon()


TESTS = [
    as_many_as_may_come,  # first, while nothing that was freed could hide what they hold
    one_that_never_reads,
    many_that_never_read,
    one_that_reads_late,
    trackers_that_never_read,
    a_listener_that_never_reads,
    a_byte_at_a_time,
    garbage,
    more_than_it_may_announce,
    pipelines_of_slow_commands,
    the_end_behind_a_pipeline,
]


def run_with(path, threads, tests, connections):
    bench = Bench(path, threads, connections)
    verdicts = []
    try:
        for test in tests:
            label = f"threads {threads}: {test.__name__.replace('_', ' ')}"
            verdicts.append(attempt(label, lambda test=test: test(bench)))
        verdicts.append(attempt(f"threads {threads}: end", bench.server.end))
    finally:
        bench.server.remove()
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--filter", default="", help="only tests whose name contains this")
    parser.add_argument("--connections", type=int, default=10_000, help="at once")
    arguments = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    connections = min(arguments.connections, most - 200)
    tests = [test for test in TESTS if arguments.filter in test.__name__]
    verdicts = []
    for threads in (1, 4):
        verdicts += run_with(os.path.abspath(arguments.server), threads, tests, connections)
    verdicts += fairness.run_all(os.path.abspath(arguments.server), name=arguments.filter, loads=fairness.SOME)
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
