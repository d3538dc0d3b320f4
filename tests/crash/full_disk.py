"""A disk that is full for a while: nothing is acknowledged that could be lost, writes are refused, and service returns.

The disk is a limit on the size of files, which can be raised from outside while the server runs.
"""

import subprocess
import time

from lib.resp import Error, ReplyTimeout, Simple
from lib.server import Server

LIMIT_BYTES = 200_000
VALUE = b"v" * 1000
BOUND_S = 30.0


def until(condition, what):
    deadline = time.monotonic() + BOUND_S
    while time.monotonic() < deadline:
        if condition():
            return
    raise AssertionError(what)


def is_full(other):
    return b"aof_last_write_status:err" in other.call("INFO", "persistence")


def answer_or_none(connection, other):
    """None: the disk is full, and the answer waits for it."""
    while True:
        try:
            return connection.read(timeout=0.5)
        except ReplyTimeout:
            if is_full(other):
                return None


def write_until_full(connection, other):
    """How many writes were acknowledged before the disk was full, and whether an answer is still to come."""
    for number in range(10_000):
        connection.send((b"SET", b"key:%d" % number, VALUE))
        reply = answer_or_none(connection, other)
        if reply is None:
            return number, True
        if isinstance(reply, Error):
            if not reply.text.startswith(b"MISCONF Errors writing to the AOF file: File too large"):
                raise AssertionError(f"refused with {reply.text}")
            return number, False
    raise AssertionError("the disk was never full")


def run(path, threads, policy):
    """Raises AssertionError, or ServerFailed."""
    wrapper = ["env", "--ignore-signal=XFSZ", "prlimit", f"--fsize={LIMIT_BYTES}:unlimited"]
    options = [("appendonly", "yes"), ("appendfsync", policy), ("auto-aof-rewrite-percentage", "0")]
    server = Server(path, threads=threads, options=options, wrapper=wrapper)
    try:
        server.start()
        connection = server.connect(BOUND_S)
        other = server.connect(BOUND_S)
        acknowledged, waits = write_until_full(connection, other)
        until(lambda: isinstance(other.call("SET", "refused", "1"), Error), "writes are not refused")
        reply = other.call("GET", "key:0")
        if reply != VALUE:
            raise AssertionError(f"reads are not answered: {reply}")
        if not is_full(other):
            raise AssertionError("INFO does not tell of it")
        subprocess.run(["prlimit", f"--pid={server.process.pid}", "--fsize=unlimited:unlimited"], check=True)
        until(lambda: other.call("SET", "again", "1") == Simple(b"OK"), "service does not return")
        if waits:  # the answer that was kept comes when it is true
            if connection.read() != Simple(b"OK"):
                raise AssertionError("the answer that was kept is wrong")
            acknowledged += 1
        if policy == "everysec":
            other.call("WAITAOF", "1", "0", "0")
        server.kill()
        server.wrapper = []
        server.start()
        found = server.connect()
        for number in range(acknowledged):
            if found.call("GET", f"key:{number}") != VALUE:
                raise AssertionError(f"key:{number} of {acknowledged} is lost")
        if found.call("GET", "again") != b"1":
            raise AssertionError("what was written after the disk came back is lost")
    finally:
        server.remove()
