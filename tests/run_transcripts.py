#!/usr/bin/python3
"""Plays the transcripts of tests/transcripts against a server: Sorrel, or the reference beside us.

    tests/run_transcripts.py                               all of them, build/bin/sorrel-server, one thread
    tests/run_transcripts.py --threads 4 --filter string   some of them, four threads
    tests/run_transcripts.py --tls                         the same talk, encrypted
    tests/run_transcripts.py --reference                   Debian's redis-server
    tests/run_transcripts.py --reference --fill FILE       write the reference's replies below bare commands
"""

import argparse
import ctypes
import multiprocessing
import os
import signal
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.certificates import Certificates  # noqa: E402
from lib.notation import NotationError  # noqa: E402
from lib.resp import Simple  # noqa: E402
from lib.server import Server, ServerFailed, version_of  # noqa: E402
from lib.transcript import Outcome, Player, read_transcript  # noqa: E402

FOLDER = os.path.join(ROOT, "tests", "transcripts")
SORREL = os.path.join(ROOT, "build", "bin", "sorrel-server")
REFERENCE = "/usr/bin/redis-server"
RESET = (
    ("SCRIPT", "FLUSH"),
    ("FUNCTION", "FLUSH"),
    ("SLOWLOG", "RESET"),
    ("CONFIG", "RESETSTAT"),
)


class Worker:
    """Keeps one server over many files; a file that changed it for good gets it replaced."""

    def __init__(self, arguments, reference_version):
        self.arguments = arguments
        self.reference_version = reference_version
        self.server = None

    def run(self, path):
        shown = os.path.relpath(path, ROOT)
        outcome = Outcome(shown)
        try:
            transcript = read_transcript(path, shown)
        except NotationError as error:
            outcome.failures.append(str(error))
            return outcome
        for condition in transcript.conditions:
            reason = condition.skips(self.reference_version)
            if reason:
                outcome.skipped.append((shown, reason))
                outcome.whole_file_skipped = True
                return outcome
        try:
            own = transcript.fresh or bool(transcript.options)
            if own:
                self.end()
            server = self.ready_server(transcript.options)
            outcome = Player(transcript, server, self.reference_version, bool(self.arguments.fill)).play()
            self.tidy(outcome, own)
        except ServerFailed as error:
            outcome.failures.append(f"{shown}: {error}")
            self.drop()
        return outcome

    def ready_server(self, options):
        if self.server is None:
            threads = None if self.arguments.reference else self.arguments.threads
            certificates = self.arguments.certificates
            self.server = Server(self.arguments.server, threads, options, certificates=certificates)
            self.server.start()
        return self.server

    def tidy(self, outcome, own):
        if not self.server.running():
            # SHUTDOWN in a transcript is fine; a crash has been reported by the failed exchange.
            self.server.check_log()
            self.drop()
        elif own or outcome.dirty or outcome.failures:
            self.end()
        elif not self.reset():
            self.end()

    def reset(self):
        """Empties the server for the next file; False when only a new server will do."""
        try:
            connection = self.server.connect()
            try:
                for command in RESET:
                    connection.call(*command)
                return connection.call("FLUSHALL") == Simple(b"OK")
            finally:
                connection.close()
        except Exception:  # pylint: disable=broad-except
            return False

    def end(self):
        """Ends the server and requires a clean end."""
        if self.server:
            try:
                self.server.end()
            finally:
                self.drop()

    def drop(self):
        if self.server:
            self.server.remove()
        self.server = None


def work(arguments, reference_version, tasks, results):
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # End with the parent, so that no server is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    worker = Worker(arguments, reference_version)
    try:
        while True:
            path = tasks.get()
            if path is None:
                break
            results.put(worker.run(path))
        last = Outcome("the server's end")
        try:
            worker.end()
        except ServerFailed as error:
            last.failures.append(f"when the server ended: {error}")
        results.put(last)
    except KeyboardInterrupt:
        pass
    finally:
        worker.drop()


def chosen_files(arguments):
    if arguments.fill:
        return [os.path.abspath(path) for path in arguments.fill]
    if arguments.files:
        return [os.path.abspath(path) for path in arguments.files]
    found = []
    for folder, _, names in os.walk(arguments.folder):
        found += [os.path.join(folder, n) for n in names if n.endswith(".txt")]
    if arguments.filter:
        found = [p for p in found if any(f in os.path.relpath(p, arguments.folder) for f in arguments.filter)]
    # Long files first: the last worker to finish decides how long the whole takes.
    return sorted(found, key=lambda p: (-os.path.getsize(p), p))


def play_all(arguments, reference_version, files):
    jobs = max(1, min(arguments.jobs, len(files)))
    context = multiprocessing.get_context("fork")
    tasks, results = context.Queue(), context.Queue()
    for path in files + [None] * jobs:
        tasks.put(path)
    workers = [
        context.Process(target=work, args=(arguments, reference_version, tasks, results)) for _ in range(jobs)
    ]
    for process in workers:
        process.start()
    outcomes, left = [], len(files) + jobs
    while left:
        try:
            outcomes.append(results.get(timeout=0.5))
            left -= 1
        except Exception:  # queue.Empty, which multiprocessing does not name
            if not any(p.is_alive() for p in workers) and results.empty():
                lost = Outcome("a worker")
                lost.failures.append(f"a worker of the runner ended early; {left} results are missing")
                outcomes.append(lost)
                break
    for process in workers:
        process.join()
    return outcomes


def write_fills(outcomes):
    for outcome in outcomes:
        if not outcome.fills:
            continue
        path = os.path.join(ROOT, outcome.path)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for number in sorted(outcome.fills, reverse=True):
            lines[number:number] = outcome.fills[number]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        print(f"{outcome.path}: wrote {len(outcome.fills)} replies")


def merged(notes):
    """One line per reason and file: skipped paragraphs have many lines."""
    seen = {}
    for place, reason in notes:
        name, _, line = place.partition(":")
        seen.setdefault((name, reason), []).append(line)
    return [f"{name}:{lines[0]}".rstrip(":") + f"  {reason}" for (name, reason), lines in sorted(seen.items())]


def report(arguments, outcomes, seconds):
    for outcome in sorted(outcomes, key=lambda o: o.path):
        for failure in outcome.failures[: arguments.max_failures]:
            print(failure + "\n")
        if len(outcome.failures) > arguments.max_failures:
            print(f"{outcome.path}: and {len(outcome.failures) - arguments.max_failures} more failures\n")
        if arguments.verbose:
            print(f"{outcome.path}: {outcome.exchanges} exchanges, {outcome.seconds:.2f} s")
    for title, field in (
        ("skipped here", "skipped"),
        ("differs from the reference on purpose", "differing"),
        ("marked as differing, but the reference agrees now", "stale"),
    ):
        notes = merged([note for outcome in outcomes for note in getattr(outcome, field)])
        if notes:
            print(f"{title}:")
            print("\n".join("  " + note for note in notes))
    files = [o for o in outcomes if o.exchanges or o.failures]
    failed = sum(1 for o in files if o.failures)
    skipped = sum(1 for o in outcomes if o.whole_file_skipped)
    who = "reference" if arguments.reference else f"threads {arguments.threads}"
    who += ", TLS" if arguments.tls else ""
    exchanges = sum(o.exchanges for o in outcomes)
    print(f"transcripts ({who}): {exchanges} exchanges, {skipped} files skipped, {seconds:.1f} s")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="transcripts to play (default: all)")
    parser.add_argument("--server", help="the server program")
    parser.add_argument("--threads", type=int, default=1, help="Sorrel's threads (default 1)")
    parser.add_argument("--reference", action="store_true", help="play against redis-server")
    parser.add_argument("--tls", action="store_true", help="talk over TLS, with certificates made for this run")
    parser.add_argument("--folder", default=FOLDER, help="where transcripts are looked for")
    parser.add_argument("--filter", action="append", help="only files whose name contains this; may be repeated")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2), help="servers at once")
    parser.add_argument("--fill", nargs="+", metavar="FILE", help="write the replies of commands that have none")
    parser.add_argument("--max-failures", type=int, default=5, help="failures shown per file")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if not arguments.server:
        arguments.server = REFERENCE if arguments.reference else SORREL
    return arguments


def main():
    arguments = parse_arguments()
    if not os.access(arguments.server, os.X_OK):
        print(f"no server at {arguments.server}\n0 passed, 1 failed")
        return 1
    reference_version = version_of(arguments.server) if arguments.reference else None
    files = chosen_files(arguments)
    if not files:
        print("no transcripts found\n0 passed, 1 failed")
        return 1
    started = time.monotonic()
    arguments.certificates = Certificates() if arguments.tls else None
    try:
        outcomes = play_all(arguments, reference_version, files)
    finally:
        if arguments.certificates:
            arguments.certificates.remove()
    if arguments.fill:
        write_fills(outcomes)
    return report(arguments, outcomes, time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())
