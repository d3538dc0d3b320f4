#!/usr/bin/python3
"""The process around the server: few descriptors, the sandbox of Debian's unit, sockets and files that are its own.
With one thread and with four; what can be compared is compared with the reference.

    tests/process/run.py [--server PATH] [--filter NAME] [--threads N]
"""

import argparse
import inspect
import os
import resource
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(0, HERE)

import descriptors  # noqa: E402
import paths  # noqa: E402
import sandboxed  # noqa: E402
from lib.certificates import Certificates  # noqa: E402
from lib.verdict import attempt, summary  # noqa: E402


def named_tests():
    """(name, function of the server's path and the threads or with certificates besides)"""
    for module in (descriptors, sandboxed, paths):
        for test in module.TESTS:
            yield f"{module.__name__}: {test.__name__.replace('_', ' ')}", test
    for scene in paths.SCENES:
        yield (f"paths: {scene.__name__.replace('_', ' ')} at the unix socket",
               lambda path, threads, scene=scene: paths.as_the_reference_does(scene, path, threads))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--filter", default="", help="only tests whose name contains this")
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and 4")
    arguments = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    path = os.path.abspath(arguments.server)
    certificates = Certificates()
    verdicts = []
    try:
        for threads in arguments.threads or (1, 4):
            for name, test in named_tests():
                if arguments.filter not in name:
                    continue
                more = (certificates,) if "certificates" in inspect.signature(test).parameters else ()
                verdicts.append(attempt(f"threads {threads}: {name}",
                                        lambda test=test, more=more: test(path, threads, *more)))
    finally:
        certificates.remove()
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
