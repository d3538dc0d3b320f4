"""Starting and ending a server for a test, and reading what it said."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from lib.resp import Connection, ConnectionClosed, ProtocolError, ReplyTimeout, Simple

SANITIZER_REPORT = re.compile(
    rb"(AddressSanitizer|ThreadSanitizer|LeakSanitizer|MemorySanitizer|UndefinedBehaviorSanitizer"
    rb"|runtime error:|terminate called|Assertion .* failed)"
)
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1:exitcode=66",
}


class ServerFailed(Exception):
    """The server did not start, did not end well, or wrote a sanitizer report."""


GIVEN_PORTS = set()


def free_port():
    """A port that nobody has: not twice the same one, and none that the system would give to an outgoing connection
    before a server listens there."""
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)  # what tests draw from a seed stays as it is
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in GIVEN_PORTS:
            GIVEN_PORTS.add(port)
            return port


class Server:
    """One server process in a folder of its own. `options` are pairs of directive and value. With `certificates` (of
    lib/certificates.py) its only port speaks TLS."""

    def __init__(self, path, threads=None, options=(), wrapper=(), start_bound_s=30.0, certificates=None):
        self.path = path
        self.threads = threads
        self.options = list(options)
        self.wrapper = list(wrapper)
        self.start_bound_s = start_bound_s
        self.folder = tempfile.mkdtemp(prefix="sorrel-test-")
        self.log_path = os.path.join(self.folder, "server.log")
        self.process = None
        self.port = 0
        self.certificates = certificates
        self.tls = certificates.client_context() if certificates else None

    def start(self):
        for attempt in range(3):  # A free port may be taken by a neighbour before we bind it.
            self.port = free_port()
            if self._launch():
                return self
        raise ServerFailed(f"{self.path} did not start:\n{self.log_tail()}")

    def command(self):
        command = self.wrapper + [self.path, "--save", "", "--bind", "127.0.0.1"]
        command += ["--port", "0", "--tls-port", str(self.port)] if self.tls else ["--port", str(self.port)]
        for name, value in self.certificates.server_options() if self.tls else ():
            command += ["--" + name, value]
        if self.threads:
            command += ["--threads", str(self.threads)]
        for name, *values in self.options:
            command += ["--" + name, *values]
        return command

    def _launch(self):
        environment = dict(os.environ)
        for name, value in SANITIZER_OPTIONS.items():
            environment.setdefault(name, value)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )
        deadline = time.monotonic() + self.start_bound_s
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return False
            if self._answers():
                return True
            time.sleep(0.005)
        self.kill()
        return False

    def _answers(self):
        try:
            connection = self.connect(timeout=1.0)
        except OSError:
            return False
        try:
            reply = connection.call("PING")
            # A server that wants a password answers with an error: it is up all the same. One that loads is not.
            return isinstance(reply, Simple) or not reply.text.startswith(b"LOADING")
        except (ConnectionClosed, ReplyTimeout, ProtocolError, OSError):
            return False
        finally:
            connection.close()

    def connect(self, timeout=10.0):
        return Connection("127.0.0.1", self.port, timeout, self.tls)

    def running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.running():
            self.process.kill()
            self.process.wait()

    def end(self, bound_s=20.0):
        """Asks the server to end and requires that it does so cleanly."""
        if self.process is None:
            return
        if self.running():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(bound_s)
            except subprocess.TimeoutExpired:
                self.kill()
                raise ServerFailed(f"server did not end within {bound_s:.0f} s of SIGTERM:\n{self.log_tail()}")
        self.check_log()
        if self.process.returncode != 0:
            raise ServerFailed(f"server ended with code {self.process.returncode}:\n{self.log_tail()}")

    def check_log(self):
        with open(self.log_path, "rb") as log:
            text = log.read()
        found = SANITIZER_REPORT.search(text)
        if found:
            start = max(0, found.start() - 200)
            report = text[start : start + 6000].decode("utf-8", "replace")
            raise ServerFailed(f"report in the server's output:\n{report}")

    def log_tail(self, lines=15):
        try:
            with open(self.log_path, "rb") as log:
                return b"\n".join(log.read().splitlines()[-lines:]).decode("utf-8", "replace")
        except FileNotFoundError:
            return "(no output)"

    def remove(self):
        """Kills what may be left and deletes the folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def version_of(path):
    """(7, 0) of a redis-server binary."""
    out = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    found = re.search(r"v=(\d+)\.(\d+)", out)
    if not found:
        raise ServerFailed(f"cannot read the version of {path}: {out!r}")
    return int(found.group(1)), int(found.group(2))
