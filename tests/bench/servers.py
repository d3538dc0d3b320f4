"""A server under measurement: started, loaded, asked for its CPU time and memory."""

import glob
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from lib.server import free_port  # noqa: E402

MILLION = 1_000_000
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, name, program, extra, cores="0"):
        self.name = name
        self.port = free_port()
        # Logs of gigabytes are written here; it goes when nobody holds the server any more.
        self.folder = tempfile.TemporaryDirectory(prefix="sorrel-bench-", ignore_cleanup_errors=True)
        self.dir = self.folder.name
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self.process = subprocess.Popen(
            (["taskset", "-c", cores] if cores else []) + command + extra,
            cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        # Each try is a program of its own, which is pause enough between two of them.
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.ask("PING") == "PONG":
                    return
            except OSError:
                pass
        raise SystemExit(f"{name} did not start")

    def ask(self, *words):
        run = subprocess.run(["redis-cli", "-p", str(self.port), *words],
                             capture_output=True, text=True, errors="replace",
                             timeout=300)
        if run.returncode != 0:
            raise OSError(run.stderr)
        return run.stdout.strip()

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def fine_cpu_seconds(self):
        """To the nanosecond instead of the hundredth of a second, of the threads that live."""
        total = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path) as stat:
                total += int(stat.read().split()[0])
        return total / 1e9

    def rss(self):
        with open(f"/proc/{self.process.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def settle(self, bound_s=15, still_s=2.5):
        """Waits until the allocator has given back what it keeps for a while: until the resident
        size has not fallen for longer than pages are kept."""
        deadline = time.monotonic() + bound_s
        lowest, since = self.rss(), time.monotonic()
        while time.monotonic() < min(deadline, since + still_s):
            self.ask("PING")
            now = self.rss()
            if now < lowest:
                lowest, since = now, time.monotonic()

    def used_memory(self):
        return int(re.search(r"^used_memory:(\d+)", self.ask("INFO", "memory"), re.M).group(1))

    def load(self, words, pipeline, requests, keys=MILLION, cores="1"):
        """Runs the generator; returns (server CPU seconds, wall seconds)."""
        command = ["redis-benchmark", "-p", str(self.port), "-c", "50",
                   "-n", str(requests), "-P", str(pipeline), "-r", str(keys), "-q", *words]
        if cores:
            command = ["taskset", "-c", cores] + command
        before, began = self.cpu_seconds(), time.monotonic()
        subprocess.run(command, check=True, capture_output=True, timeout=600)
        return self.cpu_seconds() - before, time.monotonic() - began

    def pipe(self, commands):
        """Sends all of them in one pipeline; returns the server's CPU seconds."""
        data = "".join(f"*{len(words)}\r\n" + "".join(f"${len(w)}\r\n{w}\r\n" for w in words)
                       for words in commands)
        before = self.cpu_seconds()
        subprocess.run(["taskset", "-c", "1", "redis-cli", "-p", str(self.port), "--pipe"],
                       input=data.encode(), stdout=subprocess.DEVNULL, check=True)
        return self.cpu_seconds() - before

    def read_whole(self, words):
        """Asks for something long and takes all of it in; returns the server's CPU seconds."""
        before = self.cpu_seconds()
        with socket.create_connection(("127.0.0.1", self.port)) as client:
            client.sendall("".join(f"{word} " for word in words).encode() + b"\r\nPING end\r\n")
            tail = b""
            while not tail.endswith(b"$3\r\nend\r\n"):
                tail = tail[-16:] + client.recv(1 << 20)
        return self.cpu_seconds() - before

    def fill(self, words, keys=MILLION):
        """Every key exactly once, through redis-cli --pipe."""
        pipe = subprocess.Popen(["redis-cli", "-p", str(self.port), "--pipe"],
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for start in range(0, keys, 10_000):
            lines = []
            for i in range(start, min(keys, start + 10_000)):
                parts = [word.replace("__rand_int__", f"{i:012d}") for word in words]
                lines.append(f"*{len(parts)}\r\n" +
                             "".join(f"${len(p)}\r\n{p}\r\n" for p in parts))
            pipe.stdin.write("".join(lines).encode())
        pipe.stdin.close()
        if pipe.wait() != 0:
            raise SystemExit(f"filling {self.name} failed")

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
