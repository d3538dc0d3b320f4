#!/usr/bin/python3
"""The rules of the tree that a program can see. Each check prints one line; what broke a rule stands below it.

    tools/check.py             every check
    tools/check.py includes    one of them
    tools/check.py --tidy      clang-tidy as well, over the files that differ from the last commit (--tidy=all: all)
"""

import argparse
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))

from checks import compiled, directives, text  # noqa: E402
from checks.tree import Tree  # noqa: E402

CHECKS = {
    "format": text.check_format,
    "includes": text.check_includes,
    "headers": compiled.check_headers,
    "state": compiled.check_state,
    "length": text.check_length,
    "readmes": text.check_readmes,
    "words": text.check_words,
    "scripts": text.check_scripts,
    "directives": directives.check_directives,
}
SHOWN = 40


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="checks to run: " + ", ".join(CHECKS))
    parser.add_argument("--tidy", nargs="?", const="changed", choices=("changed", "all"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="a build folder with the static libraries")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in CHECKS]
    if unknown:
        parser.error(f"no such check: {', '.join(unknown)}")
    wanted = {name: CHECKS[name] for name in arguments.names or CHECKS}
    if arguments.tidy:
        wanted["tidy"] = lambda tree: compiled.check_tidy(tree, arguments.tidy == "all")
    tree = Tree(ROOT, arguments.build)
    failed = 0
    for name, check in wanted.items():
        started = time.monotonic()
        try:
            verdict = check(tree)
        except (subprocess.CalledProcessError, OSError) as error:
            verdict = text.Verdict("could not run", [str(error)])
        failed += bool(verdict.broken)
        mark = "FAIL" if verdict.broken else "ok  "
        summary = f"broken in {len(verdict.broken)} places" if verdict.broken else verdict.summary
        print(f"{mark}  {name:<9} {summary} ({time.monotonic() - started:.1f} s)")
        lines = [*verdict.broken, *("warning: " + w for w in verdict.warnings)]
        for line in lines[:SHOWN]:
            print("      " + line)
        if len(lines) > SHOWN:
            print(f"      and {len(lines) - SHOWN} more")
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
