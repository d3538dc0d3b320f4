#!/usr/bin/python3
"""Walks every command of a server against users who may run it and users who may not.

    tests/acl/run.py                  build/bin/sorrel-server, one thread and four
    tests/acl/run.py --server PATH    another build
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Aggregate, ConnectionClosed, Error, ReplyTimeout, Simple  # noqa: E402
from lib.server import Server, ServerFailed  # noqa: E402

# What every user of this walk may do besides, so that it can log in, queue and run scripts.
TOOL_NAMES = ("multi", "exec", "discard", "eval", "ping")
SECRET = b"nobody may touch this"
SCRIPT = "return redis.pcall(unpack(ARGV))"
MOST_FAILURES = 20


class Spec:
    """One command as COMMAND tells it, with a request that fits its arity and names its keys."""

    def __init__(self, info):
        name, arity, flags, *_, categories, _tips, key_specs, subcommands = info.items
        self.name = name.decode()
        self.arity = arity
        self.flags = {flag.text.decode() for flag in flags.items}
        self.categories = [category.text.decode().lstrip("@") for category in categories.items]
        self.key_specs = [dict_of(spec) for spec in key_specs.items]
        self.container = bool(subcommands.items)

    def request(self, owner="theirs"):
        """Its keys are the owner's. One argument more than needed where that is allowed, so that what stops the server
        or deletes everything is a syntax error."""
        args = self.name.split("|")
        if self.container:  # COMMAND runs without a subcommand, too
            return args
        wanted = abs(self.arity) + (1 if self.arity < 0 else 0)
        args += ["x"] * (wanted - len(args))
        for number, spec in enumerate(self.key_specs):
            self.place_keys(args, f"{owner}:{number}", spec)
        return args

    def place_keys(self, args, key, spec):
        begin = spec["begin_search"]
        find = spec["find_keys"]
        if begin["type"] == b"index":
            at = begin["spec"]["index"]
        elif begin["type"] == b"keyword":
            args.append(begin["spec"]["keyword"].decode())
            at = len(args)
        else:
            return
        args += ["x"] * (at + 1 - len(args))
        if find["type"] == b"keynum":
            args[at + find["spec"]["keynumidx"]] = "1"
            at += find["spec"]["firstkey"]
            args += ["x"] * (at + 1 - len(args))
        elif find["type"] == b"range":
            limit = find["spec"]["limit"]
            # Halves of the rest: streams and their ids.
            if limit > 1:
                args[at:] = ["x"] * limit
        else:
            return
        args[at] = key


def dict_of(reply):
    """Nested flat arrays of names and values, as RESP2 has maps."""
    items = reply.items
    out = {}
    for name, value in zip(items[::2], items[1::2]):
        nested = isinstance(value, Aggregate) and name in (b"begin_search", b"find_keys", b"spec")
        out[name.decode()] = dict_of(value) if nested else value
    return out


def refused(reply):
    return isinstance(reply, Error) and reply.text.startswith(b"NOPERM")


class Walk:
    def __init__(self, server, label):
        self.server = server
        self.label = label
        self.admin = server.connect()
        self.failures = []
        self.requests = 0
        self.client = None
        self.specs = self.read_specs()
        names = {spec.name for spec in self.specs}
        self.scripts = "eval" in names
        self.tools = ["+" + name for name in TOOL_NAMES if name in names]

    def read_specs(self):
        specs = []

        def add(info):
            spec = Spec(info)
            if not spec.container or spec.arity == -1:
                specs.append(spec)
            for sub in info.items[9].items:
                add(sub)

        for info in self.admin.call("COMMAND").items:
            add(info)
        return specs

    def expect(self, holds, spec, what, reply):
        self.requests += 1
        if not holds:
            self.failures.append(f"{self.label}: {spec.name}: {what}: {reply!r}")
            if len(self.failures) >= MOST_FAILURES:
                raise StopIteration

    def set_user(self, *rules):
        reply = self.admin.call("ACL", "SETUSER", "walker", "reset", "on", "nopass", *rules)
        assert reply == Simple(b"OK"), (rules, reply)

    def fresh_client(self):
        if self.client is not None:
            self.client.close()
        self.client = self.server.connect()
        assert self.client.call("AUTH", "walker", "x") == Simple(b"OK")
        return self.client

    def walk(self):
        self.admin.call("SET", "theirs:0", SECRET)
        try:
            for spec in self.specs:
                self.walk_command(spec)
                self.walk_keys(spec)
        except StopIteration:
            pass
        kept = self.admin.call("GET", "theirs:0")
        if kept != SECRET:
            self.failures.append(f"{self.label}: a key was changed by somebody who may not: {kept!r}")

    # ---- Commands and categories.

    def walk_command(self, spec):
        args = spec.request()
        tools = [rule for rule in self.tools if rule[1:] != spec.name]
        denials = [("-" + spec.name, [])] + [("-@" + category, tools) for category in spec.categories]
        for rule, after in denials:
            self.set_user("+@all", "allkeys", "allchannels", rule, *after)
            if "no_auth" not in spec.flags and spec.name not in TOOL_NAMES:
                self.denied_everywhere(spec, args, rule)
        for rule in ["+" + spec.name] + ["+@" + category for category in spec.categories]:
            self.set_user("allkeys", "allchannels", *self.tools, rule)
            reply = self.admin.call("ACL", "DRYRUN", "walker", *args)
            self.expect(reply == Simple(b"OK"), spec, f"dry run with {rule}", reply)
        self.set_user("allkeys", "allchannels", *self.tools, "+" + spec.name)
        self.allowed_once(spec, spec.request("mine"))

    def denied_everywhere(self, spec, args, why):
        client = self.fresh_client()
        reply = client.call(*args)
        self.expect(refused(reply), spec, f"plain with {why}", reply)
        self.denied_when_queued(spec, args, why)
        self.denied_in_script(spec, args, why)

    def denied_when_queued(self, spec, args, why):
        client = self.client
        assert client.call("MULTI") == Simple(b"OK")
        reply = client.call(*args)
        in_multi = refused(reply) or (isinstance(reply, Error) and b"not allowed inside a transaction" in reply.text)
        self.expect(in_multi, spec, f"queued with {why}", reply)
        reply = client.call("EXEC")
        self.expect(isinstance(reply, Error) and reply.text.startswith(b"EXECABORT"), spec, f"EXEC with {why}", reply)

    def denied_in_script(self, spec, args, why):
        if not self.scripts:
            return
        reply = self.client.call("EVAL", SCRIPT, "0", *args)
        kept_out = isinstance(reply, Error) and (reply.text.startswith(b"NOPERM") or b"not allowed from script" in reply.text)
        self.expect(kept_out, spec, f"from a script with {why}", reply)

    def allowed_once(self, spec, args):
        """It runs, whatever comes of it."""
        client = self.fresh_client()
        client.timeout = 2.0
        try:
            reply = client.call(*args)
        except (ReplyTimeout, ConnectionClosed):
            reply = None  # QUIT, or it has nothing to say
        self.expect(not refused(reply), spec, "plain, allowed", reply)
        self.revoked_before_exec(spec, args)

    def revoked_before_exec(self, spec, args):
        if spec.name in TOOL_NAMES or "no_auth" in spec.flags:
            return
        client = self.fresh_client()
        assert client.call("MULTI") == Simple(b"OK")
        if client.call(*args) != Simple(b"QUEUED"):
            return
        self.set_user("allkeys", "allchannels", "+@all", "-" + spec.name)
        reply = client.call("EXEC")
        inside = reply.items[0] if isinstance(reply, Aggregate) and len(reply.items) == 1 else reply
        self.expect(refused(inside), spec, "revoked before EXEC", reply)

    # ---- Keys.

    def walk_keys(self, spec):
        args = spec.request()
        found = self.admin.call("COMMAND", "GETKEYSANDFLAGS", *args)
        if not isinstance(found, Aggregate):
            return
        keys = [(item.items[0].decode(), {flag.text.decode() for flag in item.items[1].items}) for item in found.items]
        for key, flags in keys:
            others = ["~" + other for other, _ in keys if other != key]
            self.set_user("+@all", "allchannels", "~mine:*", *others)
            self.denied_key(spec, args, f"no pattern for {key}")
            writes = bool(flags & {"insert", "delete", "update"})
            if "access" in flags:
                self.set_user("+@all", "allchannels", f"%W~{key}", *others)
                self.denied_key(spec, args, f"{key} for writing only")
            if writes:
                self.set_user("+@all", "allchannels", f"%R~{key}", *others)
                self.denied_key(spec, args, f"{key} for reading only")
        self.set_user("+@all", "allchannels", *("~" + key for key, _ in keys))
        reply = self.admin.call("ACL", "DRYRUN", "walker", *args)
        self.expect(reply == Simple(b"OK"), spec, "dry run with all keys", reply)

    def denied_key(self, spec, args, why):
        self.denied_everywhere(spec, args, why)


class FileStory:
    """An aclfile from start to restart: loaded, saved, refused when it is wrong, and never half loaded."""

    def __init__(self, path, threads):
        self.label = f"aclfile, threads {threads}"
        self.server = Server(path, threads=threads, options=[("aclfile", "users.acl")])
        self.file = os.path.join(self.server.folder, "users.acl")
        self.failures = []

    def expect(self, got, wanted):
        if got != wanted:
            self.failures.append(f"{self.label}: {wanted!r} was expected, and not {got!r}")

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as out:
            out.write(text)

    def tell(self):
        self.write("user bob on >secret ~a* +get +set\n")
        self.server.start()
        admin = self.server.connect()
        bob = self.server.connect()
        self.expect(bob.call("AUTH", "bob", "secret"), Simple(b"OK"))
        self.expect(bob.call("SET", "a", "1"), Simple(b"OK"))
        self.write("user bob on nopass\nuser eve on nopass +nonsense\n")
        wrong = admin.call("ACL", "LOAD")
        self.expect(isinstance(wrong, Error) and b"users.acl:2: Error in applying" in wrong.text, True)
        self.expect(bob.call("GET", "a"), b"1")
        self.expect(admin.call("ACL", "SETUSER", "ann", "on", "nopass", "+ping"), Simple(b"OK"))
        self.expect(admin.call("ACL", "SAVE"), Simple(b"OK"))
        with open(self.file, encoding="utf-8") as saved:
            names = [line.split()[1] for line in saved]
        self.expect(names, ["ann", "bob", "default"])
        self.expect(admin.call("ACL", "LOAD"), Simple(b"OK"))
        self.expect(bob.wait_closed()[0], True)
        before = [line for line in admin.call("ACL", "LIST").items]
        self.server.end()
        self.server.start()
        self.expect(self.server.connect().call("ACL", "LIST").items, before)
        self.server.end()
        self.write("user bob on wrong\n")
        try:
            self.server.start()
            self.failures.append(f"{self.label}: the server started with a broken file")
        except ServerFailed:
            pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, action="append")
    arguments = parser.parse_args()
    failures = []
    for threads in arguments.threads or [1, 4]:
        server = Server(arguments.server, threads=threads)
        try:
            walk = Walk(server.start(), f"threads {threads}")
            walk.walk()
            failures += walk.failures
            print(f"threads {threads}: {len(walk.specs)} commands, {walk.requests} answers as they should be")
            server.end()
            story = FileStory(arguments.server, threads)
            story.tell()
            failures += story.failures
            story.server.remove()
        except ServerFailed as error:
            failures.append(str(error))
        finally:
            server.kill()
            server.remove()
    for failure in failures:
        print("FAIL", failure)
    print("1 passed, 0 failed" if not failures else f"0 passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
