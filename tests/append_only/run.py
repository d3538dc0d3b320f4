#!/usr/bin/python3
"""The append only log is turned on and off, rewritten and moved, and what was said of it holds after a kill.

    tests/append_only/run.py [--server PATH] [--threads N]
"""

import argparse
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Aggregate, Error, Nil, Simple  # noqa: E402
from lib.server import Server, ServerFailed  # noqa: E402
from lib.verdict import attempt, holds, same, summary, wait_until  # noqa: E402

OK = Simple(b"OK")
NIL = Nil("bulk")
STARTED = Simple(b"Background append only file rewriting started")


class Log:
    """A server and the folder of its log."""

    def __init__(self, path, threads, *options):
        self.server = Server(path, threads, [("enable-debug-command", "yes"), ("enable-protected-configs", "yes"),
                                            ("auto-aof-rewrite-percentage", "0"), *options])
        self.restart()

    def restart(self, *options):
        """After a kill, if it runs; with other options, if there are any."""
        self.server.kill()
        if options:
            self.server.options += options
        self.server.start()
        self.here = self.server.connect()

    def call(self, *words):
        reply = self.here.call(*words)
        return reply.items if isinstance(reply, Aggregate) else reply

    def send(self, *words):
        self.here.send([word.encode() for word in words])

    def fact(self, name):
        text = self.call("INFO", "persistence").decode()
        return text.split(name + ":")[1].split("\r\n")[0]

    def path(self, *names):
        return os.path.join(self.server.folder, *names)

    def files(self, folder="appendonlydir"):
        return sorted(os.listdir(self.path(folder)))

    def wait_for_rewrite(self):
        wait_until(lambda: self.fact("aof_rewrite_in_progress") == "0" and self.fact("aof_rewrite_scheduled") == "0",
                   "the end of a rewrite")

    def rewrite(self):
        same(self.call("BGREWRITEAOF"), STARTED)
        self.wait_for_rewrite()
        same(self.fact("aof_last_bgrewrite_status"), "ok")

    def said(self, text):
        with open(self.server.log_path, encoding="utf-8") as log:
            return text in log.read()

    def close(self):
        self.server.end()


def late_word_of_a_rewrite(make):
    """A base that was on its way when the log was turned off is none of the next log."""
    log = make(("appendonly", "yes"))
    same(log.call("SET", "before", "1"), OK)
    same(log.call("DEBUG", "AOF-FLUSH-SLEEP", "300000"), OK)
    same(log.call("BGREWRITEAOF"), STARTED)
    wait_until(lambda: log.said("Background AOF rewrite terminated with success"), "the end of the child")
    same(log.fact("aof_rewrite_in_progress"), "1")
    for words in (("appendonly", "no"), ("rdb-key-save-delay", "200000"), ("appendonly", "yes")):
        log.send("CONFIG", "SET", *words)
    same([log.here.read() for _ in range(3)], [OK] * 3)
    same(log.call("DEBUG", "AOF-FLUSH-SLEEP", "0"), OK)
    log.wait_for_rewrite()
    same(log.call("SET", "after", "2"), OK)
    same(log.call("WAITAOF", "1", "0", "5000"), [1, 0])
    log.restart()
    same(log.call("MGET", "before", "after"), [b"1", b"2"])
    log.close()


def history_is_not_written_to(make):
    """Files that were not deleted yet do not take what is new with them."""
    log = make(("appendonly", "yes"), ("appendfsync", "always"), ("aof-disable-auto-gc", "yes"))
    log.call("SET", "a", "1")
    same(log.call("CONFIG", "SET", "appendonly", "no"), OK)
    log.rewrite()
    log.restart(("aof-disable-auto-gc", "no"))
    same(log.call("SET", "b", "2"), OK)
    log.restart()
    same(log.call("MGET", "a", "b"), [b"1", b"2"])
    log.close()


def damaged_manifest(make):
    """Files that a manifest names which cannot be read are not touched, whether a log is kept or not."""
    log = make(("appendonly", "yes"))
    log.call("SET", "a", "1")
    log.rewrite()
    same(log.call("CONFIG", "SET", "appendonly", "no"), OK)
    log.server.kill()
    manifest = log.path("appendonlydir", "appendonly.aof.manifest")
    with open(manifest, "r+b") as file:
        good = file.read()
        file.seek(0)
        file.write(b"X")
    before = log.files()
    for kept in ("no", "yes"):
        log.server.options.append(("appendonly", kept))
        try:
            log.server.start()
            holds(False, "it started")
        except ServerFailed:
            holds(log.said("Fatal error in the AOF manifest"), "it says why")
    same(log.files(), before)
    with open(manifest, "wb") as file:
        file.write(good)
    log.restart()
    same(log.call("GET", "a"), b"1")
    log.close()


def damaged_meanwhile(make):
    """The same when it is found out by a rewrite: twice asked is twice refused."""
    log = make(("appendonly", "no"))
    os.mkdir(log.path("elsewhere"))
    os.mkdir(log.path("elsewhere", "appendonlydir"))
    with open(log.path("elsewhere", "appendonlydir", "appendonly.aof.manifest"), "wb") as file:
        file.write(b"nonsense\n")
    same(log.call("CONFIG", "SET", "dir", log.path("elsewhere")), OK)
    for _ in range(3):
        holds(isinstance(log.call("BGREWRITEAOF"), Error), "a rewrite is refused")
    holds(isinstance(log.call("CONFIG", "SET", "appendonly", "yes"), Error), "the log is not turned on")
    same(log.files("elsewhere/appendonlydir"), ["appendonly.aof.manifest"])
    same((log.fact("aof_enabled"), log.fact("aof_rewrite_scheduled")), ("0", "0"))
    same(log.fact("aof_last_rewrite_time_sec"), "-1")
    holds(log.said("line 1: Invalid AOF manifest file format"), "it says why")
    log.close()


def moved(make):
    """CONFIG SET dir moves the log with the next rewrite, and at no time is there none."""
    log = make(("appendonly", "yes"), ("appendfsync", "always"))
    log.call("SET", "a", "1")
    os.mkdir(log.path("new"))
    same(log.call("CONFIG", "SET", "dir", log.path("new")), OK)
    same(log.call("SET", "b", "2"), OK)
    same(log.call("CONFIG", "SET", "rdb-key-save-delay", "100000"), OK)
    same(log.call("BGREWRITEAOF"), STARTED)
    same(log.call("SELECT", "3"), OK)
    same(log.call("SET", "c", "3"), OK)  # while the base is made
    log.wait_for_rewrite()
    same(log.call("SET", "d", "4"), OK)
    same(log.files("new/appendonlydir"),
         ["appendonly.aof.1.base.rdb", "appendonly.aof.1.incr.aof", "appendonly.aof.manifest"])
    log.rewrite()
    same(log.call("SET", "e", "5"), OK)
    log.restart()
    log.call("SELECT", "3")
    same(log.call("MGET", "c", "d", "e"), [b"3", NIL, NIL])  # the old place has what was there
    log.restart(("dir", log.path("new")))
    same(log.call("MGET", "a", "b"), [b"1", b"2"])
    log.call("SELECT", "3")
    same(log.call("MGET", "c", "d", "e"), [b"3", b"4", b"5"])
    log.close()


def old_log_is_left(make):
    """A log of one file that nobody has loaded is not replaced by what is in memory."""
    log = make(("appendonly", "no"))
    with open(log.path("appendonly.aof"), "wb") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$3\r\nold\r\n$1\r\n1\r\n")
    same(log.call("CONFIG", "SET", "appendonly", "yes"), OK)
    log.wait_for_rewrite()
    holds(os.path.exists(log.path("appendonly.aof")), "the old log is there")
    log.close()


def answered_before_it_ends(make):
    """What stands before CONFIG SET appendonly no in a pipeline is in the log."""
    log = make(("appendonly", "yes"), ("appendfsync", "everysec"))
    log.send("SET", "last", "word")
    log.send("CONFIG", "SET", "appendonly", "no")
    same([log.here.read(), log.here.read()], [OK, OK])
    log.restart()
    same(log.call("GET", "last"), b"word")
    log.close()


def on_disk_is_on_disk(make):
    """WAITAOF counts syncs, not what was left to the system, and waits for a log that is to come."""
    log = make(("appendonly", "yes"), ("appendfsync", "no"))
    log.call("SET", "a", "1")
    same(log.call("WAITAOF", "1", "0", "50"), [0, 0])
    log.send("WAITAOF", "1", "0", "0")
    other = log.server.connect()
    same(other.call("CONFIG", "SET", "appendfsync", "everysec"), OK)
    same(log.here.read().items, [1, 0])
    same(log.call("CONFIG", "SET", "appendonly", "no"), OK)
    holds(isinstance(log.call("WAITAOF", "1", "0", "50"), Error), "there is no log")
    same(log.call("CONFIG", "SET", "rdb-key-save-delay", "300000"), OK)
    same(log.call("BGSAVE"), Simple(b"Background saving started"))
    same(log.call("CONFIG", "SET", "appendonly", "yes"), OK)
    same(log.call("SET", "b", "2"), OK)
    same(log.call("WAITAOF", "1", "0", "50"), [0, 0])
    same(log.call("WAITAOF", "1", "0", "10000"), [1, 0])
    log.restart()
    same(log.call("MGET", "a", "b"), [b"1", b"2"])
    log.close()


def promised_before_another_policy(make):
    """Who waits for a sync is answered when there are none any more."""
    log = make(("appendonly", "yes"), ("appendfsync", "always"))
    other = log.server.connect()
    for words in (("appendfsync", "no"), ("no-appendfsync-on-rewrite", "yes")):
        same(other.call("DEBUG", "AOF-FLUSH-SLEEP", "200000"), OK)
        log.send("SET", "first", "1")  # the thread sleeps with it
        writers = [log.server.connect() for _ in range(5)]
        for number, writer in enumerate(writers):
            writer.send([b"SET", b"%d" % number, b"1"])
        same(other.call("CONFIG", "SET", "rdb-key-save-delay", "1000000"), OK)
        same(other.call("CONFIG", "SET", *words), OK)
        if words[0] != "appendfsync":
            same(other.call("BGSAVE"), Simple(b"Background saving started"))
        same(other.call("DEBUG", "AOF-FLUSH-SLEEP", "0"), OK)
        same([writer.read() for writer in (log.here, *writers)], [OK] * 6)
        other.call("BGSAVE", "CANCEL")
        same(other.call("CONFIG", "SET", "appendfsync", "always"), OK)
    log.close()


def log_that_is_to_come(make):
    """What was there before the first change that a log could have is waited for, too."""
    log = make(("appendonly", "no"))
    same(log.call("SET", "a", "1"), OK)
    same(log.call("CONFIG", "SET", "rdb-key-save-delay", "300000"), OK)
    same(log.call("CONFIG", "SET", "appendonly", "yes"), OK)
    same(log.call("WAITAOF", "1", "0", "50"), [0, 0])
    same(log.call("WAITAOF", "1", "0", "0"), [1, 0])
    log.restart(("appendonly", "yes"))
    same(log.call("GET", "a"), b"1")
    log.close()


def changes_of_others(make):
    """WAITAOF is about the changes of who asks."""
    log = make(("appendonly", "yes"), ("appendfsync", "no"))
    other = log.server.connect()
    same(other.call("SET", "a", "1"), OK)
    same(log.call("WAITAOF", "1", "0", "0"), [1, 0])
    for words in (("INCR", "a"), ("EVAL", "return redis.call('INCR', KEYS[1])", "1", "a")):
        log.call(*words)
        same(log.call("WAITAOF", "1", "0", "20"), [0, 0])
        same(log.call("CONFIG", "SET", "appendfsync", "always"), OK)
        same(log.call("WAITAOF", "1", "0", "0"), [1, 0])
        same(log.call("CONFIG", "SET", "appendfsync", "no"), OK)
    log.close()


def loaded_during_a_rewrite(make):
    """A rewrite that goes on beside no log ends when another log is loaded."""
    log = make(("appendonly", "no"))
    os.mkdir(log.path("elsewhere"))
    log.call("SET", "a", "1")
    same(log.call("CONFIG", "SET", "rdb-key-save-delay", "100000"), OK)
    same(log.call("BGREWRITEAOF"), STARTED)
    same(log.call("CONFIG", "SET", "dir", log.path("elsewhere")), OK)
    log.call("DEBUG", "LOADAOF")
    same(log.fact("aof_rewrite_in_progress"), "0")
    same(log.call("PING"), Simple(b"PONG"))
    log.close()


def grown_since_the_base(make):
    """A restart does not make the log look as if it had just been rewritten, nor changes as if they were saved."""
    log = make(("appendonly", "yes"), ("appendfsync", "always"))
    log.rewrite()
    for number in range(100):
        log.call("SET", str(number), "x" * 100)
    base = [name for name in log.files() if ".base." in name]
    log.restart()
    same(int(log.fact("aof_base_size")), os.path.getsize(log.path("appendonlydir", base[0])))
    holds(int(log.fact("aof_current_size")) > 10_000, "all of it counts")
    same(log.fact("rdb_changes_since_last_save"), "100")
    log.close()


def rounds_of(log, seconds):
    """How often a script goes round a loop in that time; clocks stand still in scripts."""
    tried = 5_000_000
    began = time.monotonic()
    log.call("EVAL", f"for i = 1, {tried} do end", "0")
    return str(int(tried * seconds / (time.monotonic() - began)))


def keys_rest_during_a_script(make):
    """While a script lets others ask, no key expires: it would see that, and the log would have it in the wrong order."""
    log = make(("appendonly", "yes"), ("appendfsync", "no"))
    rounds = rounds_of(log, 1.5)
    same(log.call("DEBUG", "SET-ACTIVE-EXPIRE", "0"), OK)
    log.call("EVAL", "for i = 1, 300000 do redis.call('SET', 'due:' .. i, 'x', 'PX', 1) end", "0")
    same(log.call("CONFIG", "SET", "busy-reply-threshold", "5"), OK)
    same(log.call("DEBUG", "SET-ACTIVE-EXPIRE", "1"), OK)
    wait_until(lambda: log.call("DBSIZE") < 300_000, "the first that are due to go")
    other = log.server.connect()
    log.send("EVAL", """
        for i = 1, 1000 do
          redis.call('INCR', 'v:' .. i)
          redis.call('PEXPIRE', 'v:' .. i, 100)
        end
        for i = 1, tonumber(ARGV[1]) do end
        local there = 0
        for i = 1, 1000 do there = there + redis.call('EXISTS', 'v:' .. i) end
        return there""", "0", rounds)
    # Nor does who is answered meanwhile make one go by looking at it.
    while other.call("WATCH", "v:1", "v:2", "v:3") == OK and isinstance(other.call("PING"), Error):
        pass
    same(log.here.read(), 1000)
    wait_until(lambda: log.call("DBSIZE") == 0, "the end of all keys")
    log.restart()
    wait_until(lambda: log.call("DBSIZE") == 0, "the same after a restart")
    log.close()


def keys_rest_during_a_load(make):
    """The same while a log is loaded, in which the key may be kept further on."""
    log = make(("appendonly", "no"))
    os.mkdir(log.path("appendonlydir"))
    with open(log.path("appendonlydir", "appendonly.aof.manifest"), "wb") as file:
        file.write(b"file appendonly.aof.1.incr.aof seq 1 type i\n")
    commands = [("SET", "kept", "v", "PXAT", "1000000000000"), *[("SET", f"key:{i}", "x" * 50) for i in range(2000)],
                ("PERSIST", "kept"), ("APPEND", "kept", "z")]
    with open(log.path("appendonlydir", "appendonly.aof.1.incr.aof"), "w", encoding="ascii", newline="") as file:
        for words in commands:
            file.write(f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words))
    same(log.call("CONFIG", "SET", "key-load-delay", "200", "loading-process-events-interval-bytes", "1024"), OK)
    other = log.server.connect()
    log.send("DEBUG", "LOADAOF")
    wait_until(lambda: isinstance(other.call("GET", "kept"), Error), "the load")
    while other.call("WATCH", "kept") == OK and isinstance(other.call("GET", "kept"), Error):
        pass
    same(log.here.read(), OK)
    same(log.call("GET", "kept"), b"vz")
    log.close()


def scripts_are_whole(make):
    """A script that the end of the server interrupts is not in the log, or all of it is."""
    script = """
        redis.call('SET', 'begun', 1)
        for i = 1, tonumber(ARGV[1]) do end
        redis.call('SET', 'done', 1)"""
    log = make(("appendonly", "yes"), ("busy-reply-threshold", "5"), ("save", ""))
    for asks, rounds, there in ((True, "1e300", 0), (False, rounds_of(log, 1), 2)):
        other = log.server.connect()
        log.send("EVAL", script, "0", rounds)
        wait_until(lambda other=other: isinstance(other.call("PING"), Error), "the script to take long")
        if asks:
            other.send([b"SHUTDOWN", b"NOSAVE"])
            log.server.process.wait(20)
        else:
            log.server.end()
        log.restart()
        same(log.call("EXISTS", "begun", "done"), there)
    log.close()


def sizes(make):
    """What INFO says of the size is what is on disk, also when a rewrite has failed."""
    log = make(("appendonly", "yes"), ("appendfsync", "always"))
    log.call("SET", "a", "x" * 100_000)
    os.mkdir(log.path("appendonlydir", "appendonly.aof.2.base.rdb"))  # no base can be put there
    same(log.call("BGREWRITEAOF"), STARTED)
    log.wait_for_rewrite()
    same(log.fact("aof_last_bgrewrite_status"), "err")
    log.call("SET", "b", "x" * 1000)
    on_disk = sum(os.path.getsize(log.path("appendonlydir", name)) for name in log.files() if ".incr." in name or ".1.base" in name)
    same(int(log.fact("aof_current_size")), on_disk)
    holds(not [name for name in log.files() if name.startswith("temp")], "nothing is left behind")
    log.close()


def messages_do_not_wait(make):
    """What no log holds is answered while the disk is busy: PUBLISH and its like."""
    log = make(("appendonly", "yes"), ("appendfsync", "always"))
    other = log.server.connect()
    same(log.call("DEBUG", "AOF-FLUSH-SLEEP", "1000000"), OK)
    log.send("SET", "a", "1")
    wait_until(lambda: b"db0:keys=1" in other.call("INFO", "keyspace"), "the change")
    same([other.call("PUBLISH", "news", "x"), other.call("SPUBLISH", "news", "x")], [0, 0])
    same(other.call("PUBSUB", "NUMPAT"), 0)
    same(log.here.pending(0.1), b"")  # the change itself is not answered yet
    same(log.here.read(), OK)
    same(log.call("DEBUG", "AOF-FLUSH-SLEEP", "0"), OK)
    log.close()


def expired_when_its_deletion_is_on_disk(make):
    """A key that is found expired is told to be gone when the log says so."""
    log = make(("appendonly", "yes"), ("appendfsync", "always"))
    other = log.server.connect()
    same(log.call("DEBUG", "SET-ACTIVE-EXPIRE", "0"), OK)
    same(log.call("SET", "a", "1", "PX", "1"), OK)
    same(log.call("HSET", "h", "f", "1", "g", "2"), 2)
    same(log.call("HPEXPIRE", "h", "1", "FIELDS", "1", "f"), [1])
    same(log.call("DEBUG", "SLEEP", "0.01"), OK)
    for words, fact in ((("GET", "a"), b"expired_keys:1"), (("HGET", "h", "f"), b"expired_subkeys:1")):
        same(log.call("DEBUG", "AOF-FLUSH-SLEEP", "1000000"), OK)
        log.send(*words)
        wait_until(lambda fact=fact: fact in other.call("INFO", "stats"), "its deletion")
        same(log.here.pending(0.1), b"")
        same(log.here.read(), NIL)
        same(log.call("DEBUG", "AOF-FLUSH-SLEEP", "0"), OK)
    log.close()


TESTS = (late_word_of_a_rewrite, history_is_not_written_to, damaged_manifest, damaged_meanwhile, moved, old_log_is_left,
         answered_before_it_ends, on_disk_is_on_disk, promised_before_another_policy, log_that_is_to_come,
         changes_of_others, loaded_during_a_rewrite, grown_since_the_base, keys_rest_during_a_script,
         keys_rest_during_a_load, scripts_are_whole, sizes, messages_do_not_wait,
         expired_when_its_deletion_is_on_disk)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, action="append")
    arguments = parser.parse_args()
    verdicts = []
    for threads in arguments.threads or (1, 4):
        for test in TESTS:

            def run(test=test, threads=threads):
                made = []

                def make(*options):
                    made.append(Log(arguments.server, threads, *options))
                    return made[-1]

                try:
                    test(make)
                finally:
                    for log in made:
                        log.server.kill()
                        log.server.remove()

            verdicts.append(attempt(f"{test.__name__}, threads {threads}", run))
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
