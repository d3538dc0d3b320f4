#!/usr/bin/python3
"""Snapshots beside the reference: CPU seconds to save many small keys and to load them again.

    tests/bench/save_bench.py [--keys 5000000] [--rounds 3]

Both servers hold the same keys, save them with SAVE (in turn, several times) and load them when they are started anew.
Only the ratios within one run mean anything.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))

from lib.server import free_port  # noqa: E402
from servers import MILLION, TICK, Server  # noqa: E402

REFERENCE = "/usr/bin/redis-server"
KINDS = {
    # What a key and its value are made of.
    "text of 16 bytes": ["SET", "key:__rand_int__", "value:0123456789"],
    "number": ["SET", "key:__rand_int__", "__rand_int__"],
    "text of 64 bytes": ["SET", "key:__rand_int__", "value:__rand_int__" + "0123456789abcdefghijklmnopqrstuvwxyz-_!?()"],
}


def save(server):
    before = server.cpu_seconds()
    if server.ask("SAVE") != "OK":
        raise SystemExit(f"{server.name} cannot save")
    return server.cpu_seconds() - before


def load(program, folder):
    """CPU seconds from the start until everything is loaded."""
    log = tempfile.TemporaryFile()
    process = subprocess.Popen(["taskset", "-c", "0", program, "--port", str(free_port()), "--bind", "127.0.0.1",
                                "--save", ""], cwd=folder, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and process.poll() is None:
            log.seek(0)
            if b"Ready to accept connections" in log.read():
                with open(f"/proc/{process.pid}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
                return (int(fields[11]) + int(fields[12])) / TICK
            time.sleep(0.01)
        raise SystemExit(f"{program} did not load")
    finally:
        process.kill()
        process.wait()


def measure(kind, words, arguments):
    servers = [Server("Redis", REFERENCE, []), Server("Sorrel", arguments.server, [])]
    programs = {"Redis": REFERENCE, "Sorrel": arguments.server}
    saves, loads, sizes = {}, {}, {}
    try:
        for server in servers:
            server.fill(words, arguments.keys)
        for _ in range(arguments.rounds):
            for server in servers:
                saves.setdefault(server.name, []).append(save(server))
        for server in servers:
            sizes[server.name] = os.path.getsize(os.path.join(server.dir, "dump.rdb"))
    finally:
        for server in servers:
            server.stop()
    for _ in range(arguments.rounds):
        for server in servers:
            loads.setdefault(server.name, []).append(load(programs[server.name], server.dir))
    for what, times in (("save", saves), ("load", loads)):
        theirs, ours = (statistics.median(times[name]) for name in ("Redis", "Sorrel"))
        print(f"{what} {arguments.keys} keys, {kind}: Redis {theirs:.2f} s, Sorrel {ours:.2f} s of CPU, "
              f"{theirs / ours:.2f}x (files {sizes['Redis'] / MILLION:.0f} and {sizes['Sorrel'] / MILLION:.0f} MB)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--keys", type=int, default=5 * MILLION)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kind", choices=list(KINDS))
    arguments = parser.parse_args()
    for kind, words in KINDS.items():
        if arguments.kind in (None, kind):
            measure(kind, words, arguments)


if __name__ == "__main__":
    main()
