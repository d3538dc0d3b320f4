#!/usr/bin/python3
"""What clients feel while a snapshot is taken, beside the reference.

All servers hold the same keys: the reference, and ours with either snapshot-method. A client with a few connections
reads and writes in equal parts, one request in flight on each; BGSAVE is begun, and every answer is timed until the
snapshot is on disk. Rounds of the servers alternate. Reported: the 99.9th percentile, the longest wait, how long the
fork itself took, what the snapshot took in all, and how much memory it needed at most, in all processes.
"""

import argparse
import gc
import os
import random
import re
import selectors
import socket
import statistics
import subprocess
import sys
import threading
import time

from servers import Server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONNECTIONS = 8
VALUE = "v" * 32
PAUSE_ALLOWED_MS = 20
METHODS = ("fork", "live")


def request(rng, keys):
    key = f"key:{rng.randrange(keys):012d}"
    if rng.random() < 0.5:
        return f"*2\r\n$3\r\nGET\r\n${len(key)}\r\n{key}\r\n".encode()
    return f"*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n${len(VALUE)}\r\n{VALUE}\r\n".encode()


def field(server, name):
    return int(re.search(rf"^{name}:(-?\d+)", server.ask("INFO"), re.M).group(1))


class MemoryWatch:
    """How much memory the server and its child have to themselves, at most, beyond what there was."""

    def __init__(self, server):
        self.pid = server.process.pid
        self.before = self.now()
        self.most = self.before
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def now(self):
        children = subprocess.run(["pgrep", "-P", str(self.pid)], capture_output=True, text=True, check=False).stdout.split()
        total = 0
        for pid in [self.pid, *children]:
            try:
                with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as rollup:
                    total += int(re.search(r"^Pss:\s+(\d+)", rollup.read(), re.M).group(1)) * 1024
            except (OSError, AttributeError):
                pass
        return total

    def run(self):
        while not self.stop.wait(0.5):
            self.most = max(self.most, self.now())

    def end(self):
        self.stop.set()
        self.thread.join()
        return self.most - self.before


class Talk:
    """Closed-loop clients on one thread; every answer fits one read."""

    def __init__(self, server, keys):
        self.rng = random.Random(1)
        self.keys = keys
        self.selector = selectors.DefaultSelector()
        for _ in range(CONNECTIONS):
            client = socket.create_connection(("127.0.0.1", server.port))
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(client, selectors.EVENT_READ, [0.0])
        self.control = socket.create_connection(("127.0.0.1", server.port))
        for key in self.selector.get_map().values():
            self.send(key)

    def send(self, key):
        key.data[0] = time.perf_counter()
        key.fileobj.sendall(request(self.rng, self.keys))

    def run(self, seconds, waits):
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            for key, _ in self.selector.select(1):
                key.fileobj.recv(4096)
                waits.append(time.perf_counter() - key.data[0])
                self.send(key)

    def ask(self, line):
        self.control.sendall(line.encode() + b"\r\n")
        return self.control.recv(65536).decode()

    def saving(self):
        return "rdb_bgsave_in_progress:1" in self.ask("INFO persistence")

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.control.close()


def measure(server, keys, watch_memory):
    talk = Talk(server, keys)
    warm = []
    talk.run(1, warm)
    waits = []
    gc.collect()
    gc.disable()
    memory = MemoryWatch(server) if watch_memory else None
    forks = field(server, "total_forks")
    began = time.perf_counter()
    talk.ask("BGSAVE")
    while True:
        talk.run(0.25, waits)
        if not talk.saving():
            break
    took = time.perf_counter() - began
    gc.enable()
    talk.close()
    waits.sort()
    return {
        "p99.9": waits[int(len(waits) * 0.999)] * 1e3,
        "longest": waits[-1] * 1e3,
        "fork": field(server, "latest_fork_usec") / 1e3 if field(server, "total_forks") > forks else 0.0,
        "rate": len(waits) / took,
        "took": took,
        "memory": memory.end() / 1e6 if memory else 0.0,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sorrel", default=os.path.join(ROOT, "build/bin/sorrel-server"))
    parser.add_argument("--redis", default="/usr/bin/redis-server")
    parser.add_argument("--keys", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="watch memory, too, which disturbs the rest")
    args = parser.parse_args()
    servers = [Server("redis", args.redis, [], cores=None)]
    for method in METHODS:
        servers.append(Server(method, args.sorrel, ["--snapshot-method", method], cores=None))
    found = {server.name: [] for server in servers}
    try:
        for server in servers:
            server.fill(["SET", "key:__rand_int__", VALUE], args.keys)
        for _ in range(args.rounds):
            for server in servers:
                figures = measure(server, args.keys, args.memory)
                found[server.name].append(figures)
                print(f"{server.name:7} p99.9 {figures['p99.9']:8.3f} ms   longest"
                      f" {figures['longest']:8.3f} ms   fork {figures['fork']:7.3f} ms"
                      f"   {figures['rate']:6.0f} answers/s   {figures['took']:5.1f} s"
                      f"   {figures['memory']:6.1f} MB", flush=True)
    finally:
        for server in servers:
            server.stop()
    middle = {name: statistics.median(round["p99.9"] for round in rounds)
              for name, rounds in found.items()}
    good = True
    for method in METHODS:
        pause = statistics.median(round["longest"] - round["fork"] for round in found[method])
        print(f"p99.9: redis {middle['redis']:.3f} ms, {method} {middle[method]:.3f} ms;"
              f" longest wait besides the fork {pause:.3f} ms (allowed {PAUSE_ALLOWED_MS})")
        good = good and middle[method] <= middle["redis"] and pause <= PAUSE_ALLOWED_MS
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
