// ioredis against a running server: node ioredis_smoke.js PORT.
"use strict";
const assert = require("node:assert");
const Redis = require("ioredis");

const port = Number(process.argv[2]);
const connect = (options = {}) => new Redis({ port, host: "127.0.0.1", retryStrategy: null, ...options });
const bound = (promise, name) =>
  Promise.race([promise, new Promise((_, fail) => setTimeout(() => fail(new Error(`${name}: no end within 20 s`)), 20000).unref())]);

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
};

async function main() {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const client = connect();
    client.on("error", () => {}); // Every command reports its own failure.
    try {
      await bound(client.flushall().then(() => test(client)), name);
    } catch (error) {
      failed++;
      console.log(`${name}: ${error.stack}`);
    }
    client.disconnect();
  }
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

main();
