#!/usr/bin/python3
"""The same random commands to Sorrel and to the reference, every reply compared.

    tests/compat/run.py                       a few seconds, seeds chosen by the clock and printed
    tests/compat/run.py --seed 7 --count 2000 one seed again
"""

import argparse
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(0, HERE)

import commands  # noqa: E402
import values  # noqa: E402
from lib.notation import quote, show  # noqa: E402
from lib.resp import Aggregate, ConnectionClosed, Error, Nil, ProtocolError, ReplyTimeout, encode_command  # noqa: E402
from lib.server import Server, ServerFailed  # noqa: E402

BATCH = 100
HISTORY = 12


class Different(Exception):
    pass


def encoded(command):
    return [
        word if isinstance(word, bytes) else word.encode("latin-1" if "\xff" in word else "utf-8") for word in command
    ]


def written(args):
    return " ".join(a.decode() if a.isalnum() and a.isascii() else quote(a) for a in args)


def same(args, ours, theirs):
    name = args[0].decode().upper()
    # Since 7.2 they may have a third argument, WITHSCORE.
    if name in ("ZRANK", "ZREVRANK") and len(args) == 4:
        return True
    if name in commands.CLOCK and isinstance(ours, int) and isinstance(theirs, int) and ours > 0 and theirs > 0:
        return abs(ours - theirs) <= commands.CLOCK[name]
    if name in commands.UNORDERED and isinstance(ours, Aggregate) and isinstance(theirs, Aggregate):
        return sorted(map(repr, ours.items)) == sorted(map(repr, theirs.items))
    if name == "OBJECT" and isinstance(ours, bytes) and isinstance(theirs, bytes):
        return ours == theirs or args[-1].decode("latin-1") in values.NEWER_ENCODINGS.get((ours, theirs), ())
    # Since 7.2 it looks at deleted entries before it looks at the others.
    if name == "XSETID" and isinstance(ours, Error) and isinstance(theirs, Error):
        return True
    if name in values.SCORED and alike(ours, theirs):
        return True
    return type(ours) is type(theirs) and ours == theirs


def alike(ours, theirs):
    """The same but for how numbers are written."""
    if isinstance(ours, Aggregate) and isinstance(theirs, Aggregate):
        return len(ours.items) == len(theirs.items) and all(map(alike, ours.items, theirs.items))
    if isinstance(ours, bytes) and isinstance(theirs, bytes) and ours != theirs:
        try:
            return float(ours) == float(theirs)
        except ValueError:
            return False
    return type(ours) is type(theirs) and ours == theirs


class Pair:
    """A connection to each of the two servers."""

    def __init__(self, ours, theirs, protocol):
        self.ends = [ours.connect(), theirs.connect()]
        if protocol == 3:
            self.ask(["HELLO", "3"])
        self.ask(["SELECT", "0"])
        self.ask(["FLUSHALL"])

    def ask(self, command):
        return [end.call(*command) for end in self.ends]

    def batch(self, batch):
        data = b"".join(encode_command(args) for args in batch)
        for end in self.ends:
            end.send_raw(data)
        return [[end.read() for _ in batch] for end in self.ends]

    def close(self):
        for end in self.ends:
            end.close()


def all_names():
    """Every command that the makers may make."""
    maker = commands.Maker(random.Random(1))
    return sorted({make(maker)[0] for _ in range(60) for _, make in commands.all_commands(commands.FAMILIES)})


def known_commands(server):
    """Those of them that Sorrel has."""
    connection, known = server.connect(), set()
    for name in all_names():
        reply = connection.call("COMMAND", "INFO", name)
        if isinstance(reply, Aggregate) and reply.items and not isinstance(reply.items[0], Nil):
            known.add(name)
        elif isinstance(reply, Error):  # No COMMAND yet: ask the command itself.
            answer = connection.call(name)
            if not (isinstance(answer, Error) and answer.text.startswith(b"ERR unknown command")):
                known.add(name)
    connection.close()
    return known


def compare_stream(pair, seed, count, known, only):
    maker = commands.Maker(random.Random(seed))
    if not only and seed % 8 == 0:
        only = [maker.random.choice(commands.ALONE)]
    choices = commands.all_commands(only)
    weights = [weight for weight, _ in choices]
    history = []
    for _ in range(0, count, BATCH):
        batch = []
        while len(batch) < BATCH:
            command = maker.random.choices(choices, weights)[0][1](maker)
            if command[0] in known:
                batch.append(encoded(commands.wrong_arity(maker, command)))
        ours, theirs = pair.batch(batch)
        for args, our, their in zip(batch, ours, theirs):
            if not same(args, our, their):
                raise Different(explain(history, args, our, their))
            history.append(args)
    compare_keyspaces(pair)


def explain(history, args, ours, theirs):
    touched = set(args[1:])
    related = [h for h in history if touched & set(h[1:]) or h[0] in (b"SELECT", b"SWAPDB", b"FLUSHALL", b"FLUSHDB")]
    lines = ["after " + written(h) for h in related[-HISTORY:]]
    lines += ["> " + written(args)[:400], "Sorrel:", *show(ours), "reference:", *show(theirs)]
    return "\n".join(line[:400] for line in lines)


def compare_keyspaces(pair):
    for database in ("0", "1"):
        pair.ask(["SELECT", database])
        ours, theirs = pair.ask(["KEYS", "*"])
        names = sorted(theirs.items)
        if sorted(ours.items) != names:
            raise Different(f"database {database} holds {sorted(ours.items)}, the reference {names}")
        for name in names:
            kind = pair.ends[1].call("TYPE", name)
            whole = values.WHOLE[getattr(kind, "text", kind)]
            for command in (["TYPE", None], ["PEXPIRETIME", None], whole):
                args = [name if word is None else word.encode() for word in command]
                our, their = pair.ask(args)
                if not same(args, our, their):
                    raise Different(explain([], args, our, their))


def run_seed(ours, theirs, seed, count, known, only):
    pair = Pair(ours, theirs, 2 + seed % 2)
    try:
        compare_stream(pair, seed, count, known, only)
        return None
    except Different as difference:
        return str(difference)
    except (ConnectionClosed, ReplyTimeout, ProtocolError) as error:
        return f"{type(error).__name__}: {error}\n{'' if ours.running() else ours.log_tail()}"
    finally:
        pair.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, help="one seed only")
    parser.add_argument("--count", type=int, default=4000, help="commands per seed")
    parser.add_argument("--seconds", type=float, default=10.0, help="new seeds for so long")
    parser.add_argument("--first", type=int, help="the first of the seeds, instead of one by the clock")
    parser.add_argument("--seeds", type=int, help="so many of them, instead of --seconds")
    parser.add_argument("--only", nargs="*", choices=sorted(commands.FAMILIES), help="families")
    parser.add_argument("--show", type=int, default=5, help="differences shown")
    arguments = parser.parse_args()
    threads = None if arguments.server == "/usr/bin/redis-server" else arguments.threads
    servers = [Server(arguments.server, threads), Server("/usr/bin/redis-server")]
    passed, failures = 0, []
    try:
        ours, theirs = (server.start() for server in servers)
        known = known_commands(ours)
        unknown = [name for name in all_names() if name not in known]
        if unknown:
            print("left out, as Sorrel does not know them:", " ".join(unknown))
        seed = arguments.seed if arguments.seed is not None else arguments.first
        if seed is None:
            seed = int(time.time()) % 1_000_000 * 1000
        deadline = time.monotonic() + arguments.seconds
        while True:
            problem = run_seed(ours, theirs, seed, arguments.count, known, arguments.only)
            if problem:
                failures.append(f"seed {seed}:\n{problem}\n")
            else:
                passed += 1
            seed += 1
            done = arguments.seed is not None or time.monotonic() >= deadline
            if arguments.seeds is not None:
                done = passed + len(failures) >= arguments.seeds
            if done or not ours.running() or len(failures) >= arguments.show:
                break
        ours.end()
    except ServerFailed as error:
        failures.append(str(error))
    finally:
        for server in servers:
            server.remove()
    print("\n".join(failures))
    print(f"{passed * arguments.count} commands with {passed} seeds answered alike")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
