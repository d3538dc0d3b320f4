#!/usr/bin/python3
"""The fields of INFO: every one of the reference is there, in the same section; what is Sorrel's own is known here. And
what is zero in the reference after CONFIG RESETSTAT is zero in Sorrel.

    tests/compat/info.py [--server PATH] [--threads N]
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.server import Server  # noqa: E402
from lib.verdict import attempt, holds, summary, wait_until  # noqa: E402

REFERENCE = "/usr/bin/redis-server"
# Fields of 7.0 that 7.2 does not have either, or that depend on how the reference was built.
DROPPED = {"gcc_version", "atomicvar_api", "redis_git_sha1", "redis_git_dirty"}
# Fields that Redis got after 7.0 (7.2 and later), which the reference cannot show.
LATER = {
    "listener0", "pubsub_clients", "watching_clients", "total_watched_keys", "total_blocking_keys",
    "total_blocking_keys_on_nokey", "allocator_muzzy", "mem_overhead_db_hashtable_rehashing", "acl_access_denied_auth",
    "acl_access_denied_cmd", "acl_access_denied_key", "acl_access_denied_channel", "acl_access_denied_tls_cert",
    "client_query_buffer_limit_disconnections", "client_output_buffer_limit_disconnections", "evicted_scripts",
    "expired_subkeys", "eventloop_cycles", "eventloop_duration_sum", "eventloop_duration_cmd_sum",
    "instantaneous_eventloop_cycles_per_sec", "instantaneous_eventloop_duration_usec",
}
# Fields that no Redis has. A name that is missing here is a mistake, or has to be added with thought: monitors read them.
OWN = {"sorrel_version", "threads"}


def fields(server, settings):
    """{section: set of names} of INFO everything, under circumstances that bring all fields out."""
    connection = server.connect()
    try:
        for line in settings:
            connection.call(*line.split())
        wait_until(lambda: b"aof_rewrite_in_progress:0" in connection.call("INFO", "persistence"), "end of the rewrite")
        found, section = {}, None
        for line in connection.call("INFO", "everything").decode().splitlines():
            if line.startswith("# "):
                section = line[2:]
                found[section] = set()
            elif ":" in line:
                found[section].add(line.split(":", 1)[0])
        return found
    finally:
        connection.close()


SETTINGS = ("SET key value EX 1000", "GET key", "GET missing", "CONFIG SET latency-tracking yes", "CONFIG SET appendonly yes",
            "NOSUCHCOMMAND")


def families(names):
    """Without what is different in each entry: commandstats, errors, databases."""
    return {name for name in names if not name.startswith(("cmdstat_", "errorstat_", "latency_percentiles_", "db", "slave"))}


# What has happened is forgotten, what is so now is not.
FORGOTTEN = ("SET key value", "GET key", "GET missing", "NOSUCHCOMMAND", "GET", "AUTH no one", "SET short x PX 1", "UNLINK key")


def after_reset(server):
    """{field: text} of INFO behind CONFIG RESETSTAT."""
    connection, slow = server.connect(), server.connect()
    try:
        connection.call("CONFIG", "SET", "lazyfree-lazy-user-del", "yes", "client-query-buffer-limit", "1048576")
        for i in range(600):  # as many scripts as are not kept
            connection.call("EVAL", f"return {i}", "0")
            for line in FORGOTTEN:
                connection.call(*line.split())
        slow.send_raw(b"*2\r\n$4\r\nECHO\r\n$2000000\r\n" + b"x" * 1_100_000)
        slow.wait_closed()
        connection.call("BGSAVE")
        wait_until(lambda: b"rdb_bgsave_in_progress:0" in connection.call("INFO", "persistence"), "end of the snapshot")
        connection.call("CONFIG", "SET", "maxmemory", "1", "maxmemory-policy", "allkeys-random")
        connection.call("SET", "key", "value")
        connection.call("CONFIG", "SET", "maxmemory", "0")
        connection.call("CONFIG", "RESETSTAT")
        lines = connection.call("INFO", "everything").decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)
    finally:
        connection.close()
        slow.close()


def compare_reset(path, threads):
    ours, theirs = Server(path, threads), Server(REFERENCE)
    try:
        mine, reference = after_reset(ours.start()), after_reset(theirs.start())
    finally:
        for server in (ours, theirs):
            server.kill()
            server.remove()
    zero = {name for name, text in reference.items() if text == "0"} | {"evicted_scripts"}
    wrong = [f"{name}:{mine[name]} after CONFIG RESETSTAT" for name in sorted(zero & set(mine)) if mine[name] != "0"]
    commands = [name for name in mine if name.startswith(("cmdstat_", "errorstat_")) and name != "cmdstat_config|resetstat"]
    holds(not wrong and not commands, "\n".join(wrong + commands))


def compare(path, threads):
    ours, theirs = Server(path, threads), Server(REFERENCE)
    try:
        mine = fields(ours.start(), SETTINGS)
        reference = fields(theirs.start(), SETTINGS)
    finally:
        for server in (ours, theirs):
            server.kill()
            server.remove()
    wrong = []
    for section, names in reference.items():
        wrong += [f"{section}: {name} is missing" for name in sorted(families(names) - mine.get(section, set()) - DROPPED)]
    known = set().union(*reference.values()) | LATER | OWN
    for section, names in mine.items():
        wrong += [f"{section}: {name} is not known" for name in sorted(families(names) - known)]
    holds(not wrong, "\n".join(wrong))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and 4")
    arguments = parser.parse_args()
    path = os.path.abspath(arguments.server)
    verdicts = []
    for threads in arguments.threads or (1, 4):
        verdicts.append(attempt(f"threads {threads}: fields of INFO", lambda threads=threads: compare(path, threads)))
        verdicts.append(attempt(f"threads {threads}: statistics are reset", lambda threads=threads: compare_reset(path, threads)))
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
