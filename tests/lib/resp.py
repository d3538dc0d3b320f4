"""A small RESP2/RESP3 client of our own, strict about every byte it receives.

Replies keep the difference between wire types that Python would blur: a simple string is not a bulk string, the
null bulk is not the null array, a double keeps the text the server sent. Tests compare those differences.
"""

import socket
import ssl
import time
from dataclasses import dataclass


class ProtocolError(Exception):
    """The peer sent bytes that are not RESP."""


class ConnectionClosed(Exception):
    """The peer closed the connection."""


class ReplyTimeout(Exception):
    """No complete reply came within the bound."""


@dataclass(frozen=True)
class Simple:
    text: bytes


@dataclass(frozen=True)
class Error:
    text: bytes


@dataclass(frozen=True)
class Double:
    text: bytes


@dataclass(frozen=True)
class BigNumber:
    text: bytes


@dataclass(frozen=True)
class Verbatim:
    kind: bytes
    text: bytes


@dataclass(frozen=True)
class Nil:
    """kind is "bulk" for $-1, "array" for *-1 and "resp3" for _."""

    kind: str


@dataclass
class Aggregate:
    """kind is one of array, set, push; map keeps its items flat: key, value, key, value."""

    kind: str
    items: list


AGGREGATES = {b"*": "array", b"~": "set", b">": "push", b"%": "map", b"|": "attribute"}
MAX_DEPTH = 64


def encode_command(args):
    """The multibulk form of a command; args are bytes."""
    out = [b"*%d\r\n" % len(args)]
    for arg in args:
        out.append(b"$%d\r\n%s\r\n" % (len(arg), arg))
    return b"".join(out)


class Connection:
    """One connection. Every read has a bound, so that a silent server fails a test instead of hanging it."""

    def __init__(self, host, port, timeout=10.0, tls=None):
        """tls is an ssl.SSLContext, or None for a plain connection."""
        self.timeout = timeout
        self.buffer = b""
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=host)

    def close(self):
        self.socket.close()

    def send_raw(self, data):
        self.socket.settimeout(self.timeout)
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError) as error:
            raise ConnectionClosed(str(error)) from error

    def send(self, args):
        self.send_raw(encode_command(args))

    def call(self, *args):
        """Send a command given as str or bytes and return its reply."""
        self.send([a if isinstance(a, bytes) else str(a).encode() for a in args])
        return self.read()

    def read(self, timeout=None):
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        return self._value(deadline, 0)

    def read_bytes(self, count, timeout=None):
        """Exactly count raw bytes."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        return self._take(count, deadline)

    def pending(self, timeout):
        """Whatever bytes arrive within timeout seconds (b"" for silence)."""
        if not self.buffer:
            try:
                self._fill(time.monotonic() + timeout)
            except ReplyTimeout:
                return b""
        return self.buffer

    def wait_closed(self):
        """True when the peer closes within the bound; bytes that come first are given back."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                self._fill(deadline)
            except ConnectionClosed:
                return True, self.buffer
            except ReplyTimeout:
                return False, self.buffer

    def _fill(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0:
            raise ReplyTimeout()
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(1 << 16)
        except (TimeoutError, socket.timeout) as error:
            raise ReplyTimeout() from error
        except (ConnectionResetError, BrokenPipeError, ssl.SSLError) as error:
            raise ConnectionClosed(str(error)) from error
        if not data:
            raise ConnectionClosed("end of stream")
        self.buffer += data

    def _take(self, count, deadline):
        while len(self.buffer) < count:
            self._fill(deadline)
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def _line(self, deadline):
        while True:
            end = self.buffer.find(b"\r\n")
            if end >= 0:
                line, self.buffer = self.buffer[:end], self.buffer[end + 2 :]
                if b"\n" in line or b"\r" in line:
                    raise ProtocolError(f"bare CR or LF within a line: {line!r}")
                return line
            self._fill(deadline)

    def _bulk(self, length, deadline):
        data = self._take(length + 2, deadline)
        if data[-2:] != b"\r\n":
            raise ProtocolError(f"bulk of {length} bytes is not followed by CRLF")
        return data[:-2]

    def _value(self, deadline, depth):
        if depth > MAX_DEPTH:
            raise ProtocolError("reply nested too deeply")
        line = self._line(deadline)
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return Simple(rest)
        if kind == b"-":
            return Error(rest)
        if kind == b":":
            return _integer(rest)
        if kind == b"$":
            length = _integer(rest)
            return Nil("bulk") if length == -1 else self._bulk(_count(length), deadline)
        if kind == b"_":
            return Nil("resp3")
        if kind == b"#":
            if rest not in (b"t", b"f"):
                raise ProtocolError(f"bad boolean {line!r}")
            return rest == b"t"
        if kind == b",":
            return Double(rest)
        if kind == b"(":
            return BigNumber(rest)
        if kind == b"=":
            data = self._bulk(_count(_integer(rest)), deadline)
            if data[3:4] != b":":
                raise ProtocolError("verbatim string without its kind")
            return Verbatim(data[:3], data[4:])
        if kind in AGGREGATES:
            return self._aggregate(AGGREGATES[kind], _integer(rest), deadline, depth)
        raise ProtocolError(f"not a RESP type: {line[:60]!r}")

    def _aggregate(self, kind, count, deadline, depth):
        if count == -1 and kind == "array":
            return Nil("array")
        count = _count(count)
        if kind in ("map", "attribute"):
            count *= 2
        items = [self._value(deadline, depth + 1) for _ in range(count)]
        if kind == "attribute":  # Attributes decorate the reply that follows; tests look at the reply.
            return self._value(deadline, depth)
        return Aggregate(kind, items)


def _integer(text):
    digits = text[1:] if text[:1] == b"-" else text
    if not digits.isdigit():
        raise ProtocolError(f"not an integer: {text[:40]!r}")
    return int(text)


def _count(number):
    if number < 0:
        raise ProtocolError(f"negative length {number}")
    return number
