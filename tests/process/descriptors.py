"""Few descriptors: clients beyond them are told so, and the server keeps what it needs for itself."""

import os
import re
import resource
import socket

from lib.resp import ConnectionClosed, Error, Simple
from lib.verdict import holds, same, wait_until

from service import OK, REFERENCE, Service, everything_is_saved, info, limited, setting

PONG = Simple(b"PONG")
FULL = Error(b"ERR max number of clients reached")
PASSWORD = "secret"
LIMIT = 120


def reserved(threads):
    """What the server keeps for itself: Redis's number, and a loop for each further worker."""
    return 32 + 2 * (threads - 1)


def too_many(wanted):
    return Error(
        b"ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating system is not able to handle "
        b"the specified number of clients, try with %d" % wanted)


class Crowd:
    """Connections that say nothing, and what the server told each at once."""

    def __init__(self, server, count):
        self.peers = [server.connect() for _ in range(count)]

    def verdicts(self):
        """How many are served, and how many were refused with Redis's words."""
        served = refused = 0
        for peer in self.peers:
            try:
                peer.send([b"PING"])
            except ConnectionClosed:
                pass  # what came before is read below
            reply = peer.read()
            if reply == FULL:
                refused += 1
                holds(peer.wait_closed()[0], "a refused connection stays open")
            else:
                same(reply, PONG if b"NOAUTH" not in getattr(reply, "text", b"") else reply)
                served += 1
        return served, refused

    def close(self):
        for peer in self.peers:
            peer.close()


def words_about_limits(server):
    """What the log says of descriptors, without times."""
    lines = [re.sub("^.*? [*#] ", "", line) for line in server.log().splitlines()]
    return [line for line in lines if re.search("open file|ulimit|descriptors", line)]


def the_log_says_what_the_reference_says(path, threads):
    if threads > 1:
        return
    said = []
    for program in (path, REFERENCE):
        lines = []
        for soft, hard in ((100, 100), (50, 512), (40, 40)):
            server = Service(program, threads, [("maxclients", "480")], limited(soft, hard))
            try:
                connection = server.start().connect()
                lines.append(setting(connection, "maxclients"))
                for wanted in ("20", "5000", "30"):
                    lines.append(connection.call("CONFIG", "SET", "maxclients", wanted))
                lines.append(setting(connection, "maxclients"))
                lines += words_about_limits(server)
                connection.close()
                server.end()
            finally:
                server.remove()
        said.append(lines)
    for ours, theirs in zip(*said):
        same(ours, theirs)
    same(len(said[0]), len(said[1]))


def too_few_to_start(path, threads):
    for limit in (reserved(threads), 12):
        server = Service(path, threads, wrapper=limited(limit, limit))
        try:
            holds(not server._launch(), "it starts")  # pylint: disable=protected-access
            same(server.process.wait(10), 1)
            at_least = 10_000 + reserved(threads)
            holds(f"Your current 'ulimit -n' of {limit} is not enough for the server to start. Please increase your "
                  f"open file limit to at least {at_least}. Exiting." in server.log(), server.log_tail())
        finally:
            server.remove()


def everything_goes_on_when_all_are_taken(path, threads):
    """Peers without a password take every place: files are written, no write is refused, the next is told why."""
    options = [("appendonly", "yes"), ("aclfile", "users.acl"), ("save", "1", "1")]
    server = Service(path, threads, options, limited(LIMIT, LIMIT))
    try:
        server.start()
        admin = server.connect()
        same(admin.call("ACL", "SETUSER", "default", ">" + PASSWORD), OK)
        same(admin.call("AUTH", PASSWORD), OK)
        places = LIMIT - reserved(threads)
        same(setting(admin, "maxclients"), str(places))
        wait_until(lambda: info(admin, "connected_clients") == "1", "the connections of the start are gone")
        crowd = Crowd(server, 3 * LIMIT)
        same(crowd.verdicts(), (places - 1, 3 * LIMIT - places + 1))
        same(info(admin, "rejected_connections"), str(3 * LIMIT - places + 1))
        everything_is_saved(admin)
        same(admin.call("CONFIG", "SET", "appendonly", "no"), OK)
        same(admin.call("CONFIG", "SET", "appendonly", "yes"), OK)
        wait_until(lambda: info(admin, "aof_rewrite_in_progress") == "0", "the log is there again")
        same(info(admin, "aof_last_bgrewrite_status"), "ok")
        same(admin.call("CONFIG", "SET", "save", "1 1"), OK)
        wait_until(lambda: info(admin, "rdb_changes_since_last_save") == "0", "a save point comes")
        same(info(admin, "rdb_last_bgsave_status"), "ok")
        same(admin.call("SET", "key", "again"), OK)
        crowd.close()
        wait_until(lambda: info(admin, "connected_clients") == "1", "they have gone")
        newcomer = server.connect()
        same(newcomer.call("AUTH", PASSWORD), OK)
        for connection in (newcomer, admin):
            connection.close()
        server.end()
    finally:
        server.remove()


def tls_peers_take_every_place(path, threads, certificates):
    server = Service(path, threads, [("appendonly", "yes")], limited(LIMIT, LIMIT), certificates=certificates)
    try:
        server.start()
        admin = server.connect()
        wait_until(lambda: info(admin, "connected_clients") == "1", "the connections of the start are gone")
        places = LIMIT - reserved(threads)
        # Some never begin a handshake.
        peers = [socket.create_connection(("127.0.0.1", server.port), timeout=10.0) for _ in range(2 * LIMIT)]
        wait_until(lambda: info(admin, "rejected_connections") == str(2 * LIMIT - places + 1), "the rest is refused")
        everything_is_saved(admin)
        for peer in peers:
            peer.close()
        wait_until(lambda: info(admin, "connected_clients") == "1", "they have gone")
        same(server.connect().call("PING"), PONG)
        admin.close()
        server.end()
    finally:
        server.remove()


def idle_peers_make_room(path, threads):
    """`timeout` closes those who are idle; the next one finds a place."""
    server = Service(path, threads, [("timeout", "1"), ("tcp-keepalive", "1")], limited(LIMIT, LIMIT))
    try:
        server.start()
        crowd = Crowd(server, 2 * LIMIT)
        holds(crowd.verdicts()[1] >= LIMIT, "none is refused")

        def served():
            connection = server.connect()
            try:
                return connection.call("PING") == PONG
            except ConnectionClosed:
                return False
            finally:
                connection.close()

        wait_until(served, "a place is free")
        crowd.close()
        server.end()
    finally:
        server.remove()


def nothing_is_left(path, threads):
    """The system takes descriptors away while the server runs: connections are refused with the reason, not left
    waiting, and all is well when there are some again."""
    server = Service(path, threads, [("appendonly", "yes")])
    try:
        server.start()
        admin = server.connect()
        wait_until(lambda: info(admin, "connected_clients") == "1", "the connections of the start are gone")
        pid = server.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        # Numbers are given from the lowest on: below the highest one in use none may be free.
        most = max(map(int, os.listdir(f"/proc/{pid}/fd"))) + 1
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, before[1]))
        crowd = Crowd(server, 50)
        served, refused = crowd.verdicts()
        holds(refused >= 50 - most and served + refused == 50, f"{served} served, {refused} refused")
        same(info(admin, "rejected_connections"), str(refused))
        holds("Too many open files" in server.log(), server.log_tail())
        holds(server.log().count("Too many open files") < 5, "a line for each in the log")
        same(admin.call("SET", "key", "value"), OK)
        holds(isinstance(admin.call("SAVE"), Error), "SAVE works without a descriptor")
        crowd.close()
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        everything_is_saved(admin)
        same(server.connect().call("PING"), PONG)
        admin.close()
        server.end()
    finally:
        server.remove()


def a_burst_is_counted_as_it_comes(path, threads):
    """Many at once, while connections are on their way to their workers: never more than maxclients."""
    server = Service(path, threads, [("max-new-connections-per-cycle", "1000")], limited(LIMIT, LIMIT))
    try:
        server.start()
        admin = server.connect()
        wait_until(lambda: info(admin, "connected_clients") == "1", "the connections of the start are gone")
        same(admin.call("CONFIG", "SET", "maxclients", "10"), OK)
        os.kill(server.process.pid, 19)
        crowd = Crowd(server, 100)
        os.kill(server.process.pid, 18)
        same(crowd.verdicts(), (9, 91))
        crowd.close()
        admin.close()
        server.end()
    finally:
        server.remove()


TESTS = [
    the_log_says_what_the_reference_says,
    too_few_to_start,
    everything_goes_on_when_all_are_taken,
    tls_peers_take_every_place,
    idle_peers_make_room,
    nothing_is_left,
    a_burst_is_counted_as_it_comes,
]
