"""Transactions, scripts and channels beside the reference: work per CPU second."""

import os
import selectors
import socket
import statistics
import threading

R = "__rand_int__"
SCRIPT = "return redis.call('INCR', KEYS[1])"
SUBSCRIBERS = 100
TRANSACTIONS = 60_000
MESSAGES = 60_000


def run_transactions(server):
    """Each ten INCRs, sixteen of them in flight at once or more."""
    one = [("MULTI",)] + [("INCR", f"counter:{i}") for i in range(10)] + [("EXEC",)]
    return server.pipe(one * TRANSACTIONS)


def run_scripts(server):
    sha = server.ask("SCRIPT", "LOAD", SCRIPT)
    return server.load(["EVALSHA", sha, "1", "counter:" + R], 16, 400_000)[0]


class Audience:
    """Connections that listen to a channel and throw away what they hear, on a core of their own."""

    def __init__(self, port, channel):
        self.sockets = []
        self.selector = selectors.DefaultSelector()
        for _ in range(SUBSCRIBERS):
            listener = socket.create_connection(("127.0.0.1", port))
            listener.sendall(f"SUBSCRIBE {channel}\r\n".encode())
            listener.recv(4096)
            self.sockets.append(listener)
            self.selector.register(listener, selectors.EVENT_READ)
        self.left = threading.Event()
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        os.sched_setaffinity(0, {1})
        while not self.left.is_set():
            for key, _ in self.selector.select(0.05):
                key.fileobj.recv(1 << 20)

    def leave(self):
        self.left.set()
        self.thread.join()
        for listener in self.sockets:
            listener.close()


def run_messages(server):
    audience = Audience(server.port, "news")
    try:
        return server.load(["PUBLISH", "news", "x" * 32], 1, MESSAGES)[0]
    finally:
        audience.leave()


# name, what is run, wanted ratio
SURFACE_WORKLOADS = [
    ("EXEC of 10 INCR", run_transactions, 1.8),
    ("EVALSHA, one call, P=16", run_scripts, 1.8),
    (f"PUBLISH to {SUBSCRIBERS}", run_messages, 1.2),
]


def measure_surface(servers, rounds, only):
    missed = []
    for name, run, wanted in SURFACE_WORKLOADS:
        if only and only not in name:
            continue
        ratios = []
        for _ in range(rounds):
            redis, sorrel = [run(server) for server in servers]
            ratios.append(redis / sorrel)
        ratio = statistics.median(ratios)
        print(f"{name}: {ratio:.2f} (wanted {wanted:.2f})", flush=True)
        if ratio < wanted:
            missed.append(name)
    return missed
