#!/usr/bin/env python3
"""Caches under pressure, Debian's redis-server beside Sorrel: hits on a skewed load, and what is
left of memory after a churn.

    tests/bench/eviction_bench.py hits  [--seconds 30] [--samples 5] [--policy allkeys-lru]
    tests/bench/eviction_bench.py churn [--keys 5000000]

hits: both servers get the same trace at the same pace: items by Zipf's law, now and then a new one
in the place of an old one. Each keeps as many keys as its limit holds; the limits are set so that
both hold about the same number. A miss is followed by a SET.

churn: keys of mixed sizes; then half of them, drawn at random, get values of other sizes. Tells
used_memory, the resident size, and their ratio.
"""

import argparse
import bisect
import itertools
import os
import random
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.servers import Server  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SORREL = os.path.join(HERE, "..", "..", "build", "bin", "sorrel-server")


class Wire:
    """A connection for pipelines whose replies are bulks, nulls and statuses."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")

    def send(self, commands):
        self.socket.sendall(b"".join(
            b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)
            for words in commands))

    def reply(self):
        line = self.file.readline()
        if line[:1] == b"$" and line[1:2] != b"-":
            return self.file.read(int(line[1:]) + 2)[:-2]
        return None if line[:1] == b"$" else line


class Zipf:
    def __init__(self, items, exponent, seed):
        self.random = random.Random(seed)
        self.sums = list(itertools.accumulate(1 / n ** exponent for n in range(1, items + 1)))

    def draw(self):
        return bisect.bisect_left(self.sums, self.random.random() * self.sums[-1])


def trace(items, length, seed, news_every=50):
    zipf = Zipf(items, 0.95, seed)
    ids = list(range(items))
    for i in range(length):
        if i % news_every == 0:
            ids[zipf.draw()] = items + i
        yield ids[zipf.draw()]


def limit_for(server, keys, value):
    """Bytes that hold about so many keys, and bytes of one: measured, then all is removed."""
    empty = server.used_memory()
    wire = Wire(server.port)
    for start in range(0, keys, 1000):
        wire.send([(b"SET", b"key:%09d" % i, value) for i in range(start, start + 1000)])
        for _ in range(1000):
            wire.reply()
    full = server.used_memory()
    server.ask("FLUSHALL")
    return full, (full - empty) / keys


def adjust(wire, limit, keys):
    """Both are to keep as many keys, whatever else their memory holds. Asked by who sends the load:
    another connection would take memory of its own."""
    limit[0] += int((keys - key_count(wire)) * limit[1])
    wire.send([(b"CONFIG", b"SET", b"maxmemory", b"%d" % limit[0])])
    wire.reply()


def key_count(wire):
    wire.send([(b"DBSIZE",)])
    return int(wire.reply()[1:])


def run_hits(args):
    value = b"x" * 100
    items, keys = args.items, args.items // 10
    servers = make_servers(args)
    wires, limits = [], []
    for server in servers:
        server.ask("CONFIG", "SET", "maxmemory-samples", str(args.samples))
        server.ask("CONFIG", "SET", "maxmemory-policy", args.policy)
        limits.append(list(limit_for(server, keys, value)))
        server.ask("CONFIG", "SET", "maxmemory", str(limits[-1][0]))
        wires.append(Wire(server.port))
    hits, misses = [0] * len(servers), [0] * len(servers)
    counts = [[] for _ in servers]
    batch, rate = args.batch, args.rate
    uses = int(args.seconds * rate)
    began = time.monotonic()
    source = trace(items, uses, args.seed)
    adjust_at = [uses * part // 20 // batch * batch for part in (2, 3, 4)]
    for done in range(0, uses, batch):
        if done in adjust_at:
            for wire, limit in zip(wires, limits):
                adjust(wire, limit, keys)
        if done % 1000 == 0 and done > uses // 4:
            for at, wire in enumerate(wires):
                counts[at].append(key_count(wire))
        names = [b"key:%09d" % item for item in itertools.islice(source, batch)]
        for at, wire in enumerate(wires):
            wire.send([(b"GET", name) for name in names])
            absent = [name for name in names if wire.reply() is None]
            if done > uses // 4:
                hits[at] += batch - len(absent)
                misses[at] += len(absent)
            wire.send([(b"SET", name, value) for name in absent])
            for _ in absent:
                wire.reply()
        # The clock of use has seconds; the trace keeps the pace for both alike.
        ahead = (done + batch) / rate - (time.monotonic() - began)
        if ahead > 0:
            time.sleep(ahead)
    print(f"{args.policy}, {args.samples} samples, {uses} uses of {items} items, {keys} fit")
    for at, server in enumerate(servers):
        share = hits[at] / (hits[at] + misses[at])
        print(f"  {server.name:8} hits {100 * share:.2f} %, {statistics.mean(counts[at]):.0f} keys, "
              f"used {server.used_memory()}, CPU {server.cpu_seconds():.2f} s")
    for server in servers:
        server.stop()


def feed(server, commands):
    pipe = subprocess.Popen(["redis-cli", "-p", str(server.port), "--pipe"],
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    while True:
        some = list(itertools.islice(commands, 10_000))
        if not some:
            break
        pipe.stdin.write(b"".join(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n"
                                  % (len(key), key, len(value), value) for key, value in some))
    pipe.stdin.close()
    pipe.wait()


# Three in four are small, a few are pages long.
SIZES = [8, 16, 24, 40, 64, 100, 150, 200, 300, 400, 600, 1000, 2000, 4000]
WEIGHTS = [10, 10, 10, 10, 10, 10, 8, 8, 6, 6, 5, 4, 2, 1]


def mixed(keys, seed):
    source = random.Random(seed)
    text = b"v" * max(SIZES)
    sizes = source.choices(SIZES, WEIGHTS, k=len(keys))
    for i, size in zip(keys, sizes):
        yield b"key:%09d" % i, text[:size + i % 8]


def run_churn(args):
    half = random.Random(3).sample(range(args.keys), args.keys // 2)
    for server in make_servers(args):
        feed(server, mixed(range(args.keys), 1))
        server.settle()
        rows = [("filled", server.used_memory(), server.rss())]
        feed(server, mixed(half, 2))
        server.settle()
        rows.append(("half rewritten", server.used_memory(), server.rss()))
        for what, used, rss in rows:
            print(f"  {server.name:8} {what:15} used {used / 1e6:8.1f} MB, resident "
                  f"{rss / 1e6:8.1f} MB, ratio {rss / used:.3f}")
        server.stop()


def make_servers(args):
    extra = ["--threads", str(args.threads)] if args.threads > 1 else []
    servers = [Server("sorrel", args.server, extra, cores=None)]
    if not args.alone:
        servers.insert(0, Server("redis", "redis-server", [], cores=None))
    return servers


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["hits", "churn"])
    parser.add_argument("--server", default=SORREL, help="the program to measure")
    parser.add_argument("--alone", action="store_true", help="without the reference")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--policy", default="allkeys-lru")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=int, default=8000, help="uses in a second")
    parser.add_argument("--batch", type=int, default=20, help="requests in a pipeline")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keys", type=int, default=5_000_000)
    args = parser.parse_args()
    run_hits(args) if args.what == "hits" else run_churn(args)


if __name__ == "__main__":
    main()
