"""Reading a transcript file and playing it against a server. The format is described in tests/transcripts/README.md."""

import re
import time
from dataclasses import dataclass, field

from lib.notation import NotationError, parse_command, parse_reply, quote, show
from lib.resp import (
    Aggregate,
    ConnectionClosed,
    Error,
    Nil,
    ProtocolError,
    ReplyTimeout,
    encode_command,
)
from lib.server import ServerFailed

MAX_ADVANCE_MS = 5000
SILENCE_MS = 50
# Commands that change a server beyond what FLUSHALL undoes: the server is not used for another file.
DIRTYING = re.compile(
    r"(CONFIG (SET|RESETSTAT|REWRITE)|ACL (SETUSER|DELUSER|LOAD)|REPLICAOF|SLAVEOF|DEBUG|SHUTDOWN|FAILOVER"
    r"|CLIENT PAUSE|CLUSTER|MODULE)\b",
    re.IGNORECASE,
)


@dataclass
class Condition:
    """Why a paragraph, or a file, is not for every server."""

    kind: str  # "sorrel", "reference" or "needs"
    version: tuple = (0, 0)
    reason: str = ""

    def skips(self, reference_version):
        """The reason to skip, or None. reference_version is None on Sorrel."""
        if self.kind == "sorrel" and reference_version:
            return self.reason or "Sorrel only"
        if self.kind == "reference" and not reference_version:
            return self.reason or "reference only"
        if self.kind == "needs" and reference_version and reference_version < self.version:
            need = ".".join(map(str, self.version))
            return f"needs {need}" + (f": {self.reason}" if self.reason else "")
        return None


@dataclass
class Step:
    line: int
    kind: str  # "exchange", "send", "receive" or the name of a directive
    text: str = ""
    expected: list = field(default_factory=list)
    differs: str = None
    conditions: list = field(default_factory=list)


@dataclass
class Transcript:
    path: str
    steps: list = field(default_factory=list)
    options: list = field(default_factory=list)
    conditions: list = field(default_factory=list)
    fresh: bool = False


@dataclass
class Outcome:
    """What one file came to."""

    path: str
    exchanges: int = 0
    failures: list = field(default_factory=list)
    skipped: list = field(default_factory=list)  # (place, reason)
    differing: list = field(default_factory=list)  # (place, reason)
    stale: list = field(default_factory=list)  # differences that no longer differ
    whole_file_skipped: bool = False
    fills: dict = field(default_factory=dict)  # line -> lines of the reply, for --fill
    dirty: bool = False
    seconds: float = 0.0


# ---------------------------------------------------------------- reading


class Reader:
    def __init__(self, path, text):
        self.transcript = Transcript(path)
        self.lines = text.split("\n")
        self.at = 0
        self.differs = None
        self.paragraph_conditions = []
        self.paragraph_has_steps = False

    def read(self):
        while self.at < len(self.lines):
            line = self.lines[self.at]
            try:
                self.line(line)
            except NotationError as error:
                raise NotationError(f"{self.transcript.path}:{self.at + 1}: {error}") from error
            self.at += 1
        self.end_paragraph()
        return self.transcript

    def line(self, line):
        if not line.strip():
            self.end_paragraph()
        elif line.startswith("#"):
            return
        elif line.startswith("> "):
            self.step("exchange", line[2:], self.reply_lines())
        elif line.startswith(">> "):
            self.step("send", line[3:])
        elif line.rstrip() == "<":
            self.step("receive", "", self.reply_lines())
        elif line.startswith("< "):
            self.step("receive", "", [line[2:]])
        elif line.startswith("@ "):
            self.directive(line[2:].strip())
        else:
            raise NotationError(f"neither command, directive, comment nor reply: {line!r}")

    def reply_lines(self):
        """The lines below the current one up to the next command, directive, comment or blank line."""
        out = []
        while self.at + 1 < len(self.lines):
            line = self.lines[self.at + 1]
            if not line.strip() or re.match(r"(> |>> |<( |$)|@ |#)", line):
                break
            out.append(line)
            self.at += 1
        return out

    def step(self, kind, text="", expected=()):
        line = self.at + 1 - (len(expected) if kind in ("exchange", "receive", "wait") else 0)
        if kind == "receive" and self.lines[self.at].startswith("< "):
            line = self.at + 1
        step = Step(line, kind, text, list(expected), self.differs, self.paragraph_conditions)
        self.differs = None
        self.paragraph_has_steps = True
        self.transcript.steps.append(step)
        return step

    def end_paragraph(self):
        # Conditions that stand alone at the head speak for the whole file.
        if self.paragraph_conditions and not self.paragraph_has_steps:
            if self.transcript.steps:
                raise NotationError("a condition stands before the commands of its paragraph, or at the file's head")
            self.transcript.conditions += self.paragraph_conditions
        self.paragraph_conditions = []
        self.paragraph_has_steps = False

    def directive(self, text):
        name, _, rest = text.partition(" ")
        rest = rest.strip()
        if name == "only":
            who, _, reason = rest.partition(" ")
            if who not in ("sorrel", "reference"):
                raise NotationError("@ only sorrel [REASON] or @ only reference REASON")
            self.condition(Condition(who, reason=reason.strip()))
        elif name == "needs":
            found = re.match(r"(\d+)\.(\d+)(?:\s+(.*))?$", rest)
            if not found:
                raise NotationError("@ needs 7.2 [REASON]")
            self.condition(Condition("needs", (int(found[1]), int(found[2])), found[3] or ""))
        elif name == "differs":
            if not rest:
                raise NotationError("@ differs needs a reason")
            self.differs = rest
        elif name == "config":
            if self.transcript.steps:
                raise NotationError("@ config stands at the head of the file")
            self.transcript.options.append([a.decode() for a in parse_command(rest)])
        elif name == "fresh":
            self.transcript.fresh = True
        elif name == "wait":
            self.wait(rest)
        elif name in DIRECTIVES:
            self.step(name, rest)
        else:
            raise NotationError(f"unknown directive {name!r}")

    def condition(self, condition):
        if self.paragraph_has_steps:
            raise NotationError("a condition stands before the commands of its paragraph")
        # A new list: the steps of earlier paragraphs keep theirs.
        self.paragraph_conditions = self.paragraph_conditions + [condition]

    def wait(self, rest):
        if not re.match(r"\d+ > ", rest):
            raise NotationError("@ wait MS > COMMAND -> REPLY, or the reply on the lines below")
        command, arrow, reply = rest.partition(" -> ")
        self.step("wait", command, [reply.strip()] if arrow else self.reply_lines())
        if arrow:
            self.transcript.steps[-1].line = self.at + 1


def read_transcript(path, shown_path=None):
    with open(path, encoding="utf-8") as file:
        return Reader(shown_path or path, file.read()).read()


# ---------------------------------------------------------------- playing


class StepFailed(Exception):
    """One exchange was not as written; the file goes on."""


class FileFailed(Exception):
    """The rest of the file makes no sense any more."""


class Player:
    """Plays one transcript on one server. `reference_version` is None when the server is Sorrel."""

    def __init__(self, transcript, server, reference_version=None, fill=False):
        self.transcript = transcript
        self.server = server
        self.reference_version = reference_version
        self.fill = fill
        self.connections = {}
        self.current = "main"
        self.variables = {}
        self.last_reply = None
        self.outcome = Outcome(transcript.path)

    def play(self):
        started = time.monotonic()
        try:
            self.be_alone()
            for step in self.transcript.steps:
                self.play_step(step)
        except FileFailed:
            pass
        finally:
            for connection in self.connections.values():
                connection.close()
        self.outcome.seconds = time.monotonic() - started
        return self.outcome

    def be_alone(self):
        """Waits until the server has noticed that everybody before us is gone: files count clients."""
        deadline = time.monotonic() + 5.0
        try:
            while time.monotonic() < deadline:
                clients = self.connection().call("INFO", "clients")
                if not isinstance(clients, bytes) or b"connected_clients:1\r" in clients:
                    return
                time.sleep(0.001)
        except (ConnectionClosed, OSError, ReplyTimeout, ProtocolError):
            self.drop_connections()

    def play_step(self, step):
        for condition in step.conditions:
            reason = condition.skips(self.reference_version)
            if reason:
                note = (f"{self.transcript.path}:{step.line}", reason)
                self.outcome.skipped.append(note)
                return
        try:
            DIRECTIVES[step.kind](self, step)
        except StepFailed as error:
            self.failed(step, str(error))
        except NotationError as error:
            self.failed(step, str(error))
        except ServerFailed as error:
            self.failed(step, str(error))
            raise FileFailed() from error
        except (ConnectionClosed, OSError) as error:
            alive = "" if self.server.running() else f"; the server is gone:\n{self.server.log_tail()}"
            self.failed(step, f"connection closed ({error}){alive}")
            raise FileFailed() from error
        except ReplyTimeout as error:
            self.failed(step, f"no reply within {self.connection().timeout:.0f} s")
            raise FileFailed() from error
        except ProtocolError as error:
            self.failed(step, f"not RESP: {error}")
            raise FileFailed() from error

    def failed(self, step, why):
        head = f"{self.transcript.path}:{step.line}: {step.kind if step.kind != 'exchange' else '>'} {step.text}"
        self.outcome.failures.append(head.rstrip() + "\n" + indent(why))

    def connection(self):
        if self.current not in self.connections:
            self.connections[self.current] = self.server.connect()
        return self.connections[self.current]

    # ---- exchanges

    def send_command(self, text):
        args = parse_command(text, self.variables)
        if DIRTYING.match(text.replace('"', "")):
            self.outcome.dirty = True
        self.connection().send(args)

    def exchange(self, step):
        self.send_command(step.text)
        self.receive(step)

    def send(self, step):
        self.send_command(step.text)

    def receive(self, step):
        self.last_reply = reply = self.connection().read()
        self.outcome.exchanges += 1
        if not step.expected and self.fill:
            self.outcome.fills[step.line] = filled_reply(step.text, reply)
            return
        self.compare(step, parse_reply(step.expected, self.variables).matches(reply), lambda: show(reply))

    def compare(self, step, equal, got):
        if step.differs and self.reference_version:
            place = f"{self.transcript.path}:{step.line}"
            (self.outcome.stale if equal else self.outcome.differing).append((place, step.differs))
        elif not equal:
            raise StepFailed("expected:\n" + indent(step.expected) + "\ngot:\n" + indent(got()))

    # ---- directives

    def wait(self, step):
        bound, command = step.text.split(" > ", 1)
        expected = parse_reply(step.expected, self.variables)
        deadline = time.monotonic() + int(bound) / 1000
        while True:
            self.send_command(command)
            self.last_reply = reply = self.connection().read()
            if expected.matches(reply) or time.monotonic() >= deadline:
                break
            time.sleep(0.005)
        self.outcome.exchanges += 1
        self.compare(step, expected.matches(reply), lambda: show(reply))

    def conn(self, step):
        self.current = step.text or "main"
        self.connection()

    def close(self, step):
        connection = self.connections.pop(step.text or self.current, None)
        if connection:
            connection.close()

    def resp(self, step):
        reply = self.connection().call("HELLO", step.text)
        if isinstance(reply, Error):
            raise StepFailed("HELLO was refused: " + show(reply)[0])

    def restart(self, step):
        self.drop_connections()
        if step.text == "kill":
            self.server.kill()
            self.server.check_log()
        else:
            self.server.end()
        self.server.start()

    def drop_connections(self):
        for connection in self.connections.values():
            connection.close()
        self.connections = {}
        self.current = "main"

    def raw(self, step):
        sent, arrow, wanted = step.text.partition(" -> ")
        send = b"".join(parse_command(sent, self.variables))
        self.connection().send_raw(send)
        if not arrow:
            return
        self.outcome.exchanges += 1
        self.expect_raw(step, wanted)

    def expect_raw(self, step, wanted):
        if wanted.startswith("~ /"):
            expected = parse_reply([wanted])
            connection, deadline = self.connection(), time.monotonic() + 2.0
            while not expected.matches(connection.buffer) and time.monotonic() < deadline:
                connection.pending(0.05) if not connection.buffer else self.more(connection)
            equal, got = expected.matches(connection.buffer), connection.buffer
            connection.buffer = b""
        else:
            expected = b"".join(parse_command(wanted, self.variables))
            try:
                got = self.connection().read_bytes(len(expected))
            except (ReplyTimeout, ConnectionClosed):
                got = self.connection().buffer
            equal = got == expected
            if not equal:  # Take what belongs to the wrong reply, so that the next one starts afresh.
                got += self.rest(self.connection())
            step.expected = [quote(expected)]
        step.expected = step.expected or [wanted]
        self.compare(step, equal, lambda: [quote(got)])

    def rest(self, connection):
        try:
            data = connection.pending(SILENCE_MS / 1000)
        except ConnectionClosed:
            data = b""
        connection.buffer = b""
        return data

    @staticmethod
    def more(connection):
        try:
            connection._fill(time.monotonic() + 0.05)
        except ReplyTimeout:
            pass

    def expect_close(self, step):
        closed, data = self.connection().wait_closed()
        self.outcome.exchanges += 1
        self.connections.pop(self.current).close()
        if data:
            raise StepFailed(f"bytes before the end of the connection: {quote(data)}")
        if not closed:
            raise StepFailed("the connection stayed open")

    def advance(self, step):
        milliseconds = int(step.text)
        if milliseconds > MAX_ADVANCE_MS:
            raise NotationError(f"@ advance is bounded to {MAX_ADVANCE_MS} ms")
        time.sleep(milliseconds / 1000)

    def nothing(self, step):
        data = self.connection().pending(int(step.text or SILENCE_MS) / 1000)
        self.outcome.exchanges += 1
        if data:
            raise StepFailed(f"expected silence, got {quote(data)}")

    def blocked(self, step):
        """Waits until the server counts so many blocked clients, so that the next command meets them."""
        probe = self.server.connect()
        wanted, got = b"blocked_clients:%d\r\n" % int(step.text), b""
        deadline = time.monotonic() + 5.0
        try:
            while time.monotonic() < deadline:
                got = probe.call("INFO", "clients")
                if isinstance(got, bytes) and wanted in got:
                    return
                time.sleep(0.002)
        finally:
            probe.close()
        raise StepFailed(f"not within 5 s: {step.text} blocked clients; INFO clients says:\n{got!r}")

    def let(self, step):
        name, *path = step.text.split()
        value = self.last_reply
        for index in path:
            if not isinstance(value, Aggregate) or int(index) > len(value.items):
                raise StepFailed(f"the last reply has no element {index}")
            value = value.items[int(index) - 1]
        if isinstance(value, bool) or isinstance(value, (Aggregate, Nil)) or value is None:
            raise StepFailed("only strings and numbers can be kept")
        if isinstance(value, int):
            value = b"%d" % value
        self.variables[name] = value if isinstance(value, bytes) else value.text

    def repeat(self, step):
        count, _, command = step.text.partition(" > ")
        connection, total = self.connection(), int(count)
        for first in range(1, total + 1, 500):
            last = min(first + 499, total)
            batch = []
            for number in range(first, last + 1):
                args = parse_command(command, {**self.variables, "i": b"%d" % number})
                batch.append(encode_command(args))
            connection.send_raw(b"".join(batch))
            for number in range(first, last + 1):
                self.last_reply = connection.read()
                if isinstance(self.last_reply, Error):
                    raise StepFailed(f"at i={number}: {show(self.last_reply)[0]}")
        self.outcome.exchanges += 1


def filled_reply(command, reply):
    """What --fill writes: the reply itself, but a time to live as a range, since machines may be slow."""
    unit = re.match(r"(P?)TTL ", command, re.IGNORECASE)
    if unit and isinstance(reply, int) and reply > 0:
        slack = 10000 if unit.group(1) else 10
        return [f"(integer) {max(0, reply - slack)}..{reply}"]
    return show(reply)


DIRECTIVES = {
    "exchange": Player.exchange,
    "send": Player.send,
    "receive": Player.receive,
    "wait": Player.wait,
    "conn": Player.conn,
    "close": Player.close,
    "resp": Player.resp,
    "restart": Player.restart,
    "raw": Player.raw,
    "expect-close": Player.expect_close,
    "advance": Player.advance,
    "nothing": Player.nothing,
    "blocked": Player.blocked,
    "let": Player.let,
    "repeat": Player.repeat,
}


def indent(text):
    lines = text if isinstance(text, list) else text.split("\n")
    return "\n".join("    " + line for line in lines)
