#!/usr/bin/python3
"""Sorrel beside Debian's redis-server, interleaved in one run.

Each server is pinned to core 0 and the generator (redis-benchmark) to core 1. The metric is the
server's own CPU time per command: on a shared machine throughput says more about the neighbours.
For every workload both servers are measured in turn, several rounds; the median of the rounds'
ratios is what counts. Memory is read from INFO after loading a million keys.
"""

import argparse
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

KEYS = 1_000_000
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TICK = os.sysconf("SC_CLK_TCK")

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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, name, program, extra, cores="0"):
        self.name = name
        self.port = free_port()
        self.dir = tempfile.mkdtemp(prefix="sorrel-bench-")
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self.process = subprocess.Popen(
            (["taskset", "-c", cores] if cores else []) + command + extra,
            cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                if self.ask("PING") == "PONG":
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise SystemExit(f"{name} did not start")

    def ask(self, *words):
        run = subprocess.run(["redis-cli", "-p", str(self.port), *words],
                             capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            raise OSError(run.stderr)
        return run.stdout.strip()

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def rss(self):
        with open(f"/proc/{self.process.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def settle(self, bound_s=15, still_s=2.5):
        """Waits until the allocator has given back what it keeps for a while: until the resident
        size has not fallen for longer than pages are kept."""
        deadline = time.monotonic() + bound_s
        lowest, since = self.rss(), time.monotonic()
        while time.monotonic() < min(deadline, since + still_s):
            self.ask("PING")
            now = self.rss()
            if now < lowest:
                lowest, since = now, time.monotonic()

    def used_memory(self):
        return int(re.search(r"^used_memory:(\d+)", self.ask("INFO", "memory"), re.M).group(1))

    def load(self, words, pipeline, requests, keys=KEYS, cores="1"):
        """Runs the generator; returns (server CPU seconds, wall seconds)."""
        command = ["redis-benchmark", "-p", str(self.port), "-c", "50",
                   "-n", str(requests), "-P", str(pipeline), "-r", str(keys), "-q", *words]
        if cores:
            command = ["taskset", "-c", cores] + command
        before, began = self.cpu_seconds(), time.monotonic()
        subprocess.run(command, check=True, capture_output=True, timeout=600)
        return self.cpu_seconds() - before, time.monotonic() - began

    def fill(self, words, keys=KEYS):
        """Every key exactly once, through redis-cli --pipe."""
        pipe = subprocess.Popen(["redis-cli", "-p", str(self.port), "--pipe"],
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for start in range(0, keys, 10_000):
            lines = []
            for i in range(start, min(keys, start + 10_000)):
                parts = [word.replace("__rand_int__", f"{i:012d}") for word in words]
                lines.append(f"*{len(parts)}\r\n" +
                             "".join(f"${len(p)}\r\n{p}\r\n" for p in parts))
            pipe.stdin.write("".join(lines).encode())
        pipe.stdin.close()
        if pipe.wait() != 0:
            raise SystemExit(f"filling {self.name} failed")

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def measure_speed(servers, rounds, scale, only):
    print(f"{'workload':12} {'redis us':>9} {'sorrel us':>9} {'ratio':>6} {'wanted':>6}"
          f" {'redis/s':>10} {'sorrel/s':>10}")
    missed = []
    for name, depth, requests, words, wanted in WORKLOADS:
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
        print(f"{title:12} {mid['redis']:9.3f} {mid['sorrel']:9.3f} {ratio:6.2f} {wanted:6.2f}"
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


def measure_memory(make_servers):
    shapes = [
        ("string 16/32", ["SET", "key:__rand_int__", "v" * 32], 72),
        ("with TTL", ["SET", "key:__rand_int__", "v" * 32, "EX", "100000"], 80),
        ("integer", ["SET", "key:__rand_int__", "__rand_int__"], 48),
    ]
    print(f"\n{'bytes per key':14} {'redis':>7} {'rss':>6} {'sorrel':>7} {'rss':>6} {'wanted':>6}")
    missed = []
    for name, words, wanted in shapes:
        figures = {}
        for server in make_servers():
            empty, empty_rss = server.used_memory(), server.rss()
            # Integer values without leading zeros.
            filled = [w if i < 2 or w != "__rand_int__" else "1__rand_int__"
                      for i, w in enumerate(words)]
            server.fill(filled)
            server.settle()
            figures[server.name] = ((server.used_memory() - empty) / KEYS,
                                    (server.rss() - empty_rss) / KEYS)
            server.stop()
        (redis, redis_rss), (ours, ours_rss) = figures["redis"], figures["sorrel"]
        print(f"{name:14} {redis:7.1f} {redis_rss:6.1f} {ours:7.1f} {ours_rss:6.1f} {wanted:6}",
              flush=True)
        if ours > wanted:
            missed.append(name)
        if ours_rss > ours * 1.10:
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
        missed = measure_speed(servers, args.rounds, args.scale, args.only)
    finally:
        for server in servers:
            server.stop()
    if not args.skip_memory:
        missed += measure_memory(make_servers)
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
