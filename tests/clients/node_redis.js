// node-redis against a running server, in RESP3, with client-side caching.
"use strict";
const assert = require("node:assert");
const { createClient } = require("redis");
const { port, runAll, until } = require("./harness");

const connect = async (options = {}) => {
  const client = createClient({ socket: { host: "127.0.0.1", port }, RESP: 3, ...options });
  client.on("error", () => {});
  return client.connect();
};

const tests = {
  async "types of RESP3"(client) {
    await client.hSet("h", { a: "1", b: "2" });
    assert.deepStrictEqual({ ...(await client.hGetAll("h")) }, { a: "1", b: "2" });
    await client.zAdd("z", [{ score: 1.5, value: "x" }, { score: -Infinity, value: "y" }]);
    assert.strictEqual(await client.zScore("z", "x"), 1.5);
    assert.deepStrictEqual(await client.zRangeWithScores("z", 0, -1), [
      { value: "y", score: -Infinity },
      { value: "x", score: 1.5 },
    ]);
    await client.sAdd("s", ["m", "n"]);
    assert.deepStrictEqual([...(await client.sMembers("s"))].sort(), ["m", "n"]);
    assert.strictEqual(await client.get("none"), null);
    assert.strictEqual((await client.sendCommand(["HELLO", "3"])).proto, 3);
  },

  async "transactions"(client) {
    assert.deepStrictEqual(await client.multi().set("k", "1").incr("k").get("k").exec(), ["OK", 2, "2"]);
    const other = await connect();
    await client.watch("k");
    await other.set("k", "changed");
    await assert.rejects(client.multi().set("k", "lost").exec(), /watch/i);
    other.destroy();
  },

  async "scripts in RESP3"(client) {
    const script = "redis.setresp(3); local h = redis.call('HGETALL', KEYS[1]); return {h.map.f, ARGV[1]}";
    await client.hSet("h", "f", "v");
    assert.deepStrictEqual(await client.eval(script, { keys: ["h"], arguments: ["x"] }), ["v", "x"]);
  },

  async "one connection listens and asks"(client) {
    const heard = [];
    await client.subscribe("channel", (text) => heard.push(text));
    assert.strictEqual(await client.get("none"), null);
    const other = await connect();
    assert.strictEqual(await other.publish("channel", "hello"), 1);
    await until(() => heard.length === 1, "a message");
    assert.deepStrictEqual(heard, ["hello"]);
    other.destroy();
  },

  async "a cache on the client's side hears of changes"() {
    const cached = await connect({ clientSideCache: { ttl: 0, maxEntries: 100, evictPolicy: "LRU" } });
    const other = await connect();
    await other.set("k", "one");
    assert.strictEqual(await cached.get("k"), "one");
    assert.strictEqual(await cached.get("k"), "one");
    const stats = () => cached.clientSideCache.stats();
    assert.strictEqual(stats().hitCount, 1);
    await other.set("k", "two");
    await until(async () => (await cached.get("k")) === "two", "the new value");
    await other.set("gone", "x", { expiration: { type: "PX", value: 500 } });
    assert.strictEqual(await cached.get("gone"), "x");
    await until(async () => (await cached.get("gone")) === null, "expiry heard");
    await cached.get("k");
    await other.flushAll();
    await until(async () => (await cached.get("k")) === null, "flush heard");
    cached.destroy();
    other.destroy();
  },
};

runAll(tests, async (test) => {
  const client = await connect();
  try {
    await client.flushAll();
    await test(client);
  } finally {
    client.destroy();
  }
});
