#!/usr/bin/python3
"""A data set travels between Sorrel and the reference in files: saved by one, loaded by the other, and back.

Every type in every encoding (those of exchange.py), deadlines, several databases, functions. The files that Sorrel
writes here are of the version that the reference loads (rdb-compat-version 10). They are snapshots, or append only
logs: a base, and an increment behind it. After each journey every key is
compared with the original, and at home DEBUG DIGEST as well.

Deadlines of fields, which the reference does not know, travel from one Sorrel to another in every way there is; the
reference refuses what holds them instead of taking it without.
"""

import argparse
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(0, HERE)

from exchange import LIMITS, REFERENCE, content, create, encoding, NEWER, plain  # noqa: E402
from lib.resp import Simple  # noqa: E402
from lib.server import Server, ServerFailed  # noqa: E402

LIVE = ("snapshot-method", "live")
LIBRARY = b"#!lua name=lib\nredis.register_function('answer', function() return 42 end)"


class Place:
    """One server with a file of another in its folder."""

    def __init__(self, path, threads, options, source=None, kind="rdb", rewrites=True):
        self.kind = kind
        self.rewrites = rewrites
        self.in_background = LIVE in options
        self.server = Server(path, threads, [("enable-debug-command", "yes"), *options], start_bound_s=120.0)
        if source:
            copy_files(source.server.folder, self.server.folder, kind)
        try:
            self.server.start()
        except ServerFailed:
            self.server.remove()
            raise
        self.connection = self.server.connect(60.0)

    def call(self, *words):
        return self.connection.call(*words)

    def facts(self, name):
        return content(self.connection, name), self.call("PEXPIRETIME", name)

    def digest(self):
        return self.call("DEBUG", "DIGEST").text

    def save(self):
        if self.kind == "aof":
            return self.rewrite()
        if self.in_background:
            self.call("BGSAVE")
            return self.wait_for(b"rdb_bgsave_in_progress:0")
        reply = self.call("SAVE")
        if reply != Simple(b"OK"):
            raise ServerFailed(f"SAVE: {reply}\n{self.server.log_tail()}")

    def rewrite(self):
        """A base of what there is, and something behind it."""
        if not self.rewrites:
            return
        self.call("BGREWRITEAOF")
        self.wait_for(b"aof_rewrite_in_progress:0")
        self.call("SET", "behind the base", "1")

    def wait_for(self, fact):
        deadline = time.monotonic() + 60
        while fact not in plain(self.call("INFO", "persistence")):
            if time.monotonic() > deadline:
                raise ServerFailed(f"{fact} does not come true\n{self.server.log_tail()}")

    def close(self):
        self.connection.close()
        self.server.remove()


def copy_files(source, target, kind):
    if kind == "rdb":
        shutil.copy(os.path.join(source, "dump.rdb"), target)
    else:
        shutil.copytree(os.path.join(source, "appendonlydir"), os.path.join(target, "appendonlydir"))


class Journey:
    def __init__(self, ours, theirs, ours_is_home):
        self.makers = (ours, theirs) if ours_is_home else (theirs, ours)
        self.side = "Sorrel to the reference" if ours_is_home else "the reference to Sorrel"
        self.ours_is_home = ours_is_home
        self.problems, self.passed = [], 0

    def complain(self, name, what):
        self.problems.append(f"{name}, from {self.side}: {what}"[:600])

    def compare(self, name, expected, got, where):
        if expected == got:
            self.passed += 1
        else:
            self.complain(name, f"{str(expected)[:250]}\n  became {where} {str(got)[:250]}")

    def compare_encodings(self, name, home, away):
        first, second = encoding(home.connection, name), encoding(away.connection, name)
        ours, theirs = (first, second) if self.ours_is_home else (second, first)
        if ours != theirs and (ours, theirs) not in NEWER and name != "string:changed":
            self.complain(name, f"is {ours} in Sorrel and {theirs} in the reference")

    def run(self):
        make_home, make_away = self.makers
        places = []
        try:
            home = make_home(None)
            places.append(home)
            names = create(home.connection)
            home.call("FUNCTION", "LOAD", LIBRARY)
            home.call("SELECT", 9)
            home.call("SET", "elsewhere", "9")
            home.call("SELECT", 0)
            home.save()
            away = make_away(home)
            places.append(away)
            away.save()
            back = make_home(away)
            places.append(back)
            for name in names:
                # As commands the reference cannot tell of deliveries whose entries are gone.
                if name == "stream:groups" and home.call("CONFIG", "GET", "aof-use-rdb-preamble").items[1] == b"no":
                    continue
                facts = home.facts(name)
                self.compare(name, facts, away.facts(name), "away")
                self.compare(name, facts, back.facts(name), "at home again")
                self.compare_encodings(name, home, away)
            self.compare("the number of keys", home.call("DBSIZE"), away.call("DBSIZE"), "away")
            self.compare("functions", 42, away.call("FCALL", "answer", 0), "away")
            self.compare("functions", 42, back.call("FCALL", "answer", 0), "at home again")
            self.compare("the digest", home.digest(), back.digest(), "at home again")
            away.call("SELECT", 9)
            self.compare("database 9", b"9", plain(away.call("GET", "elsewhere")), "away")
        except ServerFailed as error:
            self.complain("a server", str(error))
        finally:
            for place in places:
                place.close()


FAR_MS = 4_000_000_000_000
FIELDS = {
    "fields:one": ["f"],
    "fields:few": [f"field {n}" for n in range(20)],
    "fields:listpack": [f"field {n}" for n in range(128)],
    "fields:table": [f"field {n}" for n in range(600)],
    "fields:long": ["x" * 70, "short"],
}


def create_fields(place):
    """Hashes in both encodings: some fields with deadlines, near and far, some without."""
    for name, fields in FIELDS.items():
        place.call("HSET", name, *[word for field in fields for word in (field, field + " value")])
        for n, field in enumerate(fields):
            if n % 3 != 2:
                place.call("HPEXPIREAT", name, FAR_MS + n * n * 1_000_003, "FIELDS", 1, field)
    place.call("PEXPIREAT", "fields:few", FAR_MS - 1)
    place.call("HSET", "fields:none", "f", "v")


def field_facts(place, name):
    fields = FIELDS.get(name, ["f"])
    deadlines = plain(place.call("HPEXPIRETIME", name, "FIELDS", len(fields), *fields))
    return place.facts(name), deadlines, encoding(place.connection, name)


class FieldJourney:
    """Deadlines of fields, from one Sorrel to the next and in front of the reference."""

    def __init__(self, make):
        self.make = make  # (source, options) -> Place
        self.problems, self.passed = [], 0

    def check(self, holds, what):
        if holds:
            self.passed += 1
        else:
            self.problems.append(f"deadlines of fields: {what}"[:600])

    def travel(self, way, options):
        home = self.make(None, options)
        away = None
        try:
            create_fields(home)
            home.save()
            away = self.make(home, options)
            for name in [*FIELDS, "fields:none"]:
                before, after = field_facts(home, name), field_facts(away, name)
                self.check(before == after, f"{name} by {way}: {before}\n  became {after}")
            self.check(home.digest() == away.digest(), f"the digest by {way}")
        finally:
            for place in (home, away):
                if place:
                    place.close()

    def by_payload(self):
        home, theirs = self.make(None, []), Place(REFERENCE, None, [])
        try:
            create_fields(home)
            for name in FIELDS:
                payload = home.call("DUMP", name)
                home.call("RESTORE", "copy", max(0, home.call("PEXPIRETIME", name)), payload, "ABSTTL", "REPLACE")
                before = field_facts(home, name)
                home.call("RENAME", "copy", name)
                after = field_facts(home, name)
                self.check(before == after, f"{name} by DUMP: {before}\n  became {after}")
                refusal = plain(theirs.call("RESTORE", name, 0, payload))
                self.check(refusal == b"ERR DUMP payload version or checksum are wrong", f"{name} there: {refusal}")
            # Without them it is a hash like any other.
            for name, fields in FIELDS.items():
                home.call("HPERSIST", name, "FIELDS", len(fields), *fields)
                there = plain(theirs.call("RESTORE", name, 0, home.call("DUMP", name)))
                self.check(there == b"OK", f"{name} there, without them: {there}")
        finally:
            home.close()
            theirs.close()

    def refused_there(self, way, options, sentence):
        """The reference does not start with the files, and says why."""
        home = self.make(None, options)
        try:
            create_fields(home)
            home.save()
            try:
                Place(REFERENCE, None, options, home, home.kind).close()
                self.check(False, f"the reference takes them by {way}")
            except ServerFailed as error:
                self.check(sentence in str(error), f"by {way} the reference says {error}")
        finally:
            home.close()

    def run(self):
        for version in ("10", "12"):
            self.travel(f"RDB, rdb-compat-version {version}", [("rdb-compat-version", version)])
        self.travel("RDB without a process", [LIVE])
        self.travel("RDB without a sum", [("rdbchecksum", "no"), ("rdbcompression", "no")])
        self.travel("log", LOG)
        self.travel("log of commands", LOG_OF_COMMANDS)
        self.travel("log that was never rewritten", NEVER_REWRITTEN)
        self.by_payload()
        self.refused_there("RDB", [], "Can't handle RDB format version 12")
        self.refused_there("log", LOG, "Can't handle RDB format version 12")


LOG = [("appendonly", "yes"), ("appendfsync", "always")]
LOG_OF_COMMANDS = LOG + [("aof-use-rdb-preamble", "no")]
NEVER_REWRITTEN = LOG + [("auto-aof-rewrite-percentage", "0")]
RUNS = (
    ("append only log, without a process", LOG + [LIVE], LOG),
    ("append only log of commands", LOG_OF_COMMANDS, LOG_OF_COMMANDS),
    ("as it is", [], []),
    ("without compression or sum", [("rdbcompression", "no"), ("rdbchecksum", "no")],
     [("rdbcompression", "no"), ("rdbchecksum", "no")]),
    ("small limits, without a process", LIMITS + [("set-max-listpack-entries", "32"), LIVE], LIMITS),
    ("compressed lists", [("list-compress-depth", "1")], [("list-compress-depth", "2")]),
    ("with idle times", [("maxmemory-policy", "allkeys-lru")], [("maxmemory-policy", "allkeys-lru")]),
    ("with frequencies", [("maxmemory-policy", "allkeys-lfu")], [("maxmemory-policy", "allkeys-lfu")]),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--only", choices=[name for name, _, _ in RUNS])
    parser.add_argument("--show", type=int, default=10, help="differences shown of each run")
    arguments = parser.parse_args()
    passed, failed = 0, 0
    for name, our_options, their_options in RUNS:
        if arguments.only not in (None, name):
            continue
        begin = time.monotonic()

        def ours(source, options=our_options):
            kind = "aof" if ("appendonly", "yes") in options else "rdb"
            return Place(arguments.server, arguments.threads, [("rdb-compat-version", "10"), *options], source, kind)

        def theirs(source, options=their_options):
            return Place(REFERENCE, None, options, source, "aof" if ("appendonly", "yes") in options else "rdb")

        problems, arrived = [], 0
        for ours_is_home in (True, False):
            journey = Journey(ours, theirs, ours_is_home)
            journey.run()
            arrived += journey.passed
            problems += journey.problems
        passed += arrived
        failed += len(problems)
        print(f"{name}: {arrived} comparisons, {len(problems)} differ ({time.monotonic() - begin:.1f} s)")
        for problem in problems[: arguments.show]:
            print("  " + problem)
    if arguments.only is None:
        begin = time.monotonic()

        def place(source, options):
            kind = "aof" if ("appendonly", "yes") in options else "rdb"
            return Place(arguments.server, arguments.threads, options, source, kind, options != NEVER_REWRITTEN)

        journey = FieldJourney(place)
        journey.run()
        passed += journey.passed
        failed += len(journey.problems)
        print(f"deadlines of fields: {journey.passed} comparisons, {len(journey.problems)} differ "
              f"({time.monotonic() - begin:.1f} s)")
        for problem in journey.problems[: arguments.show]:
            print("  " + problem)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
