// ioredis against a running server: node ioredis_smoke.js PORT.
"use strict";
const assert = require("node:assert");
const Redis = require("ioredis");

const { port, runAll, until } = require("./harness");

const connect = (options = {}) => new Redis({ port, host: "127.0.0.1", retryStrategy: null, ...options });

// A connection that listens in RESP2 cannot ask for its number; its line in the list tells.
async function idOf(client) {
  const asker = connect();
  const lines = (await asker.client("LIST")).split("\n");
  asker.disconnect();
  const own = `addr=127.0.0.1:${client.stream.localPort} `;
  return /^id=(\d+)/.exec(lines.find((line) => line.includes(own)))[1];
}

const tests = {
  async "set and get"(client) {
    assert.strictEqual(await client.set("key", "value"), "OK");
    assert.strictEqual(await client.get("key"), "value");
    assert.strictEqual(await client.set("key", "other", "NX"), null);
    assert.strictEqual(await client.set("key", "other", "EX", 100, "GET"), "value");
    assert.ok([99, 100].includes(await client.ttl("key")));
    assert.strictEqual(await client.get("none"), null);
    assert.deepStrictEqual(await client.mget("key", "none"), ["other", null]);
    const bytes = Buffer.from(Array.from({ length: 70000 }, (_, i) => i % 256));
    await client.set("bytes", bytes);
    assert.ok(bytes.equals(await client.getBuffer("bytes")));
  },

  async "errors reject"(client) {
    await client.set("text", "abc");
    await assert.rejects(client.incr("text"), /not an integer/);
    await assert.rejects(client.call("NOSUCHCOMMAND"), /unknown command/);
    assert.strictEqual(await client.ping(), "PONG");
  },

  async "pipeline keeps its order"(client) {
    const pipeline = client.pipeline();
    for (let i = 0; i < 1000; i++) pipeline.set(`key:${i}`, i).get(`key:${i}`);
    const replies = await pipeline.exec();
    assert.strictEqual(replies.length, 2000);
    for (let i = 0; i < 1000; i++) assert.deepStrictEqual(replies[2 * i + 1], [null, String(i)]);
  },

  async "automatic pipelining"() {
    const client = connect({ enableAutoPipelining: true });
    const replies = await Promise.all(Array.from({ length: 500 }, () => client.incr("auto")));
    assert.deepStrictEqual(replies, Array.from({ length: 500 }, (_, i) => i + 1));
    client.disconnect();
  },

  async "scan stream meets every key"(client) {
    const names = Array.from({ length: 1500 }, (_, i) => `scan:${i}`);
    await client.mset(names.flatMap((name) => [name, "x"]));
    const seen = new Set();
    for await (const keys of client.scanStream({ match: "scan:*", count: 100 })) keys.forEach((key) => seen.add(key));
    assert.deepStrictEqual([...seen].sort(), names.sort());
  },

  async "names and databases"(client) {
    assert.strictEqual(await client.client("SETNAME", "ioredis-smoke"), "OK");
    assert.strictEqual(await client.client("GETNAME"), "ioredis-smoke");
    assert.match(await client.client("LIST"), /name=ioredis-smoke/);
    const other = connect({ db: 5, connectionName: "named" });
    await other.set("here", "five");
    assert.strictEqual(await client.get("here"), null);
    assert.strictEqual(await other.client("GETNAME"), "named");
    other.disconnect();
  },

  async "many connections"() {
    const clients = Array.from({ length: 20 }, () => connect());
    await Promise.all(clients.map((c) => Promise.all(Array.from({ length: 50 }, () => c.incr("shared")))));
    assert.strictEqual(await clients[0].get("shared"), "1000");
    await Promise.all(clients.map((c) => c.quit()));
  },

  async "transactions"(client) {
    assert.deepStrictEqual(await client.multi().set("t", 1).incr("t").get("t").exec(), [
      [null, "OK"],
      [null, 2],
      [null, "2"],
    ]);
    const other = connect();
    await client.watch("t");
    await other.set("t", "changed");
    assert.strictEqual(await client.multi().set("t", "lost").exec(), null);
    assert.strictEqual(await client.get("t"), "changed");
    other.disconnect();
  },

  async "optimistic locking loses no increment"(client) {
    const clients = Array.from({ length: 8 }, () => connect());
    const increment = async (c) => {
      for (;;) {
        await c.watch("locked");
        const before = Number(await c.get("locked"));
        if ((await c.multi().set("locked", before + 1).exec()) !== null) return;
      }
    };
    await Promise.all(clients.map(async (c) => {
      for (let i = 0; i < 25; i++) await increment(c);
    }));
    assert.strictEqual(await client.get("locked"), "200");
    clients.forEach((c) => c.disconnect());
  },

  async "channels and patterns"(client) {
    const listener = connect();
    const heard = [];
    listener.on("message", (channel, text) => heard.push(`${channel}:${text}`));
    listener.on("pmessage", (pattern, channel, text) => heard.push(`${pattern}:${channel}:${text}`));
    assert.strictEqual(await listener.subscribe("news", "rest"), 2);
    assert.strictEqual(await listener.psubscribe("n*"), 3);
    assert.strictEqual(await client.publish("news", "one"), 2);
    assert.strictEqual(await client.publish("other", "two"), 0);
    await until(() => heard.length === 2, "two messages");
    assert.deepStrictEqual(heard.sort(), ["n*:news:one", "news:one"]);
    assert.strictEqual(await listener.unsubscribe("news", "rest"), 1);
    listener.disconnect();
  },

  async "a cache that another connection keeps fresh"(client) {
    const listener = connect();
    const stale = [];
    listener.on("message", (_, keys) => stale.push(...[keys].flat()));
    await listener.subscribe("__redis__:invalidate");
    const other = connect();
    await other.set("cached", "one");
    assert.strictEqual(await client.call("CLIENT", "TRACKING", "ON", "REDIRECT", await idOf(listener)), "OK");
    assert.strictEqual(await client.get("cached"), "one");
    await other.set("unread", "x");
    await other.set("cached", "two");
    await until(() => stale.length > 0, "an invalidation");
    assert.deepStrictEqual(stale, ["cached"]);
    listener.disconnect();
    other.disconnect();
  },

  async "scripts are loaded when they are missing"(client) {
    client.defineCommand("addTo", {
      numberOfKeys: 1,
      lua: "return {redis.call('INCRBY', KEYS[1], ARGV[1]), ARGV[1]}",
    });
    assert.deepStrictEqual(await client.addTo("sum", 5), [5, "5"]);
    await client.script("FLUSH");
    assert.deepStrictEqual(await client.addTo("sum", 6), [11, "6"]);
    assert.strictEqual(await client.eval("return redis.status_reply('fine')", 0), "fine");
    const wrong = "redis.call('LPUSH', KEYS[1], 'x') return redis.call('INCR', KEYS[1])";
    await assert.rejects(client.eval(wrong, 1, "list"), /WRONGTYPE/);
    assert.strictEqual(await client.llen("list"), 1); // What was done before the error stays done.
  },
};

runAll(tests, async (test) => {
  const client = connect();
  client.on("error", () => {}); // Every command reports its own failure.
  try {
    await client.flushall();
    await test(client);
  } finally {
    client.disconnect();
  }
});
