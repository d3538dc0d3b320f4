#!/usr/bin/python3
"""Debugs scripts, here and in a process of their own, as redis-cli does, and compares with the reference word by word.

    tests/debugger/run.py                  build/bin/sorrel-server, one thread and four
    tests/debugger/run.py --server PATH    another build
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.certificates import Certificates  # noqa: E402
from lib.resp import Aggregate, ConnectionClosed, Error, Simple, encode_command  # noqa: E402
from lib.server import Server  # noqa: E402

REFERENCE = "/usr/bin/redis-server"
BOUND_S = 20.0
LOOP = """local sum = 0
for i = 1, 3 do
  sum = sum + redis.call('incrby', KEYS[1], i)
end
return sum
"""
NESTED = """local function inner(a, b)
  local t = {a, b, {x = true}}
  return t
end
local t = inner(ARGV[1], 2.5)
redis.debug('seen', t, nil)
redis.breakpoint()
local n = #t
return n
"""
ANSWERS = """redis.call('set', KEYS[1], 'v\\n')
local v = redis.call('get', KEYS[1])
local none = redis.call('get', 'none')
redis.call('rpush', 'list', 'a', 'b')
local list = redis.call('lrange', 'list', 0, -1)
redis.setresp(3)
redis.call('hset', 'hash', 'f', 'v')
local hash = redis.call('hgetall', 'hash')
redis.call('sadd', 'set', 'm')
local set = redis.call('smembers', 'set')
redis.call('zadd', 'zset', 1.5, 'm')
local score = redis.call('zscore', 'zset', 'm')
none = redis.call('get', 'none')
local bad = redis.pcall('incr', 'list')
bad = redis.pcall('nosuch', 'x')
bad = redis.pcall('get')
bad = redis.pcall('subscribe', 'x')
return bad
"""
# name, script, keys and arguments, what is typed.
CONVERSATIONS = [
    ("steps", LOOP, ["1", "k"], ["s", "n", "step", "next", "s", "s", "s", "s", "s"]),
    ("continues", LOOP, ["1", "k"], ["b 3", "c", "p", "p sum", "p i", "p nothing", "c", "b", "b -3", "b -3", "c"]),
    ("breakpoints", LOOP, ["1", "k"], ["b", "b 0", "b 9 x 4 5", "b 5", "l 3 1", "w", "b 0", "c"]),
    ("lists", LOOP, ["1", "k"], ["l", "list 1", "l 4 1", "l x", "l 0 2", "whole", "w", "c"]),
    ("functions", NESTED, ["0", "arg"], ["b 3", "c", "t", "p", "p t", "p ARGV", "p KEYS", "c", "t", "p n", "c"]),
    ("answers", ANSWERS, ["1", "k"], ["s"] * 18),
    ("long values", "local t = string.rep('x', 300)\nreturn 1", ["0"], ["s", "p t", "p t", "m", "m 10", "p t", "m 0", "p t", "c"]),
    ("code", "return 1", ["0"], ["e 1+2", "e", "e return {1, 'x'}", "e error('no')", "e (", "e redis.call('get', 'x')", "c"]),
    ("commands", "return 1", ["0"], ["r set a b", "redis get a", "r", "r nosuch", "r get", "r lpush a b", "r " + "x " * 20 + "y", "c"]),
    ("unknown", "return 1", ["0"], ["hello", "he\0llo", "R ping", "script debug sync", "c"]),
    ("abort", LOOP, ["1", "k"], ["s", "s", "a"]),
    ("error", "local a = 1\nerror('wrong')", ["0"], ["s", "s"]),
    ("refused command", "redis.call('nosuch')", ["0"], ["s"]),
    ("wrong argument", "redis.call({})", ["0"], ["s"]),
    ("failing command", "redis.call('set', 'l', 'x')\nredis.call('lpush', 'l', 'x')\nreturn 1", ["0"], ["s", "s"]),
    ("does not compile", "return (", ["0"], []),
    ("keys are no number", "return 1", ["x"], []),
    ("nothing", "", ["0"], []),
    ("coroutine", "local c = coroutine.wrap(function()\nlocal x = 5\nreturn x\nend)\nlocal r = c()\nreturn r", ["0"], ["b 3", "c", "p x", "c"]),
    ("first line", "#!lua flags=no-writes\nlocal a = 1\nreturn redis.call('get', 'x')", ["0"], ["s", "w", "s"]),
]
BROKEN_INPUTS = [b"*0\r\n", b"nonsense\r\n", b"*1\r\n$0\r\n\r\n", b"*1\r\n$1025\r\n", b"*1025\r\n", b"*1\r\n:1\r\n", b"*1" + b"x" * (1 << 20)]


def same(got, wanted):
    assert got == wanted, f"{wanted!r} was expected, and not {got!r}"


def wait_until(condition, what):
    deadline = time.monotonic() + BOUND_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {BOUND_S:.0f} s: {what}"
        time.sleep(0.005)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as mine:
        found = mine.read().split()
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as theirs:
            found += theirs.read().split()
    return set(found)


class Debugged:
    """One session, from SCRIPT DEBUG to the end of the connection."""

    def __init__(self, server, mode, script, args):
        self.connection = server.connect(BOUND_S)
        same(self.connection.call("SCRIPT", "DEBUG", mode), Simple(b"OK"))
        self.said = [self.connection.call("EVAL", script, *args)]

    def ended(self):
        last = self.said[-1]
        return not isinstance(last, Aggregate) or Simple(b"<endsession>") in last.items

    def type(self, line):
        self.connection.send([word.encode() for word in line.split(" ") if word])
        self.said.append(self.connection.read())
        return self.lines()

    def lines(self):
        return [item.text.decode() for item in self.said[-1].items]

    def finish(self):
        """What was said, with the answer of EVAL as the last."""
        while True:
            try:
                self.said.append(self.connection.read())
            except ConnectionClosed:
                self.connection.close()
                return self.said


def converse(server, mode, script, args, typed):
    session = Debugged(server, mode, script, args)
    for line in typed:
        if session.ended():
            break
        session.type(line)
    while not session.ended():
        session.type("c")
    return [re.sub(r"0x[0-9a-f]+", "0x", repr(said)) for said in session.finish()]


def everything(server, mode):
    """All conversations, by name; the keyspace is empty before each."""
    plain = server.connect(BOUND_S)
    told = {}
    for name, script, args, typed in CONVERSATIONS:
        plain.call("FLUSHALL")
        told[name] = converse(server, mode, script, args, typed)
    plain.close()
    return told


# ---------------------------------------------------------------- what only concerns ours


def broken_input(server, mode):
    for data in BROKEN_INPUTS:
        session = Debugged(server, mode, "return 1", ["0"])
        session.connection.send_raw(data)
        answer = session.finish()[-1]
        assert isinstance(answer, Error), answer
        reason = b"max client buffer reached" if len(data) > 1 << 20 else b"protocol error"
        assert answer.text.startswith(b"ERR " + reason), answer
    same(server.connect().call("PING"), Simple(b"PONG"))


def peers_that_go(server, mode):
    for typed in ([], ["s"], ["b 3"]):
        session = Debugged(server, mode, LOOP, ["1", "gone"])
        for line in typed:
            session.type(line)
        session.connection.close()
    same(server.connect(BOUND_S).call("PING"), Simple(b"PONG"))


def changes_stay_when_in_place(server):
    session = Debugged(server, "SYNC", LOOP, ["1", "counter"])
    others = [server.connect(BOUND_S) for _ in range(4)]
    for other in others:
        other.send([b"GET", b"counter"])
    session.type("s")
    same([other.pending(0.05) for other in others], [b""] * 4)
    session.type("c")
    session.finish()
    same([other.read() for other in others], [b"6"] * 4)


def nothing_remains_of_what_was_apart(server):
    others = [server.connect(BOUND_S) for _ in range(4)]
    listener = server.connect(BOUND_S)
    listener.call("SUBSCRIBE", "news")
    others[0].call("SET", "kept", "yes")
    others[0].call("HSET", "big", *(str(number) for number in range(20000)))
    session = Debugged(server, "YES", "redis.call('set', 'kept', 'no')\nreturn redis.call('get', 'kept')", ["0"])
    session.type("s")
    same([other.call("GET", "kept") for other in others], [b"yes"] * 4)
    for command in ("publish news x", "del big", "flushall", "flushall sync", "flushall async", "set new 1", "unlink kept"):
        lines = session.type("r " + command)
        assert lines[-1].startswith("<reply> "), lines
    session.type("e redis.log(redis.LOG_WARNING, 'from apart')")
    others[0].call("SET", "kept", "still")
    session.type("c")
    session.finish()
    same(others[0].call("GET", "kept"), b"still")
    same(others[1].call("HLEN", "big"), 10000)
    same(others[2].call("EXISTS", "new"), 0)
    same(listener.pending(0.05), b"")
    assert "dump.rdb" not in os.listdir(server.folder)
    wait_until(lambda: "from apart" in server.log_tail(200), "what a script logs is in the log")
    wait_until(lambda: not children(server.process.pid), "the process is gone")


def many_apart(server):
    sessions = [Debugged(server, "YES", "return 1", ["0"]) for _ in range(64)]
    same(len(children(server.process.pid)), 64)
    connection = server.connect(BOUND_S)
    connection.call("SCRIPT", "DEBUG", "YES")
    assert b"Too many" in connection.call("EVAL", "return 1", "0").text
    for session in sessions[:32]:
        session.connection.close()
    for session in sessions[32:]:
        session.type("c")
        same(session.finish()[-1], 1)
    wait_until(lambda: not children(server.process.pid), "all are gone")


def where_it_cannot_be(server):
    connection = server.connect(BOUND_S)
    connection.send_raw(encode_command([b"PING"]) + encode_command([b"SCRIPT", b"DEBUG", b"YES"]))
    same(connection.read(), Simple(b"PONG"))
    same(connection.read(), Error(b"ERR SCRIPT DEBUG must be called outside a pipeline"))
    connection.call("MULTI")
    connection.call("SCRIPT", "DEBUG", "SYNC")
    same(connection.call("EXEC").items, [Error(b"ERR SCRIPT DEBUG must be called outside a pipeline")])
    same(connection.call("SCRIPT", "DEBUG", "MAYBE"), Error(b"ERR Use SCRIPT DEBUG YES/SYNC/NO"))
    connection.call("SCRIPT", "DEBUG", "SYNC")
    connection.call("MULTI")
    connection.call("EVAL", "return 1", "0")
    assert isinstance(connection.call("EXEC").items[0], Error)
    same(connection.call("EVALSHA", "0" * 40, "0"), Error(b"ERR Please use EVAL instead of EVALSHA for debugging"))
    same(connection.call("SCRIPT", "DEBUG", "NO"), Simple(b"OK"))
    same(connection.call("EVAL", "return redis.breakpoint()", "0").kind, "bulk")
    # The other way round it works: what was answered before comes before.
    connection.send_raw(encode_command([b"SCRIPT", b"DEBUG", b"SYNC"]) + encode_command([b"EVAL", b"return 1", b"0"]))
    same(connection.read(), Simple(b"OK"))
    same(len(connection.read().items), 2)
    connection.close()


def permissions_hold(server, mode):
    admin = server.connect(BOUND_S)
    admin.call("ACL", "SETUSER", "ann", "on", "nopass", "~a*", "+@all", "-del", "-@dangerous")
    connection = server.connect(BOUND_S)
    connection.call("AUTH", "ann", "x")
    connection.call("SCRIPT", "DEBUG", mode)
    connection.call("EVAL", "return 1", "0")
    for line, allowed in (("get b", False), ("del a", False), ("get a", True)):
        reply = None
        connection.send([b"r"] + line.encode().split())
        reply = connection.read().items[-1].text
        same(reply.startswith(b"<reply>"), allowed)
    connection.close()
    admin.call("ACL", "DELUSER", "ann")


def the_program(server, mode):
    """What redis-cli shows; it is told what to do through its standard input."""
    script = os.path.join(server.folder, "script.lua")
    with open(script, "w", encoding="utf-8") as out:
        out.write(LOOP)
    command = ["redis-cli", "-p", str(server.port), mode, "--eval", script, "key", ",", "arg"]
    typed = "s\nprint sum\nbreak 3\ncontinue\nprint\ntrace\nredis get key\neval 1+1\nbreak 0\ncontinue\nget key\n"
    done = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=BOUND_S, check=False)
    return done.stdout.replace(str(server.port), "PORT")


def log_stays_as_it_is(path, threads):
    server = Server(path, threads=threads, options=[("appendonly", "yes"), ("save", "1", "1")])
    try:
        server.start()
        plain = server.connect(BOUND_S)
        plain.call("SET", "a", "1")
        session = Debugged(server, "YES", "redis.call('set', 'a', '2')\nreturn redis.call('flushall')", ["0"])
        session.type("s")
        session.type("s")
        session.finish()
        session = Debugged(server, "SYNC", "return redis.call('set', 'b', '2')", ["0"])
        session.type("c")
        session.finish()
        server.end()
        server.start()
        plain = server.connect(BOUND_S)
        same([plain.call("GET", "a"), plain.call("GET", "b")], [b"1", b"2"])
        server.end()
    finally:
        server.remove()


def ends_while_somebody_debugs(path, threads):
    for mode in ("SYNC", "YES"):
        server = Server(path, threads=threads)
        try:
            server.start()
            session = Debugged(server, mode, "return 1", ["0"])
            before = children(server.process.pid)
            server.end()
            session.finish()
            assert not any(os.path.exists(f"/proc/{pid}") for pid in before)
        finally:
            server.remove()


def not_over_tls(path, threads):
    certificates = Certificates()
    server = Server(path, threads=threads, certificates=certificates)
    try:
        connection = server.start().connect(BOUND_S)
        for mode in ("YES", "SYNC"):
            same(connection.call("SCRIPT", "DEBUG", mode), Error(b"ERR SCRIPT DEBUG is not available over TLS"))
        same(connection.call("SCRIPT", "DEBUG", "NO"), Simple(b"OK"))
        same(connection.call("EVAL", "return 1", "0"), 1)
        server.end()
    finally:
        server.remove()
        certificates.remove()


class Run:
    def __init__(self):
        self.passed = 0
        self.failures = []

    def attempt(self, name, test, *args):
        try:
            test(*args)
            self.passed += 1
        except Exception as error:  # pylint: disable=broad-except
            self.failures.append(f"{name}: {type(error).__name__}: {error}")

    def compare(self, label, got, wanted):
        for name, lines in wanted.items():
            self.attempt(f"{label}, {name}", same, got.get(name), lines)

    def of_server(self, path, threads, wanted, shown):
        label = f"threads {threads}"
        server = Server(path, threads=threads)
        try:
            server.start()
            for mode in ("SYNC", "YES"):
                self.compare(f"{label}, {mode}", everything(server, mode), wanted[mode])
                for test in (broken_input, peers_that_go, permissions_hold):
                    self.attempt(f"{label}, {mode}, {test.__name__}", test, server, mode)
            for test in (changes_stay_when_in_place, nothing_remains_of_what_was_apart, many_apart, where_it_cannot_be):
                self.attempt(f"{label}, {test.__name__}", test, server)
            for mode, lines in shown.items():
                server.connect().call("FLUSHALL")
                self.attempt(f"{label}, redis-cli {mode}", lambda: same(the_program(server, mode), lines))
            self.attempt(f"{label}, it ends", server.end)
        finally:
            server.remove()
        for test in (log_stays_as_it_is, ends_while_somebody_debugs, not_over_tls):
            self.attempt(f"{label}, {test.__name__}", test, path, threads)


def of_reference():
    """What the reference says in all conversations, and what redis-cli shows of it."""
    server = Server(REFERENCE)
    try:
        server.start()
        wanted = {mode: everything(server, mode) for mode in ("SYNC", "YES")}
        shown = {}
        for mode in ("--ldb", "--ldb-sync-mode"):
            server.connect().call("FLUSHALL")
            shown[mode] = the_program(server, mode)
        server.end()
        return wanted, shown
    finally:
        server.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, action="append")
    arguments = parser.parse_args()
    run = Run()
    wanted, shown = of_reference()
    for threads in arguments.threads or [1, 4]:
        run.of_server(arguments.server, threads, wanted, shown)
    for failure in run.failures:
        print("FAIL", failure)
    print(f"{run.passed} passed, {len(run.failures)} failed")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
