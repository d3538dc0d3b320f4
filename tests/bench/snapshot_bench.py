#!/usr/bin/python3
"""What clients feel while a snapshot is taken, beside the reference.

Both servers hold the same keys. A client with a few connections reads and writes in equal parts,
one request in flight on each; BGSAVE is begun, and every answer is timed until the snapshot is on
disk. Rounds of the two servers alternate. Reported: the 99.9th percentile, the longest wait, and
how long the fork itself took.
"""

import argparse
import gc
import os
import random
import re
import selectors
import socket
import statistics
import sys
import time

from servers import Server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONNECTIONS = 8
VALUE = "v" * 32
PAUSE_ALLOWED_MS = 20


def request(rng, keys):
    key = f"key:{rng.randrange(keys):012d}"
    if rng.random() < 0.5:
        return f"*2\r\n$3\r\nGET\r\n${len(key)}\r\n{key}\r\n".encode()
    return f"*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n${len(VALUE)}\r\n{VALUE}\r\n".encode()


def field(server, name):
    return int(re.search(rf"^{name}:(-?\d+)", server.ask("INFO"), re.M).group(1))


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


def measure(server, keys):
    talk = Talk(server, keys)
    warm = []
    talk.run(1, warm)
    waits = []
    gc.collect()
    gc.disable()
    talk.ask("BGSAVE")
    while True:
        talk.run(0.25, waits)
        if not talk.saving():
            break
    gc.enable()
    talk.close()
    waits.sort()
    return {
        "p99.9": waits[int(len(waits) * 0.999)] * 1e3,
        "longest": waits[-1] * 1e3,
        "fork": field(server, "latest_fork_usec") / 1e3,
        "answers": len(waits),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sorrel", default=os.path.join(ROOT, "build/bin/sorrel-server"))
    parser.add_argument("--redis", default="/usr/bin/redis-server")
    parser.add_argument("--keys", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    servers = [Server("redis", args.redis, [], cores=None),
               Server("sorrel", args.sorrel, [], cores=None)]
    found = {server.name: [] for server in servers}
    try:
        for server in servers:
            server.fill(["SET", "key:__rand_int__", VALUE], args.keys)
        for _ in range(args.rounds):
            for server in servers:
                figures = measure(server, args.keys)
                found[server.name].append(figures)
                print(f"{server.name:7} p99.9 {figures['p99.9']:8.3f} ms   longest"
                      f" {figures['longest']:8.3f} ms   fork {figures['fork']:7.3f} ms"
                      f"   {figures['answers']} answers", flush=True)
    finally:
        for server in servers:
            server.stop()
    middle = {name: statistics.median(round["p99.9"] for round in rounds)
              for name, rounds in found.items()}
    pause = statistics.median(round["longest"] - round["fork"] for round in found["sorrel"])
    print(f"p99.9: redis {middle['redis']:.3f} ms, sorrel {middle['sorrel']:.3f} ms;"
          f" longest wait besides the fork {pause:.3f} ms (allowed {PAUSE_ALLOWED_MS})")
    return 0 if middle["sorrel"] <= middle["redis"] and pause <= PAUSE_ALLOWED_MS else 1


if __name__ == "__main__":
    sys.exit(main())
