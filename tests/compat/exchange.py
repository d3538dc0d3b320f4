#!/usr/bin/python3
"""Values travel between Sorrel and the reference by DUMP and RESTORE, both ways, and must arrive whole.

Each server makes the same data: every type in every encoding, at the edges of every size that the format treats
differently. Every key is dumped, restored on the other server, compared there with the original, dumped again and
restored at home.
"""

import argparse
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(0, HERE)

import values  # noqa: E402
from lib.resp import Aggregate, Error, Simple  # noqa: E402
from lib.server import Server, ServerFailed  # noqa: E402

REFERENCE = "/usr/bin/redis-server"

# Around every width of an integer and every form of a length.
INTEGERS = sorted({sign * (2**bits + step) for bits in (0, 4, 6, 7, 8, 12, 13, 14, 15, 16, 23, 24, 31, 32, 53, 62)
                   for sign in (1, -1) for step in (-1, 0, 1)} | {2**63 - 1, -(2**63), 12, 13})
SIZES = [0, 1, 10, 11, 12, 19, 20, 21, 22, 62, 63, 64, 65, 126, 127, 128, 252, 253, 254, 255, 256, 4094, 4095, 4096,
         16381, 16382, 16383, 16384, 16385, 65536]
COUNTS = [1, 2, 127, 128, 129, 254, 255, 511, 512, 513, 2000]
STRANGE = ["", "007", "-0", "+1", "1.5", "\x00\xff\r\n", "9223372036854775808", " 1", "nan", "inf"]
SCORES = ["0", "-0.0", "1.5", "-1e300", "5e-324", "1.7976931348623157e308", "inf", "-inf", "0.1", "3e10", "123456789012"]


def text(size, kind):
    """Of so many characters: one that compresses, or one that does not."""
    if kind == "even":
        return "ab" * (size // 2) + "c" * (size % 2)
    state, out = size + 1, []
    for _ in range(size):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        out.append(chr(33 + (state >> 33) % 90))
    return "".join(out)


def texts():
    return [text(size, kind) for size in SIZES for kind in ("even", "odd")]


def many(command, key, words, piece=200):
    return [[command, key, *words[i : i + piece]] for i in range(0, len(words), piece)]


def strings():
    for n, value in enumerate(map(str, INTEGERS)):
        yield f"string:int:{n}", [["SET", None, value]]
    for n, value in enumerate(STRANGE + texts()):
        yield f"string:text:{n}", [["SET", None, value]]
    yield "string:long", [["SET", None, text(300_000, "even")]]
    yield "string:changed", [["SET", None, "12"], ["APPEND", None, "34"]]
    yield "string:bits", [["SETBIT", None, "5000", "1"]]
    yield "hll:sparse", [["PFADD", None, *map(str, range(50))]]
    yield "hll:dense", many("PFADD", None, list(map(str, range(20000))), 5000)


def lists():
    yield "list:integers", [["RPUSH", None, *map(str, INTEGERS)]]
    yield "list:strange", [["RPUSH", None, *STRANGE, *STRANGE]]
    yield "list:texts", many("RPUSH", None, texts(), 10)
    for count in COUNTS:
        yield f"list:{count}", many("RPUSH", None, [f"element {n}" for n in range(count)])
        yield f"list:same:{count}", many("LPUSH", None, ["1"] * count)
    yield "list:big", many("RPUSH", None, [text(5000, "odd") + str(n) for n in range(40)], 10)
    yield "list:shrunk", many("RPUSH", None, [f"element {n}" for n in range(3000)]) + [["LTRIM", None, "100", "-2500"]]


def sets():
    yield "set:integers", [["SADD", None, *map(str, INTEGERS)]]
    for limit in (2**15 - 1, 2**31 - 1, 2**63 - 1):
        yield f"set:integers:{limit}", [["SADD", None, str(limit), str(-limit), "0"]]
    yield "set:strange", [["SADD", None, *STRANGE]]
    yield "set:texts", many("SADD", None, texts(), 10)
    for count in COUNTS:
        yield f"set:{count}", many("SADD", None, [f"member {n}" for n in range(count)])
        yield f"set:of-integers:{count}", many("SADD", None, [str(n * 7) for n in range(count)])
    for size in (63, 64, 65):
        yield f"set:size:{size}", [["SADD", None, "a" * size, "1"]]


def hashes():
    yield "hash:integers", [["HSET", None, *[str(i) for n in INTEGERS for i in (n, -n)]]]
    yield "hash:strange", [["HSET", None, *[w for s in STRANGE for w in (s, s + "v")]]]
    yield "hash:texts", many("HSET", None, [w for n, t in enumerate(texts()) for w in (f"f{n}", t)], 10)
    for count in COUNTS:
        yield f"hash:{count}", many("HSET", None, [w for n in range(count) for w in (f"field {n}", str(n))])
    for size in (63, 64, 65):
        yield f"hash:size:{size}", [["HSET", None, "f", "v" * size]]


def zsets():
    yield "zset:integers", [["ZADD", None, *[str(i) for n in INTEGERS for i in (n, n)]]]
    yield "zset:scores", [["ZADD", None, *[w for n, s in enumerate(SCORES) for w in (s, f"m{n}")]]]
    yield "zset:texts", many("ZADD", None, [w for n, t in enumerate(texts()) for w in (str(n / 3), t)], 10)
    for count in COUNTS:
        yield f"zset:{count}", many("ZADD", None, [w for n in range(count) for w in (str(n / 7), f"member {n}")])
        yield f"zset:equal:{count}", many("ZADD", None, [w for n in range(count) for w in ("1", f"member {n}")])
    for size in (63, 64, 65):
        yield f"zset:size:{size}", [["ZADD", None, "1.25", "m" * size]]
    yield "zset:geo", [["GEOADD", None, "13.361389", "38.115556", "Palermo", "15.087269", "37.502669", "Catania"]]


def streams():
    def add(count, names=lambda n: ["name", "value"], first=1):
        return [["XADD", None, f"{n}-{n % 3}", *names(n)] for n in range(first, first + count)]

    yield "stream:1", add(1)
    yield "stream:nodes", add(350)
    yield "stream:names", add(120, lambda n: [f"f{n % 4}", str(n), "x", text(n, "even")])
    yield "stream:big", add(30, lambda n: ["f", text(900, "odd") + str(n)])
    yield "stream:integers", add(len(INTEGERS), lambda n: [str(INTEGERS[n - 1]), str(-INTEGERS[n - 1])])
    yield "stream:ids", [["XADD", None, i, "f", "v"] for i in ("0-1", "5-18446744073709551615", "6-0",
                         "18446744073709551615-18446744073709551615")]
    yield "stream:deleted", add(150) + [["XDEL", None, f"{n}-{n % 3}"] for n in range(1, 140, 2)]
    yield "stream:first-deleted", add(5) + [["XDEL", None, "1-1", "2-2"]]
    yield "stream:trimmed", add(300) + [["XTRIM", None, "MAXLEN", "=", "57"]]
    yield "stream:emptied", add(3) + [["XDEL", None, "1-1", "2-2", "3-0"]]
    yield "stream:made-empty", [["XGROUP", "CREATE", None, "g", "$", "MKSTREAM"]]
    groups = [["XGROUP", "CREATE", None, "g1", "0"], ["XGROUP", "CREATE", None, "g2", "$"],
              ["XGROUP", "CREATE", None, "", "5-0", "ENTRIESREAD", "3"], ["XGROUP", "CREATECONSUMER", None, "g2", "idle"],
              ["XREADGROUP", "GROUP", "g1", "alice", "COUNT", "40", "STREAMS", None, ">"],
              ["XREADGROUP", "GROUP", "g1", "bob", "COUNT", "20", "STREAMS", None, ">"],
              ["XACK", None, "g1", "3-0", "45-0"], ["XDEL", None, "7-1", "41-2"],
              ["XCLAIM", None, "g1", "carol", "0", "10-1", "12-0", "RETRYCOUNT", "300"],
              ["XREADGROUP", "GROUP", "", "", "NOACK", "COUNT", "2", "STREAMS", None, ">"]]
    yield "stream:groups", add(110) + groups
    yield "stream:setid", add(4) + [["XSETID", None, "90-0", "ENTRIESADDED", "40", "MAXDELETEDID", "8-0"]]


FAMILIES = (strings, lists, sets, hashes, zsets, streams)
DEADLINE = {"string:int:0": 3_600_000, "list:2": 7_200_000, "zset:2": 100_000_000, "stream:1": 50_000_000}


def bytes_of(command, key):
    return [key.encode() if word is None else word.encode("latin-1") for word in command]


def create(connection):
    """Makes everything; the names of the keys."""
    names = []
    for family in FAMILIES:
        for name, commands in family():
            for command in commands:
                reply = connection.call(*bytes_of(command, name))
                if isinstance(reply, Error):
                    raise ServerFailed(f"{name}: {command[:4]}: {reply.text}")
            names.append(name)
    for name, ttl in DEADLINE.items():
        connection.call("PEXPIRE", name, ttl)
    return names


def plain(value):
    """A reply as Python values, maps as pairs."""
    if isinstance(value, Aggregate):
        return [plain(item) for item in value.items]
    return value.text if isinstance(value, (Simple, Error)) else value


def stream_facts(connection, name):
    """Everything that XINFO knows and both servers keep."""
    flat = plain(connection.call("XINFO", "STREAM", name, "FULL", "COUNT", "0"))
    facts = dict(zip(flat[::2], flat[1::2]))
    for unlike in (b"radix-tree-keys", b"radix-tree-nodes"):
        facts.pop(unlike, None)
    groups = []
    for group in facts[b"groups"]:
        pairs = dict(zip(group[::2], group[1::2]))
        pairs.pop(b"nacked-count", None)
        consumers = [dict(zip(c[::2], c[1::2])) for c in pairs[b"consumers"]]
        for consumer in consumers:
            consumer.pop(b"active-time", None)  # since 7.2
        pairs[b"consumers"] = consumers
        groups.append(pairs)
    facts[b"groups"] = groups
    return facts


def numbers(items):
    """Scores as numbers: the servers spell some of them differently."""
    return [float(item) if n % 2 else item for n, item in enumerate(items)]


def content(connection, name):
    kind = connection.call("TYPE", name).text
    command = values.WHOLE.get(kind)
    if command is None:
        return kind, None
    whole = plain(connection.call(*bytes_of(command, name)))
    if kind == b"set":
        whole = sorted(whole)
    elif kind == b"hash":
        whole = sorted(zip(whole[::2], whole[1::2]))
    elif kind == b"zset":
        whole = numbers(whole)
    elif kind == b"stream":
        whole = [whole, stream_facts(connection, name)]
    return kind, whole


def encoding(connection, name):
    return connection.call("OBJECT", "ENCODING", name)


# Encodings of ours that 7.0 does not have.
NEWER = {(b"listpack", b"quicklist"), (b"listpack", b"hashtable")}


class Exchange:
    def __init__(self, home, away, ours_is_home):
        self.home, self.away, self.ours_is_home = home.connect(60.0), away.connect(60.0), ours_is_home
        self.problems, self.passed = [], 0

    def run(self):
        for end in (self.home, self.away):
            end.call("FLUSHALL")
        for name in create(self.home):
            before = len(self.problems)
            self.travel(name)
            self.passed += len(self.problems) == before

    def complain(self, name, what):
        side = "Sorrel to the reference" if self.ours_is_home else "the reference to Sorrel"
        self.problems.append(f"{name}, from {side}: {what}"[:600])

    def travel(self, name):
        payload = self.home.call("DUMP", name)
        deadline = max(0, self.home.call("PEXPIRETIME", name))
        reply = self.away.call("RESTORE", name, deadline, payload, "ABSTTL")
        if reply != Simple(b"OK"):
            return self.complain(name, f"is refused: {reply}")
        self.compare(name, content(self.home, name), content(self.away, name))
        self.compare(name + " deadline", deadline, max(0, self.away.call("PEXPIRETIME", name)))
        self.compare_encodings(name)
        back = self.home.call("RESTORE", "back", 0, self.away.call("DUMP", name), "REPLACE")
        if back != Simple(b"OK"):
            return self.complain(name, f"is refused at home: {back}")
        self.compare(name + " back at home", content(self.home, name), content(self.home, "back"))

    def compare(self, name, expected, got):
        if expected != got:
            self.complain(name, f"{str(expected)[:250]}\n  became {str(got)[:250]}")

    def compare_encodings(self, name):
        home, away = encoding(self.home, name), encoding(self.away, name)
        ours, theirs = (home, away) if self.ours_is_home else (away, home)
        if ours == theirs or (ours, theirs) in NEWER or name == "string:changed":
            return
        self.complain(name, f"is {ours} in Sorrel and {theirs} in the reference")


def exchange(path, threads, ours_options, their_options):
    """Both ways; how many keys arrived, and what went wrong."""
    servers = [Server(path, threads, ours_options, start_bound_s=60.0), Server(REFERENCE, None, their_options)]
    passed, problems = 0, []
    try:
        ours, theirs = (server.start() for server in servers)
        for home, away in ((ours, theirs), (theirs, ours)):
            run = Exchange(home, away, home is ours)
            run.run()
            passed += run.passed
            problems += run.problems
        ours.end()
    finally:
        for server in servers:
            server.remove()
    return passed, problems


LIMITS = [
    ("list-max-listpack-size", "16"),
    ("hash-max-listpack-entries", "64"),
    ("set-max-intset-entries", "64"),
    ("zset-max-listpack-entries", "64"),
]
RUNS = (
    ("as it is", [], []),
    ("without compression", [("rdbcompression", "no")], [("rdbcompression", "no")]),
    ("small limits", LIMITS + [("set-max-listpack-entries", "32")], LIMITS),
    ("compressed lists", [("list-compress-depth", "1")], [("list-compress-depth", "2")]),
    ("checked by the reference", [], [("sanitize-dump-payload", "yes")]),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--only", choices=[name for name, _, _ in RUNS])
    parser.add_argument("--show", type=int, default=10, help="differences shown of each run")
    arguments = parser.parse_args()
    passed, failed = 0, 0
    for name, ours, theirs in RUNS:
        if arguments.only not in (None, name):
            continue
        begin = time.monotonic()
        try:
            arrived, problems = exchange(arguments.server, arguments.threads, ours, theirs)
        except ServerFailed as error:
            arrived, problems = 0, [str(error)]
        passed += arrived
        failed += len(problems)
        print(f"{name}: {arrived} values arrived, {len(problems)} differ ({time.monotonic() - begin:.1f} s)")
        for problem in problems[: arguments.show]:
            print("  " + problem)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
