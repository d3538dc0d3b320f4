#!/usr/bin/python3
"""A file has one writer at a time: what is on disk is never older than what was said to be there.

    tests/two_writers/run.py [--server PATH] [--threads N] [--filter NAME]

SAVE, BGSAVE, SHUTDOWN, FLUSHALL, DEBUG RELOAD, loads, rewrites of the AOF and CONFIG SET meet each other; then the
server is killed, and the next one has to find what the last one had.
"""

import argparse
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Error, Simple, encode_command  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import attempt, holds, same, summary, wait_until  # noqa: E402

OK = Simple(b"OK")
STARTED = Simple(b"Background saving started")
KEYS = 2000
SLOW_LOAD = (("key-load-delay", "500"), ("loading-process-events-interval-bytes", "1024"))


class Place:
    """A server and its folder."""

    def __init__(self, path, threads, *options):
        self.server = Server(path, threads, [("enable-debug-command", "yes"), ("enable-protected-configs", "yes"),
                                            *options])
        self.server.start()
        self.here = self.server.connect(timeout=30)

    def restart(self, *options, wait=True):
        """After a kill, with these options for this time."""
        self.server.kill()
        usual = list(self.server.options)
        self.server.options += options
        if wait:
            self.server.start()
        else:  # it is to be met while it loads
            self.server._answers, answers = self.is_up, self.server._answers  # pylint: disable=protected-access
            self.server.start()
            self.server._answers = answers  # pylint: disable=protected-access
        self.server.options = usual
        self.here = self.server.connect(timeout=30)

    def is_up(self):
        try:
            connection = self.server.connect(timeout=1.0)
        except OSError:
            return False
        reply = connection.call("PING")
        connection.close()
        return isinstance(reply, (Simple, Error))

    def call(self, *words):
        return self.here.call(*words)

    def fill(self, keys=KEYS):
        same(self.call("DEBUG", "POPULATE", str(keys), "filler", "10"), OK)

    def set(self, name, value):
        same(self.call("CONFIG", "SET", name, value), OK)

    def fact(self, name):
        text = self.call("INFO", "persistence").decode()
        return text.split(name + ":")[1].split("\r\n")[0]

    def saves(self):
        return self.fact("rdb_bgsave_in_progress") == "1"

    def start_slow_save(self):
        """One that would take minutes by itself."""
        self.fill()
        self.set("rdb-key-save-delay", "100000")
        same(self.call("BGSAVE"), STARTED)
        self.set("rdb-key-save-delay", "0")

    def wait_for_rewrite(self):
        wait_until(lambda: self.fact("aof_rewrite_in_progress") == "0" and self.fact("aof_rewrite_scheduled") == "0",
                   "the end of a rewrite", 30)

    def loading(self):
        return self.fact("loading") == "1"

    def files(self, *folder):
        return sorted(name for name in os.listdir(os.path.join(self.server.folder, *folder)) if name.endswith(".rdb"))

    def close(self):
        self.server.end()


def reload_beside_a_save(make):
    """DEBUG RELOAD ends a BGSAVE, which would put an older file in the place of the one that is loaded."""
    place = make()
    place.start_slow_save()
    same(place.call("SET", "late", "1"), OK)
    same(place.call("DEBUG", "RELOAD"), OK)
    same(place.saves(), False)
    same((place.call("GET", "late"), place.call("DBSIZE")), (b"1", KEYS + 1))
    same(place.files(), ["dump.rdb"])
    place.restart()
    same(place.call("GET", "late"), b"1")
    place.close()


def reload_of_an_old_file_beside_a_save(make):
    """So does DEBUG RELOAD NOSAVE: what it loads is what stays."""
    place = make()
    same(place.call("SET", "first", "1"), OK)
    same(place.call("SAVE"), OK)
    place.start_slow_save()
    same(place.call("DEBUG", "RELOAD", "NOSAVE"), OK)
    same((place.saves(), place.call("DBSIZE")), (False, 1))
    place.restart()
    same(place.call("DBSIZE"), 1)
    place.close()


def reload_beside_a_live_snapshot(make):
    """The same of a snapshot without a process."""
    place = make(("snapshot-method", "live"))
    place.fill(50_000)
    words = [("BGSAVE",), ("SET", "late", "1"), ("DEBUG", "RELOAD")]
    place.here.send_raw(b"".join(encode_command([word.encode() for word in line]) for line in words))
    same([place.here.read(60) for _ in words], [STARTED, OK, OK])
    same(place.saves(), False)
    same(place.files(), ["dump.rdb"])
    place.restart()
    same((place.call("GET", "late"), place.call("DBSIZE")), (b"1", 50_001))
    place.close()


def flushall_beside_a_save(make):
    """With save points FLUSHALL writes an empty file, and no BGSAVE brings the keys back."""
    place = make()
    place.start_slow_save()
    place.set("save", "3600 1")
    same(place.call("FLUSHALL"), OK)
    same(place.saves(), False)
    same(place.files(), ["dump.rdb"])
    place.restart()
    same(place.call("DBSIZE"), 0)
    place.close()


def shutdown_beside_a_save(make):
    """SHUTDOWN SAVE is the last to write."""
    place = make()
    place.start_slow_save()
    same(place.call("SET", "late", "1"), OK)
    place.here.send([b"SHUTDOWN", b"SAVE"])
    place.here.wait_closed()
    place.server.process.wait(20)
    same(place.files(), ["dump.rdb"])
    place.restart()
    same(place.call("GET", "late"), b"1")
    place.close()


def save_beside_a_save(make):
    """SAVE is refused during BGSAVE, also after it was cancelled and has not ended yet."""
    place = make()
    place.start_slow_save()
    holds(isinstance(place.call("SAVE"), Error), "SAVE is refused")
    same(place.call("BGSAVE", "CANCEL"), Simple(b"Background saving cancelled"))
    wait_until(lambda: not place.saves(), "its end")
    same(place.call("SAVE"), OK)
    same(place.files(), ["dump.rdb"])
    place.close()


def folder_changed_meanwhile(make):
    """CONFIG SET dir during BGSAVE: nothing is left in the old folder when it is given up."""
    place = make()
    os.mkdir(os.path.join(place.server.folder, "new"))
    place.start_slow_save()
    wait_until(lambda: place.files(), "its temporary file")
    place.set("dir", os.path.join(place.server.folder, "new"))
    same(place.call("BGSAVE", "CANCEL"), Simple(b"Background saving cancelled"))
    wait_until(lambda: not place.saves(), "its end")
    same((place.files(), place.files("new")), ([], []))
    place.close()


def name_changed_meanwhile(make):
    """CONFIG SET dbfilename during BGSAVE: the snapshot goes where it was meant to go."""
    place = make()
    place.fill(50)
    place.set("rdb-key-save-delay", "10000")
    same(place.call("BGSAVE"), STARTED)
    place.set("rdb-key-save-delay", "0")
    place.set("dbfilename", "other.rdb")
    same(place.call("SET", "late", "1"), OK)
    same(place.call("DEBUG", "RELOAD"), OK)
    same(place.call("GET", "late"), b"1")
    same(place.files(), ["other.rdb"])
    place.close()


def save_points_during_a_load(make):
    """What an AOF repeats while it is loaded is no reason for a snapshot, which would be half of it."""
    place = make(("appendonly", "yes"), ("appendfsync", "always"))
    place.call("EVAL", "for i = 1, 3000 do redis.call('SET', 'key:' .. i, 'x') end", "0")
    for number in range(KEYS):
        place.here.send([b"SET", b"%d" % number, b"x" * 100])
    same([place.here.read() for _ in range(KEYS)], [OK] * KEYS)
    place.restart(("save", "1 1"), *SLOW_LOAD, wait=False)
    same(place.loading(), True)
    while place.loading():
        same((place.saves(), place.files()), (False, []))
    place.restart(("key-load-delay", "0"))
    same(place.call("DBSIZE"), KEYS + 3000)
    place.close()


def load_of_a_log_that_is_begun(make):
    """DEBUG LOADAOF while the first base is made: the log that is begun then has what was loaded."""
    place = make()
    place.fill(100)
    place.set("rdb-key-save-delay", "100000")
    place.set("appendonly", "yes")
    place.set("rdb-key-save-delay", "0")
    same(place.call("DEBUG", "LOADAOF"), OK)
    same(place.call("SET", "late", "1"), OK)
    keys = place.call("DBSIZE")
    place.wait_for_rewrite()
    same(place.fact("aof_enabled"), "1")
    same(place.call("WAITAOF", "1", "0", "10000").items, [1, 0])
    place.restart(("appendonly", "yes"))
    same((place.call("GET", "late"), place.call("DBSIZE")), (b"1", keys))
    place.close()


TESTS = [reload_beside_a_save, reload_of_an_old_file_beside_a_save, reload_beside_a_live_snapshot,
         flushall_beside_a_save, shutdown_beside_a_save, save_beside_a_save, folder_changed_meanwhile,
         name_changed_meanwhile, save_points_during_a_load, load_of_a_log_that_is_begun]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    options.server = os.path.abspath(options.server)
    verdicts = []
    for threads in options.threads:
        for test in TESTS:
            if options.filter not in test.__name__:
                continue
            places = []

            def make(*settings, threads=threads, places=places):
                places.append(Place(options.server, threads, *settings))
                return places[-1]

            verdicts.append(attempt(f"threads {threads}: {test.__doc__}", lambda test=test, make=make: test(make)))
            for place in places:
                place.server.remove()
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
