"""Paths that the server makes its own: the unix socket and the pid file, as the reference does."""

import os
import signal
import socket
import stat
import subprocess
import tempfile

from lib.server import free_port
from lib.verdict import holds, same, wait_until

from service import REFERENCE, Service, limited

BOUND_S = 20.0


def answers(path):
    """Whether a server says PONG at this socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(0.5)
        try:
            client.connect(path)
            client.sendall(b"PING\r\n")
            return client.recv(100) == b"+PONG\r\n"
        except OSError:
            return False


class Place:
    """A folder for one socket, and a server of which nothing is known but that socket."""

    def __init__(self, program, threads):
        self.folder = tempfile.mkdtemp(prefix="sorrel-test-")
        self.path = os.path.join(self.folder, "socket")
        self.arguments = [program, "--save", "", "--port", "0", "--dir", self.folder]
        if threads and program != REFERENCE:
            self.arguments += ["--threads", str(threads)]
        self.log_path = os.path.join(self.folder, "log")

    def serve(self, path, *more):
        """Starts a server on the path: the error in its log when it ended with code 1, else what the socket was."""
        with open(self.log_path, "wb") as log:
            process = subprocess.Popen([*self.arguments, "--unixsocket", path, *more], stdout=log, stderr=log)
        try:
            wait_until(lambda: process.poll() is not None or answers(path), "the server starts or ends", BOUND_S)
            if process.poll() is not None:
                same(process.returncode, 1)
                with open(self.log_path, encoding="utf-8") as log:
                    lines = [line for line in log.read().splitlines() if "Failed opening Unix socket" in line]
                same(len(lines), 1)
                return lines[0][lines[0].index("Failed") :]
            mode = stat.filemode(os.lstat(path).st_mode)
            process.send_signal(signal.SIGTERM)
            same(process.wait(BOUND_S), 0)
            holds(not os.path.lexists(path), "the socket is left behind")
            return mode
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def remove(self):
        subprocess.run(["rm", "-rf", self.folder], check=True)


def regular_file(place):
    with open(place.path, "w", encoding="ascii") as file:
        file.write("text")
    os.chmod(place.path, 0o600)
    return place.serve(place.path)


def folder(place):
    os.mkdir(place.path)
    return place.serve(place.path), os.path.isdir(place.path)


def missing_folder(place):
    return place.serve(os.path.join(place.path, "no", "socket")).replace(place.folder, "")


def long_path(place):
    there = place.folder + "/"
    longest = there + "x" * (107 - len(there))
    return place.serve(longest), place.serve(longest + "x"), place.serve(there + "x" * 200)[:60]


def symbolic_link(place):
    target = os.path.join(place.folder, "target")
    with open(target, "w", encoding="ascii") as file:
        file.write("text")
    os.symlink(target, place.path)
    first = place.serve(place.path)
    os.symlink(os.path.join(place.folder, "nowhere"), place.path)
    return first, place.serve(place.path), os.path.getsize(target), os.path.lexists(os.path.join(place.folder, "nowhere"))


def pipe(place):
    os.mkfifo(place.path)
    return place.serve(place.path)


def stale_socket(place):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(place.path)
    return place.serve(place.path)


def live_socket(place):
    with socket.socket(socket.AF_UNIX) as living:
        living.bind(place.path)
        living.listen(5)
        return place.serve(place.path)


def permissions(place):
    old = os.umask(0o027)
    try:
        return [place.serve(place.path, "--unixsocketperm", mode) for mode in ("0", "700", "777", "600", "666")]
    finally:
        os.umask(old)


def relative_path(place):
    old = os.getcwd()
    os.chdir(place.folder)
    try:
        return place.serve("socket")
    finally:
        os.chdir(old)


SCENES = [regular_file, folder, missing_folder, long_path, symbolic_link, pipe, stale_socket, live_socket, permissions,
          relative_path]


def as_the_reference_does(scene, path, threads):
    outcomes = []
    for program in (path, REFERENCE):
        place = Place(program, threads)
        try:
            outcomes.append(scene(place))
        finally:
            place.remove()
    same(outcomes[0], outcomes[1])


def the_socket_of_a_successor_stays(path, threads):
    """A server that ends late leaves the socket that the next one has put in the place of its own."""
    place = Place(path, threads)
    processes = []
    try:
        for name in ("first", "second"):
            with open(os.path.join(place.folder, name), "wb") as log:
                processes.append(subprocess.Popen([*place.arguments, "--unixsocket", place.path], stdout=log, stderr=log))
            path_of_log = os.path.join(place.folder, name)

            def ready(path_of_log=path_of_log):
                with open(path_of_log, encoding="utf-8") as log:
                    return "Ready to accept" in log.read()

            wait_until(ready, f"the {name} one is ready", BOUND_S)
        processes[0].send_signal(signal.SIGTERM)
        same(processes[0].wait(BOUND_S), 0)
        holds(answers(place.path), "nothing answers at the socket")
        processes[1].send_signal(signal.SIGTERM)
        same(processes[1].wait(BOUND_S), 0)
        holds(not os.path.lexists(place.path), "the socket is left behind")
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        place.remove()


def daemon_with_few_descriptors(path, threads):
    """--daemonize yes: the parent ends well, the child serves, its pid file comes and goes."""
    server = Service(path, threads, [("daemonize", "yes"), ("pidfile", "server.pid"), ("logfile", "daemon.log")])
    pid_path = os.path.join(server.folder, "server.pid")
    pid = None
    try:
        server.port = free_port()
        command = [*limited(100, 100), *server.command()]
        same(subprocess.run(command, cwd=server.folder, timeout=BOUND_S, check=False).returncode, 0)
        wait_until(lambda: os.path.exists(pid_path) and os.path.getsize(pid_path) > 0, "the pid file is there")
        with open(pid_path, encoding="ascii") as file:
            pid = int(file.read())
        connection = server.connect()
        same(connection.call("CONFIG", "GET", "maxclients").items[1], b"%d" % (100 - 32 - 2 * (threads - 1)))
        connection.close()
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not os.path.exists(pid_path), "the pid file goes", BOUND_S)
        with open(os.path.join(server.folder, "daemon.log"), encoding="utf-8") as log:
            holds("maxclients has been reduced to" in log.read(), "the log does not say so")
    finally:
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        server.remove()


TESTS = [the_socket_of_a_successor_stays, daemon_with_few_descriptors]
