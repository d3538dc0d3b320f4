#!/usr/bin/python3
"""Real client libraries against a server that this program starts, with one thread and with four.

    tests/clients/run.py [--server PATH] [--reference]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.server import Server, ServerFailed  # noqa: E402

INSTALL_BOUND_S = 180
CLIENT_BOUND_S = 120
MODULES = os.path.join(ROOT, "build", "clients")


def install_modules():
    """npm's packages go below build/, and only when the lock file changed."""
    os.makedirs(MODULES, exist_ok=True)
    stamp = os.path.join(MODULES, "installed.lock")
    with open(os.path.join(HERE, "package-lock.json"), "rb") as file:
        wanted = file.read()
    if os.path.exists(stamp):
        with open(stamp, "rb") as file:
            if file.read() == wanted:
                return
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), MODULES)
    subprocess.run(
        ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=MODULES,
        timeout=INSTALL_BOUND_S,
        check=True,
    )
    with open(stamp, "wb") as file:
        file.write(wanted)


def clients():
    yield "redis-py", ["/usr/bin/python3", os.path.join(HERE, "python_redis.py")]
    for name in ("ioredis_smoke", "node_redis", "bullmq_jobs", "node_libraries"):
        yield name, ["node", os.path.join(HERE, name + ".js")]


def run_client(command, port):
    environment = {**os.environ, "NODE_PATH": os.path.join(MODULES, "node_modules")}
    try:
        done = subprocess.run(
            [*command, str(port)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=CLIENT_BOUND_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return 0, 1, f"{error.stdout or ''}\nno end within {CLIENT_BOUND_S} s"
    found = re.findall(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    passed, failed = map(int, found[-1]) if found else (0, 1)
    return passed, max(failed, done.returncode != 0), done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--reference", action="store_true", help="against redis-server, to test the tests")
    arguments = parser.parse_args()
    path = "/usr/bin/redis-server" if arguments.reference else arguments.server
    passed = failed = 0
    try:
        install_modules()
    except (subprocess.SubprocessError, OSError) as error:
        print(f"npm could not install the node clients: {error}")
        failed += 1
    for threads in (None,) if arguments.reference else (1, 4):
        for name, command in clients():
            where = f"{name}, " + (f"threads {threads}" if threads else "reference")
            server = Server(path, threads)
            try:
                server.start()
                good, bad, output = run_client(command, server.port)
                passed, failed = passed + good, failed + bad
                print(f"{where}: {good} ok, {bad} not")
                if bad:
                    print(output)
                server.end()
            except (ServerFailed, OSError) as error:
                failed += 1
                print(f"{where}: {error}")
            finally:
                server.remove()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
