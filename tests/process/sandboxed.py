"""Under the system call filter of Debian's unit, as another user, with one folder to write to."""

import os
import signal
import socket
import subprocess

from lib.resp import ConnectionClosed, Error, ReplyTimeout, Simple
from lib.server import Server
from lib.verdict import holds, same, wait_until

from service import OK, SANDBOX, Service, ends_well, everything_is_saved

ACL_FILE = ("aclfile", "users.acl")
BAD_CALL = -signal.SIGSYS
BOUND_S = 20.0


def fill(connection):
    for i in range(100):
        same(connection.call("SET", f"key:{i}", "x" * i), OK)


def the_filter_kills(_path, _threads):
    """What this is worth: a program that sets its priority does not survive."""
    same(subprocess.run([*SANDBOX, "/usr/bin/nice", "/usr/bin/true"], check=False, timeout=20).returncode, BAD_CALL)
    same(subprocess.run([*SANDBOX, "/usr/bin/true"], check=False, timeout=20).returncode, 0)


def log_from_the_start(path, threads):
    server = Service(path, threads, [("appendonly", "yes"), ("save", "3600", "1"), ACL_FILE], sandboxed=True)
    try:
        server.start()
        connection = server.connect()
        fill(connection)
        everything_is_saved(connection)
        same(connection.call("ACL", "SETUSER", "fred", "on", "nopass", "+@all", "~*"), OK)
        same(connection.call("ACL", "SAVE"), OK)
        same(connection.call("ACL", "LOAD"), OK)
        server.end()
        server.start()
        connection = server.connect()
        same(connection.call("DBSIZE"), 101)
        same(connection.call("SET", "another", "value"), OK)
        server.end()
    finally:
        server.remove()


def log_at_run_time(path, threads):
    server = Service(path, threads, [("save", "")], sandboxed=True)
    try:
        server.start()
        connection = server.connect()
        fill(connection)
        for wanted in ("yes", "no", "yes"):
            same(connection.call("CONFIG", "SET", "appendonly", wanted), OK)
            ends_well(connection, "aof_rewrite_in_progress", "aof_last_bgrewrite_status")
        for policy in ("always", "no", "everysec"):
            same(connection.call("CONFIG", "SET", "appendfsync", policy), OK)
            same(connection.call("SET", "policy", policy), OK)
        everything_is_saved(connection)
        same(connection.call("CONFIG", "SET", "appendonly", "no"), OK)
        try:
            connection.call("SHUTDOWN", "SAVE")
        except ConnectionClosed:
            pass
        same(server.process.wait(BOUND_S), 0)
        with open(server.config_path, "a", encoding="utf-8") as config:
            config.write("appendonly no\n")
        server.start()
        same(server.connect().call("DBSIZE"), 102)
        server.end()
    finally:
        server.remove()


def directives(path, threads):
    """What the system is asked for because a directive says so; and what it refuses is no end of the server."""
    options = [("oom-score-adj", "relative"), ("oom-score-adj-values", "0", "200", "800"), ("jemalloc-bg-thread", "yes"),
               ("disable-thp", "yes"), ("enable-protected-configs", "yes"), ("watchdog-period", "500"), ("proc-title-template", '"{title} {listen-addr}"')]
    server = Service(path, threads, options, sandboxed=True)
    try:
        server.start()
        connection = server.connect()
        fill(connection)
        for values in ("1 300 900", "-1000 0 0", "0 200 800"):
            reply = connection.call("CONFIG", "SET", "oom-score-adj", "absolute", "oom-score-adj-values", values)
            holds(reply == OK or b"oom_score_adj" in reply.text, f"{reply}")
        for name, value in (("oom-score-adj", "no"), ("maxmemory", "100mb"), ("maxmemory-policy", "allkeys-lfu"),
                            ("maxclients", "500"), ("hz", "100"), ("watchdog-period", "300"), ("watchdog-period", "0"),
                            ("crash-log-enabled", "no"), ("crash-log-enabled", "yes"), ("activedefrag", "no"),
                            ("dir", server.folder), ("loglevel", "debug")):
            same(connection.call("CONFIG", "SET", name, value), OK)
        holds(isinstance(connection.call("CONFIG", "SET", "io-threads", "4"), (Error, Simple)), "no answer")
        holds(isinstance(connection.call("CONFIG", "SET", "maxclients", "4000000000"), Error), "more than the system has")
        same(connection.call("MEMORY", "PURGE"), OK)
        everything_is_saved(connection)
        server.end()
    finally:
        server.remove()


def keys_move_and_scripts_are_debugged(path, threads):
    server = Service(path, threads, [("appendonly", "yes")], sandboxed=True)
    other = Server(path, 1)
    try:
        other.start()
        connection = server.start().connect()
        same(connection.call("SET", "key", "value"), OK)
        same(connection.call("MIGRATE", "127.0.0.1", other.port, "key", "0", "5000"), OK)
        same(connection.call("SET", "key2", "value"), OK)
        same(connection.call("MIGRATE", "localhost", other.port, "key2", "0", "5000"), OK)
        same(other.connect().call("DBSIZE"), 2)
        same(connection.call("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"),
             b"l")
        same(connection.call("FCALL", "f", "0"), 1)
        for how in ("YES", "SYNC"):
            debugged = server.connect()
            same(debugged.call("SCRIPT", "DEBUG", how), OK)
            debugged.send([b"EVAL", b"local a = 1\nreturn a", b"0"])
            holds(debugged.read() is not None, "the debugger does not speak")
            debugged.send([b"continue"])
            closed, _ = debugged.wait_closed()
            holds(closed, "the session does not end")
        fill(connection)
        everything_is_saved(connection)
        server.end()
        other.end()
    finally:
        server.remove()
        other.remove()


def tls(path, threads, certificates):
    """Keys are read again at run time, too."""
    for name in os.listdir(certificates.folder):
        os.chmod(os.path.join(certificates.folder, name), 0o644)
    os.chmod(certificates.folder, 0o755)
    server = Service(path, threads, [("appendonly", "yes")], certificates=certificates, sandboxed=True)
    try:
        connection = server.start().connect()
        fill(connection)
        same(connection.call("CONFIG", "SET", "tls-cert-file", certificates.path("server.crt")), OK)
        everything_is_saved(connection)
        same(server.connect().call("PING"), Simple(b"PONG"))
        server.end()
    finally:
        server.remove()


def a_crash_is_reported(path, threads):
    server = Service(path, threads, [("enable-debug-command", "yes")], sandboxed=True)
    try:
        connection = server.start().connect()
        try:
            connection.call("DEBUG", "SEGFAULT")
        except (ConnectionClosed, ReplyTimeout):
            pass
        same(server.process.wait(BOUND_S), -signal.SIGSEGV)
        holds("REDIS BUG REPORT END" in server.log(), server.log_tail())
    finally:
        server.remove()


def supervised(path, threads):
    """As in the unit: systemd is told when clients are served, and the pid file is written."""
    server = Service(path, threads, [("appendonly", "yes"), ("supervised", "systemd"), ("pidfile", "server.pid")],
                     sandboxed=True)
    notices = os.path.join(server.folder, "notify")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.bind(notices)
            os.chmod(notices, 0o777)
            supervisor.settimeout(BOUND_S)
            os.environ["NOTIFY_SOCKET"] = notices
            try:
                connection = server.start().connect()
            finally:
                del os.environ["NOTIFY_SOCKET"]
            wait_until(lambda: b"READY=1" in supervisor.recv(4096), "systemd is told", BOUND_S)
            with open(os.path.join(server.folder, "server.pid"), encoding="ascii") as pid:
                same(int(pid.read()), server.process.pid)
            everything_is_saved(connection)
            server.end()
            wait_until(lambda: b"STOPPING=1" in supervisor.recv(4096), "systemd is told of the end", BOUND_S)
    finally:
        server.remove()


TESTS = [
    the_filter_kills,
    log_from_the_start,
    log_at_run_time,
    directives,
    keys_move_and_scripts_are_debugged,
    tls,
    a_crash_is_reported,
    supervised,
]
