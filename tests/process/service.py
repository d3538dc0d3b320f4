"""A server with a configuration file of its own, under low limits or in a sandbox."""

import os
import sys

from lib.resp import Simple
from lib.server import Server
from lib.verdict import same, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
SANDBOX = (sys.executable, os.path.join(HERE, "sandbox.py"))
REFERENCE = "/usr/bin/redis-server"
NOBODY = 65534
OK = Simple(b"OK")


def limited(soft, hard):
    """A wrapper that starts a command with so many descriptors, and without the privilege to lift the hard limit."""
    without = ("/usr/bin/setpriv", "--bounding-set=-sys_resource", "--") if os.geteuid() == 0 else ()
    return (*without, "/usr/bin/prlimit", f"--nofile={soft}:{hard}", "--")


class Service(Server):
    """`options` are lines of the configuration file, so that CONFIG REWRITE has one. With `sandboxed` the folder
    belongs to the user that the sandbox changes to, and nothing else does."""

    def __init__(self, path, threads=None, options=(), wrapper=(), certificates=None, sandboxed=False):
        super().__init__(path, None if path == REFERENCE else threads, options, wrapper, certificates=certificates)
        if sandboxed:
            self.wrapper += SANDBOX
        self.config_path = os.path.join(self.folder, "server.conf")
        with open(self.config_path, "w", encoding="utf-8") as config:
            config.write("".join(f"{name} {' '.join(values)}\n" for name, *values in self.options))
        self.options = []
        users = os.path.join(self.folder, "users.acl")
        with open(users, "w", encoding="utf-8"):
            pass
        os.chmod(self.folder, 0o755)
        if sandboxed and os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            os.chown(self.config_path, NOBODY, NOBODY)
            os.chown(users, NOBODY, NOBODY)

    def command(self):
        command = super().command()
        command.insert(command.index(self.path) + 1, self.config_path)
        # `save` is the file's.
        at = command.index("--save")
        return command[:at] + command[at + 2 :]

    def log(self):
        with open(self.log_path, "rb") as log:
            return log.read().decode("utf-8", "replace")

    def forget_log(self):
        os.truncate(self.log_path, 0)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def info(connection, field):
    """A field of INFO as text."""
    for line in connection.call("INFO", "everything").decode().split("\r\n"):
        if line.startswith(field + ":"):
            return line.split(":", 1)[1]
    return None


def setting(connection, name):
    """A directive's value as text; None where the server does not know it."""
    items = connection.call("CONFIG", "GET", name).items
    return items[1].decode() if items else None


def ends_well(connection, running, status):
    wait_until(lambda: info(connection, running) == "0", f"{running} is 0")
    same(info(connection, status), "ok")


def everything_is_saved(connection):
    """Every way to a file works, and writes are not refused."""
    same(connection.call("SET", "key", "value"), OK)
    same(connection.call("SAVE"), OK)
    method = setting(connection, "snapshot-method")
    for wanted in ("fork", "live") if method else (None,):
        if wanted:
            same(connection.call("CONFIG", "SET", "snapshot-method", wanted), OK)
        same(connection.call("BGSAVE"), Simple(b"Background saving started"))
        ends_well(connection, "rdb_bgsave_in_progress", "rdb_last_bgsave_status")
        if info(connection, "aof_enabled") == "1":
            same(connection.call("BGREWRITEAOF"), Simple(b"Background append only file rewriting started"))
            ends_well(connection, "aof_rewrite_in_progress", "aof_last_bgrewrite_status")
            same(info(connection, "aof_last_write_status"), "ok")
    if method:
        same(connection.call("CONFIG", "SET", "snapshot-method", method), OK)
    same(connection.call("CONFIG", "REWRITE"), OK)
    if setting(connection, "aclfile"):
        same(connection.call("ACL", "SAVE"), OK)
    same(connection.call("SET", "key", "value2"), OK)
