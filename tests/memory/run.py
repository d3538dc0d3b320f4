#!/usr/bin/python3
"""Resident memory beside counted memory, with one thread and with four, and beside Debian's redis-server in the same run.

    tests/memory/run.py [--server PATH] [--filter NAME] [--threads N] [--limit MB]... [--rounds N]
"""

import argparse
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import encode_command  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import attempt, holds, same, summary, wait_until  # noqa: E402

REFERENCE = "/usr/bin/redis-server"
MB = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")

CONNECTIONS = 50
PIPELINE = 20
OK = b"+OK\r\n"

KEYS_AT_ONCE = 20_000

# Resident memory of this server is at most this many times the reference's under the same load.
RSS_BOUND = 1.25

# Scratch buffers and the allocator's cache of each thread are not in used_memory: up to 1 MB each for the sizes used here.
UNCOUNTED_BOUND = 1 * MB
UNCOUNTED_OF_WORKER = 1 * MB

# What is left of ten times as many keys takes at most so many times its share of what all took.
LEFT_BOUND = 1.5

LONGEST = 4096
TEXT = random.Random(1).randbytes(2 * LONGEST)


def size_of(source):
    """Every size class of small blocks, and a fifth of the values longer than those."""
    return source.randrange(1, 512) if source.random() < 0.8 else source.randrange(512, LONGEST)


def value_of(source):
    start = source.randrange(LONGEST)
    return TEXT[start : start + size_of(source)]


def batch(source, keys):
    return b"".join(encode_command([b"SET", b"key:%d" % key, value_of(source)]) for key in keys)


def write(peers, batches):
    """One batch to each connection, then the replies of all."""
    for peer, data in zip(peers, batches):
        peer.send_raw(data)
    for peer in peers:
        same(peer.read_bytes(len(OK) * PIPELINE), OK * PIPELINE)


class Load:
    """Connections that write values of mixed sizes, each under a new key."""

    def __init__(self, server):
        self.peers = [server.connect(timeout=60.0) for _ in range(CONNECTIONS)]
        self.source = random.Random(7)
        self.written = 0

    def write(self, keys):
        end = self.written + keys
        while self.written < end:
            batches = []
            for _ in self.peers:
                batches.append(batch(self.source, range(self.written, self.written + PIPELINE)))
                self.written += PIPELINE
            write(self.peers, batches)

    def delete_all_but(self, share):
        """One key in `share` is left."""
        for begin in range(0, self.written, PIPELINE):
            keys = [b"key:%d" % key for key in range(begin, begin + PIPELINE) if key % share != 0]
            same(self.peers[0].call("DEL", *keys), len(keys))

    def memory(self):
        """The numbers of INFO memory."""
        lines = self.peers[0].call("INFO", "memory").decode().split("\r\n")
        pairs = (line.split(":", 1) for line in lines if ":" in line)
        return {name: int(value) for name, value in pairs if value.isdigit()}


class Loaded:
    """A server with a load on it, for as long as a `with` lasts."""

    def __init__(self, path, threads, options=()):
        self.server = Server(path, None if path == REFERENCE else threads, options)

    def __enter__(self):
        try:
            self.server.start()
            self.load = Load(self.server)
        except BaseException:
            self.server.remove()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                for peer in self.load.peers:
                    peer.close()
                self.server.end()
        finally:
            self.server.remove()

    def rss(self):
        with open(f"/proc/{self.server.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * PAGE


def rss_at_limit(path, threads, limit, rounds):
    """Resident bytes after so many times the limit has been written."""
    options = [("maxmemory", str(limit)), ("maxmemory-policy", "allkeys-lru")]
    with Loaded(path, threads, options) as loaded:
        load = loaded.load
        before = load.memory()["used_memory"]
        load.write(KEYS_AT_ONCE)
        bytes_of_key = (load.memory()["used_memory"] - before) / KEYS_AT_ONCE
        load.write(int(rounds * limit / bytes_of_key) - KEYS_AT_ONCE)
        # Evictions go on between commands; each client's next command finds room or makes some.
        used = load.memory()["used_memory"]
        holds(used <= limit + limit // 100, f"{used / MB:.1f} MB used of {limit / MB:.0f}")
        return loaded.rss()


class BesideTheReference:
    """What the reference takes at a limit is measured once."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.reference = {}

    def check(self, path, threads, limit):
        if limit not in self.reference:
            self.reference[limit] = rss_at_limit(REFERENCE, 1, limit, self.rounds)
        theirs = self.reference[limit]
        ours = rss_at_limit(path, threads, limit, self.rounds)
        said = f"resident {ours / MB:.1f} MB, the reference {theirs / MB:.1f} MB: {ours / theirs:.2f} times"
        print("      " + said)
        holds(ours <= RSS_BOUND * theirs, said)


def what_is_allocated_is_counted(path, threads):
    """20,000 keys of mixed sizes: memory handed out by malloc that is not in used_memory."""
    with Loaded(path, threads) as loaded:
        loaded.load.write(KEYS_AT_ONCE)
        now = loaded.load.memory()
        uncounted = now["allocator_allocated"] - now["used_memory"]
        said = f"{uncounted / MB:.2f} MB of {now['allocator_allocated'] / MB:.1f} are not counted"
        print("      " + said)
        holds(uncounted <= UNCOUNTED_BOUND + UNCOUNTED_OF_WORKER * threads, said)


def what_keys_leave_is_given_back(path, threads):
    """Of many keys one in ten is left: what is allocated goes down to what a server has that never had more."""
    with Loaded(path, threads) as loaded:
        load = loaded.load

        def allocated():
            return load.memory()["allocator_allocated"]

        empty = allocated()
        load.write(5 * KEYS_AT_ONCE)
        full = allocated() - empty
        load.delete_all_but(10)
        wait_until(lambda: allocated() - empty <= full * LEFT_BOUND / 10, "what the others took is given back")
        print(f"      {full / MB:.1f} MB, then {(allocated() - empty) / MB:.1f} MB")


def named_tests(arguments):
    beside = BesideTheReference(arguments.rounds)
    for limit in arguments.limit or (60,):
        yield (f"resident memory at a limit of {limit} MB",
               lambda path, threads, limit=limit: beside.check(path, threads, limit * MB))
    for test in (what_is_allocated_is_counted, what_keys_leave_is_given_back):
        yield test.__name__.replace("_", " "), test


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--filter", default="", help="only tests whose name contains this")
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and 4")
    parser.add_argument("--limit", type=int, action="append", help="maxmemory in MB, default 60")
    parser.add_argument("--rounds", type=float, default=3, help="so many times the limit is written")
    arguments = parser.parse_args()
    path = os.path.abspath(arguments.server)
    tests = list(named_tests(arguments))
    verdicts = []
    for threads in arguments.threads or (1, 4):
        for name, test in tests:
            if arguments.filter in name:
                verdicts.append(attempt(f"threads {threads}: {name}", lambda test=test: test(path, threads)))
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
