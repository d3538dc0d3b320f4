#!/usr/bin/python3
"""Directives that have no effect say so, those that must not be ignored refuse the start, and the others act.

    tests/directives/run.py [--server PATH] [--threads N]
"""

import argparse
import errno
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Error, Simple  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import attempt, holds, same, summary, wait_until  # noqa: E402

OK = Simple(b"OK")
REFERENCE = "/usr/bin/redis-server"
NO_EFFECT = re.compile(r"Directive '([^']+)' is accepted but has no effect")
PROCESSORS = len(os.sched_getaffinity(0))


class Running:
    """A server that is up, with its log."""

    def __init__(self, arguments, *options, wrapper=()):
        self.server = Server(arguments.server, arguments.threads, options, wrapper).start()
        self.here = self.server.connect()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.here.close()
                self.server.end()
        finally:
            self.server.remove()

    def call(self, *words):
        reply = self.here.call(*words)
        return getattr(reply, "items", reply)

    def log(self):
        with open(self.server.log_path, encoding="utf-8") as log:
            return log.read()

    def without_effect(self):
        """The directives that the log warned of, in order."""
        return NO_EFFECT.findall(self.log())

    def processors(self):
        """{name of a thread: the processors that it may run on}"""
        found = {}
        pid = self.server.process.pid
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as comm:
                found[comm.read().strip() if int(task) != pid else "main"] = os.sched_getaffinity(int(task))
        return found


def run_once(command, **more):
    """A program that must end by itself: its exit code and all that it printed."""
    with tempfile.TemporaryDirectory(prefix="sorrel-test-") as folder:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=10, check=False, **more)
        left = os.listdir(folder)
    holds(not left, f"{command} left {left} behind")
    return done.returncode, done.stdout + done.stderr


# ---------------------------------------------------------------- without effect


def warned_at_start(arguments):
    """Each directive that differs from its default is warned of once; one at its default is not."""
    with Running(arguments, ("activedefrag", "yes"), ("cluster-node-timeout", "5000"), ("repl-timeout", "60"),
                 ("timeout", "100"), ("masterauth", "hidden-word")) as node:
        same(sorted(node.without_effect()), ["activedefrag", "cluster-node-timeout", "masterauth"])
        holds("Directive 'cluster-node-timeout' is accepted but has no effect yet" in node.log(), "'yet' is missing")
        holds("hidden-word" not in node.log(), "the log tells a secret")


def warned_at_config_set(arguments):
    """CONFIG SET keeps the value and warns, once for each directive."""
    with Running(arguments) as node:
        same(node.without_effect(), [])
        for value in ("yes", "yes", "no", "yes"):
            same(node.call("CONFIG", "SET", "activedefrag", value), OK)
        same(node.call("CONFIG", "GET", "activedefrag"), [b"activedefrag", b"yes"])
        same(node.call("CONFIG", "SET", "repl-timeout", "60", "slave-priority", "7"), OK)
        same(node.call("CONFIG", "SET", "repl-timeout", "61"), OK)
        same(node.without_effect(), ["activedefrag", "replica-priority", "repl-timeout"])


def not_warned_again(arguments):
    """What was warned of at the start is not warned of at CONFIG SET."""
    with Running(arguments, ("repl-timeout", "10")) as node:
        same(node.call("CONFIG", "SET", "repl-timeout", "20"), OK)
        same(node.without_effect(), ["repl-timeout"])


def written_back(arguments):
    """CONFIG REWRITE keeps directives without effect, and the next start reads them."""
    with tempfile.TemporaryDirectory(prefix="sorrel-test-") as folder:
        path = os.path.join(folder, "server.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("repl-timeout 10\ncluster-enabled no\nmin-replicas-to-write 0\n")
        # The path of a configuration comes first; the wrapper puts it there.
        swap = ["/bin/sh", "-c", f'program="$1"; shift; exec "$program" {path} "$@"', "sh"]
        with Running(arguments, wrapper=swap) as node:
            same(node.call("CONFIG", "SET", "active-defrag-cycle-max", "30", "cluster-announce-ip", "::1"), OK)
            same(node.call("CONFIG", "REWRITE"), OK)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for line in ("repl-timeout 10", "cluster-enabled no", "min-replicas-to-write 0", "active-defrag-cycle-max 30",
                     'cluster-announce-ip "::1"'):
            holds(line in lines, f"{line!r} is not in {lines}")


def configuration_of_the_reference(arguments):
    """The configuration that Debian's package installs needs no warning."""
    path = "/etc/redis/redis.conf"
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not re.match(r"\s*(bind|port|dir|logfile|pidfile|daemonize|unixsocket)\b", line)]
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as copy:
        copy.write("".join(lines))
        copy.flush()
        swap = ["/bin/sh", "-c", f'program="$1"; shift; exec "$program" {copy.name} "$@"', "sh"]
        with Running(arguments, wrapper=swap) as node:
            same(node.without_effect(), [])


# ---------------------------------------------------------------- refused

REFUSED = (
    ("replicaof", "127.0.0.1", "6379"),
    ("slaveof", "127.0.0.1", "6379"),
    ("cluster-enabled", "yes"),
    ("min-replicas-to-write", "1"),
    ("min-slaves-to-write", "2"),
)


def refused_at_start(arguments):
    for name, *values in REFUSED:
        code, said = run_once([arguments.server, "--port", "0", "--unixsocket", "s", "--" + name, *values])
        same(code, 1)
        holds("not supported yet" in said, f"{name}: {said!r}")
        holds("Server initialized" not in said, f"{name}: a server began")


def defaults_are_accepted(arguments):
    with Running(arguments, ("cluster-enabled", "no"), ("min-replicas-to-write", "0"), ("replicaof", "no", "one"),
                 ("min-slaves-to-write", "0")) as node:
        same(node.without_effect(), [])


def refused_at_config_set(arguments):
    with Running(arguments) as node:
        for name in ("min-replicas-to-write", "min-slaves-to-write"):
            reply = node.call("CONFIG", "SET", "timeout", "7", name, "1")
            holds(isinstance(reply, Error) and name.encode() in reply.text and b"not supported yet" in reply.text,
                  f"{name}: {reply!r}")
        same(node.call("CONFIG", "GET", "timeout"), [b"timeout", b"0"])
        same(node.call("CONFIG", "SET", "min-replicas-to-write", "0"), OK)


def sentinel_is_refused(arguments):
    with tempfile.TemporaryDirectory(prefix="sorrel-test-") as folder:
        linked = os.path.join(folder, "redis-sentinel")
        os.symlink(os.path.abspath(arguments.server), linked)
        path = os.path.join(folder, "sentinel.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("port 0\nsentinel monitor mymaster 127.0.0.1 6379 2\n")
        for command in ([arguments.server, "--sentinel"], [arguments.server, "--port", "0", "--sentinel"],
                        [arguments.server, path, "--sentinel"], [linked], [linked, path]):
            code, said = run_once(command)
            same(code, 1)
            holds("Sentinel" in said and "not supported yet" in said, f"{command}: {said!r}")
        same(run_once([linked, "--version"])[0], 0)


# ---------------------------------------------------------------- acting


def check_system(arguments):
    """As the reference finds it, with the same words for a program that reads them."""
    code, said = run_once([arguments.server, "--check-system"])
    found = dict(re.findall(r"^\[([^\]]+)\]\.\.\.(OK|WARNING:|skipped)$", said, re.MULTILINE))
    same(code, 1 if "WARNING:" in found.values() else 0)
    names = {"slow-clocksource", "xen-clocksource", "overcommit", "THP"}
    same(set(found) - {"madvise-free-fork-bug"}, names)
    same("madvise-free-fork-bug" in found, platform.machine() == "aarch64")
    with open("/proc/sys/vm/overcommit_memory", encoding="ascii") as file:
        same(found["overcommit"], "OK" if file.read().strip() == "1" else "WARNING:")
    if os.path.exists(REFERENCE):
        _, reference = run_once([REFERENCE, "--check-system"])
        theirs = dict(re.findall(r"^\[([^\]]+)\]\.\.\.(OK|WARNING:|skipped)$", reference, re.MULTILINE))
        del found["slow-clocksource"], theirs["slow-clocksource"]  # measured: may differ from one moment to the next
        same(found, theirs)


def told_of_the_system_at_start(arguments):
    with open("/proc/sys/vm/overcommit_memory", encoding="ascii") as file:
        overcommit = file.read().strip() == "1"
    with open("/proc/sys/net/core/somaxconn", encoding="ascii") as file:
        longest = int(file.read())
    with Running(arguments, ("tcp-backlog", str(longest + 1)), ("maxmemory", "1000000")) as node:
        same("overcommit_memory" in node.log(), not overcommit)
        holds(re.search(rf"# WARNING.*backlog.*{longest + 1}.*somaxconn.*{longest}", node.log()), "backlog")
        holds(re.search(r"# WARNING.*maxmemory.*1000000", node.log()), "maxmemory")
    with Running(arguments, ("tcp-backlog", str(longest))) as node:
        holds("somaxconn" not in node.log(), "a backlog that is short enough was warned of")


def processor_lists(arguments):
    """Workers, background threads and child processes run where they are told to."""
    if PROCESSORS < 2:
        return
    first, second = sorted(os.sched_getaffinity(0))[:2]
    with Running(arguments, ("server-cpulist", str(first)), ("bio_cpulist", str(second)), ("bgsave_cpulist", str(second)),
                 ("aof_rewrite_cpulist", str(second)), ("appendonly", "yes"), ("rdb-key-save-delay", "100000"),
                 ("enable-debug-command", "yes"), ("snapshot-method", "fork")) as node:
        same(node.without_effect(), [])
        wanted = {"main": {first}, "aof-writer": {second}, "reclaimer": {second}}
        wanted.update({f"worker-{i}": {first} for i in range(1, arguments.threads)})
        # A thread that has just been made has yet to take its name and its place.
        wait_until(lambda: wanted.items() <= node.processors().items(), f"threads as in {wanted}")
        same(node.call("DEBUG", "POPULATE", "100"), OK)
        for command in ("BGSAVE", "BGREWRITEAOF"):
            wait_until(lambda: not children(node.server.process.pid), "the end of the child before")
            holds(isinstance(node.call(command), Simple), command)
            wait_until(lambda: children(node.server.process.pid), f"the child of {command}")
            child = children(node.server.process.pid)[0]
            wait_until(lambda: os.sched_getaffinity(child) == {second}, f"{command} on its processor")
            os.kill(child, 9)
    with Running(arguments, ("bgsave_cpulist", str(second)), ("snapshot-method", "live"),
                 ("enable-debug-command", "yes")) as node:
        same(node.call("DEBUG", "POPULATE", "200000"), OK)  # some time to look at the thread
        holds(isinstance(node.call("BGSAVE"), Simple), "BGSAVE")
        wait_until(lambda: node.processors().get("snapshot") == {second}, "the thread of a live snapshot on its processor")
        same(node.processors()["main"], os.sched_getaffinity(0))


def children(pid):
    """Of all threads: each worker may fork."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            found += [int(word) for word in file.read().split()]
    return found


def processor_lists_that_cannot_be(arguments):
    """What is no list of processors, or names none that is there, is logged; the server runs."""
    with Running(arguments, ("server_cpulist", "0-x"), ("bio_cpulist", "100000")) as node:
        same(node.call("PING"), Simple(b"PONG"))
        for name in ("server_cpulist", "bio_cpulist"):
            holds(re.search(rf"# .*{name}", node.log()), f"{name} is not in the log")
        same(node.processors()["main"], os.sched_getaffinity(0))


# Installs a filter that answers sched_setaffinity(2) with the error in the first word, and runs the rest.
WITHOUT_AFFINITY = """
import ctypes, os, struct, sys
number = {'x86_64': 203, 'aarch64': 122}[os.uname().machine]
code = ctypes.create_string_buffer(struct.pack('HBBI' * 4, 0x20, 0, 0, 0, 0x15, 0, 1, number,
                                               6, 0, 0, 0x50000 | int(sys.argv[1]), 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', 4, ctypes.addressof(code)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""


def processor_lists_that_a_filter_forbids(arguments):
    """Under a syscall filter, which may kill for the call, it is not made; so its answer does not matter."""
    for code in (errno.EPERM, errno.ENOSYS):
        wrapper = [sys.executable, "-c", WITHOUT_AFFINITY, str(code)]
        with Running(arguments, ("server_cpulist", "0"), ("bio_cpulist", "0"), ("appendonly", "yes"),
                     wrapper=wrapper) as node:
            same(node.call("SET", "a", "1"), OK)
            holds(re.search(r"# server_cpulist '0' has no effect: .*system calls are filtered", node.log()), "no warning")
            same(set(map(frozenset, node.processors().values())), {frozenset(os.sched_getaffinity(0))})


def system_log(arguments):
    """Lines go to the system log as well, with the ident and facility asked for. /dev/log is a socket of ours, in a
    mount namespace of the server's own."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        return
    with tempfile.TemporaryDirectory(prefix="sorrel-test-") as folder:
        path = os.path.join(folder, "log")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
            receiver.bind(path)
            receiver.settimeout(5)
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            script = ('mount --bind /dev "$1/dev" && mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && '
                      'mknod -m 666 /dev/urandom c 1 9 && ln -s "$1/log" /dev/log && shift && exec "$@"')
            os.mkdir(os.path.join(folder, "dev"))
            wrapper = ["unshare", "-m", "/bin/sh", "-c", script, "sh", folder]
            with Running(arguments, ("syslog-enabled", "yes"), ("syslog-ident", "two words"), ("syslog-facility", "local3"),
                         ("enable-debug-command", "yes"), wrapper=wrapper) as node:
                same(node.without_effect(), [])
                same(node.call("DEBUG", "LOG", "for both\nlogs"), OK)
                lines = []
                while not lines or b"for both" not in lines[-1]:
                    lines.append(receiver.recv(65536).rstrip(b"\0"))
            for line in lines:
                holds(re.match(rb"<\d+>\w{3} [ \d]\d \d\d:\d\d:\d\d two words(\[\d+\])?: ", line), f"{line!r}")
                same(int(line[1 : line.index(b">")]) >> 3, 19)
            same(lines[-1].split(b": ", 1)[1], b"DEBUG LOG: for both\\nlogs")
            same(int(lines[-1][1 : lines[-1].index(b">")]) & 7, 4)  # a warning
            holds(any(b"Server initialized" in line for line in lines), "the start is missing")


def banner_only_when_asked(arguments):
    with Running(arguments) as node:
        holds("Connect:" not in node.log(), "a banner, where there is no terminal")
        holds(f"Running mode=standalone, port={node.server.port}." in node.log(), "no line instead of the banner")
    with Running(arguments, ("always-show-logo", "yes")) as node:
        holds(f"PID: {node.server.process.pid}" in node.log() and "Connect:" in node.log(), "no banner")


def default_protocol(arguments):
    with Running(arguments, ("client-default-resp", "3")) as node:
        for _ in range(2):
            same(type(node.here.call("CONFIG", "GET", "timeout")).__name__ + node.here.call("CONFIG", "GET", "timeout").kind,
                 "Aggregatemap")
            node.here.call("RESET")


def more_rounds_for_many_clients(arguments):
    with Running(arguments, ("hz", "1")) as node:
        holds(b"\r\nhz:1\r\n" in node.call("INFO", "server"), "hz of an idle server")
        many = [node.server.connect() for _ in range(450)]
        wait_until(lambda: b"\r\nhz:4\r\n" in node.call("INFO", "server"), "hz for 450 clients")
        holds(b"\r\nconfigured_hz:1\r\n" in node.call("INFO", "server"), "configured_hz")
        same(node.call("CONFIG", "SET", "dynamic-hz", "no"), OK)
        wait_until(lambda: b"\r\nhz:1\r\n" in node.call("INFO", "server"), "hz without dynamic-hz")
        for connection in many:
            connection.close()


CASES = (warned_at_start, warned_at_config_set, not_warned_again, written_back, configuration_of_the_reference,
         refused_at_start, defaults_are_accepted, refused_at_config_set, sentinel_is_refused, check_system,
         told_of_the_system_at_start, processor_lists, processor_lists_that_cannot_be,
         processor_lists_that_a_filter_forbids, system_log, banner_only_when_asked,
         default_protocol, more_rounds_for_many_clients)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, help="with so many only (default: with 1 and with 4)")
    parser.add_argument("--filter", default="")
    asked = parser.parse_args()
    asked.server = os.path.abspath(asked.server)
    verdicts = []
    for threads in [asked.threads] if asked.threads else [1, 4]:
        asked.threads = threads
        for case in CASES:
            if asked.filter in case.__name__:
                verdicts.append(attempt(f"{case.__name__}, threads {threads}", lambda case=case: case(asked)))
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
