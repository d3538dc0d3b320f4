#!/usr/bin/python3
"""A snapshot is one moment, whatever happens while it is written.

    tests/snapshot/run.py [--server PATH] [--filter NAME] [--threads N]

Writers run transactions that follow from a seed, each ending with a count. A snapshot tells by the counts how far each
had come; another server is brought exactly there, and the two must be equal. By fork and without it.
"""

import argparse
import os
import random
import shutil
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Error, Simple, encode_command  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import attempt, holds, same, summary, wait_until  # noqa: E402

WRITERS = 4
KEYS = 300  # of each writer and type
BATCH = 20  # transactions on their way
FAR = 4_000_000_000_000  # a deadline that does not come
OK = Simple(b"OK")
LIBRARY = "#!lua name=lib\nredis.register_function('f', function() end)"


class Writer:
    """Transactions on keys of its own, every one following from the seed and its number."""

    def __init__(self, number):
        self.number = number
        self.chance = random.Random(number)
        self.done = 0

    def key(self, kind):
        return f"{kind}:{self.number}:{self.chance.randrange(KEYS)}"

    def change(self):
        """One command that changes something, or not; the same on every server."""
        text = "x" * self.chance.randrange(60) + str(self.chance.randrange(1000))
        number = str(self.chance.randrange(50))
        return self.chance.choice([
            lambda: ("SET", self.key("string"), text),
            lambda: ("SET", self.key("string"), text * 40),
            lambda: ("APPEND", self.key("string"), text),
            lambda: ("INCR", self.key("count")),
            lambda: ("SETBIT", self.key("bits"), number, "1"),
            lambda: ("PEXPIREAT", self.key("string"), str(FAR + self.chance.randrange(1000))),
            lambda: ("PERSIST", self.key("string")),
            lambda: ("DEL", self.key(self.chance.choice(("string", "list", "hash", "set", "zset", "stream")))),
            lambda: ("RENAME", self.key("string"), self.key("string")),
            lambda: ("COPY", self.key("hash"), self.key("hash"), "REPLACE"),
            lambda: ("RPUSH", self.key("list"), text, number),
            lambda: ("LPOP", self.key("list")),
            lambda: ("LINSERT", self.key("list"), "BEFORE", number, text),
            lambda: ("HSET", self.key("hash"), number, text),
            lambda: ("HINCRBY", self.key("hash"), "n", "1"),
            lambda: ("HPEXPIREAT", self.key("hash"), str(FAR), "FIELDS", "1", number),
            lambda: ("HDEL", self.key("hash"), number),
            lambda: ("SADD", self.key("set"), number, text),
            lambda: ("SREM", self.key("set"), number),
            lambda: ("SMOVE", self.key("set"), self.key("set"), number),
            lambda: ("ZADD", self.key("zset"), number, text),
            lambda: ("ZINCRBY", self.key("zset"), "1", number),
            lambda: ("ZREMRANGEBYRANK", self.key("zset"), "0", "0"),
            lambda: ("XADD", self.key("stream"), "MAXLEN", "20", f"{self.done + 1}-*", "f", text),
            lambda: ("XTRIM", self.key("stream"), "MAXLEN", "3"),
            lambda: ("PFADD", self.key("hyperloglog"), text),
        ])()

    def transaction(self):
        words = [("MULTI",)]
        words += [self.change() for _ in range(self.chance.randrange(1, 5))]
        words += [("INCR", f"done:{self.number}"), ("EXEC",)]
        self.done += 1
        return words

    def run(self, connection, transactions):
        requests = [words for _ in range(transactions) for words in self.transaction()]
        connection.send_raw(b"".join(encode_command([word.encode() for word in words]) for words in requests))
        for words in requests:
            reply = connection.read()
            holds(not isinstance(reply, Error), f"{words}: {reply}")


class Bench:
    def __init__(self, path, threads, method, fill, options=()):
        self.path = path
        self.threads = threads
        self.fill = fill
        settings = [("snapshot-method", method), ("enable-debug-command", "yes"), *options]
        self.server = Server(path, threads, options=settings)
        self.server.start()
        self.control = self.server.connect(timeout=60)
        self.prepare(self.control)

    def prepare(self, connection):
        same(connection.call("DEBUG", "POPULATE", str(self.fill), "filler", "40"), OK)
        same(connection.call("FUNCTION", "LOAD", "REPLACE", LIBRARY), b"lib")
        same(connection.call("SELECT", "3"), OK)
        same(connection.call("SET", "in another", "database"), OK)
        same(connection.call("SELECT", "0"), OK)

    def digest(self):
        return digest_of(self.control)

    def field(self, name):
        for line in self.control.call("INFO", "persistence").split(b"\r\n"):
            if line.startswith(name.encode() + b":"):
                return line.split(b":")[1].decode()
        return ""

    def save(self):
        reply = self.control.call("BGSAVE")
        holds(isinstance(reply, Simple), f"BGSAVE: {reply}")
        self.wait_for_end()
        same(self.field("rdb_last_bgsave_status"), "ok")

    def wait_for_end(self):
        wait_until(lambda: self.field("rdb_bgsave_in_progress") == "0", "the snapshot is written or given up", 120)

    def said(self, text):
        with open(self.server.log_path, "rb") as log:
            return text.encode() in log.read()

    def close(self):
        self.control.close()
        self.server.end(60)
        self.server.remove()


def digest_of(connection):
    return connection.call("DEBUG", "DIGEST")


class WritersAtWork:
    """All writers at once, each on a connection of its own, until they are told to stop."""

    def __init__(self, server, writers):
        self.problems = []
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(server, writer)) for writer in writers]
        for thread in self.threads:
            thread.start()

    def work(self, server, writer):
        try:
            connection = server.connect(timeout=60)
            while not self.stop.is_set():
                writer.run(connection, BATCH)
            connection.close()
        except Exception as problem:  # pylint: disable=broad-except
            self.problems.append(problem)

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()
        if self.problems:
            raise self.problems[0]


def loaded(path, threads, dump):
    """A server that holds what is in the file."""
    server = Server(path, threads, options=[("enable-debug-command", "yes")])
    shutil.copy(dump, os.path.join(server.folder, "dump.rdb"))
    return server.start()


def moments(bench):
    """Several snapshots while everybody writes; each is compared with a server that was brought to its moment."""
    dumps = []
    work = WritersAtWork(bench.server, [Writer(number) for number in range(WRITERS)])
    try:
        for number in range(3):
            bench.save()
            dumps.append(os.path.join(bench.server.folder, f"moment-{number}"))
            os.rename(os.path.join(bench.server.folder, "dump.rdb"), dumps[-1])
    finally:
        work.end()
    writers = [Writer(number) for number in range(WRITERS)]
    model = Server(bench.path, bench.threads, options=[("enable-debug-command", "yes")])
    try:
        model.start()
        truth = model.connect(timeout=60)
        bench.prepare(truth)
        for dump in dumps:
            server = loaded(bench.path, bench.threads, dump)
            try:
                found = server.connect(timeout=60)
                for writer in writers:
                    reply = found.call("GET", f"done:{writer.number}")
                    count = int(reply) if isinstance(reply, bytes) else 0
                    writer.run(truth, count - writer.done)
                same(found.call("DBSIZE"), truth.call("DBSIZE"))
                same(digest_of(found), digest_of(truth))
                same(len(found.call("FUNCTION", "LIST").items), 1)
                server.end(60)
            finally:
                server.remove()
        holds(writers[0].done > 0, "nobody has written anything while snapshots were taken")
    finally:
        model.remove()


def rewrites(bench):
    """The log is written anew twice while everybody writes, and a new start finds all of it."""
    work = WritersAtWork(bench.server, [Writer(number) for number in range(WRITERS)])
    try:
        for _ in range(2):
            reply = bench.control.call("BGREWRITEAOF")
            holds(isinstance(reply, Simple), f"BGREWRITEAOF: {reply}")
            wait_until(lambda: bench.field("aof_rewrite_in_progress") == "0", "the log is rewritten", 120)
            same(bench.field("aof_last_bgrewrite_status"), "ok")
    finally:
        work.end()
    before = bench.digest()
    bench.control.close()
    bench.server.end(60)
    bench.server.start()
    bench.control = bench.server.connect(timeout=60)
    same(bench.digest(), before)


def pipelined(connection, *lines):
    """Several commands in one piece, so that nothing comes in between."""
    connection.send_raw(b"".join(encode_command([word.encode() for word in words]) for words in lines))
    return [connection.read() for _ in lines]


MOVES = (
    (("SWAPDB", "0", "3"),),
    (("SWAPDB", "0", "3"), ("FLUSHDB",), ("SWAPDB", "3", "5"), ("SET", "late", "1")),
    (("SELECT", "5"), ("FLUSHDB", "SYNC"), ("SET", "late", "2"), ("FLUSHDB", "ASYNC"), ("SELECT", "0")),
)


def databases_move(bench):
    """What goes or moves while it is saved: the file is that of the moment all the same, and is written once."""
    for number, moves in enumerate(MOVES):
        before = bench.digest()
        replies = pipelined(bench.control, ("BGSAVE",), *moves)
        holds(not [reply for reply in replies if isinstance(reply, Error)], f"{moves}: {replies}")
        holds(bench.digest() != before, "nothing has moved")
        bench.wait_for_end()
        same(bench.field("rdb_last_bgsave_status"), "ok")
        dump = os.path.join(bench.server.folder, f"moved-{number}")
        os.rename(os.path.join(bench.server.folder, "dump.rdb"), dump)
        server = loaded(bench.path, bench.threads, dump)
        try:
            same(digest_of(server.connect(timeout=60)), before)
        finally:
            server.remove()
    holds(not bench.said("Saving again"), "a snapshot began again")


def databases_move_in_a_rewrite(bench):
    """The same of a log that is rewritten: its base is the moment, and what follows moves the databases."""
    for moves in (*MOVES, (("FLUSHALL",), ("SET", "late", "3"))):
        replies = pipelined(bench.control, ("BGREWRITEAOF",), *moves)
        holds(not [reply for reply in replies if isinstance(reply, Error)], f"{moves}: {replies}")
        wait_until(lambda: bench.field("aof_rewrite_in_progress") == "0", "the log is rewritten", 120)
        same(bench.field("aof_last_bgrewrite_status"), "ok")
        before = bench.digest()
        bench.control.close()
        bench.server.end(60)
        holds(not bench.said("were emptied or swapped"), "the rewrite began again")
        bench.server.start()
        bench.control = bench.server.connect(timeout=60)
        same(bench.digest(), before)


def given_up(bench):
    """BGSAVE CANCEL, FLUSHALL and the end of the server leave nothing lying about, and the next snapshot is whole."""
    folder = bench.server.folder
    for _ in range(5):
        holds(isinstance(bench.control.call("BGSAVE"), Simple), "BGSAVE")
        bench.control.call("BGSAVE", "CANCEL")
        bench.wait_for_end()
        same(bench.control.call("SET", "after", "cancel"), OK)
    wait_until(lambda: not [name for name in os.listdir(folder) if name.startswith("temp-")], "its file is gone", 60)
    bench.save()
    before = bench.digest()
    server = loaded(bench.path, bench.threads, os.path.join(folder, "dump.rdb"))
    try:
        same(digest_of(server.connect(timeout=60)), before)
    finally:
        server.remove()
    holds(isinstance(bench.control.call("BGSAVE"), Simple), "BGSAVE")
    same(bench.control.call("FLUSHALL"), OK)
    bench.wait_for_end()
    bench.save()
    bench.prepare(bench.control)
    holds(isinstance(bench.control.call("BGSAVE"), Simple), "BGSAVE")
    bench.control.close()
    bench.server.end(60)
    holds(not [name for name in os.listdir(folder) if name.startswith("temp-")], "a temporary file is left")
    bench.server.start()
    bench.control = bench.server.connect(timeout=60)


def large_values(bench):
    """One value too large to be written in passing, and a process does it."""
    same(bench.control.call("SETRANGE", "large", str(5 << 20), "x"), (5 << 20) + 1)
    bench.save()
    holds(bench.said("Background saving started by pid"), "there was no process")
    same(bench.control.call("DEL", "large"), 1)
    os.truncate(bench.server.log_path, 0)
    bench.save()
    holds(not bench.said("Background saving started by pid"), "there was a process")


TESTS = {
    "moments": (moments, ()),
    "rewrites": (rewrites, (("appendonly", "yes"),)),
    "databases move": (databases_move, ()),
    "databases move in a rewrite": (databases_move_in_a_rewrite, (("appendonly", "yes"),)),
    "given up": (given_up, ()),
    "large values": (large_values, ()),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--fill", type=int, default=300_000, help="keys that lie there")
    arguments = parser.parse_args()
    verdicts = []
    for method in ("live", "fork"):
        for threads in arguments.threads or (1, 4):
            for name, (test, options) in TESTS.items():
                title = f"{name}, {method}, threads {threads}"
                if arguments.filter not in title or (test is large_values and method == "fork"):
                    continue

                def run(test=test, options=options, method=method, threads=threads):
                    bench = Bench(arguments.server, threads, method, arguments.fill, options)
                    try:
                        test(bench)
                        bench.close()
                    finally:
                        bench.server.remove()

                verdicts.append(attempt(title, run))
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
