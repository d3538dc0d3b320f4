#!/usr/bin/python3
"""The programs that look at files: made by a running server, damaged, checked, repaired.

    tests/tools/run.py [--server PATH] [--filter NAME] [--damages N]
"""

import argparse
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Simple  # noqa: E402
from lib.server import SANITIZER_OPTIONS, Server  # noqa: E402
from lib.verdict import attempt, holds, same, summary  # noqa: E402

TOOL_BOUND_S = 60
OK = Simple(b"OK")
REFERENCE = "/usr/bin/redis-check-rdb"


class Bench:
    """The programs, a folder, and a dump that our server wrote."""

    def __init__(self, server_path, damages):
        self.server_path = server_path
        self.damages = damages
        self.folder = tempfile.mkdtemp(prefix="sorrel-tools-")
        self.environment = dict(os.environ)
        for name, value in SANITIZER_OPTIONS.items():
            self.environment.setdefault(name, value)
        self.dump = self.path("dump.rdb")
        self.make_dump()

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, name):
        return os.path.join(os.path.dirname(self.server_path), name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def run(self, name, *args, answer="", wanted=None):
        """Standard output and error together, and the code. A death by signal or a sanitizer's report is a failure."""
        program = name if name.startswith("/") else self.program(name)
        done = subprocess.run(
            [program, *args],
            input=answer.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TOOL_BOUND_S,
            env=self.environment,
            check=False,
        )
        text = done.stdout.decode("utf-8", "replace")
        holds(done.returncode in (0, 1, 2), f"{name} {args} ended with {done.returncode}:\n{text[-3000:]}")
        holds("Sanitizer" not in text and "runtime error" not in text, text[-3000:])
        if wanted is not None:
            holds(done.returncode == wanted, f"{name} {args}: wanted code {wanted}, got {done.returncode}:\n{text[-2000:]}")
        return text, done.returncode

    def make_dump(self):
        server = Server(self.server_path, options=[("dbfilename", "made.rdb"), ("rdb-compat-version", "10")])
        try:
            server.start()
            connection = server.connect()
            fill(connection)
            same(connection.call("SAVE"), OK)
            connection.close()
            shutil.copy(os.path.join(server.folder, "made.rdb"), self.dump)
            server.end()
        finally:
            server.remove()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def fill(connection):
    """Every type, both small and big, deadlines, several databases."""
    for i in range(200):
        connection.call("SET", f"user:{i}", "x" * i)
    connection.call("SET", "session:1", "soon", "PX", "100000000")
    connection.call("SET", "number", "-12345")
    connection.call("SET", "big:text", "ab" * 50000)
    connection.call("RPUSH", "queue:small", "a", "1", "b")
    connection.call("RPUSH", "queue:big", *[f"element {i}" for i in range(3000)])
    connection.call("SADD", "set:numbers", "1", "2", "300000")
    connection.call("SADD", "set:big", *[f"member {i}" for i in range(2000)])
    connection.call("HSET", "hash:small", "f", "v")
    connection.call("HSET", "hash:big", *[f"field {i}" for i in range(2000)])
    connection.call("HSET", "hash:timed", "a", "1", "b", "2")
    connection.call("ZADD", "zset:small", "1.5", "m", "-3", "n")
    connection.call("ZADD", "zset:big", *[word for i in range(1000) for word in (str(i / 3), f"member {i}")])
    for i in range(300):
        connection.call("XADD", "stream", f"{i + 1}-0", "field", f"value {i}")
    connection.call("XGROUP", "CREATE", "stream", "readers", "0")
    connection.call("XREADGROUP", "GROUP", "readers", "alice", "COUNT", "5", "STREAMS", "stream", ">")
    connection.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
    connection.call("SELECT", "9")
    connection.call("SET", "\x00binary\xff\n", "value")


def command(*words):
    encoded = [word if isinstance(word, bytes) else word.encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def damaged(data, chance):
    """A copy with one bit turned, or cut."""
    if chance.random() < 0.3:
        return data[: chance.randrange(len(data))]
    changed = bytearray(data)
    changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


# ---------------------------------------------------------------- sorrel-check-rdb


def a_dump_is_whole(bench):
    text, _ = bench.run("sorrel-check-rdb", bench.dump, wanted=0)
    holds("\\o/ RDB looks OK! \\o/" in text and "Checksum OK" in text, text)
    holds("[info] 214 keys read\n[info] 1 expires\n[info] 0 already expired\n" in text, text)
    if os.path.exists(REFERENCE):
        reference, code = bench.run(REFERENCE, bench.dump)
        same(code, 0)
        for line in ("[info] 214 keys read", "[info] 1 expires", "[info] 0 already expired", "Checksum OK"):
            holds(line in reference, reference)


def the_name_decides(bench):
    """The server's program under the checkers' names is the checker, as Redis's is."""
    for name, program in (("redis-check-rdb", "sorrel-server"), ("redis-check-rdb", "sorrel-check-rdb")):
        link = bench.path(name)
        os.symlink(bench.program(program), link)
        text, _ = bench.run(link, bench.dump, wanted=0)
        holds("RDB looks OK" in text, text)
        text, _ = bench.run(link, wanted=1)
        holds(f"Usage: {link} <rdb-file-name>" in text, text)
        os.unlink(link)
    log = bench.put("named.aof", command("SET", "a", "b") + b"*1")
    link = bench.path("redis-check-aof")
    os.symlink(bench.program("sorrel-server"), link)
    text, _ = bench.run(link, log, wanted=1)
    holds("is not valid. Use the --fix option" in text, text)
    os.unlink(link)


def damaged_dumps_are_refused(bench):
    data = read(bench.dump)
    chance = random.Random(1)
    for _ in range(bench.damages):
        path = bench.put("damaged.rdb", damaged(data, chance))
        text, _ = bench.run("sorrel-check-rdb", path, wanted=1)
        holds("--- RDB ERROR DETECTED ---" in text and "[offset " in text, text)
        report, _ = bench.run("sorrel-rdb", "--format", "json", path, wanted=1)
        document = json.loads(report[: report.rindex("}") + 1])
        holds(document["complete"] is False and document["problem"], report[-500:])


def lengths_that_lie(bench):
    """Gigabytes that are announced and not there cost nothing."""
    huge = b"\x81\x00\x00\x00\x7f\xff\xff\xff\xff"
    for body in (
        b"\x00\x01k" + huge,  # a string
        b"\x00" + huge,  # a key
        b"\x01\x01k" + huge,  # a list
        b"\x04\x01k" + huge,  # a hash
        b"\x00\x01k\xc3\x05" + huge + b"abcde",  # compressed
        b"\xfb" + huge + huge + b"\x00\x01k" + huge,  # sizes of a database
        b"\x0f\x01k" + huge,  # a stream
        b"\xf5" + huge,  # a function
        b"\xfa" + huge,  # a field about the file
    ):
        path = bench.put("lies.rdb", b"REDIS0011" + body)
        limited = ["/bin/sh", "-c", 'ulimit -v 4000000; exec "$0" "$@"']
        if "asan" in bench.server_path or "tsan" in bench.server_path:
            limited = []  # their shadow is larger than any limit
        for tool in ("sorrel-check-rdb", "sorrel-rdb"):
            words = [*limited, bench.program(tool), path] if limited else [bench.program(tool), path]
            bench.run(words[0], *words[1:], wanted=1)


def what_is_no_file(bench):
    os.mkfifo(bench.path("pipe"))
    for path in (bench.folder, bench.path("pipe"), bench.path("absent"), "/dev/null"):
        for tool in ("sorrel-check-rdb", "sorrel-check-aof", "sorrel-rdb"):
            bench.run(tool, path, wanted=1)
    empty = bench.put("empty", b"")
    bench.run("sorrel-check-rdb", empty, wanted=1)
    text, _ = bench.run("sorrel-check-aof", empty, wanted=0)
    holds(" is empty" in text, text)


# ---------------------------------------------------------------- sorrel-check-aof


def a_log(bench, base, *increments):
    """Files and their manifest; the path of the manifest."""
    lines = []
    if base is not None:
        bench.put("log.1.base.rdb", base)
        lines.append("file log.1.base.rdb seq 1 type b\n")
    for number, data in enumerate(increments, 1):
        bench.put(f"log.{number}.incr.aof", data)
        lines.append(f"file log.{number}.incr.aof seq {number} type i\n")
    return bench.put("log.manifest", "".join(lines).encode())


def a_log_is_whole(bench):
    set_one = command("SELECT", "0") + command("SET", "foo", "hello")
    manifest = a_log(bench, read(bench.dump), set_one, b"", set_one)
    text, _ = bench.run("sorrel-check-aof", manifest, wanted=0)
    wanted = [
        "Start checking Multi Part AOF",
        "Start to check BASE AOF (RDB format).",
        "RDB preamble is OK, proceeding with AOF tail...",
        "BASE AOF log.1.base.rdb is valid",
        "Start to check INCR files.",
        "INCR AOF log.1.incr.aof is valid",
        "INCR AOF log.2.incr.aof is empty",
        "INCR AOF log.3.incr.aof is valid",
        "All AOF files and manifest are valid",
    ]
    at = 0
    for line in wanted:
        found = text.find(line, at)
        holds(found >= 0, f"{line!r} is not there, or not in its place:\n{text}")
        at = found


def torn_logs_are_repaired(bench):
    good = command("SET", "foo", "hello")
    manifest = a_log(bench, read(bench.dump), good, good + b"*3\r\n$3\r\nSET\r\n$1")
    text, _ = bench.run("sorrel-check-aof", manifest, wanted=1)
    holds("log.2.incr.aof is not valid. Use the --fix option to try fixing it." in text, text)
    holds(f"ok_up_to={len(good)}, ok_up_to_line=8," in text, text)
    text, _ = bench.run("sorrel-check-aof", "--fix", manifest, answer="n\n", wanted=1)
    holds("Aborting..." in text, text)
    text, _ = bench.run("sorrel-check-aof", "--fix", manifest, answer="", wanted=1)
    holds("Aborting..." in text, text)
    text, _ = bench.run("sorrel-check-aof", "--fix", manifest, answer="y\n", wanted=0)
    holds("Successfully truncated AOF log.2.incr.aof" in text, text)
    same(read(bench.path("log.2.incr.aof")), good)
    bench.run("sorrel-check-aof", manifest, wanted=0)
    manifest = a_log(bench, None, good + b"*", good)
    text, _ = bench.run("sorrel-check-aof", "--fix", manifest, answer="y\n", wanted=1)
    holds("Failed to truncate AOF log.1.incr.aof because it is not the last file" in text, text)
    same(read(bench.path("log.1.incr.aof")), good + b"*")


def damaged_logs_are_told_or_repaired(bench):
    good = b"".join(command("SET", f"key {i}", "value" * i) for i in range(20))
    good += command("MULTI") + command("INCR", "n") + command("EXEC") + command("DEL", "key 1")
    chance = random.Random(2)
    for _ in range(bench.damages):
        data = damaged(good, chance)
        path = bench.put("damaged.aof", data)
        _, before = bench.run("sorrel-check-aof", path)
        same(read(path), data)
        bench.run("sorrel-check-aof", "--fix", path, answer="y\n", wanted=0)
        left = read(path)
        holds(data.startswith(left), "the repair has changed more than the end")
        holds(before != 0 or left == data, "a good file was cut")
        bench.run("sorrel-check-aof", path, wanted=0)


def damaged_manifests_are_refused(bench):
    good = command("SET", "foo", "hello")
    manifest = a_log(bench, read(bench.dump), good, good)
    data = read(manifest)
    chance = random.Random(3)
    for _ in range(bench.damages):
        bench.run("sorrel-check-aof", bench.put("log.manifest", damaged(data, chance)))
    for lines, reason in (
        (data + b"!!!\n", "Invalid AOF manifest file format"),
        (b"file ../dump.rdb seq 1 type b\n", "File can't be a path"),
        (b"file gone.aof seq 1 type i\n", "No such file or directory"),
        (b"file log.1.incr.aof seq 1 type i\n" * 2, "non-monotonic sequence number"),
    ):
        text, _ = bench.run("sorrel-check-aof", bench.put("log.manifest", lines), wanted=1)
        holds(reason in text, text)


def cut_at_a_moment(bench):
    def at(second, key):
        return b"#TS:%d\r\n" % second + command("SET", key, "v")

    early, late = at(1628217470, "a") + at(1628217471, "b"), at(1628217480, "c")
    manifest = a_log(bench, None, early, at(1628217472, "d") + late)
    bench.run("sorrel-check-aof", "--truncate-to-timestamp", "never", manifest, wanted=1)
    text, _ = bench.run("sorrel-check-aof", "--truncate-to-timestamp", "1628217475", manifest, wanted=0)
    holds("Successfully truncated AOF log.2.incr.aof to timestamp 1628217475" in text, text)
    same(read(bench.path("log.2.incr.aof")), at(1628217472, "d"))
    text, _ = bench.run("sorrel-check-aof", "--truncate-to-timestamp", "1628217470", manifest, wanted=1)
    holds("because it is not the last file" in text, text)
    same(read(bench.path("log.1.incr.aof")), early)
    text, _ = bench.run("sorrel-check-aof", "--truncate-to-timestamp", "1", bench.path("log.1.incr.aof"), wanted=1)
    holds("has nothing before timestamp 1, aborting..." in text, text)


def repaired_logs_are_loaded(bench):
    """A log of our server, torn, mended and read again."""
    options = [("appendonly", "yes"), ("aof-load-truncated", "no")]
    server = Server(bench.server_path, options=options)
    try:
        server.start()
        connection = server.connect()
        fill(connection)
        same(connection.call("SET", "last", "one"), OK)
        connection.close()
        server.end()
        folder = os.path.join(server.folder, "appendonlydir")
        manifest = os.path.join(folder, "appendonly.aof.manifest")
        text, _ = bench.run("sorrel-check-aof", manifest, wanted=0)
        holds("All AOF files and manifest are valid" in text, text)
        last = max(os.path.join(folder, name) for name in os.listdir(folder) if ".incr." in name)
        os.truncate(last, os.path.getsize(last) - 5)
        text, _ = bench.run("sorrel-check-aof", manifest, wanted=1)
        holds("is not valid. Use the --fix option" in text, text)
        bench.run("sorrel-check-aof", "--fix", manifest, answer="y\n", wanted=0)
        server.start()
        connection = server.connect()
        connection.call("SELECT", "9")
        same(connection.call("EXISTS", "last"), 0)
        same(connection.call("EXISTS", "\x00binary\xff\n"), 1)
        connection.close()
        server.end()
    finally:
        server.remove()


# ---------------------------------------------------------------- sorrel-rdb


def key_by_key(bench):
    text, _ = bench.run("sorrel-rdb", "--format", "json", bench.dump, wanted=0)
    document = json.loads(text)
    same(len(document["keys"]), 214)
    same(document["total"]["keys"], 214)
    same(document["total"]["memory_bytes"], sum(key["memory_bytes"] for key in document["keys"]))
    same(document["types"]["string"]["keys"], 204)
    same(document["types"]["stream"]["elements"], 300)
    same(document["databases"]["9"]["keys"], 1)
    same(document["functions"], 1)
    same(document["biggest"][0]["memory_bytes"], max(key["memory_bytes"] for key in document["keys"]))
    by_name = {key["key"]: key for key in document["keys"]}
    same(by_name["queue:big"]["elements"], 3000)
    same(by_name["queue:big"]["largest_element"], len("element 2999"))
    holds(abs(by_name["big:text"]["memory_bytes"] - 100000) < 30000, str(by_name["big:text"]))
    holds(by_name["session:1"]["expiry_ms"] > 0, str(by_name["session:1"]))
    same([prefix["keys"] for prefix in document["prefixes"] if prefix["prefix"] == "user:"], [200])
    rows = list(csv.DictReader(bench.run("sorrel-rdb", "--format", "csv", bench.dump, wanted=0)[0].splitlines()))
    same(len(rows), 214)
    # Tables are laid out by a secret of each run, so sizes differ a little.
    same(sum(int(row["file_bytes"]) for row in rows), document["total"]["file_bytes"])


def filters(bench):
    def rows(*args):
        return bench.run("sorrel-rdb", "--format=csv", *args, bench.dump, wanted=0)[0].splitlines()[1:]

    holds(all(int(row.split(",")[3]) >= 10240 for row in rows("--bytes", "10kb")), "a small key was listed")
    same(len(rows("--bytes", "10kb", "--match", "big:*")), 1)
    same(len(rows("--type", "zset")), 2)
    same(len(rows("--db", "9")), 1)
    people, _ = bench.run("sorrel-rdb", "--top", "3", bench.dump, wanted=0)
    holds("By prefix" in people and "Biggest keys" in people and "user:" in people, people)
    bench.run("sorrel-rdb", wanted=2)
    bench.run("sorrel-rdb", "--format", "xml", bench.dump, wanted=2)


TESTS = [
    a_dump_is_whole,
    the_name_decides,
    damaged_dumps_are_refused,
    lengths_that_lie,
    what_is_no_file,
    a_log_is_whole,
    torn_logs_are_repaired,
    damaged_logs_are_told_or_repaired,
    damaged_manifests_are_refused,
    cut_at_a_moment,
    repaired_logs_are_loaded,
    key_by_key,
    filters,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--filter", default="", help="only tests whose name contains this")
    parser.add_argument("--damages", type=int, default=150, help="damaged files per kind")
    arguments = parser.parse_args()
    bench = Bench(os.path.abspath(arguments.server), arguments.damages)
    try:
        verdicts = [
            attempt(test.__name__, lambda test=test: test(bench)) for test in TESTS if arguments.filter in test.__name__
        ]
    finally:
        bench.remove()
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
