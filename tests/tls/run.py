#!/usr/bin/python3
"""The TLS port of a running server: keys, reloading, hostile peers, Debian's tools. With one thread and with four.

    tests/tls/run.py [--server PATH] [--filter NAME]
"""

import argparse
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.certificates import Certificates  # noqa: E402
from lib.resp import Connection, Error, Simple  # noqa: E402
from lib.server import Server, free_port  # noqa: E402
from lib.verdict import Failed, attempt, holds, same, summary, wait_until  # noqa: E402

TOOL_BOUND_S = 60
PONG = Simple(b"PONG")
OK = Simple(b"OK")


def stranger(server):
    """A plain socket on the TLS port."""
    return socket.create_connection(("127.0.0.1", server.port), timeout=10.0)


def everything_until_closed(plain, bound_s=15.0):
    plain.settimeout(bound_s)
    data = b""
    try:
        while True:
            more = plain.recv(65536)
            if not more:
                return data
            data += more
    except ConnectionResetError:
        return data


def info(connection, field):
    text = connection.call("INFO")
    for line in text.split(b"\r\n"):
        if line.startswith(field.encode() + b":"):
            return line.split(b":", 1)[1].decode()
    return None


# ---------------------------------------------------------------- ports and keys


def ports_open_and_close(server, _certificates):
    connection = server.connect()
    same(info(connection, "tcp_port"), str(server.port))
    same(info(connection, "listener2"), f"name=tls,bind=127.0.0.1,port={server.port}")
    same(info(connection, "listener0"), None)
    plain_port, second_port = free_port(), free_port()
    same(connection.call("CONFIG", "SET", "port", str(plain_port)), OK)
    plain = Connection("127.0.0.1", plain_port)
    same(plain.call("PING"), PONG)
    same(info(plain, "listener0"), f"name=tcp,bind=127.0.0.1,port={plain_port}")
    same(plain.call("CONFIG", "SET", "tls-port", str(second_port)), OK)
    other = Connection("127.0.0.1", second_port, tls=server.tls)
    same(other.call("PING"), PONG)
    same(connection.call("PING"), PONG)  # who was connected stays
    try:
        server.connect().close()
        raise Failed("the old TLS port still answers")
    except OSError:
        pass
    # A port that is taken: the old one stays as it is.
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    reply = plain.call("CONFIG", "SET", "tls-port", str(taken.getsockname()[1]))
    holds(isinstance(reply, Error) and b"Unable to listen on this port. Check server logs." in reply.text, repr(reply))
    same(Connection("127.0.0.1", second_port, tls=server.tls).call("PING"), PONG)
    # Both change places at once.
    same(plain.call("CONFIG", "SET", "port", "0", "tls-port", str(plain_port)), OK)
    same(Connection("127.0.0.1", plain_port, tls=server.tls).call("PING"), PONG)
    same(other.call("CONFIG", "SET", "tls-port", str(server.port)), OK)


def peer_certificate(server):
    connection = server.connect()
    try:
        return connection.socket.getpeercert(binary_form=True)
    finally:
        connection.close()


def new_keys_by_config_set(server, certificates):
    early = server.connect()
    first = peer_certificate(server)
    certificates.sign("second", "127.0.0.1", "subjectAltName=IP:127.0.0.1")
    refused = (
        ("tls-key-file", certificates.path("second.key")),  # does not fit the certificate
        ("tls-cert-file", "/nowhere"),
        ("tls-ca-cert-file", ""),
        ("tls-protocols", "SSLv3"),
        ("tls-ciphers", "NONSENSE"),
        ("tls-ciphersuites", "NONSENSE"),
        ("tls-dh-params-file", certificates.path("server.key")),
    )
    for name, value in refused:
        before = early.call("CONFIG", "GET", name).items
        reply = early.call("CONFIG", "SET", "maxclients", "777", name, value)
        wanted = f"ERR CONFIG SET failed (possibly related to argument '{name}') - "
        wanted += "Unable to update TLS configuration. Check server logs."
        same(reply, Error(wanted.encode()))
        same(early.call("CONFIG", "GET", name).items, before)
        same(early.call("CONFIG", "GET", "maxclients").items[1], b"10000")
        same(peer_certificate(server), first)
    both = ("tls-cert-file", certificates.path("second.crt"), "tls-key-file", certificates.path("second.key"))
    same(early.call("CONFIG", "SET", *both), OK)
    second = peer_certificate(server)
    holds(second != first, "the old certificate is still shown")
    # The same names again: the files have changed.
    certificates.sign("second", "127.0.0.1", "subjectAltName=IP:127.0.0.1")
    same(early.call("CONFIG", "SET", *both), OK)
    holds(peer_certificate(server) != second, "the files were not read again")
    same(early.call("PING"), PONG)
    own = [word for pair in certificates.server_options() for word in pair]
    same(early.call("CONFIG", "SET", *own), OK)
    same(peer_certificate(server), first)


def an_encrypted_key(server, certificates):
    connection = server.connect()
    locked = certificates.path("locked.key")
    command = ["openssl", "pkey", "-in", certificates.path("server.key"), "-aes256", "-passout", "pass:1234"]
    subprocess.run([*command, "-out", locked], check=True, capture_output=True, timeout=TOOL_BOUND_S)
    reply = connection.call("CONFIG", "SET", "tls-key-file", locked)
    holds(isinstance(reply, Error) and b"Unable to update TLS" in reply.text, repr(reply))
    same(connection.call("CONFIG", "SET", "tls-key-file", locked, "tls-key-file-pass", "1234"), OK)
    same(server.connect().call("PING"), PONG)
    key = certificates.path("server.key")
    same(connection.call("CONFIG", "SET", "tls-key-file-pass", "", "tls-key-file", key), OK)


def users_by_certificate(server, certificates):
    connection = server.connect()
    certificates.sign("alice", "alice", "subjectAltName=URI:urn:user:bob,URI:urn:user:carol")
    context = certificates.client_context("alice")

    def who():
        return Connection("127.0.0.1", server.port, tls=context).call("ACL", "WHOAMI")

    same(connection.call("ACL", "SETUSER", "alice", "on", "resetpass", "+@all", "~*"), OK)
    same(connection.call("ACL", "SETUSER", "urn:user:carol", "on", "resetpass", "+acl|whoami"), OK)
    same(who(), b"default")
    same(connection.call("CONFIG", "SET", "tls-auth-clients-user", "CN"), OK)
    same(who(), b"alice")
    same(connection.call("CONFIG", "SET", "tls-auth-clients-user", "uri"), OK)
    same(who(), b"urn:user:carol")
    limited = Connection("127.0.0.1", server.port, tls=context)
    same(limited.call("GET", "x").text[:6], b"NOPERM")
    denied = int(info(connection, "acl_access_denied_tls_cert"))
    same(connection.call("ACL", "LOG", "RESET"), OK)
    same(connection.call("CONFIG", "SET", "tls-auth-clients-user", "CN"), OK)
    same(connection.call("ACL", "SETUSER", "alice", "off"), OK)
    same(who(), b"default")  # she is not let in
    same(server.connect().call("ACL", "WHOAMI"), b"default")  # there is no user "client"
    same(int(info(connection, "acl_access_denied_tls_cert")), denied + 2)
    entry = connection.call("ACL", "LOG", "1").items[0].items
    fields = dict(zip(entry[::2], entry[1::2]))
    same((fields[b"reason"], fields[b"username"], fields[b"context"]), (b"tls-cert", b"client", b"toplevel"))
    same(connection.call("CONFIG", "SET", "tls-auth-clients-user", "off"), OK)
    same(connection.call("ACL", "DELUSER", "alice", "urn:user:carol"), 2)


def can_talk(server, context):
    try:
        connection = Connection("127.0.0.1", server.port, tls=context)
        return connection.call("PING") == PONG
    except Exception:  # pylint: disable=broad-except
        return False


def certificates_of_clients(server, certificates):
    connection = server.connect()
    nameless = certificates.client_context(None)
    for rule, welcome in (("yes", False), ("optional", True), ("no", True), ("yes", False)):
        same(connection.call("CONFIG", "SET", "tls-auth-clients", rule), OK)
        same(can_talk(server, nameless), welcome)
        same(can_talk(server, server.tls), True)


def protocols(server, certificates):
    connection = server.connect()
    for word, version, other in (
        ("TLSv1.2", ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3),
        ("TLSv1.3", ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2),
    ):
        same(connection.call("CONFIG", "SET", "tls-protocols", word), OK)
        for asked, welcome in ((version, True), (other, False)):
            context = certificates.client_context()
            context.minimum_version = context.maximum_version = asked
            same(can_talk(server, context), welcome)
    same(connection.call("CONFIG", "SET", "tls-protocols", ""), OK)


# ---------------------------------------------------------------- how much fits through


def long_values_and_pipelines(server, _certificates):
    connection = server.connect(timeout=30.0)
    value = os.urandom(1 << 20) * 3
    same(connection.call("SET", "long", value), OK)
    same(connection.call("GET", "long"), value)
    count = 20000
    # One thread writes and reads: a connection of Python's ssl module cannot be used by two at once.
    batch = 4000
    for done in range(0, count, batch):
        connection.send_raw(b"*2\r\n$4\r\nINCR\r\n$1\r\nc\r\n" * batch)
        same([connection.read() for _ in range(batch)][-1], done + batch)
    # Nobody reads for a while: the reply waits and comes whole.
    for _ in range(3):
        connection.send([b"GET", b"long"])
    for _ in range(3):
        same(connection.read(timeout=30.0), value)
    same(connection.call("DEL", "long", "c"), 2)


def a_client_that_is_killed(server, _certificates):
    """Also while its bytes lie in the library, half read."""
    other = server.connect()
    for _ in range(50):
        victim = server.connect()
        number = victim.call("CLIENT", "ID")
        victim.send_raw(b"*2\r\n$4\r\nECHO\r\n$60000\r\n" + b"x" * 59000)
        same(other.call("CLIENT", "KILL", "ID", str(number)), 1)
        holds(victim.wait_closed()[0], "it was killed but is still there")
        victim.close()
    victim = server.connect()
    victim.send([b"CLIENT", b"KILL", b"ID", str(victim.call("CLIENT", "ID")).encode(), b"SKIPME", b"no"])
    same(victim.wait_closed()[0], True)
    same(other.call("PING"), PONG)


def idle_connections_are_small(server, _certificates):
    connection = server.connect()
    count = 200
    before = resident_kb(server)
    others = [server.connect() for _ in range(count)]
    for other in others:
        same(other.call("PING"), PONG)
    each_kb = (resident_kb(server) - before) / count
    print(f"      an idle TLS connection holds {each_kb:.1f} kB")
    holds(b"Sanitizer" in sanitizers(server) or each_kb < 60, f"an idle connection holds {each_kb:.1f} kB")
    for other in others:
        other.close()
    wait_until(lambda: info(connection, "connected_clients") == "1", "everybody has left")


def resident_kb(server):
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def sanitizers(server):
    with open(server.path, "rb") as file:
        return b"Sanitizer" if b"__asan_init" in (text := file.read()) or b"__tsan_init" in text else b""


# ---------------------------------------------------------------- hostile peers


def noise_on_the_tls_port(server, _certificates):
    for noise in (
        b"PING\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"\x16\x03\x01\xff\xff" + b"x" * 70000,
        b"\x00" * 100000,
        os.urandom(5000),
    ):
        plain = stranger(server)
        try:
            plain.sendall(noise)
        except OSError:
            pass  # closed while we were still talking
        # An alert may come; a reply must not.
        answer = everything_until_closed(plain)
        holds(b"PONG" not in answer and b"HTTP" not in answer, repr(answer))
        plain.close()
    same(server.connect().call("PING"), PONG)


def silence_does_not_stall_others(server, _certificates):
    silent = [stranger(server) for _ in range(100)]
    half = [stranger(server) for _ in range(20)]
    for plain in half:
        plain.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
    began = time.monotonic()
    for _ in range(20):
        connection = server.connect()
        same(connection.call("PING"), PONG)
        connection.close()
    took = time.monotonic() - began
    holds(took < 10, f"20 clients took {took:.1f} s beside silent ones")
    began = time.monotonic()
    for plain in half:
        everything_until_closed(plain)
    took = time.monotonic() - began
    holds(took < 14, f"an unfinished handshake lasted {took:.1f} s")
    for plain in silent + half:
        plain.close()


def half_closed(server, _certificates):
    connection = server.connect()
    connection.send([b"PING"])
    connection.send([b"ECHO", b"last"])
    connection.socket.settimeout(10.0)
    # The library's unwrap() says goodbye and waits for the server's; what was said before it is answered.
    raw = socket.socket(fileno=os.dup(connection.socket.fileno()))
    raw.shutdown(socket.SHUT_WR)
    same(connection.read(), PONG)
    same(connection.read(), b"last")
    same(connection.wait_closed()[0], True)
    raw.close()
    polite = server.connect()
    polite.send([b"PING"])
    polite.socket.settimeout(10.0)
    same(polite.read(), PONG)
    plain = polite.socket.unwrap()
    same(everything_until_closed(plain), b"")


def a_full_house(server, _certificates):
    connection = server.connect()
    rejected = int(info(connection, "rejected_connections"))
    same(connection.call("CONFIG", "SET", "maxclients", "1"), OK)
    plain = stranger(server)
    same(everything_until_closed(plain), b"")
    same(int(info(connection, "rejected_connections")), rejected + 1)
    same(connection.call("CONFIG", "SET", "maxclients", "10000"), OK)
    same(server.connect().call("PING"), PONG)


def many_at_once(server, certificates):
    errors = []

    def customer(number):
        try:
            for turn in range(5):
                connection = Connection("127.0.0.1", server.port, 30.0, certificates.client_context())
                value = f"{number}-{turn}".encode() * 1000
                same(connection.call("SET", f"key:{number}", value), OK)
                same(connection.call("GET", f"key:{number}"), value)
                connection.close()
        except Exception as error:  # pylint: disable=broad-except
            errors.append(repr(error))

    threads = [threading.Thread(target=customer, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(errors, [])


# ---------------------------------------------------------------- Debian's tools


def tool(server, certificates, name, *more):
    command = [name, "--tls", "-h", "127.0.0.1", "-p", str(server.port), "--cacert", certificates.path("ca.crt")]
    command += ["--cert", certificates.path("client.crt"), "--key", certificates.path("client.key"), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TOOL_BOUND_S, check=False)
    same((done.returncode, done.stderr), (0, ""))
    return done.stdout


def redis_cli(server, certificates):
    same(tool(server, certificates, "redis-cli", "PING"), "PONG\n")
    same(tool(server, certificates, "redis-cli", "--no-raw", "SET", "greeting", "hello"), "OK\n")
    same(tool(server, certificates, "redis-cli", "GET", "greeting"), "hello\n")


def redis_benchmark(server, certificates):
    out = tool(server, certificates, "redis-benchmark", "-q", "-n", "2000", "-c", "10", "-P", "4", "-t", "set,get,lrange_100")
    holds(out.count("requests per second") >= 3, out)


TESTS = (
    ports_open_and_close,
    new_keys_by_config_set,
    an_encrypted_key,
    certificates_of_clients,
    users_by_certificate,
    protocols,
    long_values_and_pipelines,
    a_client_that_is_killed,
    idle_connections_are_small,
    noise_on_the_tls_port,
    silence_does_not_stall_others,
    half_closed,
    a_full_house,
    many_at_once,
    redis_cli,
    redis_benchmark,
)


def refuses_to_start(path, certificates):
    """Without a certificate, and without anybody to check clients against."""
    for options, words in (
        ([], "No tls-cert-file configured!"),
        (certificates.server_options()[:1], "No tls-key-file configured!"),
        (certificates.server_options()[:2], "Either tls-ca-cert-file or tls-ca-cert-dir must be specified"),
    ):
        command = [path, "--port", "0", "--tls-port", str(free_port())]
        for name, value in options:
            command += ["--" + name, value]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TOOL_BOUND_S, check=False)
        same(done.returncode, 1)
        holds(words in done.stdout and "Failed to configure TLS. Check logs for more info." in done.stdout, done.stdout)


def run_with(path, threads, tests, certificates):
    server = Server(path, threads, certificates=certificates)
    verdicts = []
    try:
        verdicts.append(attempt(f"threads {threads}: start", server.start))
        for test in tests if verdicts[0] else ():
            label = f"threads {threads}: {test.__name__.replace('_', ' ')}"
            verdicts.append(attempt(label, lambda test=test: test(server, certificates)))
        verdicts.append(attempt(f"threads {threads}: end", server.end))
    finally:
        server.remove()
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--filter", default="", help="only tests whose name contains this")
    parser.add_argument("--threads", type=int, action="append")
    arguments = parser.parse_args()
    path = os.path.abspath(arguments.server)
    tests = [test for test in TESTS if arguments.filter in test.__name__]
    certificates = Certificates()
    try:
        verdicts = [attempt("refuses to start", lambda: refuses_to_start(path, certificates))]
        for threads in arguments.threads or (1, 4):
            verdicts += run_with(path, threads, tests, certificates)
    finally:
        certificates.remove()
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
