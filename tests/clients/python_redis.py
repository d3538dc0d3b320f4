"""redis-py against a running server: python_redis.py PORT. RESP2, as Debian 12 ships it."""

import sys
import threading
import time
import unittest

import redis

PORT = int(sys.argv[1])


class Smoke(unittest.TestCase):
    def setUp(self):
        self.client = redis.Redis(port=PORT, decode_responses=True, socket_timeout=10)
        self.client.flushall()
        self.addCleanup(self.client.close)

    @staticmethod
    def at_once(count, work):
        threads = [threading.Thread(target=work) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def test_strings(self):
        c = self.client
        self.assertTrue(c.ping())
        self.assertTrue(c.set("greeting", "hello"))
        self.assertEqual(c.get("greeting"), "hello")
        self.assertIsNone(c.set("greeting", "again", nx=True))
        self.assertEqual(c.set("greeting", "again", get=True), "hello")
        self.assertEqual(c.append("greeting", "!"), 6)
        self.assertEqual(c.strlen("greeting"), 6)
        self.assertEqual(c.getrange("greeting", -3, -1), "in!")
        self.assertEqual(c.incrby("counter", 41), 41)
        self.assertEqual(c.incr("counter"), 42)
        self.assertEqual(c.incrbyfloat("counter", 0.5), 42.5)
        self.assertTrue(c.mset({"a": 1, "b": 2}))
        self.assertEqual(c.mget("a", "none", "b"), ["1", None, "2"])
        self.assertEqual(c.getdel("a"), "1")
        self.assertEqual(c.exists("a", "b", "b"), 2)
        self.assertEqual(c.delete("a", "b"), 1)
        self.assertEqual(c.type("greeting"), "string")

    def test_bytes_pass_unharmed(self):
        client = redis.Redis(port=PORT, socket_timeout=10)
        value = bytes(range(256)) * 400
        client.set(b"\x00\r\n\xff", value)
        self.assertEqual(client.get(b"\x00\r\n\xff"), value)
        client.close()

    def test_errors_are_exceptions(self):
        self.client.set("text", "abc")
        with self.assertRaisesRegex(redis.ResponseError, "not an integer"):
            self.client.incr("text")
        with self.assertRaisesRegex(redis.ResponseError, "unknown command"):
            self.client.execute_command("NOSUCHCOMMAND")
        self.assertTrue(self.client.ping())

    def test_expiry(self):
        c = self.client
        c.set("short", "x", px=40)
        c.set("long", "x", ex=100)
        self.assertIn(c.ttl("long"), (99, 100))
        self.assertTrue(0 < c.pttl("short") <= 40)
        self.assertTrue(c.persist("long"))
        self.assertEqual(c.ttl("long"), -1)
        self.assertEqual(c.ttl("none"), -2)
        self.assertTrue(c.expire("long", 10))
        deadline = time.monotonic() + 5
        while c.exists("short") and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertIsNone(c.get("short"))

    def test_pipeline(self):
        pipe = self.client.pipeline(transaction=False)
        for number in range(1000):
            pipe.set(f"key:{number}", number)
        for number in range(1000):
            pipe.get(f"key:{number}")
        replies = pipe.execute()
        self.assertEqual(replies, [True] * 1000 + [str(n) for n in range(1000)])

    def test_scan_meets_every_key(self):
        keys = {f"scan:{n}" for n in range(1500)}
        self.client.mset({key: "x" for key in keys})
        self.client.set("other", "x")
        self.assertEqual(set(self.client.scan_iter(match="scan:*", count=100)), keys)
        self.assertEqual(self.client.dbsize(), 1501)
        self.assertEqual(len(self.client.keys("scan:1*")), 611)

    def test_databases(self):
        other = redis.Redis(port=PORT, db=3, decode_responses=True)
        other.set("here", "three")
        self.assertIsNone(self.client.get("here"))
        self.assertEqual(other.get("here"), "three")
        other.close()

    def test_introspection(self):
        c = self.client
        self.assertTrue(c.client_setname("smoke"))
        self.assertEqual(c.client_getname(), "smoke")
        mine = [entry for entry in c.client_list() if entry["name"] == "smoke"]
        self.assertEqual(len(mine), 1)
        self.assertEqual(int(mine[0]["id"]), c.client_id())
        info = c.info()
        self.assertRegex(info["redis_version"], r"^\d+\.\d+\.\d+$")
        self.assertGreaterEqual(info["connected_clients"], 1)
        c.set("x", "y")
        self.assertEqual(c.info("keyspace")["db0"]["keys"], 1)
        self.assertEqual(c.config_get("port"), {"port": str(PORT)})
        self.assertIn("maxmemory", c.config_get("max*"))
        self.assertGreater(c.command_count(), 20)
        self.assertIsInstance(c.time()[0], int)

    def test_transactions(self):
        pipe = self.client.pipeline()
        pipe.set("t", 1).incr("t").lpush("t", "x").get("t")
        outcome = pipe.execute(raise_on_error=False)
        self.assertEqual(outcome[:2] + outcome[3:], [True, 2, "2"])
        self.assertIsInstance(outcome[2], redis.ResponseError)
        with self.client.pipeline() as pipe:
            pipe.watch("t")
            self.client.set("t", "changed")
            pipe.multi()
            pipe.set("t", "lost")
            self.assertRaises(redis.WatchError, pipe.execute)
        add = lambda pipe: pipe.multi() or pipe.incr("n")  # noqa: E731
        self.assertEqual([self.client.transaction(add, "n") for _ in range(3)], [[1], [2], [3]])

    def test_optimistic_locking_loses_nothing(self):
        def add(pipe):
            before = int(pipe.get("sum") or 0)
            pipe.multi()
            pipe.set("sum", before + 1)

        def work():
            client = redis.Redis(port=PORT, socket_timeout=20)
            for _ in range(25):
                client.transaction(add, "sum")
            client.close()

        self.at_once(8, work)
        self.assertEqual(self.client.get("sum"), "200")

    def test_locks(self):
        def work():
            client = redis.Redis(port=PORT, socket_timeout=20)
            for _ in range(10):
                with client.lock("mutex", timeout=20, sleep=0.002):
                    # Neither is atomic; only the lock keeps them apart.
                    client.set("held", int(client.get("held") or 0) + 1)
            client.close()

        self.at_once(6, work)
        self.assertEqual(self.client.get("held"), "60")
        lock = self.client.lock("mutex", timeout=10)
        self.assertTrue(lock.acquire(blocking=False))
        self.assertFalse(self.client.lock("mutex").acquire(blocking=False))
        self.assertTrue(lock.extend(50))
        self.assertGreater(self.client.ttl("mutex"), 50)
        lock.release()
        self.assertRaises(redis.exceptions.LockError, lock.release)

    def test_channels(self):
        listener = self.client.pubsub()
        listener.subscribe("news")
        listener.psubscribe("n*")
        kinds = [listener.get_message(timeout=10)["type"] for _ in range(2)]
        self.assertEqual(kinds, ["subscribe", "psubscribe"])
        self.assertEqual(self.client.publish("news", "hello"), 2)
        heard = sorted((m["type"], m["data"]) for m in (listener.get_message(timeout=10) for _ in range(2)))
        self.assertEqual(heard, [("message", "hello"), ("pmessage", "hello")])
        self.assertEqual(self.client.pubsub_numsub("news"), [("news", 1)])
        listener.close()

    def test_scripts(self):
        add = self.client.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
        self.assertEqual(add(keys=["s"], args=[5]), 5)
        self.client.script_flush()
        self.assertEqual(add(keys=["s"], args=[5]), 10)
        with self.assertRaisesRegex(redis.ResponseError, "wrong kind of value"):
            self.client.eval("redis.call('LPUSH', KEYS[1], 'x')", 1, "s")

    def test_many_clients_at_once(self):
        def work():
            client = redis.Redis(port=PORT, socket_timeout=20)
            for _ in range(200):
                client.incr("shared")
            client.close()

        self.at_once(8, work)
        self.assertEqual(self.client.get("shared"), "1600")


if __name__ == "__main__":
    outcome = unittest.main(argv=sys.argv[:1] + sys.argv[2:], exit=False, verbosity=0).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
