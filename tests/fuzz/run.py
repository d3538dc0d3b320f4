#!/usr/bin/python3
"""Runs the libFuzzer programs of a build folder, each for a bounded time, two or more beside each other.

A target X_fuzz uses, when they exist: tests/fuzz/corpus/X_fuzz/ (seeds kept in the tree), tests/fuzz/X_fuzz.dict, and
tests/fuzz/found/X_fuzz/ (inputs that once failed; replayed first, so that they never fail again). What a run learns
goes to build/fuzz-corpus/, what it breaks to build/fuzz-crashes/.
"""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GRACE_S = 60
MAX_LENGTH = 4096
MEMORY_MB = 2048


def targets(build):
    folder = os.path.join(build, "bin")
    if not os.path.isdir(folder):
        return []
    sources = {n[:-3] for _, _, names in os.walk(os.path.join(ROOT, "src")) for n in names if n.endswith("_fuzz.cc")}
    return sorted(n for n in os.listdir(folder) if n in sources)


def run(command, bound_s):
    environment = {"UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1", **os.environ}
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=bound_s, env=environment, check=False
        )
        return done.returncode, done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired as error:
        return 1, (error.stdout or b"").decode("utf-8", "replace") + f"\nno end within {bound_s} s"


def files_of(*parts):
    folder = os.path.join(*parts)
    return [os.path.join(folder, n) for n in sorted(os.listdir(folder))] if os.path.isdir(folder) else []


def fuzz(build, name, seconds, seed):
    program = os.path.join(build, "bin", name)
    found = files_of(HERE, "found", name)
    if found:
        code, output = run([program, *found], GRACE_S)
        if code:
            return name, False, "an input that once failed fails again:\n" + output[-6000:]
    corpus = os.path.join(ROOT, "build", "fuzz-corpus", name)
    crashes = os.path.join(ROOT, "build", "fuzz-crashes", name)
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(crashes, exist_ok=True)
    command = [
        program,
        f"-max_total_time={seconds}",
        f"-artifact_prefix={crashes}/",
        f"-max_len={MAX_LENGTH}",
        f"-rss_limit_mb={MEMORY_MB}",
        "-timeout=10",
        f"-seed={seed}",
        "-print_final_stats=1",
        corpus,
    ]
    if os.path.exists(os.path.join(HERE, name + ".dict")):
        command.append("-dict=" + os.path.join(HERE, name + ".dict"))
    seeds = os.path.join(HERE, "corpus", name)
    if os.path.isdir(seeds):
        command.append(seeds)
    code, output = run(command, seconds + GRACE_S)
    if code:
        # Progress lines say nothing about the failure and would push it out of sight.
        output = "\n".join(line for line in output.splitlines() if not re.match(r"#\d+\t", line))
        return name, False, output[-6000:] + f"\nreplay: {program} {crashes}/..."
    count = re.search(r"number_of_executed_units:\s*(\d+)", output)
    covered = re.findall(r"cov: (\d+)", output)
    edges = covered[-1] if covered else "?"
    return name, True, f"{count.group(1) if count else '?'} runs, {edges} edges covered"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "asan"))
    parser.add_argument("--seconds", type=int, default=60, help="for all targets together, per core")
    parser.add_argument("--seed", type=int, default=0, help="same seed, same inputs; 0: others each time")
    parser.add_argument("--each", action="store_true", help="the seconds are for each target")
    parser.add_argument("names", nargs="*", help="targets (default: all)")
    arguments = parser.parse_args()
    names = [n for n in targets(arguments.build) if not arguments.names or n in arguments.names]
    if not names:
        print("no fuzz targets\n0 passed, 0 failed")
        return 0
    cores = os.cpu_count() or 1
    rounds = -(-len(names) // cores)
    seconds = arguments.seconds if arguments.each else max(2, arguments.seconds // rounds)
    failed = 0
    with ThreadPoolExecutor(cores) as pool:
        for name, good, text in pool.map(lambda n: fuzz(arguments.build, n, seconds, arguments.seed), names):
            failed += not good
            print(f"{name}: {'' if good else 'FAILED: '}{text}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
