#!/usr/bin/python3
"""Sorrel beside Debian's redis-server, interleaved in one run.

Each server is pinned to core 0 and the generator (redis-benchmark) to core 1. The metric is the
server's own CPU time per command: on a shared machine throughput says more about the neighbours.
For every workload both servers are measured in turn, several rounds; the median of the rounds'
ratios is what counts. Memory is read from INFO after loading a million keys.
"""

import argparse
import os
import statistics
import subprocess
import sys

from collection_bench import (COLLECTION_SHAPES, COLLECTION_WORKLOADS, fill_collections,
                              measure_big, measure_ranks)
from servers import MILLION, Server
from surface_bench import measure_surface

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# name, pipeline depth, requests per round, command words (None: a -t test), wanted ratio
WORKLOADS = [
    ("GET", 1, 200_000, ["GET", "key:__rand_int__"], 1.08),
    ("SET", 1, 200_000, ["SET", "key:__rand_int__", "v" * 32], 1.08),
    ("GET", 16, 1_500_000, ["GET", "key:__rand_int__"], 1.8),
    ("SET", 16, 1_500_000, ["SET", "key:__rand_int__", "v" * 32], 1.9),
    ("INCR", 16, 1_500_000, ["INCR", "ctr:__rand_int__"], 1.8),
    ("GET", 64, 3_000_000, ["GET", "key:__rand_int__"], 2.6),
    ("SET", 64, 3_000_000, ["SET", "key:__rand_int__", "v" * 32], 2.6),
]


def measure_speed(servers, workloads, rounds, scale, only):
    print(f"\n{'workload':16} {'redis us':>9} {'sorrel us':>9} {'ratio':>6} {'wanted':>6}"
          f" {'redis/s':>10} {'sorrel/s':>10}")
    missed = []
    for name, depth, requests, words, wanted in workloads:
        title = f"{name} P={depth}"
        if only and only not in title:
            continue
        requests = int(requests * scale)
        costs = {server.name: [] for server in servers}
        rates = {server.name: [] for server in servers}
        for _ in range(rounds):
            for server in servers:
                cpu, wall = server.load(words, depth, requests)
                costs[server.name].append(cpu * 1e6 / requests)
                rates[server.name].append(requests / wall)
        pairs = zip(costs["redis"], costs["sorrel"])
        ratio = statistics.median(redis / sorrel for redis, sorrel in pairs)
        mid = {key: statistics.median(values) for key, values in costs.items()}
        rate = {key: statistics.median(values) for key, values in rates.items()}
        print(f"{title:16} {mid['redis']:9.3f} {mid['sorrel']:9.3f} {ratio:6.2f} {wanted:6.2f}"
              f" {rate['redis']:10.0f} {rate['sorrel']:10.0f}", flush=True)
        if ratio < wanted:
            missed.append(title)
    return missed


def measure_threads(program, rounds):
    """Server-bound work: two workers beside one. The generator shares the two cores with them."""
    keys, requests = 400, 300_000
    ratios = []
    for _ in range(rounds):
        rates = []
        for threads in (1, 2):
            server = Server("sorrel", program, ["--threads", str(threads)], cores=None)
            try:
                for i in range(keys):
                    server.ask("SETRANGE", f"key:{i:012d}", "65535", "x")
                _, wall = server.load(["BITCOUNT", "key:__rand_int__"], 256, requests, keys, cores=None)
                rates.append(requests / wall)
            finally:
                server.stop()
        ratios.append(rates[1] / rates[0])
    ratio = statistics.median(ratios)
    print(f"\nBITCOUNT of 64 KB, threads 2 beside threads 1: {ratio:.2f} (wanted 1.60)", flush=True)
    return [] if ratio >= 1.6 else ["threads"]


KEY_SHAPES = [
    ("string 16/32", ["SET", "key:__rand_int__", "v" * 32], 1, 72),
    ("with TTL", ["SET", "key:__rand_int__", "v" * 32, "EX", "100000"], 1, 80),
    # Without leading zeros.
    ("integer", ["SET", "key:__rand_int__", "1__rand_int__"], 1, 48),
]


def measure_memory(make_servers, shapes, judge_rss):
    """Bytes per element of a million; `wanted` None: not above the reference's."""
    print(f"\n{'bytes for each':16} {'redis':>7} {'rss':>6} {'sorrel':>7} {'rss':>6} {'wanted':>6}")
    missed = []
    for name, words, elements, wanted in shapes:
        figures = {}
        for server in make_servers():
            empty, empty_rss = server.used_memory(), server.rss()
            server.fill(words, MILLION // elements)
            server.settle()
            figures[server.name] = ((server.used_memory() - empty) / MILLION,
                                    (server.rss() - empty_rss) / MILLION)
            server.stop()
        (redis, redis_rss), (ours, ours_rss) = figures["redis"], figures["sorrel"]
        limit = redis if wanted is None else wanted
        print(f"{name:16} {redis:7.1f} {redis_rss:6.1f} {ours:7.1f} {ours_rss:6.1f} {limit:6.1f}",
              flush=True)
        if ours > limit:
            missed.append(name)
        if judge_rss and ours_rss > ours * 1.10:
            missed.append(name + " (RSS)")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sorrel", default=os.path.join(ROOT, "build/bin/sorrel-server"))
    parser.add_argument("--redis", default="/usr/bin/redis-server")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of requests")
    parser.add_argument("--only", help="a part of a workload's name")
    parser.add_argument("--skip-memory", action="store_true")
    args = parser.parse_args()

    def make_servers():
        yield Server("redis", args.redis, [])
        yield Server("sorrel", args.sorrel, [])

    servers = list(make_servers())
    try:
        for server in servers:
            server.fill(["SET", "key:__rand_int__", "v" * 32])
            server.fill(["SET", "ctr:__rand_int__", "1000"])
        missed = measure_speed(servers, WORKLOADS, args.rounds, args.scale, args.only)
        missed += measure_surface(servers, args.rounds, args.only)
        for server in servers:
            server.ask("FLUSHALL")
            fill_collections(server)
        if not args.only or args.only in "ZRANGE at random":
            missed += measure_ranks(servers, args.rounds)
        missed += measure_speed(servers, COLLECTION_WORKLOADS, args.rounds, args.scale, args.only)
    finally:
        for server in servers:
            server.stop()
    if not args.skip_memory:
        missed += measure_memory(make_servers, KEY_SHAPES, True)
        missed += measure_memory(make_servers, COLLECTION_SHAPES, False)
        missed += measure_big(make_servers)
    if not args.only:
        missed += measure_threads(args.sorrel, args.rounds)
    growth = os.path.join(os.path.dirname(args.sorrel), "growth-bench")
    if os.path.exists(growth) and not args.only:
        print(flush=True)
        if subprocess.run(["taskset", "-c", "0", growth], timeout=600).returncode:
            missed.append("growth without a pause")
    if missed:
        print("\nbelow what is wanted: " + ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
