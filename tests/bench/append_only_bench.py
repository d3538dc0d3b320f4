#!/usr/bin/python3
"""What the append only log costs, beside the reference.

everysec: server CPU per SET with the AOF and without it, one request in flight and 64, in turns of half a second, by
several servers of both kinds; the median of the turns' ratios counts. The AOF's thread is part of the server's CPU. always: 50 connections write while 50
others read keys of their own; reported is what each side gets done, with the log and without it, and what the reference
gets done. Without pipelines a machine of two cores is full with either server, so that nobody can be three times as fast
there.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time

from servers import Server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOG = ["--appendonly", "yes", "--auto-aof-rewrite-percentage", "0", "--appendfsync"]
SET = ["SET", "key:__rand_int__", "v" * 32]
REQUESTS = {1: 25_000, 64: 1_000_000}  # of one turn
TURNS = 8  # of one set of servers


def turns_of_everysec(programs, pipeline, requests):
    """{program: [(CPU of a SET without an AOF in microseconds, with it)...]}, all servers in turns."""
    servers = {}
    for program, extra in programs.items():
        servers[program, False] = Server("without", program, extra)
        servers[program, True] = Server("with", program, extra + LOG + ["everysec"])
    cpu = {name: [] for name in servers}
    try:
        for server in servers.values():
            server.load(SET, 64, 3_000_000)
        order = list(servers)
        for _ in range(TURNS):
            for name in order:
                before = servers[name].fine_cpu_seconds()
                servers[name].load(SET, pipeline, requests)
                cpu[name].append((servers[name].fine_cpu_seconds() - before) / requests * 1e6)
            # The first place takes turns, too: what the machine has to do otherwise grows and falls.
            order.reverse()
    finally:
        for server in servers.values():
            server.stop()
    return {program: list(zip(cpu[program, False], cpu[program, True])) for program in programs}


def cost_of_everysec(programs, rounds):
    """At most what the AOF costs the reference, the last of the programs."""
    good = True
    for pipeline, requests in REQUESTS.items():
        # Where in memory a server happens to lie makes as much of a difference as the AOF: so several of each.
        pairs = {program: [] for program in programs}
        for _ in range(rounds):
            for program, more in turns_of_everysec(programs, pipeline, requests).items():
                pairs[program] += more
        costs = []
        for program in programs:
            without, with_log = (statistics.median(side) for side in zip(*pairs[program]))
            ratios = [b / a - 1 for a, b in pairs[program]]
            error = statistics.stdev(ratios) / len(ratios) ** 0.5 * 100
            costs.append(statistics.median(ratios) * 100)
            print(f"everysec, P={pipeline}, {os.path.basename(program)}: {without:.3f} us a SET without, {with_log:.3f} with:"
                  f" {costs[-1]:+.1f} % (error {error:.1f}), {with_log - without:+.3f} us", flush=True)
        good = good and costs[0] <= costs[-1]
    return good


def start_load(server, words, pipeline, cores):
    endless = 1_000_000_000
    return subprocess.Popen(
        ["taskset", "-c", cores, "redis-benchmark", "-p", str(server.port), "-c", "50", "-P", str(pipeline), "-n", str(endless),
         "-r", "100000", "-q", *words], stdout=subprocess.DEVNULL)


def calls(server, command):
    found = re.search(rf"^cmdstat_{command}:calls=(\d+)", server.ask("INFO", "commandstats"), re.M)
    return int(found.group(1)) if found else 0


def both_sides(server, seconds, pipeline):
    """(SETs, GETs) in a second, while both are asked for."""
    begun = calls(server, "set"), calls(server, "get")
    loads = [start_load(server, words, pipeline, "1")
             for words in (["GET", "read:__rand_int__"], ["SET", "written:__rand_int__", "v" * 32])]
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and (calls(server, "get") == begun[1] or calls(server, "set") == begun[0]):
            pass
        before, began = (calls(server, "set"), calls(server, "get")), time.monotonic()
        time.sleep(seconds)
        after, took = (calls(server, "set"), calls(server, "get")), time.monotonic() - began
    finally:
        for load in loads:
            load.kill()
            load.wait()
    return tuple((b - a) / took for a, b in zip(before, after))


def always(program, extra, reference, turns, seconds, pipeline):
    """Short turns, one server behind the other: what disk and processor have to do for others changes by the second, and
    only what was measured at nearly the same time can be compared. The median of the turns' ratios counts."""
    kinds = {
        "without a log": (program, extra),
        "always": (program, extra + LOG + ["always"]),
        "reference, always": (reference, LOG + ["always"]),
    }
    servers = {name: Server(name, path, options) for name, (path, options) in kinds.items()}
    rates = {name: [] for name in kinds}
    try:
        for number in range(turns):
            order = list(kinds) if number % 2 else list(reversed(kinds))
            for name in order:
                rates[name].append(both_sides(servers[name], seconds, pipeline))
    finally:
        for server in servers.values():
            server.stop()
    for name, runs in rates.items():
        sets, gets = (statistics.median(side) for side in zip(*runs))
        print(f"50 writers and 50 readers, P={pipeline}, {name}: {sets:.0f} SET/s, {gets:.0f} GET/s", flush=True)
    kept = [with_log[1] / without[1] * 100 for with_log, without in zip(rates["always"], rates["without a log"])]
    times = [ours[0] / theirs[0] for ours, theirs in zip(rates["always"], rates["reference, always"])]
    print(f"readers keep {spread(kept, 0)} % (at least 80), writers {spread(times, 1)} times the reference's (at least 3)")
    return statistics.median(kept) >= 80 and statistics.median(times) >= 3


def spread(values, digits):
    """The median, and between which values half of them lie."""
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--reference", default="/usr/bin/redis-server")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=20, help="of each server under always")
    parser.add_argument("--seconds", type=float, default=1, help="of such a turn")
    parser.add_argument("--only", choices=("everysec", "always"))
    parser.add_argument("--pipelines", default="1,16,64", help="of those that read and write under always")
    arguments = parser.parse_args()
    extra = ["--threads", arguments.threads]
    good = True
    if arguments.only != "always":
        good = cost_of_everysec({arguments.server: extra, arguments.reference: []}, arguments.rounds)
    if arguments.only != "everysec":
        for pipeline in map(int, arguments.pipelines.split(",")):
            good = always(arguments.server, extra, arguments.reference, arguments.turns, arguments.seconds, pipeline) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
