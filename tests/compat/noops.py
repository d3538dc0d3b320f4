#!/usr/bin/python3
"""What commands that change nothing leave behind: on Sorrel exactly what they leave on the reference.

Every case is a setting, a key and one command. Both servers run it while the key is watched, and four answers are
compared: the reply, whether EXEC still runs, the keyspace notifications, and whether the AOF got anything.

    tests/compat/noops.py [--server PATH] [--threads N] [--filter TEXT] [--show]
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Aggregate, Error  # noqa: E402
from lib.server import Server  # noqa: E402
from noop_cases import CASES, EVERYTHING, compared  # noqa: E402

REFERENCE = "/usr/bin/redis-server"
END = b"the end"


class Side:
    """One server, with a connection that works and one that hears."""

    def __init__(self, path, threads):
        self.server = Server(path, threads, [("appendonly", "yes"), ("appendfsync", "always"), ("save", ""),
                                             ("notify-keyspace-events", "KEA"),
                                             ("auto-aof-rewrite-percentage", "0")]).start()
        self.here = self.server.connect()
        self.ears = self.server.connect()
        self.ears.call("PSUBSCRIBE", "__key*")
        self.ears.call("SUBSCRIBE", END)

    def call(self, line):
        return self.here.call(*line.split())

    def heard(self):
        self.here.call("PUBLISH", END, "")
        events = []
        while True:
            items = self.ears.read().items
            if items[1] == END:
                return events
            if items[2].startswith(b"__keyevent"):
                events.append((items[2].split(b":", 1)[1] + b" " + items[3]).decode())

    def log_bytes(self):
        folder = os.path.join(self.server.folder, "appendonlydir")
        return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder) if ".incr." in name)

    def run(self, setting, key, command):
        """By the names of EVERYTHING."""
        self.call("FLUSHALL")
        for line in setting:
            reply = self.call(line)
            if isinstance(reply, Error):
                raise AssertionError(f"{line}: {reply.text.decode()}")
        self.heard()
        before = self.log_bytes()
        for word in key.split():
            self.call("WATCH " + word)
        reply = self.call(command)
        self.call("MULTI")
        ran = isinstance(self.call("EXEC"), Aggregate)
        told = (plain(reply), "ran" if ran else "aborted", self.heard(), self.log_bytes() > before)
        return dict(zip(EVERYTHING, told))


def plain(reply):
    return [plain(item) for item in reply.items] if isinstance(reply, Aggregate) else reply


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--show", action="store_true", help="print what the reference did")
    options = parser.parse_args()
    options.server = os.path.abspath(options.server)
    sides = [Side(REFERENCE, None), Side(options.server, options.threads)]
    bad = total = 0
    for setting, key, command in CASES:
        if options.filter not in command:
            continue
        total += 1
        wanted, got = (side.run(setting, key, command) for side in sides)
        if options.show:
            print(f"{command}: {wanted}")
        if any(wanted[name] != got[name] for name in compared(command, wanted["events"])):
            bad += 1
            print(f"FAIL  {'; '.join(setting)}; WATCH {key}; {command}\n      reference {wanted}\n      sorrel    {got}")
    for side in sides:
        side.server.end()
        side.server.remove()
    print(f"{total - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
