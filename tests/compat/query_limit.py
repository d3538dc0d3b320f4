#!/usr/bin/python3
"""client-query-buffer-limit: the same input to Sorrel and to the reference closes the connection in both or in neither.

    tests/compat/query_limit.py [--server PATH] [--threads N]
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import ConnectionClosed, encode_command  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import attempt, holds, summary  # noqa: E402

REFERENCE = "/usr/bin/redis-server"
LIMIT = 1 << 20  # the least that may be configured
PIECE = 4096


def many_arguments(count, size):
    return encode_command([b"MSET"] + [b"key", b"x" * size] * count)


def one_argument(size, *others):
    return encode_command([b"SET", b"key", b"x" * size, *others])


# (name, what is sent, its replies)
CASES = [
    ("1,200 arguments of 1 KB", many_arguments(1200, 1024), 1),
    ("20,000 arguments of 1 KB", many_arguments(20_000, 1024), 1),
    ("600 arguments of 30,000 bytes", many_arguments(600, 30_000), 1),
    ("600 arguments of 40,000 bytes", many_arguments(600, 40_000), 1),
    ("20 arguments of 1,000,000 bytes", many_arguments(20, 1_000_000), 1),
    ("blocked, with less than the limit behind it", encode_command([b"BLPOP", b"none", b"0.5"]) + b"PING\r\n" * 150_000, 150_001),
    ("blocked, with more than the limit behind it", encode_command([b"BLPOP", b"none", b"0.5"]) + b"PING\r\n" * 200_000, 200_001),
    ("many short requests", many_arguments(1, 1024) * 5000, 5000),
]
for more in (-1000, -3, -2, -1, 0, 1, 1000, 40_000, 70_000, LIMIT):
    CASES.append((f"an argument of the limit {more:+}", one_argument(LIMIT + more), 1))
for more in (-2, -1):
    CASES.append((f"the limit {more:+} behind others", encode_command([b"MSET", b"a", b"x" * 5000, b"b", b"x" * (LIMIT + more)]), 1))
    CASES.append((f"the limit {more:+} before others", encode_command([b"MSET", b"b", b"x" * (LIMIT + more), b"a", b"x" * 5000]), 1))
    CASES.append((f"the limit {more:+} before requests", one_argument(LIMIT + more) + b"PING\r\n" * 1000, 1001))


def closes(server, data, replies):
    connection = server.connect(10.0)
    try:
        for at in range(0, len(data), PIECE):
            connection.send_raw(data[at : at + PIECE])
        for _ in range(replies):
            connection.read()
        return False
    except (ConnectionClosed, OSError):
        return True
    finally:
        connection.close()


def compare(servers, case):
    _, data, replies = case
    ours, theirs = (closes(server, data, replies) for server in servers)
    holds(ours == theirs, f"closed: {ours}, by the reference: {theirs}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and 4")
    arguments = parser.parse_args()
    options = [("client-query-buffer-limit", str(LIMIT))]
    reference = Server(REFERENCE, options=options).start()
    verdicts = []
    for threads in arguments.threads or (1, 4):
        ours = Server(os.path.abspath(arguments.server), threads, options=options).start()
        for case in CASES:
            verdicts.append(attempt(f"threads {threads}: {case[0]}", lambda ours=ours, case=case: compare((ours, reference), case)))
        verdicts.append(attempt(f"threads {threads}: end", ours.end))
        ours.remove()
    reference.kill()
    reference.remove()
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
