#!/usr/bin/python3
"""A server that crashes says where, with one thread and with four; one that hangs says it as well.

    tests/tools/crash.py [--server PATH] [--filter NAME]
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import ConnectionClosed, Error, ReplyTimeout, Simple  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import Failed, attempt, holds, summary  # noqa: E402

OK = Simple(b"OK")
END_BOUND_S = 20.0
START = "=== REDIS BUG REPORT START: Cut & paste starting from here ==="
END = "=== REDIS BUG REPORT END. Make sure to include from START to END. ==="


def log_of(server):
    with open(server.log_path, "rb") as log:
        return log.read().decode("utf-8", "replace")


def wait_for_log(server, text, bound_s=END_BOUND_S):
    deadline = time.monotonic() + bound_s
    while text not in log_of(server):
        holds(time.monotonic() < deadline, f"{text!r} is not in the log:\n{server.log_tail(60)}")
        time.sleep(0.01)


def call_and_lose(connection, *words):
    """A command after which the connection is gone."""
    try:
        reply = connection.call(*words)
        holds(isinstance(reply, Error), f"{words} was answered: {reply!r}")
    except (ConnectionClosed, ReplyTimeout, OSError):
        pass


def dies_of(server, number):
    try:
        code = server.process.wait(END_BOUND_S)
    except subprocess.TimeoutExpired:
        raise Failed(f"the server lives on:\n{server.log_tail(40)}") from None
    holds(code == -number, f"ended with {code}, not by signal {number}:\n{server.log_tail(40)}")


def report_of(server):
    text = log_of(server)
    holds(text.count(START) == 1 and text.count(END) == 1, f"not one whole report:\n{server.log_tail(80)}")
    return text[text.index(START) : text.index(END)]


def in_order(text, *parts):
    at = 0
    for part in parts:
        found = text.find(part, at)
        holds(found >= 0, f"{part!r} is not there, or not in its place:\n{text[:6000]}")
        at = found + len(part)


# ---------------------------------------------------------------- crashes


def bad_access(server):
    connection = server.connect()
    connection.call("CLIENT", "SETNAME", "the-culprit")
    call_and_lose(connection, "DEBUG", "SEGFAULT")
    dies_of(server, signal.SIGSEGV)
    report = report_of(server)
    in_order(
        report,
        "crashed by signal: 11, si_code: 1",
        "Accessing address: 0x10",
        "Crashed running the instruction at: 0x",
        "------ STACK TRACE ------",
        "EIP:",
        "Backtrace:",
        "------ REGISTERS ------",
        "debugCommand",
        "------ CURRENT CLIENT INFO ------",
        "name=the-culprit",
        "argc: '2'",
        "argv[0]: '\"DEBUG\"'",
        "argv[1]: '\"SEGFAULT\"'",
        "------ INFO OUTPUT ------",
        "# Server",
        "redis_version:",
        "------ CLIENT LIST OUTPUT ------",
        "name=the-culprit",
    )
    holds(re.search(r"(debug|segfault)\S*Call\S*\+0x", report), "the trace does not name the handler:\n" + report[:3000])


def failed_assertion(server):
    call_and_lose(server.connect(), "DEBUG", "ASSERT")
    dies_of(server, signal.SIGABRT)
    in_order(log_of(server), "=== ASSERTION FAILED ===", START, "crashed by signal: 6", "STACK TRACE", END)


def panic(server):
    call_and_lose(server.connect(), "DEBUG", "PANIC")
    dies_of(server, signal.SIGABRT)
    in_order(log_of(server), "Guru Meditation", START, "crashed by signal: 6", END)


def sent_signals(server):
    server.connect().call("PING")
    server.process.send_signal(signal.SIGABRT)
    dies_of(server, signal.SIGABRT)
    in_order(report_of(server), "crashed by signal: 6", f"Killed by PID: {os.getpid()}, UID:", "STACK TRACE", "INFO OUTPUT")


def no_report_wanted(server):
    connection = server.connect()
    holds(connection.call("CONFIG", "SET", "crash-log-enabled", "no") == OK, "CONFIG SET was refused")
    call_and_lose(connection, "DEBUG", "SEGFAULT")
    dies_of(server, signal.SIGSEGV)
    holds("BUG REPORT" not in log_of(server), "a report was written all the same")


def secrets_stay_secret(server):
    connection = server.connect()
    holds(connection.call("CONFIG", "SET", "hide-user-data-from-log", "yes") == OK, "CONFIG SET was refused")
    call_and_lose(connection, "EVAL", "redis.call('debug', 'segfault') --the-secret", "0")
    # Scripts may not crash the server by DEBUG; the same by hand, with an argument that is not to be seen.
    call_and_lose(connection, "DEBUG", "SEGFAULT")
    dies_of(server, signal.SIGSEGV)
    report = report_of(server)
    in_order(report, "argv[0]: '\"DEBUG\"'", "argv[1]: '(redacted)'")
    holds("the-secret" not in report, "what a client sent is in the report")


def end_by_choice(server):
    connection = server.connect()
    holds(connection.call("CONFIG", "SET", "use-exit-on-panic", "yes") == OK, "CONFIG SET was refused")
    call_and_lose(connection, "DEBUG", "PANIC")
    holds(server.process.wait(END_BOUND_S) == 1, "the exit code is not 1")


# ---------------------------------------------------------------- hangs


def watchdog(server):
    connection = server.connect()
    holds(connection.call("CONFIG", "SET", "watchdog-period", "200") == OK, "CONFIG SET was refused")
    holds(connection.call("DEBUG", "SLEEP", "1") == OK, "DEBUG SLEEP was refused")
    wait_for_log(server, "debugCommand")
    in_order(log_of(server), "--- WATCHDOG TIMER EXPIRED ---", "STACK TRACE", "debugCommand", "--------")
    # Who is awake is left alone, also by a watchdog that is off again.
    holds(connection.call("CONFIG", "SET", "watchdog-period", "0") == OK, "CONFIG SET was refused")
    before = log_of(server).count("WATCHDOG")
    holds(connection.call("DEBUG", "SLEEP", "0.6") == OK, "DEBUG SLEEP was refused")
    holds(log_of(server).count("WATCHDOG") == before, "it barks although it is off")
    server.end()


def asked_where_it_is(server):
    server.connect().call("PING")
    server.process.send_signal(signal.SIGALRM)
    wait_for_log(server, "Received SIGALRM")
    holds(server.connect().call("PING") == Simple(b"PONG"), "the server is not well after SIGALRM")
    server.end()


TESTS = [
    bad_access,
    failed_assertion,
    panic,
    sent_signals,
    no_report_wanted,
    secrets_stay_secret,
    end_by_choice,
    watchdog,
    asked_where_it_is,
]


def with_server(path, test, threads):
    server = Server(path, threads=threads, options=[("enable-debug-command", "yes")])
    try:
        server.start()
        test(server)
    finally:
        server.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--filter", default="", help="only tests whose name contains this")
    arguments = parser.parse_args()
    path = os.path.abspath(arguments.server)
    tests = [test for test in TESTS if arguments.filter in test.__name__]
    return summary(
        [
            attempt(f"threads {threads}: {test.__name__}", lambda test=test, threads=threads: with_server(path, test, threads))
            for threads in (1, 4)
            for test in tests
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
