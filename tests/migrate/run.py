#!/usr/bin/python3
"""Keys move from one server to another, and are in exactly one of them at any time.

    tests/migrate/run.py [--server PATH] [--reference PATH] [--threads N]

The other side is Sorrel, the reference, and peers of our own that answer nothing, nonsense, or only a part.
"""

import argparse
import os
import socket
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.certificates import Certificates  # noqa: E402
from lib.resp import Error, Simple  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import attempt, holds, same, summary, wait_until  # noqa: E402

OK = Simple(b"OK")
WRITING = Error(b"IOERR error or timeout writing to target instance")
CONNECTING = Error(b"IOERR error or timeout connecting to the client")
READING = Error(b"IOERR error or timeout reading to target instance")
FILL = (
    ("SET", "string", "text"), ("SET", "number", "17"), ("SET", "long", "x" * 300_000),
    ("RPUSH", "list", *map(str, range(3000))), ("SADD", "intset", "1", "2"), ("SADD", "set", "a", "b", "x" * 200),
    ("HSET", "hash", "f", "v", "g", "w"), ("ZADD", "zset", "1.5", "a", "2", "b"), ("XADD", "stream", "1-1", "f", "v"),
)


class Two:
    """The server under test, with the append only log, and another one."""

    def __init__(self, path, threads, other, other_threads, certificates=None):
        self.threads = threads
        log = [("appendonly", "yes"), ("appendfsync", "always"), ("enable-debug-command", "yes")]
        if certificates:
            log.append(("tls-cluster", "yes"))
        self.source = Server(path, threads, log, certificates=certificates).start()
        self.target = Server(other, other_threads, certificates=certificates).start()
        self.here, self.there = self.source.connect(), self.target.connect()

    def migrate(self, *words, port=None, connection=None):
        return (connection or self.here).call("MIGRATE", "127.0.0.1", str(port or self.target.port), *words)

    def log(self):
        folder = os.path.join(self.source.folder, "appendonlydir")
        with open(os.path.join(folder, [name for name in os.listdir(folder) if ".incr." in name][0]), "rb") as log:
            return log.read()

    def kept_lines(self):
        text = self.here.call("INFO", "stats").decode()
        return int(text.split("migrate_cached_sockets:")[1].split()[0])

    def close(self):
        self.source.end()
        self.target.end()

    def remove(self):
        self.source.remove()
        self.target.remove()


def all_types(two):
    for command in FILL:
        two.here.call(*command)
    keys = [command[1] for command in FILL]
    digests = {key: two.here.call("DEBUG", "DIGEST-VALUE", key) for key in keys}
    two.here.call("PEXPIRE", "hash", "100000")
    same(two.migrate("", "3", "5000", "KEYS", *keys), OK)
    same(two.here.call("DBSIZE"), 0)
    two.there.call("SELECT", "3")
    for key, digest in digests.items():
        same(two.here.call("RESTORE", "again", "0", two.there.call("DUMP", key), "REPLACE"), OK)
        same(two.here.call("DEBUG", "DIGEST-VALUE", "again"), digest)
    holds(99_000 < two.there.call("PTTL", "hash") <= 100_000, "the deadline goes along")
    same(two.there.call("PTTL", "list"), -1)
    deletion = b"*%d\r\n$3\r\nDEL\r\n" % (len(keys) + 1)
    holds(deletion in two.log() and b"MIGRATE" not in two.log(), "elsewhere the keys are only deleted")


def options(two):
    two.here.call("SET", "k", "v")
    same(two.migrate("k", "0", "5000", "COPY"), OK)
    same(two.here.call("GET", "k"), b"v")
    busy = two.migrate("k", "0", "5000")
    same(busy, Error(b"ERR Target instance replied with error: BUSYKEY Target key name already exists."))
    same(two.here.call("EXISTS", "k"), 1)
    same(two.migrate("k", "0", "5000", "REPLACE"), OK)
    same(two.here.call("EXISTS", "k"), 0)
    same(two.migrate("k", "0", "5000"), Simple(b"NOKEY"))
    same(two.migrate("", "0", "5000", "KEYS"), Simple(b"NOKEY"))
    # Only what the other side has taken goes away.
    two.here.call("MSET", "a", "1", "b", "2", "c", "3")
    two.there.call("SET", "b", "there")
    holds(isinstance(two.migrate("", "0", "5000", "KEYS", "a", "b", "none", "c"), Error), "b is there already")
    same([two.here.call("EXISTS", key) for key in "abc"], [0, 1, 0])
    same([two.there.call("GET", key) for key in "abc"], [b"1", b"there", b"3"])
    same(two.migrate("b", "99", "5000").text.startswith(b"ERR Target instance replied with error: "), True)
    same(two.migrate("b", "5", "5000"), OK)
    syntax = Error(b"ERR syntax error")
    for words in (("k", "0", "9", "x"), ("k", "0", "9", "AUTH"), ("k", "0", "9", "AUTH2", "a")):
        same(two.migrate(*words), syntax)
    same(two.migrate("k", "0", "9", "KEYS", "a"),
         Error(b"ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"))
    for words in (("k", "x", "9"), ("k", "0", "x")):
        same(two.migrate(*words), Error(b"ERR value is not an integer or out of range"))


def passwords(two):
    two.there.call("CONFIG", "SET", "requirepass", "word")
    two.here.call("CONFIG", "SET", "slowlog-log-slower-than", "0")
    two.here.call("SET", "k", "v")
    holds(b"NOAUTH" in two.migrate("k", "0", "5000").text, "nobody gets in without a password")
    holds(b"WRONGPASS" in two.migrate("k", "0", "5000", "AUTH", "other").text, "nor with a wrong one")
    same(two.here.call("EXISTS", "k"), 1)
    same(two.migrate("k", "0", "5000", "AUTH", "word"), OK)
    two.here.call("SET", "k", "v")
    same(two.migrate("k", "0", "5000", "REPLACE", "AUTH2", "default", "word"), OK)
    holds("word" not in repr(two.here.call("SLOWLOG", "GET", "20")), "no password is shown")


def lines_are_kept(two):
    two.here.call("MSET", "a", "1", "b", "2")
    same(two.migrate("a", "0", "5000"), OK)
    same(two.kept_lines(), 1)
    received = int(two.there.call("INFO", "stats").decode().split("total_connections_received:")[1].split()[0])
    same(two.migrate("b", "0", "5000"), OK)
    again = int(two.there.call("INFO", "stats").decode().split("total_connections_received:")[1].split()[0])
    same(again, received)
    # One that the other side has closed is replaced.
    two.there.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    two.here.call("SET", "c", "3")
    same(two.migrate("c", "0", "5000"), OK)
    if two.threads == 4:
        wait_until(lambda: two.kept_lines() == 0, "a line that nobody uses is closed", 15)


def peer(answer):
    """Listens, takes what comes, answers the same to each connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                try:
                    connection.sendall(answer)
                    while connection.recv(65536):
                        pass
                except OSError:
                    pass

    threading.Thread(target=serve, daemon=True).start()
    return listener


def strange_peers(two):
    two.here.call("MSET", "a", "1", "b", "2")
    words = ("", "0", "300", "KEYS", "a", "b")
    with socket.create_server(("127.0.0.1", 0)) as refusing:
        port = refusing.getsockname()[1]
    same(two.migrate(*words, port=port), WRITING)
    same(two.here.call("MIGRATE", "no.such.host.invalid", "1", "a", "0", "300"),
         Error(b"IOERR error or timeout connecting to the client"))
    for answer in (b"", b"+OK\r\n", b"$5\r\nhello\r\n", b"x" * 200_000, b"\0" * 1000 + b"\r\n", b"+OK\r\n:1\r\n"):
        with peer(answer) as listener:
            same(two.migrate(*words, port=listener.getsockname()[1]), READING)
        same(two.here.call("EXISTS", "a", "b"), 2)
    # The first of two was taken: that one is not here any more.
    with peer(b"+OK\r\n+OK\r\n") as listener:
        same(two.migrate(*words, port=listener.getsockname()[1]), READING)
    same([two.here.call("EXISTS", key) for key in "ab"], [0, 1])
    same(two.migrate("b", "0", "100", port=two.source.port), READING)
    same(two.here.call("GET", "b"), b"2")


def names(two):
    two.here.call("MSET", "a", "1", "b", "2")
    for key in "ab":
        same(two.here.call("MIGRATE", "localhost", str(two.target.port), key, "0", "5000"), OK)
    same(two.kept_lines(), 1)
    same([two.there.call("GET", key) for key in "ab"], [b"1", b"2"])
    for words in (("MULTI",), ("SET", "c", "3"), ("MIGRATE", "localhost", str(two.target.port), "c", "0", "5000")):
        two.here.call(*words)
    same(two.here.call("EXEC").items, [OK, OK])
    same(two.there.call("GET", "c"), b"3")


def over_tls(two):
    """Both sides speak TLS and show the certificates of servers."""
    all_types(two)
    same(two.kept_lines(), 1)
    two.here.call("SET", "k", "v")
    # A peer that does not speak it, one that is silent, one of another authority.
    for answer, timeout in ((b"-ERR what?\r\n", "5000"), (b"", "200")):
        with peer(answer) as listener:
            same(two.migrate("k", "0", timeout, port=listener.getsockname()[1]), CONNECTING)
    with Strangers(two.target.path) as stranger:
        same(two.migrate("k", "0", "5000", port=stranger.port), CONNECTING)
    same(two.here.call("GET", "k"), b"v")
    # Lines without TLS are not used for encrypted talks, nor the other way round.
    same(two.here.call("CONFIG", "SET", "tls-cluster", "no"), OK)
    # The peer hangs up at the first bytes: before or after the rest is written.
    holds(two.migrate("k", "0", "1000") in (READING, WRITING), "the peer took it")
    same(two.here.call("CONFIG", "SET", "tls-cluster", "yes"), OK)
    same(two.migrate("k", "0", "5000"), OK)
    same(two.here.call("EXISTS", "k"), 0)


class Strangers:
    """A server whose certificate was signed by an authority that the others do not know."""

    def __init__(self, path):
        self.certificates = Certificates()
        self.server = Server(path, certificates=self.certificates).start()
        self.port = self.server.port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.end()
        self.server.remove()
        self.certificates.remove()


def all_at_once(two):
    """Who looks meanwhile sees a thousand keys, or none."""
    names = [str(i) for i in range(1000)]
    pairs = [word for name in names for word in (name, name)]
    stop, seen = threading.Event(), []

    def look():
        with_here = two.source.connect()
        while not stop.is_set():
            seen.append(with_here.call("EXISTS", *names))

    looker = threading.Thread(target=look)
    looker.start()
    try:
        for _ in range(8):
            two.here.call("MSET", *pairs)
            same(two.migrate("", "0", "5000", "REPLACE", "KEYS", *names), OK)
            same(two.there.call("DBSIZE"), 1000)
    finally:
        stop.set()
        looker.join()
    holds(set(seen) <= {0, 1000}, f"a part was seen: {set(seen)}")
    same(two.here.call("DBSIZE"), 0)


TESTS = (all_types, options, passwords, lines_are_kept, strange_peers, names, over_tls, all_at_once)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--reference", default="/usr/bin/redis-server")
    parser.add_argument("--threads", type=int, action="append")
    arguments = parser.parse_args()
    verdicts = []
    certificates = Certificates()
    for threads in arguments.threads or (1, 4):
        for title, other, other_threads in (("itself", arguments.server, threads), ("the reference", arguments.reference, None)):
            for test in TESTS:
                # The slow ones are about us only.
                if other_threads is None and test in (lines_are_kept, strange_peers):
                    continue

                def run(test=test, other=other, other_threads=other_threads, threads=threads):
                    two = Two(arguments.server, threads, other, other_threads, certificates if test is over_tls else None)
                    try:
                        test(two)
                        two.close()
                    finally:
                        two.remove()

                verdicts.append(attempt(f"{test.__name__} to {title}, threads {threads}", run))
    certificates.remove()
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
