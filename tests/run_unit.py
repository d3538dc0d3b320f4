#!/usr/bin/python3
"""Runs every unit test program of a build folder and adds up their tests: tests/run_unit.py build [NAME...]"""

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib.server import SANITIZER_OPTIONS  # noqa: E402

BOUND_S = 300


def programs(build):
    """CMake knows which test programs there are; the folder may hold old ones."""
    listing = subprocess.run(
        ["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=True
    ).stdout
    return {t["name"]: t["command"][0] for t in json.loads(listing)["tests"] if "command" in t}


def run_one(name, program):
    environment = {**SANITIZER_OPTIONS, **os.environ}
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sorrel-unit-") as folder:
        result = os.path.join(folder, "result.json")
        try:
            done = subprocess.run(
                [program, f"--gtest_output=json:{result}", "--gtest_brief=1"],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=BOUND_S,
                check=False,
            )
            output, code = done.stdout.decode("utf-8", "replace"), done.returncode
        except subprocess.TimeoutExpired as error:
            output, code = (error.stdout or b"").decode("utf-8", "replace") + f"\nno end within {BOUND_S} s", 1
        except OSError as error:
            output, code = str(error), 1
        tests = failures = 0
        if os.path.exists(result):
            with open(result, encoding="utf-8") as file:
                summary = json.load(file)
            tests, failures = summary["tests"], summary["failures"]
    if code != 0:
        failures = max(failures, 1)
    return name, max(tests - failures, 0), failures, output, time.monotonic() - started


def main():
    build, wanted = sys.argv[1], sys.argv[2:]
    found = {n: p for n, p in programs(build).items() if not wanted or n in wanted}
    if not found:
        print("no unit tests found\n0 passed, 1 failed")
        return 1
    passed = failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, good, bad, output, seconds in pool.map(lambda item: run_one(*item), found.items()):
            passed, failed = passed + good, failed + bad
            print(f"{name}: {good} passed, {bad} failed, {seconds:.1f} s")
            if bad:
                print(output)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
