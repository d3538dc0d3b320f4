#!/usr/bin/python3
"""Acknowledged writes survive kill -9.

    tests/crash/run.py                            a few rounds of every kind
    tests/crash/run.py --rounds 200 --kind always two hundred of one kind
"""

import argparse
import itertools
import os
import random
import socket
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

sys.path.insert(0, HERE)

import full_disk  # noqa: E402
from lib.resp import (  # noqa: E402
    Aggregate,
    ConnectionClosed,
    Error,
    ProtocolError,
    ReplyTimeout,
    encode_command,
)
from lib.server import Server, ServerFailed  # noqa: E402

WRITERS = 6
PIPELINED = 4
PIPELINE = 64
KEYS_OF_PIPELINE = 16
KINDS = (
    "always",
    "everysec",
    "everysec-rewrite",
    "no",
    "flood",
    "rewrite",
    "snapshot",
    "switch",
    "full",
)
GONE = (ConnectionClosed, ReplyTimeout, ProtocolError, OSError)


class Broken(Exception):
    """The server has lost or made up something."""


class Writer:
    """One connection with keys of its own, to which it writes ascending numbers: a string, a list, and two strings that
    change together in a transaction."""

    def __init__(self, number):
        self.number = number
        self.sent = 0
        self.paired = 0  # the last value that both had when this round began
        self.acknowledged = 0

    def keys(self):
        return [f"{name}:{self.number}" for name in ("plain", "list", "left", "right")]

    def write(self, server):
        plain, listed, left, right = self.keys()
        try:
            connection = server.connect()
            while True:
                value = self.sent + 1
                self.sent = value
                for words in (
                    ("SET", plain, str(value)),
                    ("RPUSH", listed, str(value)),
                    ("MULTI",),
                    ("SET", left, str(value)),
                    ("SET", right, str(value)),
                    ("LTRIM", listed, "-50", "-1"),
                    ("EXEC",),
                ):
                    reply = connection.call(*words)
                    if isinstance(reply, Error):
                        raise Broken(f"{words}: {reply.text.decode()}")
                self.acknowledged = value
        except GONE:
            pass

    def check(self, connection):
        least = self.acknowledged
        plain, listed, left, right = self.keys()
        found = {}
        for name in (plain, left, right):
            reply = connection.call("GET", name)
            found[name] = int(reply) if isinstance(reply, bytes) else 0
            if not least <= found[name] <= self.sent:
                raise Broken(f"{name} is {found[name]}: {least} was acknowledged, {self.sent} sent")
        if found[left] != found[right]:
            raise Broken(f"half a transaction: {left} is {found[left]}, {right} is {found[right]}")
        reply = connection.call("LRANGE", listed, "0", "-1")
        values = [int(item) for item in reply.items] if isinstance(reply, Aggregate) else []
        last = values[-1] if values else 0
        if not least <= last <= self.sent or values != list(range(last - len(values) + 1, last + 1)):
            raise Broken(f"{listed} ends with {values[-5:]}: {least} was acknowledged, {self.sent} sent")
        # From here on what is there is the truth.
        if found[left] not in (found[plain], found[plain] - 1, self.paired):
            raise Broken(f"{plain} is {found[plain]} and {left} {found[left]}: out of order")
        connection.call("DEL", listed)
        self.sent = found[plain]
        self.paired = found[left]
        self.acknowledged = 0


class PipelinedWriter:
    """One connection that sends many SETs at a time. The n-th of all sets key n % 16 to n, and every answer is the same,
    so the number of bytes received tells what was acknowledged, to the very command."""

    ANSWER = b"+OK\r\n"

    def __init__(self, number):
        self.number = number
        self.sent = 0
        self.acknowledged = 0

    def key(self, value):
        return f"pipe:{self.number}:{value % KEYS_OF_PIPELINE}"

    def request(self, value):
        return encode_command((b"SET", self.key(value).encode(), b"%d" % value))

    def write(self, server):
        try:
            with socket.create_connection(("127.0.0.1", server.port)) as connection:
                while True:
                    first = self.sent + 1
                    values = range(first, first + PIPELINE)
                    self.sent = values[-1]
                    connection.sendall(b"".join(self.request(value) for value in values))
                    self.read(connection)
        except GONE:
            pass

    def read(self, connection):
        got = b""
        begun = self.acknowledged
        while len(got) < PIPELINE * len(self.ANSWER):
            piece = connection.recv(65536)
            if not piece:
                raise ConnectionClosed
            got += piece
            whole = len(got) // len(self.ANSWER)
            if got[: whole * len(self.ANSWER)] != self.ANSWER * whole:
                raise Broken(f"answered {got[:200]}")
            self.acknowledged = begun + whole

    def check(self, connection):
        newest = 0
        for value in range(self.acknowledged - KEYS_OF_PIPELINE + 1, self.acknowledged + 1):
            if value < 1:
                continue
            reply = connection.call("GET", self.key(value))
            found = int(reply) if isinstance(reply, bytes) else 0
            if not value <= found <= self.sent:
                raise Broken(f"{self.key(value)} is {found}: {value} was acknowledged, {self.sent} sent")
            newest = max(newest, found)
        # Numbers go on from a multiple, so that every key is set before it is looked at again.
        self.sent = self.acknowledged = newest + -newest % KEYS_OF_PIPELINE
        for value in range(self.sent - KEYS_OF_PIPELINE + 1, self.sent + 1):
            if value > 0:
                connection.call("SET", self.key(value), str(value))


def options_of(kind):
    fsync = {"everysec": "everysec", "everysec-rewrite": "everysec", "flood": "everysec", "no": "no"}.get(kind, "always")
    return [
        ("appendonly", "yes"),
        ("appendfsync", fsync),
        ("auto-aof-rewrite-percentage", "100"),
        ("auto-aof-rewrite-min-size", "1mb"),
        ("dbfilename", "dump.rdb"),
    ]


def flood(server, stop):
    """More than a disk takes in passing."""
    value = b"x" * 10_000
    commands = b"".join(b"*3\r\n$3\r\nSET\r\n$8\r\nflood:%02d\r\n$%d\r\n%s\r\n" % (i, len(value), value) for i in range(64))
    answer = b"+OK\r\n" * 64
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        while not stop.is_set():
            connection.sendall(commands)
            left = len(answer)
            while left > 0:
                got = connection.recv(left)
                if not got:
                    return
                left -= len(got)


def disturb(kind, server, stop):
    """What goes on beside the writing."""
    if kind == "flood":
        try:
            return flood(server, stop)
        except GONE:
            return
    command = {"rewrite": "BGREWRITEAOF", "everysec-rewrite": "BGREWRITEAOF", "switch": "BGREWRITEAOF", "snapshot": "BGSAVE"}.get(kind)
    if command is None:
        return
    try:
        connection = server.connect()
        while not stop.is_set():
            connection.call(command)
            stop.wait(0.002)
    except GONE:
        pass


def write(writer, server, problems):
    try:
        writer.write(server)
    except Broken as problem:
        problems.append(problem)


def wait_for_switch(server, chance):
    """Until a rewrite's files are about to change places, more or less."""
    folder = os.path.join(server.folder, "appendonlydir")
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        try:
            if any(name.startswith("temp-rewriteaof-bg-") for name in os.listdir(folder)):
                break
        except OSError:
            pass
    time.sleep(chance.random() * 0.01)


def run_round(kind, server, writers, chance):
    stop = threading.Event()
    problems = []
    threads = [threading.Thread(target=write, args=(writer, server, problems)) for writer in writers]
    threads.append(threading.Thread(target=disturb, args=(kind, server, stop)))
    for thread in threads:
        thread.start()
    time.sleep(chance.uniform(0.02, 2.6 if kind == "everysec" and chance.random() < 0.3 else 0.4))
    if kind == "switch":
        wait_for_switch(server, chance)
    server.kill()
    stop.set()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    server.start()
    connection = server.connect()
    for writer in writers:
        writer.check(connection)
    connection.close()


def run_kind(kind, rounds, arguments):
    chance = random.Random(arguments.seed)
    methods = itertools.cycle([("snapshot-method", "live"), ("snapshot-method", "fork")])
    server = Server(arguments.server, threads=arguments.threads, options=options_of(kind) + [next(methods)])
    failed = 0
    acknowledged = 0
    try:
        server.start()
        writers = [Writer(number) for number in range(WRITERS)]
        writers += [PipelinedWriter(number) for number in range(PIPELINED)]
        for number in range(rounds):
            before = sum(writer.sent for writer in writers)
            server.options[-1] = next(methods)
            try:
                run_round(kind, server, writers, chance)
            except (Broken, ServerFailed, *GONE) as error:
                failed += 1
                print(f"{kind}, round {number + 1}: {error}", flush=True)
                print(server.log_tail(), flush=True)
                if not server.running():
                    break
                for writer in writers:
                    writer.acknowledged = 0
            acknowledged += sum(writer.sent for writer in writers) - before
        server.check_log()
        print(f"{kind}: {rounds} rounds, {failed} failed, {acknowledged * 4} writes", flush=True)
    finally:
        server.remove() if failed == 0 or not arguments.keep else print(f"files are in {server.folder}")
    return failed


def run_full(arguments):
    """One round for each policy."""
    failed = 0
    for policy in ("always", "everysec"):
        try:
            full_disk.run(arguments.server, arguments.threads, policy)
        except (AssertionError, ServerFailed, *GONE) as error:
            failed += 1
            print(f"full disk with {policy}: {error}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the files of a kind that failed")
    arguments = parser.parse_args()
    kinds = arguments.kind or KINDS
    ran, failed = 0, 0
    for kind in kinds:
        ran += 2 if kind == "full" else arguments.rounds
        failed += run_full(arguments) if kind == "full" else run_kind(kind, arguments.rounds, arguments)
    print(f"{ran - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
